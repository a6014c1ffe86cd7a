#!/bin/sh
# deb.sh: a Debian package of what install.sh puts below /usr, as out/deb/attn2c_VERSION_all.deb. The same tree gives
# the same bytes. $packages, $recommended: what it depends on, what it recommends; DEBFULLNAME, DEBEMAIL: who maintains
# it, as in Debian's own tools.
set -eu
umask 022
export LC_ALL=C TZ=UTC
told=$($LUA gen/deploy/control.lua version)
version=${told% *}
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(date -u -d "${told#* }" +%s)}"
file=out/deb/attn2c_${version}_all.deb

mkdir -p out/deb
stage=$(mktemp -d out/deb/stage.XXXXXX)
trap 'rm -rf "$stage"' EXIT
chmod 755 "$stage"
DESTDIR=$PWD/$stage sh gen/deploy/install.sh

install -d -m 755 "$stage/DEBIAN" "$stage$docdir"
gzip -9n "$stage$mandir"/man*/*
$LUA gen/deploy/control.lua copyright >"$stage$docdir/copyright"
$LUA gen/deploy/control.lua changelog | gzip -9nc >"$stage$docdir/changelog.gz"
(cd "$stage" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$stage/DEBIAN/md5sums"
# As dpkg counts: KiB, begun ones as whole, and one for whatever is no file.
size=$(find "$stage/usr" -printf '%y %s\n' | awk '{ n += $1 == "f" ? int(($2 + 1023) / 1024) : 1 } END { print n }')
$LUA gen/deploy/control.lua control "$size" >"$stage/DEBIAN/control"
find "$stage" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zgzip --build "$stage" "$file" >"$stage.said" || {
  cat "$stage.said" >&2
  exit 4
}
rm -f "$stage.said"
echo "$file"
if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error,warning "$file"
else
  echo "lintian is not installed: the package is not checked by it" >&2
fi
