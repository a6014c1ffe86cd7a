/* usage.c - finds what is wrong with the command line of `generate`. */
#include "program/generate/job.h"

#include <unistd.h>

#include "program/inputs.h"
#include "program/output.h"

/* Returns the reason why the array must not be written to a file; NULL: none. */
static const char *taken(const attn2c_arguments *arguments, const char *path) {
  attn2c_place place;
  if (strcmp(path, "-") == 0) return "a file is needed; --format npy prints the array";
  attn2c_place_find(path, &place);
  if (attn2c_place_has_weights(&place, arguments->weights)) return "this file belongs to the weights";
  return attn2c_is_read(arguments, &place) ? "this file is read, or would be next time" : NULL;
}

/* Finds the path of --output [generated=]PATH. */
int attn2c_generate_read_output(attn2c_generate_job *job) {
  const attn2c_arguments *arguments = job->arguments;
  static const char name[] = "generated=";
  if (arguments->output_count == 0) return ATTN2C_OK;
  const char *word = arguments->outputs[0];
  if (arguments->output_count > 1)
    return attn2c_fail(job->message, ATTN2C_USAGE, "--output: given twice, but one is allowed");
  job->path = attn2c_path_of(word);
  if (job->path > word && strncmp(word, name, sizeof name - 1) != 0)
    return attn2c_fail(job->message, ATTN2C_USAGE, "--output: no output '%.*s'; allowed is generated",
                       (int)(job->path - word - 1), word);
  const char *why = taken(arguments, job->path);
  if (!why) return attn2c_file_check(job->path, job->message);
  return attn2c_fail(job->message, ATTN2C_USAGE, "--output %s: %s", job->path, why);
}

/* True if sources are ids, or if the model has no encoder. */
static int reads_ids(const attn2c_descriptor *model) {
  const attn2c_entry *encode = attn2c_encode_entry(model);
  return !encode || model->tensors[encode->inputs[0]].type == ATTN2C_I32;
}

/* Finds what is wrong with the sources of a command line of pictures. Returns the number of faults. */
static int check_pictures(const attn2c_generate_job *job, const char **faults) {
  const attn2c_arguments *arguments = job->arguments;
  int count = 0;
  if (!&attn2c_the_pictures)
    faults[count++] = "generate: this model reads arrays and no pictures: its description has no key "
                      "`pictures`; its C and Python interfaces read them";
  else if (arguments->image_count == 0)
    faults[count++] = "generate: --image FILE is needed: this model writes about pictures, and goes on from "
                      "the text of --prompt";
  if (arguments->text_count > 1 ||
      (arguments->text_count == 1 && arguments->texts[0].kind != ATTN2C_TEXT_STRING))
    faults[count++] = "--prompt: one TEXT is allowed with --image: all answers go on from it";
  if (arguments->input_count > 0)
    faults[count++] = "--input: does not go with a model that writes about pictures";
  if (arguments->generate.prefix || arguments->generate.source_language || arguments->generate.split)
    faults[count++] = "--prefix, --source-language, --split: go with models that read texts";
  return count;
}

/* Reports options that do not go together, one line each. */
int attn2c_generate_check_usage(attn2c_generate_job *job) {
  const attn2c_arguments *arguments = job->arguments;
  const char *faults[20];
  const attn2c_generate_arguments *given = &arguments->generate;
  const int is_text = job->text && arguments->input_count == 0;
  int count = 0;
  if (!reads_ids(job->model))
    count = check_pictures(job, faults);
  else if (arguments->image_count > 0)
    faults[count++] = "--image: this model reads texts, and no pictures; --prompt gives a text";
  else if (arguments->text_count == 0 && arguments->input_count == 0)
    faults[count++] =
        job->text ? "generate: --prompt TEXT, --prompt-file F, --prompt - or --input ids=X.npy is needed"
                  : "generate: --input ids=X.npy is needed: this model takes no text, as it was "
                    "built without a tokenizer";
  if (arguments->text_count > 0 && arguments->input_count > 0)
    faults[count++] = "--input: does not go with --prompt";
  if (arguments->text_count > 0 && !job->text)
    faults[count++] =
        "--prompt: this model takes no text, as it was built without a tokenizer; --input ids=X.npy "
        "gives token ids";
  if (arguments->audio_count > 0 || arguments->vad || arguments->words || given->feature_count > 0 ||
      given->language || given->task || given->timestamps || given->goes_on || given->carries ||
      given->compression || given->score || given->silence || arguments->answers >= ATTN2C_ANSWERS_SRT)
    faults[count++] =
        "--audio, --vad, --words, --features, --language, --task, --timestamps, "
        "--condition-on-previous-text, --carry-initial-prompt, the thresholds of answers, --format srt and "
        "vtt: go with models that write down speech";
  if (given->source_language && !is_text)
    faults[count++] = "--source-language: goes with --prompt, in a model that was built with a tokenizer";
  if (given->target_language && !job->text)
    faults[count++] = "--target-language: this model takes no text, as it was built without a tokenizer";
  if (given->prefix && !is_text)
    faults[count++] = "--prefix: goes with --prompt, in a model that was built with a tokenizer";
  if (given->split && !is_text)
    faults[count++] = "--split: goes with --prompt, in a model that was built with a tokenizer";
  else if (given->split && !attn2c_encode_entry(job->model))
    faults[count++] = "--split: goes with a model that has an encoder";
  if (given->split && (arguments->output_count > 0 || arguments->answers == ATTN2C_ANSWERS_NPY))
    faults[count++] = "--split: does not go with --output and --format npy; --format jsonl gives tokens";
  if (given->split && given->n_best > 1)
    faults[count++] = "--split: does not go with --n-best, as a text has one answer to each sentence";
  if (given->dry_breaker_count > 0 && !job->text)
    faults[count++] = "--dry-breaker: this model takes no text, as it was built without a tokenizer";
  if ((given->grammar || given->json_schema) && !job->text)
    faults[count++] =
        "--grammar, --json-schema: this model gives no text, as it was built without a tokenizer";
  if (arguments->generate.stop_count > 0 && !job->text)
    faults[count++] = "--stop: this model gives no text, as it was built without a tokenizer";
  if (job->options.forced_bos && !job->text)
    faults[count++] =
        "--forced-bos: this model takes no text, as it was built without a tokenizer; an id is allowed";
  if (arguments->generate.system && (!job->text || !job->model->text->chat))
    faults[count++] =
        "--system: this model was built without a chat template; build it with --chat-template FILE";
  else if (arguments->generate.system && arguments->input_count > 0)
    faults[count++] = "--system: goes with --prompt, and not with --input";
  if (arguments->answers == ATTN2C_ANSWERS_NPY && isatty(STDOUT_FILENO))
    faults[count++] = "--format npy: the standard output is a terminal; give a file or a pipe";
  const int lacks = attn2c_lacks_weights(job->model, arguments->weights, "generate", job->message);
  for (int i = 0; i < count; i++) attn2c_say(job->message, "%s", faults[i]);
  return count || lacks ? ATTN2C_USAGE : ATTN2C_OK;
}
