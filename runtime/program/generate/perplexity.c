/* perplexity.c - the command `perplexity`: e to the mean negative log-likelihood of the tokens of a
 * text. A text that is longer than the context is read in windows, each of which shares tokens with the one
 * before it; every token but the first of the text is predicted once. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "program/generate/command.h"
#include "program/output.h"
#include "program/generate/compared.h"
#include "program/inputs.h"
#include "program/system.h"

enum { PART = 64 }; /* tokens whose logits are kept at a time */

typedef struct {
  const attn2c_calls *calls;
  attn2c_message *message;
  int32_t *ids;
  int64_t count, shared; /* shared: tokens that two neighbouring windows have */
  float *logits;         /* [PART][vocabulary] */
  int64_t predicted;
  double sum;           /* of negative log-likelihoods */
  FILE *written;        /* of --logits; NULL: none */
  attn2c_new_file file; /* what it writes, if `is_file`; else it is a stream */
  bool is_file;
  attn2c_compared *compared; /* of --compare; NULL: none */
} job;

/* Writes or compares a token's logits, as the options say. */
static int pass_on(job *job, const float *x, int32_t id) {
  if (job->written && !attn2c_logits_write(job->written, id, x, job->calls->vocabulary))
    return attn2c_fail(job->message, ATTN2C_IO, "--logits: %s", strerror(errno));
  return job->compared ? attn2c_compared_add(job->compared, id, x, job->message) : ATTN2C_OK;
}

/* Adds the negative log-likelihood of a token: log(sum of e^x) - x[id]. */
static int score(job *job, const float *x, int64_t at) {
  const int32_t id = job->ids[at];
  double largest = (double)x[0], sum = 0;
  for (int32_t i = 1; i < job->calls->vocabulary; i++)
    if ((double)x[i] > largest) largest = (double)x[i];
  for (int32_t i = 0; i < job->calls->vocabulary; i++) sum += exp((double)x[i] - largest);
  const double loss = log(sum) + largest - (double)x[id];
  if (isnan(loss))
    return attn2c_fail(job->message, ATTN2C_FORMAT,
                       "perplexity: the logits of token %" PRId64 " have NaN or infinity", at);
  job->sum += loss;
  job->predicted++;
  return pass_on(job, x, id);
}

/* Reads the tokens [begin, end) as a text of their own, and scores those from `first` on. */
static int read_window(job *job, int64_t begin, int64_t end, int64_t first) {
  const attn2c_calls *calls = job->calls;
  int status = calls->rewind(calls->context, 0, 0);
  for (int64_t at = begin; at < end - 1 && status == ATTN2C_OK;) {
    /* The logits of token `at` are about token at + 1. */
    const int is_scored = at + 1 >= first;
    const int64_t last = is_scored ? end - 1 : first - 1;
    const int32_t sequence = 0, part = (int32_t)(last - at < PART ? last - at : PART);
    status =
        calls->extend(calls->context, 1, &sequence, &part, job->ids + at, 1, is_scored ? job->logits : NULL);
    for (int64_t i = 0; i < part && is_scored && status == ATTN2C_OK; i++)
      status = score(job, job->logits + i * calls->vocabulary, at + i + 1);
    at += part;
    /* A stream is read by a program that has the same progress. */
    if (!job->written || job->is_file) attn2c_progress("tokens predicted", job->predicted, job->count - 1);
    if (status == ATTN2C_OK) status = attn2c_signals_status(job->message);
  }
  return status;
}

static int read_text(job *job) {
  const int64_t most = job->calls->tokens;
  int status = ATTN2C_OK;
  attn2c_progress("tokens predicted", 0, job->count - 1);
  for (int64_t begin = 0, first = 1; first < job->count && status == ATTN2C_OK; begin += most - job->shared) {
    const int64_t end = job->count < begin + most ? job->count : begin + most;
    status = read_window(job, begin, end, first);
    first = end;
  }
  attn2c_progress_hide();
  return status;
}

static int check_ids(const job *job, const char *place) {
  if (job->count < 2)
    return attn2c_fail(job->message, ATTN2C_FORMAT, "%s: has %s, but 2 or more tokens are needed", place,
                       job->count == 1 ? "1 token" : "no token");
  for (int64_t i = 0; i < job->count; i++)
    if (job->ids[i] < 0 || job->ids[i] >= job->calls->vocabulary)
      return attn2c_fail(job->message, ATTN2C_FORMAT, "%s: token %" PRId64 " is %d, but 0 to %d is allowed",
                         place, i, job->ids[i], job->calls->vocabulary - 1);
  return ATTN2C_OK;
}

/* Adds the comparison to the result. Returns 0 if there is no memory. */
static int add_comparison(json_t *object, const attn2c_text_comparison *with) {
  return json_object_set_new(object, "compared",
                             json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "perplexity",
                                       exp(with->other_nats), "nats", with->other_nats, "nats_error",
                                       with->nats_error, "kl_mean", with->kl, "kl_p99", with->kl_percentile,
                                       "equal_greedy", with->equal_greedy, "cosine", with->cosine,
                                       "relative_error", with->relative_error)) == 0;
}

static int write_result(const job *job, const attn2c_arguments *arguments, FILE *out) {
  const double nats = job->sum / (double)job->predicted, perplexity = exp(nats);
  attn2c_text_comparison with = {.nats = nats};
  if (job->compared) with = attn2c_compared_result(job->compared);
  if (arguments->answers != ATTN2C_ANSWERS_JSONL) {
    fprintf(out, "perplexity %.6g: %.6g nats a token, %" PRId64 " of %" PRId64 " tokens predicted\n",
            perplexity, nats, job->predicted, job->count);
    if (job->compared)
      fprintf(out,
              "compared with perplexity %.6g: %+.3f%%, standard error %.3f%%; KL divergence %.6g, 99th "
              "percentile %.6g, equal greedy tokens %.2f%%\n",
              exp(with.other_nats), 100 * expm1(with.nats - with.other_nats), 100 * with.nats_error, with.kl,
              with.kl_percentile, 100 * with.equal_greedy);
    return attn2c_output_flush(out, job->message);
  }
  json_t *object = json_pack("{s:o, s:o, s:I, s:I, s:I, s:I}", "perplexity",
                             isfinite(perplexity) ? json_real(perplexity) : json_null(), "nats",
                             isfinite(nats) ? json_real(nats) : json_null(), "tokens", (json_int_t)job->count,
                             "predicted", (json_int_t)job->predicted, "context",
                             (json_int_t)job->calls->tokens, "stride", (json_int_t)job->shared);
  if (!object || (job->compared && !add_comparison(object, &with))) {
    json_decref(object);
    return attn2c_fail(job->message, ATTN2C_MEMORY, "perplexity: out of memory");
  }
  json_dumpf(object, out, JSON_COMPACT | JSON_REAL_PRECISION(17));
  fputc('\n', out);
  json_decref(object);
  return attn2c_output_flush(out, job->message);
}

/* Reads the ids of --text-file or --input. */
static int read_ids(job *job, const attn2c_descriptor *model, const attn2c_arguments *arguments, char *place,
                    size_t size) {
  const char *file = arguments->generate.perplexity_file;
  attn2c_prompt_arrays *arrays;
  attn2c_prompt_ids text = {.count = 0}, more;
  if (file) {
    snprintf(place, size, "%s", file);
    return attn2c_the_generation_text->read_file(model->text, file, &job->ids, &job->count, job->message);
  }
  const char *name = model->tensors[attn2c_primary_entry(model)->inputs[0]].name;
  int status =
      attn2c_prompt_arrays_open(arguments->inputs, arguments->input_count, name, &arrays, job->message);
  if (status != ATTN2C_OK) return status;
  const int is_one = attn2c_prompt_arrays_next(arrays, &text) == ATTN2C_PROMPT_READ &&
                     attn2c_prompt_arrays_next(arrays, &more) == ATTN2C_PROMPT_END;
  snprintf(place, size, "%s", attn2c_path_of(arguments->inputs[0]));
  job->count = text.count;
  job->ids = malloc(((size_t)text.count + 1) * sizeof *job->ids);
  if (!job->ids) status = ATTN2C_MEMORY;
  if (status == ATTN2C_OK && text.count > 0)
    memcpy(job->ids, text.ids, (size_t)text.count * sizeof *job->ids);
  if (!is_one)
    status = attn2c_fail(job->message, ATTN2C_FORMAT, "%s: one text is expected, [tokens]",
                         attn2c_path_of(arguments->inputs[0]));
  attn2c_prompt_arrays_close(arrays);
  return status;
}

/* Returns the reason why --logits must not be written to its file; NULL: none. */
static const char *taken(const attn2c_arguments *arguments) {
  const char *path = arguments->generate.logits;
  attn2c_place place, output;
  if (!path) return NULL;
  if (strcmp(path, "-") == 0) return "a file is needed, or a pipe";
  attn2c_place_find(path, &place);
  attn2c_place_descriptor(STDOUT_FILENO, &output);
  if (attn2c_place_same(&place, &output)) return "the result is printed on the standard output";
  if (attn2c_place_has_weights(&place, arguments->weights)) return "this file belongs to the weights";
  return attn2c_is_read(arguments, &place) ? "this file is read, or would be next time" : NULL;
}

static int check_usage(const attn2c_descriptor *model, const attn2c_arguments *arguments,
                       attn2c_message *message) {
  const int has_file = arguments->generate.perplexity_file != NULL;
  const int has_text = model->text && &attn2c_the_generation_text;
  const char *fault = NULL;
  if (has_file && !has_text)
    fault =
        "--text-file: this model takes no text, as it was built without a tokenizer; --input ids=X.npy gives "
        "token ids";
  else if (has_file && arguments->input_count > 0)
    fault = "--input: does not go with --text-file";
  else if (!has_file && arguments->input_count == 0)
    fault = has_text ? "perplexity: --text-file F or --input ids=X.npy is needed"
                     : "perplexity: --input ids=X.npy is needed";
  if (arguments->generate.logits && arguments->compare) fault = "--logits: does not go with --compare";
  if (fault) attn2c_say(message, "%s", fault);
  const char *why = taken(arguments);
  if (why) attn2c_say(message, "--logits %s: %s", arguments->generate.logits, why);
  const int lacks = attn2c_lacks_weights(model, arguments->weights, "perplexity", message);
  return fault || why || lacks ? ATTN2C_USAGE : ATTN2C_OK;
}

/* Opens the file of --logits or --compare. */
static int open_logits(job *job, const attn2c_arguments *arguments) {
  const int64_t most = job->calls->tokens;
  const int is_one = job->count <= most;
  const attn2c_logits_facts facts = {.tokens = job->count,
                                     .window = is_one ? job->count : most,
                                     .stride = is_one ? 0 : job->shared,
                                     .vocabulary = job->calls->vocabulary};
  const char *path = arguments->generate.logits;
  if (arguments->compare)
    return attn2c_compared_open(arguments->compare, &facts, &job->compared, job->message);
  if (!path) return ATTN2C_OK;
  int descriptor;
  int status = attn2c_new_file_begin(path, 0, &job->file, job->message);
  job->is_file = status == ATTN2C_OK;
  if (job->is_file)
    descriptor = attn2c_system_again(job->file.file.descriptor);
  else if (status == ATTN2C_USAGE)
    status = attn2c_stream_open(path, &job->file.place, &descriptor, job->message);
  if (status != ATTN2C_OK) return status;
  job->written = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
  if (job->written && attn2c_logits_begin(job->written, &facts)) return ATTN2C_OK;
  return attn2c_say_unwritten(path, errno, job->message);
}

/* Closes them. A disk may turn out to be full only now. The file of --logits gets its name if all went well.
 */
static int close_logits(job *job, int status) {
  attn2c_compared_close(job->compared);
  if (job->written && fclose(job->written) != 0 && status == ATTN2C_OK)
    status = attn2c_say_unwritten(job->file.place.path, errno, job->message);
  return job->is_file ? attn2c_new_file_end(&job->file, status, job->message) : status;
}

static int run_job(job *job, const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *out,
                   FILE *notes, attn2c_continuing *made) {
  char place[ATTN2C_PROMPT_PLACE];
  ATTN2C_TRY(read_ids(job, model, arguments, place, sizeof place));
  ATTN2C_TRY(attn2c_continuing_open(model, arguments, notes, made, job->message));
  job->calls = &made->calls;
  job->shared = arguments->stride >= 0 ? arguments->stride : made->calls.tokens / 2;
  if (job->shared < 1 || job->shared >= made->calls.tokens)
    return attn2c_fail(job->message, ATTN2C_USAGE,
                       "--stride: %" PRId64 ", but 1 to %d is allowed: windows have the context's %d tokens",
                       job->shared, made->calls.tokens - 1, made->calls.tokens);
  ATTN2C_TRY(check_ids(job, place));
  job->logits = attn2c_reserve(PART * (size_t)made->calls.vocabulary * sizeof *job->logits);
  if (!job->logits) return attn2c_fail(job->message, ATTN2C_MEMORY, "perplexity: no memory for the logits");
  int status = open_logits(job, arguments);
  attn2c_signals_note();
  if (status == ATTN2C_OK) status = read_text(job);
  return status == ATTN2C_OK ? write_result(job, arguments, out) : status;
}

int attn2c_perplexity(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *out,
                      FILE *notes, attn2c_message *message) {
  job job = {.message = message};
  attn2c_continuing made = {.opened = NULL};
  int status = check_usage(model, arguments, message);
  if (status == ATTN2C_OK) status = run_job(&job, model, arguments, out, notes, &made);
  status = close_logits(&job, status);
  attn2c_continuing_close(&made);
  attn2c_free(job.logits);
  free(job.ids);
  return status;
}
