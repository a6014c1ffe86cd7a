#!/usr/bin/env bash
# The style of the project as tests, in TAP form: clang-format, luacheck, long files, stray words.
set -u
cd "$(dirname "$0")/.."
number=0
verdict() { # verdict NAME COMMAND...
  local name=$1 output
  shift
  number=$((number + 1))
  if output=$("$@" 2>&1); then
    echo "ok $number $name"
  else
    echo "not ok $number $name"
    echo "$output" | head -n 10 | sed 's/^/# /'
  fi
}
c_files() { git ls-files -co --exclude-standard '*.c' '*.h'; }
no_long_files() { ! git ls-files '*.lua' '*.c' '*.h' '*.in' | xargs wc -l | awk '$2 != "total" && $1 > 700' | grep .; }
no_leftovers() { ! git grep -nE '\b(TODO|FIXME|XXX|HACK)\b' -- gen runtime templates models tests Makefile ':!tests/lint.sh'; }

verdict "clang-format" clang-format --dry-run --Werror $(c_files)
verdict "luacheck" luacheck -q --no-color .
verdict "luacheck of the command" luacheck -q --no-color --std lua54 gen/attn2c
verdict "no file is longer than 700 lines" no_long_files
verdict "nothing is left to do in the source" no_leftovers
echo "1..$number"
