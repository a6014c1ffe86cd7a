#!/bin/sh
# libraries.sh - builds the libraries of texts for Windows, which Debian has as sources only: libraries.sh FOLDER makes
# FOLDER/include and FOLDER/lib. Sources come by a configuration of apt of its own, so that the machine's stays as it is.
set -eu
folder=$(mkdir -p "$1" && cd "$1" && pwd)
[ -e "$folder/lib/libpcre2-8.a" ] && [ -e "$folder/lib/libutf8proc.a" ] && exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p lists/partial cache/archives/partial
. /etc/os-release
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $VERSION_CODENAME main" \
  > sources.list
cat > apt.conf <<END
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$work/lists";
Dir::Cache "$work/cache";
APT::Sandbox::User "root";
END
{
  APT_CONFIG=$work/apt.conf apt-get -qq update
  APT_CONFIG=$work/apt.conf apt-get -qq source --download-only utf8proc pcre2
} > apt.log 2>&1 || { tail -n 5 apt.log >&2; exit 4; }
for archive in *.orig.tar.gz; do tar xf "$archive"; done
mkdir -p "$folder/include" "$folder/lib"
compiler=x86_64-w64-mingw32-gcc
(cd utf8proc-* && "$compiler" -O2 -DUTF8PROC_STATIC -c utf8proc.c && x86_64-w64-mingw32-ar rcsD libutf8proc.a utf8proc.o &&
  cp libutf8proc.a "$folder/lib/" && cp utf8proc.h "$folder/include/")
{
  cmake -S pcre2-* -B pcre2 -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release \
    -DBUILD_SHARED_LIBS=OFF -DPCRE2_BUILD_PCRE2GREP=OFF -DPCRE2_BUILD_TESTS=OFF -DPCRE2_SUPPORT_JIT=ON
  cmake --build pcre2 --target pcre2-8-static
} > build.log 2>&1 || { tail -n 20 build.log >&2; exit 4; }
cp pcre2/libpcre2-8.a "$folder/lib/"
cp pcre2/pcre2.h "$folder/include/"
