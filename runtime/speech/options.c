/* options.c - the options of writing down speech, as callers give them. */
#include "speech/transcribe.h"

attn2c_transcribe_options attn2c_transcribe_defaults(void) {
  return (attn2c_transcribe_options){.temperature = -1};
}

/* Finds a language by its code. */
static int read_language(const attn2c_speech *speech, const char *word, const char *prefix, int32_t *language,
                         attn2c_message *message) {
  if (!word) return ATTN2C_OK;
  *language = -1;
  if (speech->language_count == 0)
    return attn2c_fail(message, ATTN2C_USAGE, "%slanguage: this model knows one language, which has no token",
                       prefix);
  if (strcmp(word, "auto") == 0) return ATTN2C_OK;
  for (int32_t i = 0; i < speech->language_count; i++)
    if (strcmp(word, speech->languages[i].code) == 0) *language = i;
  if (*language >= 0) return ATTN2C_OK;
  char codes[1200];
  size_t length = 0;
  for (int32_t i = 0; i < speech->language_count && length < sizeof codes; i++)
    length += (size_t)snprintf(codes + length, sizeof codes - length, " %s", speech->languages[i].code);
  return attn2c_fail(message, ATTN2C_USAGE,
                     "%slanguage: '%s', but auto or a language of the model is allowed:%s", prefix, word,
                     codes);
}

static int read_task(const attn2c_speech *speech, const char *task, const char *prefix, int32_t *token,
                     attn2c_message *message) {
  if (!task) return ATTN2C_OK;
  const int is_other = strcmp(task, "translate") == 0;
  if (!is_other && strcmp(task, "transcribe") != 0)
    return attn2c_fail(message, ATTN2C_USAGE, "%stask: '%s', but transcribe or translate is allowed", prefix,
                       task);
  if (speech->task < 0 && !is_other) return ATTN2C_OK; /* it is all that the model does */
  *token = is_other ? speech->translate : speech->transcribe;
  return *token >= 0
             ? ATTN2C_OK
             : attn2c_fail(message, ATTN2C_USAGE,
                           "%stask: this model only transcribes: it has no token of another task", prefix);
}

static int read_temperature(double value, const char *prefix, attn2c_speech_options *options,
                            attn2c_message *message) {
  if (value < 0) return ATTN2C_OK;
  attn2c_speech_temperature(options, value);
  if (value == 0 || (value >= 1e-3 && value <= 1e3)) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_USAGE, "%stemperature: %g, but 0 or 0.001 to 1000 is allowed", prefix,
                     value);
}

int attn2c_transcribe_read(const attn2c_descriptor *model, const attn2c_transcribe_options *given,
                           const char *prefix, attn2c_speech_options *options, attn2c_message *message) {
  const attn2c_speech *speech = model->continued->generation->speech;
  int faults = 0;
  *options = attn2c_speech_stated(model);
  if (given->tokens > 0 && given->tokens < options->tokens) options->tokens = given->tokens;
  if (given->beams > 0) options->beam.beams = given->beams;
  options->is_timed = given->timestamps != 0;
  options->has_words = given->words != 0;
  options->seed = given->seed;
  options->by_pieces = options->by_pieces || given->vad;
  options->is_whole = options->is_whole && !given->vad;
  faults += read_language(speech, given->language, prefix, &options->language, message) != ATTN2C_OK;
  faults += read_task(speech, given->task, prefix, &options->task, message) != ATTN2C_OK;
  faults += read_temperature(given->temperature, prefix, options, message) != ATTN2C_OK;
  if (given->prompt && speech->no_timestamps < 0)
    faults++, attn2c_say(message, "%sprompt: this model has no token for what was said before", prefix);
  if (options->has_words && speech->no_timestamps < 0)
    faults++, attn2c_say(message, "%swords: this model has no times of words", prefix);
  else if (options->has_words && speech->layer_count == 0)
    faults++, attn2c_say(
                  message,
                  "%swords: this model was built without the times of words; build it with speech.words=true",
                  prefix);
  return faults ? ATTN2C_USAGE : ATTN2C_OK;
}
