#!/usr/bin/env bash
# Runs all suites, prints what fails, and ends with one line: N passed, N failed.
# Each suite writes its results in TAP form to out/test/; a suite that breaks off counts as a failure.
set -u
cd "$(dirname "$0")/.."
mkdir -p out/test
rm -f out/test/*.tap out/test/*.end
broken=0

# start NAME COMMAND...: the command's TAP goes to out/test/NAME.tap, its status and seconds to NAME.end
start() {
  local name=$1 begin=$SECONDS
  shift
  "$@" >"out/test/$name.tap" 2>"out/test/$name.log"
  echo $? $((SECONDS - begin)) >"out/test/$name.end"
}

# finish NAME: says how it ended, once it has
finish() {
  local name=$1 status seconds passed failed
  read -r status seconds <"out/test/$name.end"
  passed=$(grep -c '^ok ' "out/test/$name.tap")
  failed=$(grep -c '^not ok ' "out/test/$name.tap")
  printf '%-28s %4d passed %3d failed  %3d s\n' "$name" "$passed" "$failed" "$seconds"
  if [ "$failed" -gt 0 ]; then grep -A 12 '^not ok ' "out/test/$name.tap"; fi
  if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ] || [ "$((passed + failed))" -eq 0 ]; then
    echo "not ok 1 $name broke off with status $status" >>"out/test/$name.tap"
    tail -n 20 "out/test/$name.log"
    broken=1
  fi
}

run() {
  start "$@"
  finish "$1"
}

spec() { start "$(basename "$1" .lua)" lua5.4 /usr/bin/busted -o TAP "$1"; }

# The longest goes on beside all others.
beside=tests/spec/models_spec.lua
spec $beside &
beside_job=$!

make -s --no-print-directory -f tests/c/build.mk || { kill $beside_job; echo "the C tests do not compile"; echo "0 passed, 1 failed"; exit 1; }
for program in out/test/bin/test_*; do
  case $program in *.d | *.o) continue ;; esac
  run "c_$(basename "$program")" "$program" --tap --jobs 2 --color=never
done
for file in tests/spec/*_spec.lua; do
  [ $file = $beside ] && continue
  spec $file
  finish "$(basename $file .lua)"
done
wait $beside_job
finish "$(basename $beside .lua)"
run lint tests/lint.sh

passed=$(cat out/test/*.tap | grep -c '^ok ')
failed=$(cat out/test/*.tap | grep -c '^not ok ')
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$broken" -eq 0 ]
