/* versions.h - what a build reads of its libraries: their versions, which these headers define as macros.
 * No code includes it. ATTN2C_WITH_LIBXSMM, ATTN2C_WITH_TEXT: what the model is linked with. */
#include <jansson.h>
#include <limits.h>
#ifdef ATTN2C_WITH_LIBXSMM
#include <libxsmm_version.h>
#endif
#ifdef ATTN2C_WITH_TEXT
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <utf8proc.h>
#endif
