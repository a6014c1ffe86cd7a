#!/usr/bin/env bash
# Cycles an element of the elementary functions and row operations, in cache, once for each instruction set that this
# machine has, compiled as emitted code is. Beside each: how many times a copy of the elements it takes, an exp of
# them, and glibc's libmvec, and whether it keeps its bound. spread: half of the quartiles' distance.
#
#   ops.sh [PART ...]      only the lines whose names have one of these parts
set -eu
cd "$(dirname "$0")/../.."
mkdir -p out/bench
common="-std=c11 -O3 -Wall -Wextra -fno-math-errno -fno-trapping-math -ffp-contract=off -fopenmp-simd -iquote runtime"
avx2="-mavx2 -mfma"
avx512="$avx2 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512"
libmvec="-lmvec"
if ! echo 'int main(void) { return 0; }' | ${CC:-cc} -x c - -o out/bench/without -lmvec 2>/dev/null; then
  libmvec="-DWITHOUT_LIBMVEC"
fi
for set in avx2 avx512; do
  needed=$([ $set = avx2 ] && echo avx2 || echo avx512vl)
  grep -qw "$needed" /proc/cpuinfo || continue
  ${CC:-cc} $common ${!set} -o out/bench/elementary_$set tests/bench/elementary.c $libmvec
  echo "$set"
  out/bench/elementary_$set "$@"
  echo
done
