#!/bin/sh
# libraries.sh - builds the libraries that programs and models of texts need on Windows, which Debian has as sources
# only: libraries.sh FOLDER makes FOLDER/include and FOLDER/lib. Sources are Debian's, with its patches. They come by a
# configuration of apt of its own, so that the machine's stays as it is.
set -eu
folder=$(mkdir -p "$1" && cd "$1" && pwd)

# Name of the source, file of the library, and options of cmake. A later one may need an earlier one.
list() { cat <<'END'
utf8proc libutf8proc.a
pcre2 libpcre2-8.a -DPCRE2_BUILD_PCRE2GREP=OFF -DPCRE2_BUILD_TESTS=OFF -DPCRE2_SUPPORT_JIT=ON
jansson libjansson.a -DJANSSON_BUILD_DOCS=OFF -DJANSSON_EXAMPLES=OFF -DJANSSON_WITHOUT_TESTS=ON
libevent libevent_core.a -DEVENT__LIBRARY_TYPE=STATIC -DEVENT__DISABLE_OPENSSL=ON -DEVENT__DISABLE_THREAD_SUPPORT=ON -DEVENT__DISABLE_TESTS=ON -DEVENT__DISABLE_SAMPLES=ON -DEVENT__DISABLE_BENCHMARK=ON
zlib libz.a
libpng1.6 libpng16.a -DPNG_SHARED=OFF -DPNG_TESTS=OFF
libjpeg-turbo libjpeg.a -DENABLE_SHARED=OFF -DWITH_SIMD=OFF -DWITH_TURBOJPEG=OFF
libsndfile libsndfile.a -DBUILD_PROGRAMS=OFF -DBUILD_EXAMPLES=OFF -DBUILD_TESTING=OFF -DENABLE_EXTERNAL_LIBS=OFF -DENABLE_MPEG=OFF
libsoxr libsoxr.a -DBUILD_TESTS=OFF -DWITH_OPENMP=OFF -DWITH_LSR_BINDINGS=OFF
END
}

missing=$(list | while read -r name file _; do [ -e "$folder/lib/$file" ] || echo "$name"; done)
[ "$missing" ] || exit 0
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
  APT_CONFIG=$work/apt.conf apt-get -qq source $missing
} > apt.log 2>&1 || { tail -n 5 apt.log >&2; exit 4; }
compiler=x86_64-w64-mingw32
build() {
  name=$1 file=$2
  shift 2
  if [ "$name" = zlib ]; then # Debian has left out its files for Windows
    (cd zlib-* && $compiler-gcc -O2 -c adler32.c crc32.c compress.c uncompr.c deflate.c inf*.c trees.c zutil.c &&
      $compiler-ar rcsD libz.a *.o && cp zlib.h zconf.h "$folder/include/" && cp libz.a "$folder/lib/")
    return
  fi
  cmake -S "$name"-[0-9]* -B "build-$name" -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_SYSTEM_PROCESSOR=x86_64 \
    -DCMAKE_C_COMPILER=$compiler-gcc -DCMAKE_CXX_COMPILER=$compiler-g++ -DCMAKE_RC_COMPILER=$compiler-windres \
    -DCMAKE_FIND_ROOT_PATH="$folder" -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY \
    -DCMAKE_C_FLAGS=-D__USE_MINGW_ANSI_STDIO=1 -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DCMAKE_INSTALL_PREFIX="$folder" -DCMAKE_INSTALL_LIBDIR="$folder/lib" "$@"
  cmake --build "build-$name" -j 2
  cmake --install "build-$name"
}
list | while read -r name file options; do
  case " $(echo $missing) " in *" $name "*) ;; *) continue ;; esac
  # shellcheck disable=SC2086
  build "$name" "$file" $options > build.log 2>&1 < /dev/null && [ -e "$folder/lib/$file" ] ||
    { tail -n 20 build.log >&2; exit 4; }
done
