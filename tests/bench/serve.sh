#!/usr/bin/env bash
# Embeddings by 32 clients at once against one `run --text` over the same lines, in turn: rates, and the processor's time
# for a line, which other processes on the machine disturb less.
#
#   serve.sh PROGRAM WEIGHTS FILE      a program of build --serve. ROUNDS=3, CLIENTS=32
set -eu
program=$1 weights=$2 file=$3
folder=$(mktemp -d)
trap 'kill $server 2>/dev/null; rm -rf "$folder"' EXIT
server=
cc -O2 -o "$folder/load" "$(dirname "$0")/serve_load.c"
lines=$(wc -l <"$file")
ticks=$(getconf CLK_TCK)

"$program" serve --weights "$weights" --port 0 --log none >"$folder/out" &
server=$!
for _ in $(seq 200); do grep -q : "$folder/out" && break || sleep 0.05; done
port=$(sed -n 's/.*:\([0-9]*\)$/\1/p' "$folder/out")

used() { awk '{ print $14 + $15 }' "/proc/$server/stat"; }
for _ in $(seq "${ROUNDS:-3}"); do
  TIMEFORMAT='run: %R s, %U s and %S s of the processor'
  time "$program" run --weights "$weights" --text-file "$file" --format npy >"$folder/npy"
  from=$(used)
  "$folder/load" "$port" "$file" "${CLIENTS:-32}"
  to=$(used)
  awk -v t="$((to - from))" -v k="$ticks" -v n="$lines" \
    'BEGIN { printf "serve: %.2f s of the processor, %.0f us for a line\n", t / k, 1e6 * t / k / n }'
done
