#!/bin/sh
# wheel.sh: makes the Python package out/wheel/attn2c-VERSION-py3-none-any.whl of the files that install.sh puts into
# attn2c/, without the models. The same tree gives the same bytes.
set -eu
umask 022
export LC_ALL=C
mkdir -p out/wheel
stage=$(mktemp -d out/wheel/stage.XXXXXX)
trap 'rm -rf "$stage"' EXIT
export datadir=/site bindir=/other docdir=/other mandir=/other bashdir=/other zshdir=/other fishdir=/other
DESTDIR=$PWD/$stage sh gen/deploy/install.sh
rm -rf "$stage/site/attn2c/models" out/wheel/attn2c-*.whl
mkdir "$stage/made"
$LUA gen/deploy/wheel.lua "$PWD/$stage/site" "$PWD/$stage/made"
mv "$stage"/made/*.whl out/wheel/
