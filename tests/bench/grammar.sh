#!/usr/bin/env bash
# Times steps that are held to a JSON schema: grammar.sh TOKENIZER.json SCHEMA TEXTS (grammar.c).
set -eu
folder=$(dirname "$0")/../..
out=$folder/out/bench/grammar
mkdir -p "$out"
lua5.4 "$folder/tests/text/compile.lua" "$1" "$out"
runtime=$folder/runtime
${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -Wall -Wextra -fopenmp-simd -iquote "$runtime" -o "$out/grammar" \
  "$folder/tests/bench/grammar.c" "$runtime"/grammar/*.c "$runtime"/program/grammar/*.c "$runtime"/text/*.c \
  "$runtime"/text/*/*.c "$runtime"/formats/file.c "$runtime"/base/attn2c.c "$runtime"/base/utf8.c "$runtime"/system/linux.c -ljansson -lm -lpcre2-8 -lutf8proc
"$out/grammar" "$out/$(basename "$1" .json).tables" "$2" "$3"
