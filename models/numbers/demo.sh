#!/usr/bin/env bash
# Builds a checkpoint folder, translates a few numbers and dates, and counts the right answers to held-out sources;
# `make demo` runs it.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
here=models/numbers
program=out/numbers_model/numbers_model
limit=198 # right answers to the 200 held-out sources, at least

say() { printf '%-26s%s\n' "$1" "$2"; }
answers() { $program generate --weights $here --prompt-file "$1"; }

gen/attn2c build $here >/dev/null
say "checkpoint folder" "$here (T5 of 2 and 2 layers, $(du -bc $here/{config,tokenizer}.json $here/model.safetensors | tail -n 1 | cut -f1) bytes)"
say "library, program" "out/numbers_model/libnumbers_model.so, $program"
echo
cat >out/numbers_model/sources <<'SOURCES'
to digits: two hundred and forty-five thousand three hundred and one
to digits: siebzehnter Juli neunzehnhundertneunundachtzig
in French: 80097
in Spanish: 1984-03-07
SOURCES
answers out/numbers_model/sources | paste -d '\n' out/numbers_model/sources - | sed 'n; s/^/    /'
echo
cut -f1 $here/held.tsv >out/numbers_model/held
answers out/numbers_model/held | paste - <(cut -f2 $here/held.tsv) | awk -F '\t' -v limit=$limit '
  { right += $1 == $2 }
  END { printf "%-26s%d of %d held-out sources\n", "translated rightly", right, NR
    if (right < limit) { print "demo: at least " limit " are expected" >"/dev/stderr"; exit 1 } }'
echo
echo "Try your own: $program generate --weights $here --prompt 'in German: 1999'"
