#!/usr/bin/env bash
# Times every form of attention at BERT-base's shape (two layers of it), against the plain model in the same run, as a
# Markdown table. Each build is verified before it is timed.
#
#   options.sh [SEQ ...]      tokens a sequence; without any 128 and 512
set -u
cd "$(dirname "$0")/../.."
failed=0

# beside KEYS: the words of BERT-base's shape whose keys are not among these; a key may be given once
beside() {
  for word in d_model=768 heads=12 layers=2 d_ff=3072 mask=none; do
    [[ " $1" == *" ${word%%=*}="* ]] || echo "$word"
  done
}

echo "| form | tokens | ms | GFLOP/s | of roof | times plain |"
echo "|:--|--:|--:|--:|--:|--:|"
for seq in "${@:-128 512}"; do for n in $seq; do
  plain=""
  while IFS=';' read -r title keys; do
    # shellcheck disable=SC2086 # keys are words without spaces
    if ! text=$(gen/attn2c bench models/small.lua name=bench_options seq="$n" $(beside "$keys") $keys -o csv \
      </dev/null); then
      echo "options.sh: $title at $n tokens failed" >&2
      failed=1
      continue
    fi
    read -r ms gflops fraction < <(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
      NR == 2 { print $at["ms_median"], $at["gflops"], $at["roof_fraction"] }' <<<"$text")
    plain=${plain:-$ms}
    awk -v t="$title" -v n="$n" -v ms="$ms" -v g="$gflops" -v f="$fraction" -v p="$plain" \
      'BEGIN { printf "| %s | %d | %.3g | %.4g | %.0f%% | %.2f |\n", t, n, ms, g, 100 * f, ms / p }'
  done < <(grep -v '^#' tests/bench/options.txt)
done; done
exit $failed
