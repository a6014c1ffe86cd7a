#!/usr/bin/env bash
# Builds a recogniser of spoken digits from its folder, and writes down the sounds that come with it; `make demo` runs
# it last.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
here=models/digits
program=out/digits/digits
limit=28 # right words of the 31 that are spoken, at least

say() { printf '%-26s%s\n' "$1" "$2"; }

gen/attn2c build $here >/dev/null
say "checkpoint folder" "$here (wav2vec 2.0 of 7 convolutions and 3 layers, $(du -b $here/model.safetensors | cut -f1) bytes)"
say "library, program" "out/digits/libdigits.so, $program"
echo
$program run --weights $here --audio $here >out/digits/said
paste -d '\t' <(cut -f2 out/digits/said) <(cut -f1,2 $here/held.tsv) | awk -F '\t' -v limit=$limit '
  {
    printf "%-26s%s\n", $2, $1
    count = split($3, spoken, " ")
    split($1, said, " ")
    for (i = 1; i <= count; i++) right += spoken[i] == said[i]
    all += count
  }
  END { printf "%-26s%d of %d words of held-out sounds\n", "recognised rightly", right, all
    if (right < limit) { print "demo: at least " limit " are expected" >"/dev/stderr"; exit 1 } }'
echo
$program run --weights $here --audio $here/held1.wav --format srt
echo "Try your own: arecord -f S16_LE -r 16000 -t raw | $program run --weights $here --audio - --vad"
