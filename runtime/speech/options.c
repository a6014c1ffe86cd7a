/* options.c - the options of writing down speech, as callers give them. */
#include "speech/transcribe.h"

#include <math.h>

attn2c_transcribe_options attn2c_transcribe_defaults(void) {
  return (attn2c_transcribe_options){.temperature = -1,
                                     .condition_on_previous_text = -1,
                                     .compression_ratio_threshold = NAN,
                                     .logprob_threshold = NAN,
                                     .no_speech_threshold = NAN};
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

/* Reads a limit of answers. none: what stands for no limit. */
static int read_limit(const char *name, double value, double least, double most, double none,
                      const char *prefix, double *limit, attn2c_message *message) {
  if (isnan(value)) return ATTN2C_OK;
  *limit = value;
  return value == none || (value >= least && value <= most)
             ? ATTN2C_OK
             : attn2c_fail(message, ATTN2C_USAGE, "%s%s: %g, but %g to %g or none is allowed", prefix, name,
                           value, least, most);
}

/* Reads the limits of answers. Returns how many are wrong. */
static int read_limits(const attn2c_transcribe_options *given, const char *prefix,
                       attn2c_speech_options *options, attn2c_message *message) {
  const int is_option = *prefix != '\0';
  return (read_limit(is_option ? "compression-ratio-threshold" : "compression_ratio_threshold",
                     given->compression_ratio_threshold, 0, 1000, INFINITY, prefix,
                     &options->most_compression, message) != ATTN2C_OK) +
         (read_limit(is_option ? "logprob-threshold" : "logprob_threshold", given->logprob_threshold, -1000,
                     0, -INFINITY, prefix, &options->least_score, message) != ATTN2C_OK) +
         (read_limit(is_option ? "no-speech-threshold" : "no_speech_threshold", given->no_speech_threshold, 0,
                     1, INFINITY, prefix, &options->least_silence, message) != ATTN2C_OK);
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
  faults += read_limits(given, prefix, options, message);
  if (given->condition_on_previous_text >= 0) options->goes_on = given->condition_on_previous_text != 0;
  options->carries = given->carry_initial_prompt != 0;
  if (speech->no_timestamps < 0 && (given->condition_on_previous_text >= 0 || options->carries ||
                                    !isnan(given->compression_ratio_threshold) ||
                                    !isnan(given->logprob_threshold) || !isnan(given->no_speech_threshold)))
    faults++, attn2c_say(message,
                         "the text before a window and limits of answers: this model hears each piece of a "
                         "sound once, by itself");
  else if (options->carries && !given->prompt)
    faults++, attn2c_say(message, "%s: goes with %sprompt, which each window then goes on from",
                         *prefix ? "--carry-initial-prompt" : "carry_initial_prompt", prefix);
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
