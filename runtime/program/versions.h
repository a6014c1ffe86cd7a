/* versions.h - the headers whose macros tell a build the versions of its libraries. No code includes this
 * file. ATTN2C_WITH_LIBXSMM, _TEXT, _PICTURES, _SOUND, _SPEECH, _SERVE and _MPI say which libraries the
 * model is linked with. */
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
#ifdef ATTN2C_WITH_MPI
#include <mpi.h>
#endif
#ifdef ATTN2C_WITH_SOUND
#include <sndfile.h>
#include <soxr.h>
#endif
#ifdef ATTN2C_WITH_SERVE
#include <event2/event-config.h>
#endif
#ifdef ATTN2C_WITH_PICTURES
#include <stdio.h>

#include <jpeglib.h>
#include <png.h>
#endif
#if defined ATTN2C_WITH_PICTURES || defined ATTN2C_WITH_SPEECH
#include <zlib.h>
#endif
