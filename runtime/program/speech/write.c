/* write.c - writes what is said: as text, as lines or cues with times, or as JSON. */
#include <math.h>

#include "program/output.h"
#include "program/sound/cues.h"
#include "program/speech/job.h"

/* Returns a cue without spaces at its beginning. */
static attn2c_cue cue_of(double begin, double end, const char *text, size_t length) {
  while (length > 0 && *text == ' ') text++, length--;
  return (attn2c_cue){begin, end, text, length};
}

static attn2c_cue word_of(const attn2c_said_word *word) {
  return cue_of(word->begin, word->end, word->text, word->length);
}

static int write_json(const attn2c_speech_job *job, const attn2c_speech_place *place,
                      const attn2c_said *said) {
  attn2c_cue cue = cue_of(said->begin, said->end, said->text, said->length);
  if (job->arguments->context) cue.text = said->text, cue.length = said->length; /* as a server joins them */
  json_t *object = attn2c_cue_json("text", &cue), *ids = json_array();
  if (!attn2c_speech_knows_times(job->model))
    for (int i = 0; i < 2; i++) json_object_del(object, i ? "end" : "begin");
  int failed = json_object_set_new(object, "audio", attn2c_json_text(place->name, strlen(place->name)));
  for (int32_t i = 0; i < said->count; i++) failed |= json_array_append_new(ids, json_integer(said->ids[i]));
  failed |= json_object_set_new(object, "ids", ids);
  if (said->language) failed |= json_object_set_new(object, "language", json_string(said->language));
  failed |= json_object_set_new(object, "temperature", attn2c_json_number(said->temperature));
  failed |= json_object_set_new(object, "score", attn2c_json_number(said->score));
  failed |= json_object_set_new(object, "compression", attn2c_json_number(said->compression));
  failed |= json_object_set_new(object, "silence", attn2c_json_number(said->silence));
  json_t *words = job->options.has_words ? json_array() : NULL;
  for (int32_t i = 0; i < said->word_count; i++) {
    const attn2c_cue word = word_of(&said->words[i]);
    failed |= json_array_append_new(words, attn2c_cue_json("word", &word));
  }
  json_t *times = said->times ? json_array() : NULL;
  for (int32_t i = 0; times && i < said->count; i++)
    failed |= json_array_append_new(times, attn2c_json_number(round(said->times[i] * 1000) / 1000));
  if (times) failed |= json_object_set_new(object, "times", times);
  if (words) failed |= json_object_set_new(object, "words", words);
  return attn2c_json_line(object, failed, place->out);
}

/* Begins a line with the name of the sound. */
static void begin_line(const attn2c_speech_job *job, const attn2c_speech_place *place) {
  if (!job->has_names) return;
  attn2c_safe_write(place->name, strlen(place->name), place->out);
  fputc('\t', place->out);
}

/* Writes the text of a line as it comes. */
static void write_text(const attn2c_speech_job *job, attn2c_speech_place *place, const attn2c_said *said) {
  size_t from = 0;
  if (place->written == 0) {
    begin_line(job, place);
    while (from < said->length && said->text[from] == ' ') from++;
  }
  attn2c_safe_write(said->text + from, said->length - from, place->out);
  place->written += said->length;
}

int attn2c_speech_write(const attn2c_speech_job *job, attn2c_speech_place *place, const attn2c_said *said,
                        attn2c_message *message) {
  const char *name = job->has_names ? place->name : NULL;
  if (job->format == ATTN2C_ANSWERS_JSONL) {
    ATTN2C_TRY(write_json(job, place, said));
  } else if (job->options.has_words) {
    for (int32_t i = 0; i < said->word_count; i++) {
      const attn2c_cue word = word_of(&said->words[i]);
      attn2c_cue_write(job->format, &word, ++place->cues, name, place->out);
    }
  } else if (job->format == ATTN2C_ANSWERS_TEXT && !job->options.is_timed) {
    write_text(job, place, said);
  } else {
    const attn2c_cue cue = cue_of(said->begin, said->end, said->text, said->length);
    attn2c_cue_write(job->format, &cue, ++place->cues, name, place->out);
  }
  return attn2c_output_flush(place->out, message);
}

void attn2c_speech_end_line(const attn2c_speech_job *job, attn2c_speech_place *place) {
  if (job->format != ATTN2C_ANSWERS_TEXT || job->options.is_timed) return;
  if (place->written == 0 && place->is_by_line) return;
  if (place->written == 0) begin_line(job, place);
  fputc('\n', place->out);
  place->written = 0;
}
