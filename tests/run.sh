#!/usr/bin/env bash
# Runs all suites, at any time one more than there are processors and those that only wait, and prints the tests that
# fail. The last line is "N passed, N failed". Each suite writes its results in TAP form to out/test/; one that breaks
# off counts as a failure.
set -u
cd "$(dirname "$0")/.."
mkdir -p out/test
export XDG_CACHE_HOME=$PWD/out/test/cache # all suites share one compiled runtime, which is not the user's
# The compiler frees small tables as often as it makes them: memory that is merged at once, and kept, takes it less time.
# A process of specs starts thousands of others. Large pages make it cheap to copy.
export GLIBC_TUNABLES=glibc.malloc.mxfast=0:glibc.malloc.trim_threshold=67108864:glibc.malloc.hugetlb=1
# Suites make and remove tens of thousands of files, which takes ten times as long on some disks as in memory.
free() { awk -v name="$1:" '$1 == name { print $2 }' /proc/meminfo; }
if [ -z "${TMPDIR:-}" ] && [ "$(df -k --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt 2000000 ] 2>/dev/null &&
  [ "$(free MemAvailable)" -gt 4000000 ] && memory=$(mktemp -d /dev/shm/attn2c.XXXXXX); then
  trap 'rm -rf "$memory"' EXIT
  cp "$(type -P true)" "$memory/true"
  chmod 1777 "$memory" # some suites run programs as another user
  if "$memory/true" 2>/dev/null; then export TMPDIR=$memory; fi # else its files do not execute
fi
rm -f out/test/*.tap out/test/*.end out/test/*.time
broken=0
gen/attn2c machine >out/test/machine.txt 2>&1 # suites that look at standard error find the facts of this machine

# start NAME COMMAND...: runs a suite. Its TAP is written to out/test/NAME.tap; its status, its seconds and its
# processor seconds to NAME.end.
start() {
  local name=$1 begin=$SECONDS status TIMEFORMAT='%U %S'
  shift
  { time "$@" >"out/test/$name.tap" 2>"out/test/$name.log"; } 2>"out/test/$name.time"
  status=$?
  echo "$status $((SECONDS - begin)) $(awk '{ printf "%.0f", $1 + $2 }' "out/test/$name.time")" >"out/test/$name.ending"
  mv "out/test/$name.ending" "out/test/$name.end" # so that NAME.end is never incomplete
}

# finish NAME: prints the results of a suite that has ended
finish() {
  local name=$1 status seconds processor passed failed
  read -r status seconds processor <"out/test/$name.end"
  passed=$(grep -c '^ok ' "out/test/$name.tap")
  failed=$(grep -c '^not ok ' "out/test/$name.tap")
  printf '%-28s %4d passed %3d failed  %3d s, %3d s of a processor\n' "$name" "$passed" "$failed" "$seconds" "$processor"
  if [ "$failed" -gt 0 ]; then grep -A 12 '^not ok ' "out/test/$name.tap"; fi
  if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ] || [ "$((passed + failed))" -eq 0 ]; then
    echo "not ok 1 $name broke off with status $status" >>"out/test/$name.tap"
    tail -n 20 "out/test/$name.log"
    broken=1
  fi
}

# name_of FILE: tests/spec/passes/plan/ahead_spec.lua becomes passes_plan_ahead
name_of() { local name=${1#tests/spec/}; name=${name%_spec.lua}; echo "${name//\//_}"; }

width=$(($(nproc) + 1)) # while a suite waits for a clock or the disk, another one computes
names=()
waiting=" whole_ranks whole_ranks_program " # for ranks that end each other: they take no place of those that compute

# Returns how many of the suites that run compute.
computing() {
  local name count=0
  for name in "${names[@]}"; do [[ $waiting == *" $name "* ]] || count=$((count + 1)); done
  echo "$count"
}

# Prints the results of the suites that have ended, and forgets these suites.
settle() {
  local name left=()
  for name in "${names[@]}"; do
    if [ -e "out/test/$name.end" ]; then finish "$name"; else left+=("$name"); fi
  done
  names=("${left[@]}")
}

# beside NAME COMMAND...: starts a suite in the background, once fewer than `width` compute
beside() {
  while [ "$(computing)" -ge "$width" ]; do
    wait -n
    settle
  done
  start "$@" &
  names+=("$1")
}

# Compiles the C tests, as a suite of one test.
compile_c() {
  make -s --no-print-directory -j"$(nproc)" -f tests/c/build.mk >&2 && echo "ok 1 - the C tests compile"
}

# until_end NAME: waits for the end of a suite that was started
until_end() {
  while [ ! -e "out/test/$1.end" ]; do
    wait -n
    settle
  done
}

# The longest suites start first, so that no processor waits for the last: this list, the other suites of the whole,
# the specs of modules, lint, then the C tests. Suites that need the same objects of the runtime at once share the work
# (gen/common/store).
longest=$(printf 'tests/spec/%s_spec.lua\n' passes/common/tuning \
  whole/{models,builds,hf,bad_input,install,machines,say,calibrate,precision,guest,divided,bindings,faults,report} \
  whole/repeat kernels/compiled checkpoints/values \
  whole/{threads,any_threads,forms,targets,any_goldens,torch,continued,oracle,any_same,generate,any_types,lists})
whole=$(find tests/spec/whole -name '*_spec.lua' | sort | grep -vxF "$longest")
whole=$(grep ranks <<<"$whole"; grep -v ranks <<<"$whole")
beside c_tests compile_c # other suites run, too, and fill the processors when few files are left
for file in $longest; do
  beside "$(name_of "$file")" lua5.4 /usr/bin/busted -o TAP "$file"
done
until_end c_tests # some of the next suites need these programs
for file in $whole; do
  beside "$(name_of "$file")" lua5.4 /usr/bin/busted -o TAP "$file"
done
# Most specs of modules take less time than to start busted and to compile the modules: a folder's share a process.
units=$(find tests/spec -name '*_spec.lua' ! -path '*/whole/*' | sort | grep -vxF "$longest")
for folder in $(xargs dirname <<<"$units" | sort -u); do
  name=${folder#tests/}
  beside "${name//\//_}" lua5.4 /usr/bin/busted -o TAP $(grep -x "$folder/[^/]*" <<<"$units")
done
beside lint tests/lint.sh
for program in out/test/bin/test_*; do
  case $program in *.d | *.o) continue ;; esac
  beside "c_$(basename "$program")" "$program" --tap --jobs 1 --color=never
done
while [ "${#names[@]}" -gt 0 ]; do
  wait -n
  settle
done

passed=$(cat out/test/*.tap | grep -c '^ok ')
failed=$(cat out/test/*.tap | grep -c '^not ok ')
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$broken" -eq 0 ]
