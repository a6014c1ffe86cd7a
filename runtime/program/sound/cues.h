/* cues.h - writes what is said with its times: as a line of text, JSON, or a cue of SubRip (SRT) or WebVTT.
 */
#pragma once

#include <jansson.h>

#include "program/arguments.h"

/* A text that is said from `begin` to `end`, in seconds. */
typedef struct {
  double begin, end;
  const char *text;
  size_t length;
} attn2c_cue;

/* Returns ATTN2C_USAGE if cues are to be written of several sounds. */
int attn2c_cues_check(attn2c_answer_format format, int sounds, attn2c_message *message);

/* Writes what a file of cues begins with. */
void attn2c_cues_begin(attn2c_answer_format format, FILE *out);

/* Writes a cue. number: from 1; name: of its file, before a line of text; NULL: none. */
void attn2c_cue_write(attn2c_answer_format format, const attn2c_cue *cue, int64_t number, const char *name,
                      FILE *out);

/* Returns { KEY: text, "begin":, "end": }; NULL without memory. */
json_t *attn2c_cue_json(const char *key, const attn2c_cue *cue);
