#!/usr/bin/env bash
# Two threads against one, on a quiet machine and beside busy processes: a model of models.txt, timed in turn, as one
# Markdown table.
#
#   load.sh [MODEL]      default: six128. BUSY="0 6": the numbers of busy processes; ROUNDS=5: turns of each
set -u
cd "$(dirname "$0")/../.."
wanted=${1:-six128}
keys=$(sed -n "s/^$wanted;[^;]*;//p" tests/bench/models.txt)
if [ -z "$keys" ]; then
  echo "load.sh: $wanted: no such model in tests/bench/models.txt" >&2
  exit 2
fi
busy=()
stop() {
  for process in "${busy[@]}"; do kill "$process" 2>/dev/null; done
  wait 2>/dev/null
  busy=()
}
trap stop EXIT

for threads in 1 2; do
  # shellcheck disable=SC2086 # keys are words without spaces
  gen/attn2c build ${keys/;/ } name="race_${wanted}_$threads" threads=$threads >/dev/null || exit 1
done

# The median of a run, in milliseconds.
time_of() {
  local program=out/race_${wanted}_$1/race_${wanted}_$1
  "$program" bench -r 20 -o csv | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
    NR == 2 { print $column["ms_median"] }'
}
middle() { printf '%s\n' "$@" | sort -g | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }

echo "| busy processes | one thread, ms | two threads, ms | one / two |"
echo "|---------------:|---------------:|----------------:|----------:|"
for number in ${BUSY:-0 6}; do
  for _ in $(seq "$number"); do
    (while :; do :; done) &
    busy+=($!)
  done
  one=() two=()
  for _ in $(seq "${ROUNDS:-5}"); do
    one+=("$(time_of 1)")
    two+=("$(time_of 2)")
  done
  stop
  first=$(middle "${one[@]}") second=$(middle "${two[@]}")
  awk -v n="$number" -v a="$first" -v b="$second" 'BEGIN { printf "| %d | %.2f | %.2f | %.2f |\n", n, a, b, a / b }'
done
