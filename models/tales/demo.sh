#!/usr/bin/env bash
# Builds a checkpoint folder and lets it tell two short tales; `make demo` runs it after the language classifier.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
here=models/tales
program=out/tales/tales

say() { printf '%-26s%s\n' "$1" "$2"; }

gen/attn2c build $here >/dev/null
say "checkpoint folder" "$here (4 layers of Llama, $(du -bc $here/{config,tokenizer}.json $here/model.safetensors | tail -n 1 | cut -f1) bytes)"
say "library, program" "out/tales/libtales.so, $program"

tell() { # tell PROMPT SEED
  echo
  { printf %s "$1"; $program generate --weights $here --prompt "$1" --tokens 400 --seed "$2"; } | fold -s -w 100
}
tell "Once upon a time" 1
tell "There was once an old owl" 2
echo
echo "Begin your own: $program generate --weights $here --prompt 'A little mouse called'"
