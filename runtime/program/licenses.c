/* licenses.c - the notices of what is linked into an emitted program, as their licences ask for
 * them. ATTN2C_STATIC: the C library is inside; ATTN2C_STATIC_TEXT: so are utf8proc and PCRE2;
 * ATTN2C_STATIC_PICTURES: so are libpng and libjpeg-turbo; ATTN2C_STATIC_SOUND: libsndfile, its codecs and
 * libsoxr; ATTN2C_STATIC_ZLIB: so is zlib, which packs texts of speech and reads pictures;
 * ATTN2C_STATIC_SERVE: so is libevent. */
#include "program/commands.h"
#include "system/bytes.h"

/* clang-format off */
#define FIRST(name) ".incbin \"program/licenses/" name ".txt\"\n"
#define RULE "----------------------------------------------------------------------------"
#define NEXT(name) ".ascii \"\\n" RULE "\\n\\n\"\n" FIRST(name)

/* The texts of licenses/, one after the other, among the constants. */
__asm__(ATTN2C_BYTES_BEGIN("attn2c_notices", "1")
        FIRST("attn2c") NEXT("jansson")
#ifdef ATTN2C_WITH_LIBXSMM
        NEXT("libxsmm")
#endif
#if defined(ATTN2C_STATIC) && defined(__GLIBC__)
        NEXT("glibc")
#elif defined(_WIN32)
        NEXT("mingw")
#elif defined(ATTN2C_STATIC)
        NEXT("musl")
#endif
#ifdef ATTN2C_STATIC_TEXT
        NEXT("utf8proc") NEXT("pcre2")
#endif
#ifdef ATTN2C_STATIC_PICTURES
        NEXT("libpng") NEXT("jpeg")
#endif
#ifdef ATTN2C_STATIC_SOUND
        NEXT("sound")
#endif
#ifdef ATTN2C_STATIC_ZLIB
        NEXT("zlib")
#endif
#ifdef ATTN2C_STATIC_SERVE
        NEXT("libevent")
#endif
        ATTN2C_BYTES_END("attn2c_notices"));
/* clang-format on */
ATTN2C_BYTES_SYMBOLS(attn2c_notices);

void attn2c_licenses(FILE *out) {
  fwrite(attn2c_notices, 1, (size_t)(attn2c_notices_end - attn2c_notices), out);
}
