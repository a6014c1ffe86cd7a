#!/usr/bin/env bash
# Checks the style of the project, in TAP form: clang-format, luacheck, long files, leftover marks.
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
files() { find gen runtime templates models tests -type f \( "$@" \); }
c_files() { files -name '*.c' -o -name '*.h'; }
no_long_files() { ! all_code | xargs wc -l | awk '$2 != "total" && $1 > 700' | grep .; }
all_code() { files -name '*.lua' -o -name '*.py' -o -name '*.c' -o -name '*.h' -o -name '*.in'; }
no_leftovers() { ! files -name '*' | xargs grep -nIE '\b(TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b|^(<<<<<<[<]|>>>>>>[>]) ' | grep .; }

verdict "clang-format" clang-format --dry-run --Werror $(c_files)
verdict "luacheck" luacheck -q --no-color gen models tests
verdict "luacheck of the command" luacheck -q --no-color --std lua54 gen/attn2c
verdict "no file is longer than 700 lines" no_long_files
verdict "nothing is left to do in the source" no_leftovers
verdict "plain words in comments, messages and README files" lua5.4 tests/words.lua
echo "1..$number"
