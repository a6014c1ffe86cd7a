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

/* Characters that have a meaning in a format, and their replacements. SubRip has no names for characters: its
 * readers take a line with an arrow for one of times. */
static const struct {
  attn2c_answer_format format;
  const char *text, *name;
} meanings[] = {{ATTN2C_ANSWERS_VTT, "&", "&amp;"},
                {ATTN2C_ANSWERS_VTT, "<", "&lt;"},
                {ATTN2C_ANSWERS_VTT, ">", "&gt;"},
                {ATTN2C_ANSWERS_SRT, "-->", "->"}};

static void write_text(attn2c_answer_format format, const attn2c_cue *cue, FILE *out) {
  const size_t count = sizeof meanings / sizeof meanings[0];
  size_t from = 0;
  for (size_t at = 0; at < cue->length;) {
    size_t m = 0;
    while (m < count && (meanings[m].format != format || strlen(meanings[m].text) > cue->length - at ||
                         memcmp(cue->text + at, meanings[m].text, strlen(meanings[m].text)) != 0))
      m++;
    if (m == count) {
      at++;
      continue;
    }
    attn2c_safe_write(cue->text + from, at - from, out);
    fputs(meanings[m].name, out);
    from = at += strlen(meanings[m].text);
  }
  attn2c_safe_write(cue->text + from, cue->length - from, out);
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
  write_text(format, cue, out);
  fputc('\n', out);
}

json_t *attn2c_cue_json(const char *key, const attn2c_cue *cue) {
  return json_pack("{s:o, s:o, s:o}", key, attn2c_json_text(cue->text, cue->length), "begin",
                   attn2c_json_number(round(cue->begin * 1000.0) / 1000.0), "end",
                   attn2c_json_number(round(cue->end * 1000.0) / 1000.0));
}
