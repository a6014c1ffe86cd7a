#!/usr/bin/env bash
# Builds, checks and times the trained speaker classifier; `make demo` runs it.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
here=models/speaker
weights=$here/speaker.safetensors

say() { printf '%-26s%s\n' "$1" "$2"; }

gen/attn2c build models/speaker.lua >/dev/null
say "description" "models/speaker.lua ($(grep -cvE '^ *(--|$)' models/speaker.lua) lines)"
say "emitted C" "out/speaker/speaker.c: $(sed -n 's/.*flops a call, \(.*\) steps.*/\1/p' out/speaker/speaker.c) steps, $(wc -c <out/speaker/speaker.c) bytes"
say "library, program" "out/speaker/libspeaker.so, out/speaker/speaker"

checked=$(out/speaker/speaker check --weights $weights | tail -n 1) || { echo "$checked"; exit 1; }
say "against the reference" "$checked (tensor by tensor)"

# The demo reads .npy files as the program does, with the runtime's own sources.
reading=$(echo runtime/base/*.c runtime/system/linux.c runtime/formats/{file,file_write,new_file,place,npy,npy_header}.c)
${CC:-cc} -std=c11 -O1 -Iout/speaker -iquote runtime -o out/speaker/demo $here/demo.c $reading \
  out/speaker/libspeaker.a -lpthread -lm
out/speaker/demo $weights $here/segments.npy $here/labels.npy $here/logits.npy

out/speaker/speaker bench --weights $weights -r 100 -o csv | awk -F, '
  NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
  NR == 2 { printf "%-26s%.2f ms for 32 segments, %.0f GFLOP/s, %.0f%% of the roof of this machine (%s)\n", "speed, one thread",
            $column["ms_median"], $column["gflops"], 100 * $column["roof_fraction"], $column["target"] }'
echo
echo "Read the model as C: out/speaker/speaker.c"
