/* options.c - reads the options of writing down speech, and refuses those that have no effect on it. */
#include "program/speech/options.h"

#include "generate/processors.h"
#include "model/model.h"
#include "program/generate/options.h"
#include "program/inputs.h"

/* Finds the language of --language. */
static int read_language(const attn2c_speech *speech, const char *word, int32_t *language,
                         attn2c_message *message) {
  *language = speech->language;
  if (!word) return ATTN2C_OK;
  *language = -1;
  if (speech->language_count == 0)
    return attn2c_fail(message, ATTN2C_USAGE,
                       "--language: this model knows one language, which has no token");
  if (strcmp(word, "auto") == 0) return ATTN2C_OK;
  for (int32_t i = 0; i < speech->language_count; i++)
    if (strcmp(word, speech->languages[i].code) == 0) *language = i;
  if (*language >= 0) return ATTN2C_OK;
  char codes[1200];
  size_t length = 0;
  for (int32_t i = 0; i < speech->language_count && length < sizeof codes; i++)
    length += (size_t)snprintf(codes + length, sizeof codes - length, " %s", speech->languages[i].code);
  return attn2c_fail(message, ATTN2C_USAGE,
                     "--language: '%s', but auto or a language of the model is allowed:%s", word, codes);
}

static int read_task(const attn2c_speech *speech, int task, int32_t *token, attn2c_message *message) {
  *token = speech->task;
  if (task == 0) return ATTN2C_OK;
  const int is_other = task == ATTN2C_TASK_TRANSLATE;
  *token = is_other ? speech->translate : speech->transcribe;
  if (speech->task < 0 && !is_other) return ATTN2C_OK; /* it is all that the model does */
  return *token >= 0 ? ATTN2C_OK
                     : attn2c_fail(message, ATTN2C_USAGE,
                                   "--task: this model only transcribes: it has no token "
                                   "of another task");
}

/* Returns an option that has no effect on speech, or NULL. */
static const char *useless(const attn2c_arguments *arguments) {
  const attn2c_generate_arguments *given = &arguments->generate;
  const struct {
    int is_given;
    const char *name;
  } rows[] = {{arguments->input_count > 0, "--input"},
              {arguments->image_count > 0, "--image"},
              {arguments->output_count > 0, "--output"},
              {given->system != NULL, "--system"},
              {given->source_language != NULL, "--source-language; --language is the one that is spoken"},
              {given->target_language != NULL, "--target-language; --task translate writes English"},
              {given->prefix != NULL, "--prefix"},
              {given->split, "--split"},
              {given->top_k >= 0, "--top-k"},
              {given->top_p.is_given, "--top-p"},
              {given->min_p.is_given, "--min-p"},
              {given->repetition_penalty.is_given, "--repetition-penalty"},
              {given->presence_penalty.is_given, "--presence-penalty"},
              {given->frequency_penalty.is_given, "--frequency-penalty"},
              {given->bias_count > 0, "--logit-bias"},
              {given->allowed_count > 0, "--allow"},
              {given->forced_bos != NULL, "--forced-bos"},
              {given->n_best > 1, "--n-best"},
              {given->stop_count > 0, "--stop"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].is_given) return rows[i].name;
  return NULL;
}

/* Sets the temperatures of the attempts: the one that is given, else OpenAI's. */
static int set_temperatures(const attn2c_generate_arguments *given, attn2c_speech_options *options,
                            attn2c_message *message) {
  const double one = given->temperature.value;
  options->attempts = given->greedy || given->temperature.is_given ? 1 : ATTN2C_SPEECH_ATTEMPTS;
  for (int i = 0; i < options->attempts; i++) options->temperatures[i] = i / 5.0;
  if (!given->temperature.is_given) return ATTN2C_OK;
  options->temperatures[0] = one;
  if (given->greedy && one != 0)
    return attn2c_fail(message, ATTN2C_USAGE, "--greedy: does not go with --temperature, which draws tokens");
  if (one == 0 || (one >= 1e-3 && one <= 1e3)) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_USAGE, "--temperature: %g, but 0 or 0.001 to 1000 is allowed", one);
}

static int read_beam(const attn2c_generate_arguments *given, const attn2c_descriptor *model,
                     attn2c_beam_options *beam, attn2c_message *message) {
  char lines[1000];
  attn2c_message faults = attn2c_message_make(lines, sizeof lines);
  *beam = attn2c_beam_stated(model->continued->generation);
  if (given->greedy) beam->beams = 1;
  if (given->beams > 0) beam->beams = given->beams;
  if (given->length_penalty.is_given) beam->length_penalty = given->length_penalty.value;
  if (given->early_stopping >= 0) beam->early_stopping = given->early_stopping;
  if (given->no_repeat_ngram >= 0) beam->no_repeat_ngram = given->no_repeat_ngram;
  if (given->min_tokens >= 0) beam->min_tokens = (int32_t)given->min_tokens, beam->min_length = 0;
  const int status =
      attn2c_beam_check(beam, (int32_t)model->continued->sequences, attn2c_logits_width(model), &faults);
  if (status != ATTN2C_OK) attn2c_generate_options_say(lines, message);
  return status;
}

int attn2c_speech_options_read(const attn2c_arguments *arguments, const attn2c_descriptor *model,
                               attn2c_speech_options *options, attn2c_message *message) {
  const attn2c_generate_arguments *given = &arguments->generate;
  const attn2c_speech *speech = model->continued->generation->speech;
  const int64_t usual = model->lengths->sizes[0].seq / 2;
  const char *other = useless(arguments);
  int faults = 0;
  *options = (attn2c_speech_options){.seed = given->seed, .format = arguments->answers};
  options->tokens = (int32_t)(given->tokens > 0 && given->tokens < usual ? given->tokens : usual);
  if (options->format == ATTN2C_ANSWERS_NONE) options->format = ATTN2C_ANSWERS_TEXT;
  options->is_timed =
      given->timestamps || options->format == ATTN2C_ANSWERS_SRT || options->format == ATTN2C_ANSWERS_VTT;
  if (other) faults++, attn2c_say(message, "%s: does not go with a model that writes down speech", other);
  if (arguments->vad && arguments->audio_count == 0)
    faults++, attn2c_say(message, "--vad: goes with --audio, from which it leaves out silence");
  if (options->format == ATTN2C_ANSWERS_NPY)
    faults++, attn2c_say(message, "--format: npy, but text, jsonl, srt or vtt is allowed with speech");
  if (arguments->text_count > 1 ||
      (arguments->text_count == 1 && arguments->texts[0].kind != ATTN2C_TEXT_STRING))
    faults++, attn2c_say(message, "--prompt: one TEXT is allowed: what is said is taken to go on from it");
  faults += read_language(speech, given->language, &options->language, message) != ATTN2C_OK;
  faults += read_task(speech, given->task, &options->task, message) != ATTN2C_OK;
  faults += set_temperatures(given, options, message) != ATTN2C_OK;
  faults += read_beam(given, model, &options->beam, message) != ATTN2C_OK;
  faults += attn2c_lacks_weights(model, arguments->weights, "generate", message);
  return faults ? ATTN2C_USAGE : ATTN2C_OK;
}
