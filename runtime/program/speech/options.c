/* options.c - reads the options of writing down speech, and refuses those that have no effect on it. */
#include "program/speech/job.h"

#include "program/inputs.h"

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
              {given->dry_multiplier.is_given, "--dry-multiplier"},
              {given->sampler_order != NULL, "--sampler-order"},
              {given->top_n_sigma.is_given, "--top-n-sigma"},
              {given->typical_p.is_given, "--typical-p"},
              {given->xtc_probability.is_given, "--xtc-probability"},
              {given->dynatemp_range.is_given, "--dynatemp-range"},
              {given->mirostat >= 0, "--mirostat"},
              {given->bias_count > 0, "--logit-bias"},
              {given->allowed_count > 0, "--allow"},
              {given->forced_bos != NULL, "--forced-bos"},
              {given->n_best > 1, "--n-best"},
              {given->guess, "--guess"},
              {given->draft != NULL, "--draft"},
              {given->stop_count > 0, "--stop"},
              {given->grammar != NULL, "--grammar"},
              {given->json_schema != NULL, "--json-schema"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].is_given) return rows[i].name;
  return NULL;
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

int attn2c_speech_options_read(const attn2c_arguments *arguments, const attn2c_descriptor *model,
                               attn2c_speech_options *options, attn2c_answer_format *format,
                               attn2c_message *message) {
  static const char *const tasks[] = {NULL, "transcribe", "translate"};
  const attn2c_generate_arguments *given = &arguments->generate;
  const char *other = useless(arguments);
  int faults = 0;
  attn2c_transcribe_options asked = attn2c_transcribe_defaults();
  *format = arguments->answers == ATTN2C_ANSWERS_NONE ? ATTN2C_ANSWERS_TEXT : arguments->answers;
  asked.language = given->language, asked.task = tasks[given->task];
  asked.seed = given->seed, asked.words = arguments->words, asked.vad = arguments->vad;
  asked.tokens = (int32_t)(given->tokens < INT32_MAX ? given->tokens : INT32_MAX);
  asked.timestamps =
      given->timestamps || arguments->words || *format == ATTN2C_ANSWERS_SRT || *format == ATTN2C_ANSWERS_VTT;
  if (given->greedy) asked.temperature = 0;
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
