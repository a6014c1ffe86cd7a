/* options.c - reads the options of sampling, and checks them by the sampler's own rules, whose
 * names of options become the names on the command line. */
#include "program/generate/options.h"

#include "generate/answers.h"
#include "program/options.h"

#include <errno.h>

static int fault(attn2c_message *message, const char *option, const char *value, const char *allowed) {
  return attn2c_fail(message, ATTN2C_USAGE, "%s: '%s', but %s is allowed", option, value, allowed);
}

/* Reads a token id at the beginning of a text. Returns the text after it, or NULL. */
static const char *read_id(const char *text, int32_t *id) {
  char *end;
  errno = 0;
  const long value = *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : -1;
  if (value < 0 || value > INT32_MAX || errno != 0) return NULL;
  *id = (int32_t)value;
  return end;
}

/* Returns the number of ids in the words "3,5,7". */
static size_t count_ids(const char *const *words, int count) {
  size_t ids = 0;
  for (int i = 0; i < count; i++) {
    ids++;
    for (const char *at = words[i]; *at; at++) ids += *at == ',';
  }
  return ids;
}

static int read_allowed(const attn2c_generate_arguments *given, int32_t *ids, int32_t *count,
                        attn2c_message *message) {
  int status = ATTN2C_OK;
  for (int i = 0; i < given->allowed_count; i++) {
    const char *at = given->allowed[i];
    do {
      at = read_id(at, &ids[*count]);
      if (at) ++*count;
    } while (at && *at++ == ',');
    if (!at || at[-1] != '\0')
      status = fault(message, "--allow", given->allowed[i], "a list of ids such as 3,5,7");
  }
  return status;
}

static int read_biases(const attn2c_generate_arguments *given, int32_t *ids, float *biases,
                       attn2c_message *message) {
  int status = ATTN2C_OK;
  for (int i = 0; i < given->bias_count; i++) {
    const char *at = read_id(given->biases[i], &ids[i]);
    char *end = NULL;
    if (at && *at == '=' && at[1]) {
      biases[i] = strcmp(at + 1, "-inf") == 0 ? -__builtin_inff() : strtof(at + 1, &end);
      if (!end || (end > at + 1 && *end == '\0' && strspn(at + 1, "+-.0123456789eE") == strlen(at + 1)))
        continue;
    }
    status =
        fault(message, "--logit-bias", given->biases[i], "an id and a number such as 50256=-1.5, or -inf");
  }
  return status;
}

/* True if a token has a bias of -inf. */
static int is_forbidden(const attn2c_sampling *sampling, int32_t token) {
  for (int32_t i = 0; i < sampling->bias_count; i++)
    if (sampling->bias_tokens[i] == token && sampling->biases[i] == -__builtin_inff()) return 1;
  return 0;
}

/* Refuses options that together forbid each token that they allow, or that do not go together. */
static int check_allowed(const attn2c_generate_arguments *given, const attn2c_sampling *sampling,
                         attn2c_message *message) {
  if (given->grammar && given->json_schema)
    return attn2c_fail(message, ATTN2C_USAGE, "--grammar: does not go with --json-schema");
  if ((given->grammar || given->json_schema) && sampling->allowed_count > 0)
    return attn2c_fail(message, ATTN2C_USAGE, "--allow: does not go with --grammar and --json-schema");
  int32_t forbidden = 0;
  for (int32_t i = 0; i < sampling->allowed_count; i++)
    forbidden += is_forbidden(sampling, sampling->allowed[i]);
  if (sampling->allowed_count == 0 || forbidden < sampling->allowed_count) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_USAGE,
                     "--allow: allows only tokens that --logit-bias forbids with -inf");
}

/* Takes a number that is given. */
static void take(const attn2c_real *given, double *value) {
  if (given->is_given) *value = given->value;
}

static double number_or(const attn2c_real *given, double otherwise) {
  return given->is_given ? given->value : otherwise;
}

/* Returns the first option that has an effect only where tokens are drawn, or NULL. */
static const char *drawing(const attn2c_arguments *arguments) {
  return attn2c_first_given(arguments,
                            "--temperature --top-k --top-p --min-p --seed --top-n-sigma --typical-p "
                            "--xtc-probability --dynatemp-range --mirostat --sampler-order");
}

/* Returns the first option that does not go with beams, or NULL. */
static const char *against_beams(const attn2c_arguments *arguments) {
  if (arguments->generate.greedy) return "--greedy, which takes one token each time";
  const char *name = drawing(arguments);
  return name ? name
              : attn2c_first_given(arguments, "--dry-multiplier --presence-penalty --frequency-penalty "
                                              "--logit-bias --allow --guess --draft --stop");
}

/* Returns the first option that has an effect only with beams, or NULL. */
static const char *only_with_beams(const attn2c_arguments *arguments) {
  if (arguments->generate.n_best > 1) return "--n-best";
  return attn2c_first_given(arguments, "--length-penalty --early-stopping");
}

void attn2c_generate_set_beam(const attn2c_generate_arguments *given, const attn2c_generation *stated,
                              int is_one, attn2c_beam_options *beam) {
  *beam = attn2c_beam_stated(stated);
  if (is_one) beam->beams = 1;
  if (given->beams > 0) beam->beams = given->beams;
  if (given->length_penalty.is_given) beam->length_penalty = given->length_penalty.value;
  if (given->early_stopping >= 0) beam->early_stopping = given->early_stopping;
  if (given->no_repeat_ngram >= 0) beam->no_repeat_ngram = given->no_repeat_ngram;
  if (given->min_tokens >= 0) beam->min_tokens = (int32_t)given->min_tokens, beam->min_length = 0;
}

/* Refuses options that have no effect without another one. */
static int check_needed(const attn2c_arguments *arguments, attn2c_message *message) {
  const int has_mirostat = arguments->generate.mirostat > 0;
  static const char *const rows[][2] = {
      {"--xtc-threshold", "--xtc-probability"}, {"--dynatemp-exponent", "--dynatemp-range"},
      {"--mirostat-tau", "--mirostat 2"},       {"--mirostat-eta", "--mirostat 2"},
      {"--dry-base", "--dry-multiplier"},       {"--dry-allowed-length", "--dry-multiplier"},
      {"--dry-last-n", "--dry-multiplier"},     {"--dry-breaker", "--dry-multiplier"}};
  int status = ATTN2C_OK;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *name = rows[i][0], *other = rows[i][1];
    const int has_other = strchr(other, ' ') ? has_mirostat : attn2c_first_given(arguments, other) != NULL;
    if (attn2c_first_given(arguments, name) && !has_other)
      status = attn2c_fail(message, ATTN2C_USAGE, "%s: goes with %s", name, other);
  }
  return status;
}

/* Checks options of beams against others. */
static int check_beam(const attn2c_arguments *arguments, const attn2c_generate_options *options,
                      attn2c_message *message) {
  const attn2c_beam_options *beam = &options->beam;
  const char *against = beam->beams > 1 ? against_beams(arguments) : NULL;
  const char *only = beam->beams == 1 ? only_with_beams(arguments) : NULL;
  int faults = 0;
  if (against)
    faults++,
        attn2c_say(message, "--beams: %d do not go with %s; --beams 1 turns them off", beam->beams, against);
  if (only) faults++, attn2c_say(message, "%s: goes with --beams N, from 2", only);
  if (!only && options->n_best > beam->beams)
    faults++, attn2c_say(message, "--n-best: %d, but 1 to %d is allowed: the number of beams",
                         options->n_best, beam->beams);
  if (arguments->generate.min_tokens > options->tokens)
    faults++,
        attn2c_say(message, "--min-tokens: %d, but at most %lld are allowed: the most tokens of an answer",
                   beam->min_tokens, (long long)options->tokens);
  return faults ? ATTN2C_USAGE : ATTN2C_OK;
}

void attn2c_generate_options_say(char *lines, attn2c_message *message) {
  for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
    const size_t name = strcspn(line, ":");
    for (size_t i = 0; i < name; i++)
      if (line[i] == '_') line[i] = '-';
    const int is_list = strncmp(line, "bias:", 5) == 0, is_allow = strncmp(line, "allowed:", 8) == 0;
    attn2c_say(message, "--%s%s",
               is_list    ? "logit-bias"
               : is_allow ? "allow"
                          : "",
               is_list || is_allow ? line + name : line);
  }
}

/* Sets llama.cpp's options that draw. */
static void set_chain(const attn2c_generate_arguments *given, attn2c_sampling *sampling) {
  take(&given->top_n_sigma, &sampling->top_n_sigma);
  take(&given->typical_p, &sampling->typical_p);
  take(&given->xtc_probability, &sampling->xtc_probability);
  take(&given->xtc_threshold, &sampling->xtc_threshold);
  take(&given->dynatemp_range, &sampling->dynatemp_range);
  take(&given->dynatemp_exponent, &sampling->dynatemp_exponent);
  take(&given->mirostat_tau, &sampling->mirostat_tau);
  take(&given->mirostat_eta, &sampling->mirostat_eta);
  if (given->mirostat >= 0) sampling->mirostat = given->mirostat;
  sampling->sampler_order = given->sampler_order;
}

static void set_numbers(const attn2c_arguments *arguments, const attn2c_generation *stated,
                        attn2c_sampling *sampling) {
  const attn2c_generate_arguments *given = &arguments->generate;
  const int is_drawn = drawing(arguments) || (stated->is_drawn && !given->greedy && given->beams <= 1);
  sampling->greedy = !is_drawn;
  sampling->repetition_penalty =
      number_or(&given->repetition_penalty, is_drawn || !stated->is_usual ? stated->repetition_penalty : 1);
  sampling->presence_penalty = number_or(&given->presence_penalty, 0);
  sampling->frequency_penalty = number_or(&given->frequency_penalty, 0);
  take(&given->dry_multiplier, &sampling->dry_multiplier);
  take(&given->dry_base, &sampling->dry_base);
  if (given->dry_allowed_length >= 0) sampling->dry_allowed_length = given->dry_allowed_length;
  if (given->dry_last_n >= 0) sampling->dry_last_n = given->dry_last_n;
  if (!is_drawn) return;
  set_chain(given, sampling);
  sampling->temperature = number_or(&given->temperature, stated->temperature);
  sampling->top_k = given->top_k >= 0 ? given->top_k : stated->top_k;
  sampling->top_p = number_or(&given->top_p, sampling->mirostat ? 1 : stated->top_p);
  sampling->min_p = number_or(&given->min_p, sampling->mirostat ? 0 : stated->min_p);
  sampling->seed = given->seed;
}

/* Checks the options of sampling and of beams by their own rules. */
static int check_all(const attn2c_arguments *arguments, const attn2c_descriptor *model,
                     const attn2c_generate_options *options, attn2c_message *message) {
  char lines[2000];
  attn2c_message faults = attn2c_message_make(lines, sizeof lines);
  const int64_t vocabulary = attn2c_logits_width(model);
  attn2c_beam_options beam = options->beam;
  beam.stop_count = 0; /* sampling has them, and its check reports them */
  int status = attn2c_sampling_check(&options->sampling, vocabulary, &faults);
  beam.repetition_penalty = 1;
  if (attn2c_beam_check(&beam, (int32_t)model->continued->sequences, vocabulary, &faults) != ATTN2C_OK)
    status = ATTN2C_USAGE;
  if (status != ATTN2C_OK) attn2c_generate_options_say(lines, message);
  return check_beam(arguments, options, message) == ATTN2C_OK ? status : ATTN2C_USAGE;
}

int attn2c_generate_check_draft(const attn2c_generate_arguments *given, attn2c_message *message) {
  int status = ATTN2C_OK;
  if (given->draft && !&attn2c_the_draft)
    status = attn2c_fail(message, ATTN2C_USAGE,
                         "--draft: this program has no second model; build it with draft=PATH");
  if (given->draft && given->guess)
    status = attn2c_fail(message, ATTN2C_USAGE, "--draft: does not go with --guess; one of them is allowed");
  return status;
}

int attn2c_generate_options_read(const attn2c_arguments *arguments, const attn2c_descriptor *model,
                                 attn2c_generate_options *options, attn2c_message *message) {
  const attn2c_generate_arguments *given = &arguments->generate;
  const attn2c_generation *stated = model->continued->generation;
  attn2c_sampling *sampling = &options->sampling;
  const size_t allowed = count_ids(given->allowed, given->allowed_count), biases = (size_t)given->bias_count;
  *options = (attn2c_generate_options){.sampling = attn2c_sampling_defaults()};
  options->tokens = attn2c_answers_limit(stated, given->tokens, &options->length);
  options->tokens_of = malloc((allowed + biases + 1) * sizeof *options->tokens_of);
  options->biases = malloc((biases + 1) * sizeof *options->biases);
  if (!options->tokens_of || !options->biases)
    return attn2c_fail(message, ATTN2C_MEMORY, "no memory for the options");
  int status = check_needed(arguments, message);
  if (attn2c_generate_check_draft(given, message) != ATTN2C_OK) status = ATTN2C_USAGE;
  if (given->greedy && drawing(arguments))
    status = attn2c_fail(message, ATTN2C_USAGE, "--greedy: does not go with %s, which draws tokens",
                         drawing(arguments));
  if (read_allowed(given, options->tokens_of, &sampling->allowed_count, message) != ATTN2C_OK)
    status = ATTN2C_USAGE;
  if (read_biases(given, options->tokens_of + allowed, options->biases, message) != ATTN2C_OK)
    status = ATTN2C_USAGE;
  if (status != ATTN2C_OK) return status;
  set_numbers(arguments, stated, sampling);
  sampling->allowed = options->tokens_of;
  sampling->bias_tokens = options->tokens_of + allowed;
  sampling->biases = options->biases;
  sampling->bias_count = given->bias_count;
  sampling->stop_tokens = stated->stop_tokens;
  sampling->stop_count = stated->stop_count;
  /* chat has no beams; nor has generate with an option of one token at a time, unless it asks for both. */
  const int is_one = arguments->command == ATTN2C_COMMAND_CHAT || given->greedy || drawing(arguments);
  attn2c_generate_set_beam(given, stated, is_one, &options->beam);
  const int is_id = given->forced_bos && given->forced_bos[strspn(given->forced_bos, "0123456789")] == '\0';
  options->forced_bos = is_id ? NULL : given->forced_bos;
  if (is_id && !read_id(given->forced_bos, &options->beam.forced_bos))
    return fault(message, "--forced-bos", given->forced_bos, "an id or a token");
  options->n_best = given->n_best > 0 ? given->n_best : 1;
  status = check_all(arguments, model, options, message);
  return status != ATTN2C_OK ? status : check_allowed(given, sampling, message);
}

void attn2c_generate_options_note(const attn2c_generate_options *options, const attn2c_arguments *arguments,
                                  const attn2c_generation *stated, FILE *notes) {
  const attn2c_sampling *sampling = &options->sampling;
  if (!stated->is_usual || sampling->greedy || drawing(arguments)) return;
  fprintf(notes,
          "%s: the model states no defaults: tokens are drawn with --temperature %g --top-p %g "
          "--repetition-penalty %g; --greedy takes the most probable one\n",
          arguments->program, sampling->temperature, sampling->top_p, sampling->repetition_penalty);
}

void attn2c_generate_options_free(attn2c_generate_options *options) {
  ATTN2C_FREE(options->tokens_of, options->biases, options->breakers);
  *options = (attn2c_generate_options){.tokens_of = NULL};
}
