#!/bin/sh
# libraries.sh - builds the libraries that programs and models of texts need on Windows, which Debian has as sources
# only: libraries.sh FOLDER makes FOLDER/include and FOLDER/lib. Sources are Debian's, with its patches. They come by a
# configuration of apt of its own, so that the machine's stays as it is.
set -eu
folder=$(mkdir -p "$1" && cd "$1" && pwd)

# Name of the source, file of the library, and options of cmake, or of configure. A later one may need an earlier one.
list() { cat <<'END'
utf8proc libutf8proc.a
pcre2 libpcre2-8.a -DPCRE2_BUILD_PCRE2GREP=OFF -DPCRE2_BUILD_TESTS=OFF -DPCRE2_SUPPORT_JIT=ON
jansson libjansson.a -DJANSSON_BUILD_DOCS=OFF -DJANSSON_EXAMPLES=OFF -DJANSSON_WITHOUT_TESTS=ON
libevent libevent_core.a -DEVENT__LIBRARY_TYPE=STATIC -DEVENT__DISABLE_OPENSSL=ON -DEVENT__DISABLE_THREAD_SUPPORT=ON -DEVENT__DISABLE_TESTS=ON -DEVENT__DISABLE_SAMPLES=ON -DEVENT__DISABLE_BENCHMARK=ON
zlib libz.a
libpng1.6 libpng16.a -DPNG_SHARED=OFF -DPNG_TESTS=OFF
libjpeg-turbo libjpeg.a -DENABLE_SHARED=OFF -DWITH_SIMD=OFF -DWITH_TURBOJPEG=OFF
libogg libogg.a -DINSTALL_DOCS=OFF -DBUILD_TESTING=OFF
libvorbis libvorbisenc.a
flac libFLAC.a -DBUILD_CXXLIBS=OFF -DBUILD_PROGRAMS=OFF -DBUILD_EXAMPLES=OFF -DBUILD_TESTING=OFF -DBUILD_DOCS=OFF -DINSTALL_MANPAGES=OFF -DWITH_STACK_PROTECTOR=OFF
opus libopus.a --disable-stack-protector --disable-extra-programs --disable-doc
mpg123 libmpg123.a -DBUILD_LIBOUT123=OFF -DBUILD_PROGRAMS=OFF -DBUILD_NO_LARGENAME=ON
lame libmp3lame.a --disable-frontend --disable-decoder
libsndfile libsndfile.a -DBUILD_PROGRAMS=OFF -DBUILD_EXAMPLES=OFF -DBUILD_TESTING=OFF
libsoxr libsoxr.a -DBUILD_TESTS=OFF -DWITH_OPENMP=OFF -DWITH_LSR_BINDINGS=OFF
END
}

# That the program's link finds with libsndfile.
codecs="libFLAC.a libvorbisenc.a libvorbis.a libogg.a libopus.a libmpg123.a libmp3lame.a"

made=$folder/$(cksum <"$0" | cut -d ' ' -f 1)
[ -e "$made" ] && exit 0
rm -rf "${folder:?}"/*
mkdir "$folder/include" "$folder/lib"
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
failed() { tail -n 20 "$1" >&2; exit 4; }
# Files are checked by apt's signed lists, so authors' signatures, which some mirrors lack, are not needed.
{
  APT_CONFIG=$work/apt.conf apt-get -qq update
  # shellcheck disable=SC2046
  APT_CONFIG=$work/apt.conf apt-get -qq -d source $(list | cut -d ' ' -f 1) || true
  for each in *.dsc; do
    sed -i '/\.asc$/d' "$each"
    dpkg-source -x "$each" || exit 4
  done
} > apt.log 2>&1 || failed apt.log
compiler=x86_64-w64-mingw32
export PKG_CONFIG_LIBDIR="$folder/lib/pkgconfig"
build() {
  name=$1 file=$2
  shift 2
  source=$(echo "$name"-[0-9]*)
  [ ! -e "$source/ports/cmake" ] || source=$source/ports/cmake
  if [ "$name" = zlib ]; then # Debian has left out its files for Windows
    (cd "$source" && $compiler-gcc -O2 -c adler32.c crc32.c compress.c uncompr.c deflate.c inf*.c trees.c zutil.c &&
      $compiler-ar rcsD libz.a *.o && cp zlib.h zconf.h "$folder/include/" && cp libz.a "$folder/lib/")
    return
  fi
  case ${1-} in --*)
    (cd "$source" && ./configure --host=$compiler --prefix="$folder" --disable-shared "$@" CFLAGS=-O2 && make -j 2 install)
    return
  esac
  cmake -S "$source" -B "build-$name" -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_SYSTEM_PROCESSOR=x86_64 \
    -DCMAKE_C_COMPILER=$compiler-gcc -DCMAKE_CXX_COMPILER=$compiler-g++ -DCMAKE_RC_COMPILER=$compiler-windres \
    -DCMAKE_FIND_ROOT_PATH="$folder" -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY \
    -DCMAKE_C_FLAGS='-D__USE_MINGW_ANSI_STDIO=1 -DFLAC__NO_DLL' -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DCMAKE_INSTALL_PREFIX="$folder" -DCMAKE_INSTALL_LIBDIR="$folder/lib" "$@"
  cmake --build "build-$name" -j 2
  cmake --install "build-$name"
}
list | while read -r name file options; do
  # shellcheck disable=SC2086
  build "$name" "$file" $options > build.log 2>&1 < /dev/null && [ -e "$folder/lib/$file" ] || failed build.log
done
cd "$folder/lib"
{
  echo create all.a
  for each in libsndfile.a $codecs; do echo "addlib $each"; done
  printf 'save\nend\n'
} | $compiler-ar -M
mv all.a libsndfile.a
touch "$made"
