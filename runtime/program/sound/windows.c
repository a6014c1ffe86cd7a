/* windows.c - opens files of sound by Windows' own paths. */
#include "system/system.h"

#include <windows.h>
#define ENABLE_SNDFILE_WINDOWS_PROTOTYPES 1
#include "program/sound/file.h"

SNDFILE *attn2c_sound_file(const char *path, SF_INFO *info) {
  wchar_t wide[PATH_MAX];
  return attn2c_system_wide(path, wide) ? sf_wchar_open(wide, SFM_READ, info) : NULL;
}
