/* file.h - opens a file of sound. linux.c and windows.c, beside this file, implement it. */
#pragma once

#include <sndfile.h>

/* As sf_open, for reading. path: in UTF-8. */
SNDFILE *attn2c_sound_file(const char *path, SF_INFO *info);
