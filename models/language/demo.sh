#!/usr/bin/env bash
# Builds a checkpoint folder and prints the languages of sentences; `make demo` runs it after the speaker's demo.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
here=models/language
program=out/language/language
sentence="Wo ist der Bahnhof?"

say() { printf '%-26s%s\n' "$1" "$2"; }

gen/attn2c build $here >/dev/null
say "checkpoint folder" "$here (2 layers of BERT, $(du -bc $here/{config,tokenizer}.json $here/model.safetensors | tail -n 1 | cut -f1) bytes)"
say "library, program" "out/language/liblanguage.so, $program"

cut -f2 $here/sentences.tsv | $program run --weights $here --text - | cut -f1 | paste - <(cut -f1 $here/sentences.tsv) |
  awk '{ right += $1 == $2 } END { printf "%-26s%d of %d sentences in 20 languages\n", "language", right, NR }'
counted=out/language/tokens.npy
say "$sentence" "$($program run --weights $here --text "$sentence" --format text --output lengths=$counted | tr '\t' ' ')"
tokens=$(od -An -td4 -j128 $counted | tr -d ' ')
$program bench --weights $here --length "$tokens" -r 100 -o csv | awk -F, -v tokens="$tokens" '
  NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
  NR == 2 { printf "%-26s%.2f ms for its %d tokens\n", "speed, one thread", $column["ms_median"], tokens }'
echo
echo "Type your own: $program run --weights $here --text -"
