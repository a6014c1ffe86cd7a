/* options.c - reads the options of writing down speech, and refuses those that have no effect on it. */
#include "program/speech/job.h"

#include <math.h>

#include "program/inputs.h"
#include "program/options.h"

/* Options that have no effect on speech. */
static const char useless[] =
    "--input --image --output --system --source-language --target-language --prefix --split --top-k --top-p "
    "--min-p --repetition-penalty --presence-penalty --frequency-penalty --dry-multiplier --sampler-order "
    "--top-n-sigma --typical-p --xtc-probability --dynatemp-range --mirostat --logit-bias --allow "
    "--forced-bos --guess --draft --stop --grammar --json-schema";

/* Returns an option of these in messages, with the one to take in its place; NULL: none is given. */
static const char *refused(const attn2c_arguments *arguments) {
  static const char *const others[][2] = {
      {"--source-language", "--source-language; --language is the one that is spoken"},
      {"--target-language", "--target-language; --task translate writes English"}};
  const char *name = attn2c_first_given(arguments, useless);
  for (int i = 0; i < 2 && name; i++)
    if (strcmp(name, others[i][0]) == 0) return others[i][1];
  return name || arguments->generate.n_best <= 1 ? name : "--n-best";
}

static int read_beam(const attn2c_generate_arguments *given, const attn2c_descriptor *model,
                     attn2c_beam_options *beam, attn2c_message *message) {
  char lines[1000];
  attn2c_message faults = attn2c_message_make(lines, sizeof lines);
  attn2c_generate_set_beam(given, model->continued->generation, given->greedy, beam);
  const int status =
      attn2c_beam_check(beam, (int32_t)model->continued->sequences, attn2c_logits_width(model), &faults);
  if (status != ATTN2C_OK) attn2c_generate_options_say(lines, message);
  return status;
}

int attn2c_speech_knows_times(const attn2c_descriptor *model) {
  return model->continued->generation->speech->no_timestamps >= 0 || &attn2c_the_speech_sounds;
}

/* Reads a number, or none. */
static int read_number(const char *word, const char *name, double none, double *number,
                       attn2c_message *message) {
  char *end;
  if (!word) return 0;
  *number = strcmp(word, "none") == 0 ? none : strtod(word, &end);
  if (strcmp(word, "none") == 0 || (*word && !*end && isfinite(*number))) return 0;
  *number = NAN;
  attn2c_say(message, "%s: '%s', but a number or none is allowed", name, word);
  return 1;
}

int attn2c_speech_options_read(const attn2c_arguments *arguments, const attn2c_descriptor *model,
                               attn2c_speech_options *options, attn2c_answer_format *format,
                               attn2c_message *message) {
  static const char *const tasks[] = {NULL, "transcribe", "translate"};
  const attn2c_generate_arguments *given = &arguments->generate;
  const char *other = refused(arguments);
  int faults = 0;
  attn2c_transcribe_options asked = attn2c_transcribe_defaults();
  *format = arguments->answers == ATTN2C_ANSWERS_NONE ? ATTN2C_ANSWERS_TEXT : arguments->answers;
  asked.language = given->language, asked.task = tasks[given->task];
  asked.seed = given->seed, asked.words = arguments->words, asked.vad = arguments->vad;
  asked.tokens = (int32_t)(given->tokens < INT32_MAX ? given->tokens : INT32_MAX);
  asked.timestamps =
      given->timestamps || arguments->words || *format == ATTN2C_ANSWERS_SRT || *format == ATTN2C_ANSWERS_VTT;
  if (given->greedy) asked.temperature = 0;
  if (given->goes_on) asked.condition_on_previous_text = given->goes_on == 1;
  asked.carry_initial_prompt = given->carries;
  faults += read_number(given->compression, "--compression-ratio-threshold", INFINITY,
                        &asked.compression_ratio_threshold, message);
  faults += read_number(given->score, "--logprob-threshold", -INFINITY, &asked.logprob_threshold, message);
  faults +=
      read_number(given->silence, "--no-speech-threshold", INFINITY, &asked.no_speech_threshold, message);
  if (arguments->text_count > 0) asked.prompt = arguments->texts[0].word;
  if (asked.timestamps && !attn2c_speech_knows_times(model))
    faults++,
        attn2c_say(message, "--timestamps, --format srt or vtt: how long a row of features is, is unknown: "
                            "the description has no key `sound`");
  if (other) faults++, attn2c_say(message, "%s: does not go with a model that writes down speech", other);
  if (arguments->vad && arguments->audio_count == 0)
    faults++, attn2c_say(message, "--vad: goes with --audio, from which it leaves out silence");
  if (*format == ATTN2C_ANSWERS_NPY)
    faults++, attn2c_say(message, "--format: npy, but text, jsonl, srt or vtt is allowed with speech");
  if (arguments->text_count > 1 ||
      (arguments->text_count == 1 && arguments->texts[0].kind != ATTN2C_TEXT_STRING))
    faults++, attn2c_say(message, "--prompt: one TEXT is allowed: what is said is taken to go on from it");
  if (given->greedy && given->temperature.is_given && given->temperature.value != 0)
    faults++, attn2c_say(message, "--greedy: does not go with --temperature, which draws tokens");
  else if (given->temperature.is_given && given->temperature.value < 0)
    faults++,
        attn2c_say(message, "--temperature: %g, but 0 or 0.001 to 1000 is allowed", given->temperature.value);
  else if (given->temperature.is_given)
    asked.temperature = given->temperature.value;
  faults += attn2c_transcribe_read(model, &asked, "--", options, message) != ATTN2C_OK;
  faults += read_beam(given, model, &options->beam, message) != ATTN2C_OK;
  faults += attn2c_lacks_weights(model, arguments->weights, "generate", message);
  return faults ? ATTN2C_USAGE : ATTN2C_OK;
}
