/* file.h - opens a file of sound. linux.c and windows.c, beside this file, implement it. */
#pragma once

#include <sndfile.h>

/* As sf_open, for reading. path: in UTF-8. NULL with the format SF_FORMAT_OPUS: the file is Opus, whose
 * samples were not Linux' when this was tried on Windows. */
SNDFILE *attn2c_sound_file(const char *path, SF_INFO *info);
