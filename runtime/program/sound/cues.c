#include "program/sound/cues.h"

#include <math.h>

#include "program/answers/answers.h"

int attn2c_cues_check(attn2c_answer_format format, int sounds, attn2c_message *message) {
  if (format < ATTN2C_ANSWERS_SRT || sounds < 2) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_USAGE, "--format srt and vtt: one sound is allowed, but %d are given",
                     sounds);
}

void attn2c_cues_begin(attn2c_answer_format format, FILE *out) {
  if (format == ATTN2C_ANSWERS_VTT) fputs("WEBVTT\n", out);
}

/* Writes hours:minutes:seconds, and the point of a format before milliseconds. */
static void write_time(double seconds, char point, FILE *out) {
  const long long ms = llround(seconds * 1000.0);
  fprintf(out, "%02lld:%02lld:%02lld%c%03lld", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, point,
          ms % 1000);
}

/* Writes a text, in which WebVTT has names for some characters. */
static void write_text(const attn2c_cue *cue, int is_vtt, FILE *out) {
  static const char *const names[] = {"&amp;", "&lt;", "&gt;"};
  static const char named[] = "&<>";
  for (size_t at = 0; at < cue->length;) {
    size_t length = 0;
    while (at + length < cue->length && !(is_vtt && memchr(named, cue->text[at + length], 3))) length++;
    attn2c_safe_write(cue->text + at, length, out);
    at += length;
    if (at < cue->length) fputs(names[strchr(named, cue->text[at++]) - named], out);
  }
}

void attn2c_cue_write(attn2c_answer_format format, const attn2c_cue *cue, int64_t number, const char *name,
                      FILE *out) {
  const int is_srt = format == ATTN2C_ANSWERS_SRT, is_vtt = format == ATTN2C_ANSWERS_VTT;
  if (is_srt) fprintf(out, "%s%" PRId64 "\n", number > 1 ? "\n" : "", number);
  if (is_vtt) fputc('\n', out);
  if (is_srt || is_vtt) {
    write_time(cue->begin, is_srt ? ',' : '.', out);
    fputs(" --> ", out);
    write_time(cue->end, is_srt ? ',' : '.', out);
    fputc('\n', out);
  } else {
    if (name) attn2c_safe_write(name, strlen(name), out);
    fprintf(out, "%s%.2f\t%.2f\t", name ? "\t" : "", cue->begin, cue->end);
  }
  write_text(cue, is_vtt, out);
  fputc('\n', out);
}

json_t *attn2c_cue_json(const char *key, const attn2c_cue *cue) {
  return json_pack("{s:o, s:o, s:o}", key, attn2c_json_text(cue->text, cue->length), "begin",
                   attn2c_json_number(round(cue->begin * 1000.0) / 1000.0), "end",
                   attn2c_json_number(round(cue->end * 1000.0) / 1000.0));
}
