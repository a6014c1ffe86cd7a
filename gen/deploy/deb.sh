#!/bin/sh
# deb.sh: makes the Debian package out/deb/attn2c_VERSION_all.deb of the files that install.sh puts below /usr.
# The same tree gives the same bytes. $packages and $recommended list the packages that it depends on and recommends.
# DEBFULLNAME and DEBEMAIL name the maintainer, as in Debian's own tools.
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
# Counts as dpkg does: each file in KiB, rounded up, and 1 for anything else.
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
  echo "lintian is not installed: it does not check the package" >&2
fi
