#!/usr/bin/env bash
# Times choosing a token (runtime/generate), compiled as the runtime is.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p out/bench
${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=199309L -O2 -Wall -Wextra -fopenmp-simd -iquote runtime -iquote tests/c -o out/bench/sampling \
  tests/bench/sampling.c runtime/generate/*.c runtime/base/attn2c.c runtime/base/utf8.c runtime/system/linux.c -lm
out/bench/sampling
