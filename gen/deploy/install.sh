#!/bin/sh
# install.sh: installs attn2c, its manual and its completions below $DESTDIR; `install.sh remove` removes them.
# It runs at the top of the repository. install.mk exports the folders: bindir, datadir, docdir, mandir, bashdir,
# zshdir, fishdir.
set -eu
umask 022
stage=${DESTDIR-}
home=$datadir/attn2c

fail() { # fail STATUS MESSAGE
  echo "make: $2" >&2
  exit "$1"
}

# remove: removes only folders and names that belong to attn2c
remove() {
  for part in gen templates runtime models; do rm -rf "$stage$home/$part"; done
  for part in gen models runtime tests; do rm -rf "$stage$docdir/$part"; done
  rm -f "$stage$bindir/attn2c" "$stage$mandir/man1/attn2c.1" \
    "$stage$mandir/man1/attn2c-program.1" "$stage$mandir/man5/attn2c.5" \
    "$stage$bashdir/attn2c" "$stage$zshdir/_attn2c" "$stage$fishdir/attn2c.fish" "$stage$docdir/README.md"
  for folder in "$home" "$docdir"; do
    if [ -d "$stage$folder" ]; then rmdir --ignore-fail-on-non-empty "$stage$folder"; fi
  done
}

# tree FOLDER TEST...: copies the files below a folder that pass find's test
tree() {
  top=$1
  shift
  mkdir -p "$stage$home"
  find "$top" -type f ! -path '*/.*' "$@" -exec cp --parents -t "$stage$home" -- {} +
  find "$stage$home/$top" -type d -exec chmod 755 {} + -o -exec chmod 644 {} +
}

# page FILE FOLDER [NAME]: installs one file into a folder, as NAME or under its own name
page() {
  install -d -m 755 "$stage$2"
  install -m 644 "$1" "$stage$2/${3-${1##*/}}"
}

for place in "$bindir" "$datadir" "$docdir" "$mandir" "$bashdir" "$zshdir" "$fishdir"; do
  case $place in
    /*) ;;
    *) fail 2 "cannot install below '$place': an absolute path is needed" ;;
  esac
done
if [ "$stage$home" -ef . ]; then fail 2 "cannot install over the repository itself"; fi

if [ "${1-}" = remove ]; then
  remove
  exit
fi

pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
$LUA gen/deploy/pages.lua "$pages" 2>"$pages/said" ||
  fail 6 "cannot write the manual; \`make packages\` installs what is missing: $(head -n 1 "$pages/said")"

remove # the files of an older version
tree gen -name '*.lua' ! -path 'gen/deploy/*'
install -m 755 gen/attn2c "$stage$home/gen/attn2c"
tree templates '(' -name '*.in' -o -name 'report.*' ')'
tree runtime '(' -name '*.c' -o -name '*.h' -o -name '*.html' -o -name '*.txt' -o -name '*.py' ')'
tree models '(' -name '*.lua' -o -name '*.json' -o -name '*.safetensors' -o -name '*.npy' \
  -o -name '*.wav' -o -path 'models/examples/*' ')'

# The link is relative, so that it also works below $DESTDIR.
install -d -m 755 "$stage$bindir"
ln -s "$(realpath -m --relative-to="$stage$bindir" "$stage$home/gen/attn2c")" "$stage$bindir/attn2c"
page "$pages/attn2c.1" "$mandir/man1"
page "$pages/attn2c-program.1" "$mandir/man1"
page "$pages/attn2c.5" "$mandir/man5"
page "$pages/attn2c.bash" "$bashdir" attn2c
page "$pages/_attn2c" "$zshdir"
page "$pages/attn2c.fish" "$fishdir"

# The pages for users keep their folders, so that links from one to another work.
for name in README.md gen/README.md gen/checkpoints/README.md gen/commands/README.md gen/deploy/CHANGELOG.md \
  models/README.md models/digits/README.md models/examples/README.md models/examples/pipeline.svg \
  models/language/README.md \
  models/numbers/README.md models/speaker/README.md models/speaker/report.png models/tales/README.md \
  runtime/README.md runtime/generate/README.md runtime/grammar/README.md runtime/picture/README.md \
  runtime/program/serve/README.md runtime/sound/README.md \
  runtime/text/README.md tests/bench/README.md tests/bench/LOG.md tests/bench/peers/README.md; do
  page "$name" "$docdir/$(dirname "$name")"
done
