#!/usr/bin/env bash
# Cycles an element of the elementary functions and row operations, in cache, once for each instruction set that this
# machine has; compiled as emitted code is.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p out/bench
common="-std=c11 -O3 -fno-math-errno -fno-trapping-math -ffp-contract=off -fopenmp-simd"
avx2="-mavx2 -mfma"
avx512="$avx2 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512"
for set in avx2 avx512; do
  needed=$([ $set = avx2 ] && echo avx2 || echo avx512vl)
  grep -qw "$needed" /proc/cpuinfo || continue
  ${CC:-cc} $common ${!set} -o out/bench/elementary_$set tests/bench/elementary.c
  echo "$set"
  out/bench/elementary_$set
done
