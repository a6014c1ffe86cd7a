#!/usr/bin/env bash
# attn2c's own bench of the models in models.txt, as one Markdown table: builds each, verifies it, times it against the
# machine's roof, pinned to a core for each thread.
#
#   models.sh [MODEL ...]      only these; THREADS="1 2" in the environment: the numbers of threads
set -u
cd "$(dirname "$0")/../.."
list=tests/bench/models.txt
known=$(sed -n '/^#/d; s/;.*//p' $list)
for wanted in "$@"; do
  if ! grep -qx -- "$wanted" <<<"$known"; then
    echo "models.sh: $wanted: no such model; there are: ${known//$'\n'/, }" >&2
    exit 2
  fi
done

processors=$(nproc)
mapfile -t cores < <(taskset -cp $$ | sed 's/.*: //' | tr , '\n' |
  while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done)
for threads in ${THREADS:=$([ "$processors" -ge 2 ] && echo 1 2 || echo 1)}; do
  if ! [[ $threads =~ ^[1-9][0-9]?$ ]] || [ "$threads" -gt "$processors" ]; then
    echo "models.sh: THREADS: $threads: whole numbers from 1 to the $processors cores that may be used" >&2
    exit 2
  fi
done

failed=0
header=""
for threads in $THREADS; do
  pinned=$(IFS=,; echo "${cores[*]:0:threads}")
  while IFS=';' read -r name title description keys; do
    if [ $# -gt 0 ] && ! grep -qx -- "$name" <<<"$(printf '%s\n' "$@")"; then continue; fi
    # shellcheck disable=SC2086 # keys are words without spaces
    if ! gen/attn2c build $description name="race_${name}_$threads" $keys threads="$threads" >/dev/null </dev/null ||
      ! text=$(taskset -c "$pinned" "out/race_${name}_$threads/race_${name}_$threads" bench -o md </dev/null); then
      echo "models.sh: $name on $threads threads failed" >&2
      failed=1
      continue
    fi
    if [ -z "$header" ]; then
      header=$(grep '^|' <<<"$text" | head -n 2)
      echo "$header"
    fi
    grep '^|' <<<"$text" | tail -n +3 | sed "s#^| race_${name}_$threads |#|$title |#"
  done < <(grep -v '^#' $list)
done
exit $failed
