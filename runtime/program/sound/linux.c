/* linux.c - opens files of sound by their paths. */
#include "program/sound/file.h"

SNDFILE *attn2c_sound_file(const char *path, SF_INFO *info) { return sf_open(path, SFM_READ, info); }
