/* whole.h - what libsndfile does not say about a file of sound: that it was cut, that it goes on after the
 * part that is read, or where the samples of an unfinished WAV file are. */
#pragma once

#include "program/sound/file.h"
#include "base/attn2c.h"

/* Refuses an open file that was cut, or whose end libsndfile would not read. Sets the least
 * frames that reading it must give. Returns ATTN2C_OK or _FORMAT. */
int attn2c_sound_whole(SNDFILE *file, const SF_INFO *info, const char *path, sf_count_t *least,
                       attn2c_message *message);

/* Opens a WAV file whose header says that it has no samples as what a program writes that cannot go back to
 * its header: all after the header are samples. Returns it instead of `file`, which it closes, and sets
 * info->frames; or `file`. */
SNDFILE *attn2c_sound_unfinished(SNDFILE *file, SF_INFO *info, const char *path);
