#include "program/bench/bench.h"

#include "check/check.h"
#include "measure/work.h"
#include "model/sequences.h"
#include "program/inputs.h"
#include "program/ranks/program.h"
#include "program/system.h"

/* Tokens of the sequences that are timed by default in a model of any length, in addition to the most. */
static const int64_t usual_lengths[] = {8, 32, 128};
enum { USUAL_LENGTHS = sizeof usual_lengths / sizeof *usual_lengths };

/* A call that is timed, with what it points to: the sizes of a sequence in a model of any length, and the
 * tokens of a model that continues. */
typedef struct {
  attn2c_bench_call call;
  attn2c_sizes sizes;
  attn2c_sequences sequence;
  int32_t first[2], zero[ATTN2C_MOST_WINDOWS];
  attn2c_bench_tokens tokens;
  attn2c_bench_token_rows rows;
} subject;

typedef struct {
  const attn2c_program *program;
  const attn2c_descriptor *model;
  const attn2c_arguments *arguments;
  attn2c_message *message;
  attn2c_source *source;
  attn2c_model *opened;
  attn2c_context *context;
  void **in; /* of all entries */
  int input_count;
  attn2c_reads *reads; /* of a model that continues; else NULL */
  subject *subjects;
  attn2c_bench_result *results; /* one a subject */
  int count;
} job;

int attn2c_bench_is_of_all(const attn2c_arguments *arguments) {
  return arguments->part && strcmp(arguments->part, "all") == 0;
}

/* Compares every tensor of every entry with the reference, and discards the table. */
static int verify_in_full(const job *job) {
  const attn2c_arguments *arguments = job->arguments;
  double flops = 0.0;
  for (int e = 0; e < job->model->entry_count; e++) flops += job->model->entries[e].flops;
  if (flops >= ATTN2C_BENCH_FULL_CHECK || arguments->part || arguments->brief) return ATTN2C_OK;
  char *table = NULL;
  size_t size;
  FILE *stream = attn2c_program_gather(&table, &size);
  if (stream == NULL) return attn2c_fail(job->message, ATTN2C_MEMORY, "bench: no memory");
  const int status = attn2c_check(job->program, job->opened, job->source, (const void *const *)job->in,
                                  arguments->seed, 0, stream, 0, arguments->path, job->message);
  (void)attn2c_program_gathered(stream, &table, &size);
  free(table);
  if (status == ATTN2C_MISMATCH)
    attn2c_say(job->message, "bench: differs from the reference; not timed; '%s check' names the tensor",
               arguments->program);
  return status;
}

/* Verifies a call, or makes it once if it is that of a part, or if --brief asks for that. */
static int verify(const job *job, const attn2c_bench_call *s, double *first_ms) {
  if (!job->arguments->part && !job->arguments->brief)
    return attn2c_bench_call_verify(s, first_ms, job->message);
  const double start = attn2c_now();
  const int status = attn2c_bench_call_make(s, s->out);
  *first_ms = (attn2c_now() - start) / ATTN2C_NS_IN_MS;
  return status == ATTN2C_OK ? status : attn2c_bench_call_failed(s, status, job->message);
}

/* Reports a --length that the model does not take. */
static int wrong_length(const attn2c_descriptor *model, int64_t length, attn2c_message *message) {
  return attn2c_fail(message, ATTN2C_USAGE, "--length: %lld, but %lld to %lld is allowed", (long long)length,
                     (long long)model->lengths->least, (long long)model->lengths->sizes->seq);
}

/* Writes the lengths that are timed of an entry of any length: --length, or the usual ones. Returns how many.
 */
static int lengths_to_time(const attn2c_lengths *sizes, const attn2c_arguments *arguments,
                           int64_t lengths[USUAL_LENGTHS + 1]) {
  int count = 0;
  const int64_t most = sizes->sizes[0].seq;
  if (arguments->length >= sizes->least && arguments->length > 0) {
    lengths[0] = arguments->length < most ? arguments->length : most;
    return 1;
  }
  for (int i = 0; i < USUAL_LENGTHS; i++)
    if (usual_lengths[i] >= sizes->least && usual_lengths[i] < most) lengths[count++] = usual_lengths[i];
  lengths[count++] = most;
  return count;
}

/* Prepares the call of one sequence. */
static int prepare_sequence(job *job, subject *s, attn2c_bench_result *result, int64_t length) {
  const attn2c_entry *entry = s->call.entry;
  ATTN2C_TRY(attn2c_sizes_open(job->program, &s->sizes, job->message));
  s->sizes.entry = entry, s->sizes.lengths = attn2c_lengths_of(job->model, entry);
  s->sizes.batch = 1, s->sizes.seq = length;
  s->first[1] = (int32_t)length;
  s->sequence = (attn2c_sequences){
      .rows = length, .count = 1, .first = s->first, .past = s->zero, .slot = s->zero, .forgotten = s->zero};
  s->call.sizes = &s->sizes, s->call.sequence = &s->sequence;
  result->length = length;
  snprintf(result->label, sizeof result->label, "%.40s (%lld tokens)", entry->name, (long long)length);
  return ATTN2C_OK;
}

/* Prepares a call of a model that continues. */
static void prepare_tokens(const job *job, subject *s, attn2c_bench_result *result) {
  const attn2c_bench_tokens *of = s->call.tokens = &s->tokens;
  s->call.reads = of->count == 1 ? job->reads : NULL;
  if (attn2c_bench_tokens_rows(job->model, job->context->origins, of, &s->rows)) {
    s->call.sequence = &s->rows.n;
    s->call.in = s->rows.in;
  }
  result->tokens = of->sequences * of->count;
  if (of->count == 1)
    result->bytes =
        attn2c_bytes_of_weights(job->model, s->call.entry, of->sequences) +
        (double)of->sequences * attn2c_bytes_of_kept(job->model, s->call.entry, of->position + 1,
                                                     attn2c_bench_tokens_rows_of_source(job->model));
  result->position = of->position, result->sequences = of->sequences;
  attn2c_bench_tokens_label(of, result->label, sizeof result->label);
}

/* Lists the calls, and makes their inputs. Calls of one entry have the same inputs; entries have their own.
 * In a model with an encoder its calls come first. */
static int prepare(job *job) {
  const attn2c_descriptor *model = job->model;
  attn2c_bench_tokens tokens[ATTN2C_BENCH_TOKEN_CALLS];
  int64_t lengths[USUAL_LENGTHS + 1];
  int inputs = 0, before = 0, status = ATTN2C_OK;
  const attn2c_entry *encode = attn2c_encode_entry(model);
  void **own = job->in; /* of the primary entry */
  for (int e = 0; e < model->entry_count; e++) {
    if (e == attn2c_primary(model)) own = job->in + inputs;
    for (int i = 0; i < model->entries[e].input_count; i++)
      attn2c_input_random(&model->tensors[model->entries[e].inputs[i]], job->arguments->seed, 1,
                          job->in[inputs++]);
  }
  if (encode)
    before = lengths_to_time(model->continued->source_lengths, job->arguments, lengths);
  else if (model->is_open && !model->continued)
    before = lengths_to_time(model->lengths, job->arguments, lengths);
  if (model->continued) attn2c_bench_tokens_list(model, job->arguments->length, own[0], tokens);
  inputs = 0;
  for (int i = 0; i < job->count && status == ATTN2C_OK; i++) {
    subject *s = &job->subjects[i];
    attn2c_bench_result *result = &job->results[i];
    const int is_of_tokens = model->continued && i >= before;
    const int is_primary = model->is_open && (is_of_tokens || !encode);
    s->call = (attn2c_bench_call){
        .program = job->program, .model = job->opened, .context = job->context, .in = job->in + inputs};
    s->call.number = is_primary ? attn2c_primary(model) : encode ? (int)(encode - model->entries) : i;
    s->call.entry = &model->entries[s->call.number];
    if (is_primary) s->call.in = own;
    if (!model->is_open) inputs += s->call.entry->input_count;
    result->model = model, result->entry = s->call.entry, result->provider = job->opened->provider;
    if (is_of_tokens)
      s->tokens = tokens[i - before], prepare_tokens(job, s, result);
    else if (model->is_open)
      status = prepare_sequence(job, s, result, lengths[i]);
    if (status == ATTN2C_OK) status = attn2c_bench_call_allocate(&s->call, job->message);
  }
  return status;
}

/* Gives the sequences of a model that continues the tokens before a call, and a source if it has an encoder.
 */
static int before_call(const job *job, const attn2c_bench_call *s) {
  int status = ATTN2C_OK;
  if (s->tokens && attn2c_encode_entry(job->model))
    status = attn2c_bench_tokens_source(s->context, (const void *const *)job->in);
  if (s->tokens && status == ATTN2C_OK) status = attn2c_bench_tokens_prepare(s->context, s->tokens);
  return status == ATTN2C_OK ? status : attn2c_bench_call_failed(s, status, job->message);
}

/* Verifies all calls before it times any. */
static int verify_and_time(job *job) {
  int status = prepare(job);
  for (int i = 0; i < job->count && status == ATTN2C_OK; i++) {
    status = before_call(job, &job->subjects[i].call);
    if (status == ATTN2C_OK) status = verify(job, &job->subjects[i].call, &job->results[i].first_ms);
  }
  if (status == ATTN2C_OK) status = verify_in_full(job);
  for (int i = 0; i < job->count && status == ATTN2C_OK; i++) {
    attn2c_bench_call *s = &job->subjects[i].call;
    status = before_call(job, s);
    if (status == ATTN2C_OK) status = attn2c_bench_time(s, job->arguments, &job->results[i], job->message);
  }
  for (int i = 0; i < job->count; i++) {
    if (job->subjects[i].call.entry != NULL) attn2c_bench_call_free(&job->subjects[i].call);
    attn2c_sizes_close(&job->subjects[i].sizes);
  }
  return status;
}

/* Compares all calls with the best of the rates at which memory was read: some are disturbed. */
static void share_memory_rate(attn2c_bench_result *results, int count) {
  double most = 0.0;
  for (int i = 0; i < count; i++)
    if (results[i].memory > most) most = results[i].memory;
  for (int i = 0; i < count; i++)
    if (results[i].memory > 0.0) results[i].memory = most;
}

/* Returns how many calls are timed. */
static int calls_to_time(const attn2c_descriptor *model, const attn2c_arguments *arguments) {
  int64_t lengths[USUAL_LENGTHS + 1];
  attn2c_bench_tokens list[ATTN2C_BENCH_TOKEN_CALLS];
  const attn2c_entry *encode = attn2c_encode_entry(model);
  const int sources = encode ? lengths_to_time(model->continued->source_lengths, arguments, lengths) : 0;
  if (model->continued) return sources + attn2c_bench_tokens_list(model, arguments->length, NULL, list);
  if (model->is_open) return lengths_to_time(model->lengths, arguments, lengths);
  return model->entry_count;
}

/* Reports options that do not go with each other or with the model. */
static int check_usage(const attn2c_descriptor *model, const attn2c_arguments *arguments,
                       attn2c_message *message) {
  int status = ATTN2C_OK;
  if (arguments->length > 0 && !model->is_open)
    status = attn2c_fail(message, ATTN2C_USAGE,
                         "--length: goes with a model of any length; the calls of this one have one length");
  else if (arguments->length > 0 && (arguments->length < (model->continued ? 1 : model->lengths->least) ||
                                     arguments->length > model->lengths->sizes->seq))
    status = wrong_length(model, arguments->length, message);
  if (arguments->brief && !arguments->profile)
    status = attn2c_fail(message, ATTN2C_USAGE, "--brief: goes with --profile");
  if (arguments->cold_megabytes > 0 && !arguments->brief)
    status = attn2c_fail(message, ATTN2C_USAGE, "--cold: goes with --brief");
  if (arguments->part && (arguments->profile || arguments->bound))
    status = attn2c_fail(message, ATTN2C_USAGE, "--part: does not go with --profile or --bound");
  if (model->is_open && arguments->bound)
    status = attn2c_fail(message, ATTN2C_USAGE,
                         "--bound: does not go with a model of any length, whose products have no one size; "
                         "build it with seq = N to bound calls of N tokens");
  return status;
}

/* Returns the peak memory of this process until now; 0 if the kernel does not report it. getrusage is not
 * used: its value begins with that of the program that started this one. */
static int64_t peak_bytes(void) {
  char line[256];
  long long kilobytes = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && kilobytes == 0 && fgets(line, sizeof line, file)) sscanf(line, "VmHWM: %lld kB", &kilobytes);
  if (file) fclose(file);
  return kilobytes * 1024;
}

/* Finds the program that --part names: that of one rank, or the whole model's for all. */
static int choose_part(const char *part, const attn2c_program **program, attn2c_message *message) {
  const attn2c_divided *divided = (*program)->model->divided;
  if (!divided || divided->stages > 1)
    return attn2c_fail(message, ATTN2C_USAGE,
                       "--part: goes with a model that is divided among ranks, without stages");
  char *end;
  const long number = strtol(part, &end, 10);
  if (*part < '0' || *part > '9' || *end != '\0' || number >= divided->count)
    return attn2c_fail(message, ATTN2C_USAGE, "--part: '%s', but 0 to %d, or all, is allowed", part,
                       divided->count - 1);
  *program = attn2c_the_rank_programs[number];
  return ATTN2C_OK;
}

/* Opens the model, or the part that is timed, and a context. */
static int open_timed(job *job) {
  const attn2c_arguments *arguments = job->arguments;
  ATTN2C_TRY(attn2c_source_choose(arguments, job->model, &job->source, job->message));
  if (arguments->part && !attn2c_bench_is_of_all(arguments))
    ATTN2C_TRY(attn2c_the_ranks->open_part(job->model, job->source, &job->opened, job->message));
  else
    ATTN2C_TRY(attn2c_model_choose(arguments, job->model, job->source, &job->opened, job->message));
  int status = attn2c_context_create(job->opened, &job->context);
  if (status != ATTN2C_OK) return attn2c_fail(job->message, status, "bench: no memory for the arena");
  return ATTN2C_OK;
}

static int allocate(job *job) {
  int *tensors = calloc((size_t)job->input_count + 1, sizeof *tensors);
  job->results = calloc((size_t)job->count, sizeof *job->results);
  job->subjects = calloc((size_t)job->count, sizeof *job->subjects);
  job->in = calloc((size_t)job->input_count + 1, sizeof *job->in);
  if (job->results == NULL || job->subjects == NULL || tensors == NULL || job->in == NULL) {
    free(tensors);
    return attn2c_fail(job->message, ATTN2C_MEMORY, "bench: no memory");
  }
  attn2c_inputs_of_entries(job->model, tensors);
  const int status = attn2c_arrays_allocate(job->model, tensors, job->input_count, job->in, job->message);
  free(tensors);
  return status;
}

/* Opens the model, times the calls, and leaves the results. */
static int run(job *job) {
  const attn2c_arguments *arguments = job->arguments;
  const double start = attn2c_now();
  int status = open_timed(job);
  const double open_ms = (attn2c_now() - start) / ATTN2C_NS_IN_MS;
  const int64_t open_peak = peak_bytes();
  if (status == ATTN2C_OK) status = allocate(job);
  if (status != ATTN2C_OK) return status;
  for (int i = 0; i < job->count; i++) {
    job->results[i].open_ms = open_ms, job->results[i].open_peak_bytes = open_peak;
    job->results[i].threads = arguments->threads > 0 ? arguments->threads : job->model->threads;
  }
  if (job->model->continued) {
    status = attn2c_sequences_prepare(job->context);
    if (status == ATTN2C_OK && !arguments->brief)
      status = attn2c_reads_open(job->opened->threads, &job->reads);
    if (status != ATTN2C_OK) return attn2c_fail(job->message, status, "bench: no memory");
  }
  status = verify_and_time(job);
  if (job->reads) share_memory_rate(job->results, job->count);
  if (status == ATTN2C_OK && arguments->profile && !arguments->brief &&
      arguments->format != ATTN2C_FORMAT_CSV) {
    const double bandwidth = attn2c_bandwidth(job->opened->threads); /* csv has no column for it */
    for (int i = 0; i < job->count; i++) job->results[i].bandwidth = bandwidth;
  }
  return status;
}

static void close_job(job *job) {
  attn2c_reads_close(job->reads);
  for (int i = 0; job->results != NULL && i < job->count; i++) {
    ATTN2C_FREE(job->results[i].op_ms, job->results[i].op_least_ms, job->results[i].meetings,
                job->results[i].parts, job->results[i].bound_parts);
  }
  ATTN2C_FREE(job->results, job->subjects);
  attn2c_arrays_free(job->in, job->input_count);
  attn2c_context_destroy(job->context);
  attn2c_model_close(job->opened);
  attn2c_source_close(job->source);
}

int attn2c_bench_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *out,
                         attn2c_message *message) {
  const attn2c_divided *divided = program->model->divided;
  if (arguments->part && !(attn2c_bench_is_of_all(arguments) && divided && divided->stages == 1))
    ATTN2C_TRY(choose_part(arguments->part, &program, message));
  job job = {.program = program, .model = program->model, .arguments = arguments, .message = message};
  attn2c_old_rows old = {0};
  job.input_count = attn2c_inputs_of_entries(job.model, NULL);
  job.count = calls_to_time(job.model, arguments);
  int status = check_usage(job.model, arguments, message);
  if (status == ATTN2C_OK && arguments->compare != NULL)
    status = attn2c_old_rows_read(arguments->compare, &old, message);
  if (status == ATTN2C_OK) status = run(&job);
  if (status == ATTN2C_OK) {
    status = attn2c_bench_report(job.results, job.count, arguments->format, out);
    if (status != ATTN2C_OK) attn2c_say(message, "bench: no memory for the report");
  }
  if (status == ATTN2C_OK && arguments->compare != NULL)
    attn2c_bench_compare(&old, job.results, job.count, out);
  attn2c_old_rows_free(&old);
  close_job(&job);
  return status;
}
