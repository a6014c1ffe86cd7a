#!/usr/bin/env bash
# Times sums of RANKS ranks (default 2) on this machine: in shared memory, by messages, and MPI_Allreduce.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p out/bench
read -ra flags <<<"$(pkg-config --cflags --libs mpi-c)"
gcc -std=c11 -O2 -Wall -Wextra -iquote runtime -o out/bench/ranks tests/bench/ranks.c runtime/ranks/*.c \
  runtime/base/attn2c.c runtime/base/utf8.c "${flags[@]}"
if [ "$(id -u)" = 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
exec mpirun --oversubscribe -n "${RANKS:-2}" out/bench/ranks
