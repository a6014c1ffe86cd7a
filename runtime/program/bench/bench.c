/* bench.c - decides which calls of a model are verified and timed. */
#define _POSIX_C_SOURCE 200809L
#include "program/bench/bench.h"

#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "measure/bandwidth.h"
#include "measure/work.h"
#include "model/sequences.h"
#include "program/bench/compare.h"
#include "program/bench/time.h"
#include "program/inputs.h"
#include "program/ranks/program.h"

/* Tokens of the sequences that are timed by default in a model of any length, in addition to the most. */
static const int64_t usual_lengths[] = {8, 32, 128};
enum { USUAL_LENGTHS = sizeof usual_lengths / sizeof *usual_lengths };

/* The calls of a model of any length. */
typedef struct {
  attn2c_sizes sizes;
  attn2c_sequences sequence;
  int32_t first[2], zero[ATTN2C_MOST_WINDOWS];
} open_call;

int attn2c_bench_is_of_all(const attn2c_arguments *arguments) {
  return arguments->part && strcmp(arguments->part, "all") == 0;
}

/* Compares every tensor of every entry with the reference, and discards the table. */
static int verify_in_full(const attn2c_program *program, const attn2c_model *model, attn2c_source *source,
                          void **in, const attn2c_arguments *arguments, attn2c_message *message) {
  if (arguments->part || arguments->brief) return ATTN2C_OK;
  char *table = NULL;
  size_t size;
  FILE *stream = open_memstream(&table, &size);
  if (stream == NULL) return attn2c_fail(message, ATTN2C_MEMORY, "bench: no memory");
  const int status = attn2c_check(program, model, source, (const void *const *)in, arguments->seed, 0, stream,
                                  0, arguments->path, message);
  fclose(stream);
  free(table);
  if (status == ATTN2C_MISMATCH)
    attn2c_say(message, "bench: differs from the reference; not timed; '%s check' names the tensor",
               arguments->program);
  return status;
}

/* Verifies a call, or makes it once if it is that of a part, or if --brief asks for that. */
static int verify(const attn2c_bench_call *s, const attn2c_arguments *arguments, double *first_ms,
                  attn2c_message *message) {
  if (!arguments->part && !arguments->brief) return attn2c_bench_call_verify(s, first_ms, message);
  const double start = attn2c_now();
  const int status = attn2c_bench_call_make(s, s->out);
  *first_ms = (attn2c_now() - start) / ATTN2C_NS_IN_MS;
  return status == ATTN2C_OK ? status : attn2c_bench_call_failed(s, status, message);
}

/* Reports a --length that the model does not take. */
static int wrong_length(const attn2c_descriptor *model, int64_t length, attn2c_message *message) {
  return attn2c_fail(message, ATTN2C_USAGE, "--length: %lld, but %lld to %lld is allowed", (long long)length,
                     (long long)model->lengths->least, (long long)model->lengths->sizes->seq);
}

static void set_label(attn2c_bench_result *result, const attn2c_entry *entry, int64_t length) {
  snprintf(result->label, sizeof result->label, "%.40s (%lld tokens)", entry->name, (long long)length);
}

/* Verifies all entries before it times any. */
static int bench_entries(const attn2c_program *program, attn2c_context *context, attn2c_source *source,
                         void **in, attn2c_bench_call *subjects, attn2c_bench_result *results,
                         const attn2c_arguments *arguments, attn2c_message *message) {
  const attn2c_descriptor *model = program->model;
  int status = ATTN2C_OK, inputs = 0;
  double flops = 0.0;
  for (int e = 0; e < model->entry_count && status == ATTN2C_OK; e++) {
    const attn2c_entry *entry = &model->entries[e];
    attn2c_bench_call *s = &subjects[e];
    *s = (attn2c_bench_call){
        .program = program, .model = context->model, .context = context, .in = in + inputs};
    s->entry = entry, s->number = e;
    for (int i = 0; i < entry->input_count; i++)
      attn2c_input_random(&model->tensors[entry->inputs[i]], arguments->seed, 1, s->in[i]);
    inputs += entry->input_count;
    flops += entry->flops;
    status = attn2c_bench_call_allocate(s, message);
    if (status == ATTN2C_OK) status = verify(s, arguments, &results[e].first_ms, message);
  }
  if (status == ATTN2C_OK && flops < ATTN2C_BENCH_FULL_CHECK)
    status = verify_in_full(program, context->model, source, in, arguments, message);
  for (int e = 0; e < model->entry_count && status == ATTN2C_OK; e++) {
    results[e].model = model;
    results[e].entry = &model->entries[e];
    results[e].provider = context->model->provider;
    status = attn2c_bench_time(&subjects[e], arguments, &results[e], message);
  }
  for (int e = 0; e < model->entry_count; e++) {
    if (subjects[e].entry != NULL) attn2c_bench_call_free(&subjects[e]);
  }
  return status;
}

/* Writes the lengths that are timed in a model of any length: --length, or the usual ones. Returns how many.
 */
static int lengths_to_time(const attn2c_descriptor *model, const attn2c_arguments *arguments,
                           int64_t lengths[USUAL_LENGTHS + 1]) {
  int count = 0;
  const int64_t most = model->lengths->sizes[0].seq;
  if (arguments->length > 0) {
    lengths[0] = arguments->length;
    return 1;
  }
  for (int i = 0; i < USUAL_LENGTHS; i++)
    if (usual_lengths[i] >= model->lengths->least && usual_lengths[i] < most)
      lengths[count++] = usual_lengths[i];
  lengths[count++] = most;
  return count;
}

/* Prepares the call of one sequence. */
static int open_subject(const attn2c_program *program, attn2c_context *context, void **in, int64_t length,
                        open_call *of, attn2c_bench_call *s, attn2c_message *message) {
  const int status = attn2c_sizes_open(program, &of->sizes, message);
  if (status != ATTN2C_OK) return status;
  of->sizes.batch = 1, of->sizes.seq = length;
  of->first[0] = 0, of->first[1] = (int32_t)length;
  of->sequence = (attn2c_sequences){.rows = length,
                                    .count = 1,
                                    .first = of->first,
                                    .past = of->zero,
                                    .slot = of->zero,
                                    .forgotten = of->zero};
  *s = (attn2c_bench_call){.program = program, .model = context->model, .context = context, .in = in};
  s->entry = attn2c_primary_entry(program->model), s->sizes = &of->sizes, s->sequence = &of->sequence;
  return attn2c_bench_call_allocate(s, message);
}

/* Verifies and times sequences of some lengths, in a model of any length. */
static int bench_open(const attn2c_program *program, attn2c_context *context, attn2c_source *source,
                      void **in, attn2c_bench_result *results, const attn2c_arguments *arguments,
                      attn2c_message *message) {
  const attn2c_descriptor *model = program->model;
  int64_t lengths[USUAL_LENGTHS + 1];
  const int count = lengths_to_time(model, arguments, lengths);
  attn2c_bench_call subjects[USUAL_LENGTHS + 1] = {{0}};
  open_call calls[USUAL_LENGTHS + 1];
  memset(calls, 0, sizeof calls);
  if (lengths[0] < model->lengths->least || lengths[0] > model->lengths->sizes->seq)
    return wrong_length(model, lengths[0], message);
  for (int i = 0; i < model->entries[0].input_count; i++)
    attn2c_input_random(&model->tensors[model->entries[0].inputs[i]], arguments->seed, 1, in[i]);
  int status = ATTN2C_OK;
  for (int i = 0; i < count && status == ATTN2C_OK; i++) {
    status = open_subject(program, context, in, lengths[i], &calls[i], &subjects[i], message);
    if (status == ATTN2C_OK) status = verify(&subjects[i], arguments, &results[i].first_ms, message);
  }
  if (status == ATTN2C_OK && model->entries[0].flops < ATTN2C_BENCH_FULL_CHECK)
    status = verify_in_full(program, context->model, source, in, arguments, message);
  for (int i = 0; i < count && status == ATTN2C_OK; i++) {
    results[i].model = model, results[i].entry = subjects[i].entry, results[i].length = lengths[i];
    results[i].provider = context->model->provider;
    set_label(&results[i], subjects[i].entry, lengths[i]);
    status = attn2c_bench_time(&subjects[i], arguments, &results[i], message);
  }
  for (int i = 0; i < count; i++) {
    if (subjects[i].entry != NULL) attn2c_bench_call_free(&subjects[i]);
    attn2c_sizes_close(&calls[i].sizes);
  }
  return status;
}

/* Times one call of a model that continues. */
static int time_tokens(attn2c_bench_call *s, const attn2c_arguments *arguments, attn2c_bench_result *result,
                       attn2c_message *message) {
  const attn2c_bench_tokens *of = s->tokens;
  int status = attn2c_bench_tokens_prepare(s->context, of);
  if (status != ATTN2C_OK) return attn2c_bench_call_failed(s, status, message);
  result->model = s->program->model, result->entry = s->entry, result->provider = s->model->provider;
  result->tokens = of->sequences * of->count;
  if (of->count == 1)
    result->bytes = attn2c_bytes_of_weights(result->model, s->entry, of->sequences) +
                    (double)of->sequences * attn2c_bytes_of_kept(result->model, s->entry, of->position + 1);
  result->position = of->position, result->sequences = of->sequences;
  attn2c_bench_tokens_label(of, result->label, sizeof result->label);
  return attn2c_bench_time(s, arguments, result, message);
}

/* Compares all calls with the best of the rates at which memory was read: some are disturbed. */
static void share_memory_rate(attn2c_bench_result *results, int count) {
  double most = 0.0;
  for (int i = 0; i < count; i++)
    if (results[i].memory > most) most = results[i].memory;
  for (int i = 0; i < count; i++)
    if (results[i].memory > 0.0) results[i].memory = most;
}

/* Verifies and times the calls of a model that continues. */
static int bench_continued(const attn2c_program *program, attn2c_context *context, attn2c_source *source,
                           void **in, attn2c_bench_result *results, const attn2c_arguments *arguments,
                           attn2c_message *message) {
  const attn2c_descriptor *model = program->model;
  const attn2c_entry *entry = attn2c_primary_entry(model);
  attn2c_bench_call subjects[ATTN2C_BENCH_TOKEN_CALLS] = {{0}};
  attn2c_bench_tokens list[ATTN2C_BENCH_TOKEN_CALLS];
  attn2c_bench_token_rows rows[ATTN2C_BENCH_TOKEN_CALLS];
  if (arguments->length > model->lengths->sizes->seq) return wrong_length(model, arguments->length, message);
  attn2c_input_random(&model->tensors[entry->inputs[0]], arguments->seed, 1, in[0]);
  const int count = attn2c_bench_tokens_list(model, arguments->length, in[0], list);
  attn2c_reads *reads = NULL;
  int status = attn2c_sequences_prepare(context);
  if (status == ATTN2C_OK) status = attn2c_reads_open(context->model->threads, &reads);
  if (status != ATTN2C_OK) attn2c_say(message, "bench: no memory");
  for (int i = 0; i < count && status == ATTN2C_OK; i++) {
    attn2c_bench_call *s = &subjects[i];
    *s = (attn2c_bench_call){
        .program = program, .model = context->model, .context = context, .entry = entry, .in = in};
    s->tokens = &list[i], s->reads = list[i].count == 1 ? reads : NULL;
    if (attn2c_bench_tokens_rows(model, &list[i], &rows[i])) {
      s->sequence = &rows[i].n;
      s->in = rows[i].in;
    }
    status = attn2c_bench_call_allocate(s, message);
    if (status == ATTN2C_OK) status = attn2c_bench_tokens_prepare(context, &list[i]);
    if (status == ATTN2C_OK) status = verify(s, arguments, &results[i].first_ms, message);
  }
  if (status == ATTN2C_OK && model->entries[0].flops < ATTN2C_BENCH_FULL_CHECK)
    status = verify_in_full(program, context->model, source, in, arguments, message);
  for (int i = 0; i < count && status == ATTN2C_OK; i++)
    status = time_tokens(&subjects[i], arguments, &results[i], message);
  for (int i = 0; i < count; i++)
    if (subjects[i].entry != NULL) attn2c_bench_call_free(&subjects[i]);
  attn2c_reads_close(reads);
  share_memory_rate(results, count);
  return status;
}

/* Returns how many calls are timed. */
static int rows_to_time(const attn2c_descriptor *model, const attn2c_arguments *arguments) {
  int64_t lengths[USUAL_LENGTHS + 1];
  attn2c_bench_tokens list[ATTN2C_BENCH_TOKEN_CALLS];
  if (model->continued) return attn2c_bench_tokens_list(model, arguments->length, NULL, list);
  if (model->is_open) return lengths_to_time(model, arguments, lengths);
  return model->entry_count;
}

/* Reports options that do not go with each other or with the model. */
static int check_usage(const attn2c_descriptor *model, const attn2c_arguments *arguments,
                       attn2c_message *message) {
  int status = ATTN2C_OK;
  if (arguments->length > 0 && !model->is_open)
    status = attn2c_fail(message, ATTN2C_USAGE,
                         "--length: goes with a model of any length; the calls of this one have one length");
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

/* Opens the model, or the part that is timed. */
static int open_timed(const attn2c_arguments *arguments, const attn2c_descriptor *descriptor,
                      attn2c_source *source, attn2c_model **model, attn2c_message *message) {
  if (arguments->part && !attn2c_bench_is_of_all(arguments))
    return attn2c_the_ranks->open_part(descriptor, source, model, message);
  return attn2c_model_choose(arguments, descriptor, source, model, message);
}

int attn2c_bench_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *out,
                         attn2c_message *message) {
  const attn2c_divided *divided = program->model->divided;
  if (arguments->part && !(attn2c_bench_is_of_all(arguments) && divided && divided->stages == 1)) {
    const int status = choose_part(arguments->part, &program, message);
    if (status != ATTN2C_OK) return status;
  }
  const attn2c_descriptor *descriptor = program->model;
  const int entries = descriptor->entry_count, inputs = attn2c_inputs_of_entries(descriptor, NULL);
  const int rows = rows_to_time(descriptor, arguments);
  attn2c_source *source = NULL;
  attn2c_model *model = NULL;
  attn2c_context *context = NULL;
  attn2c_bench_result *results = calloc((size_t)(rows > entries ? rows : entries), sizeof *results);
  attn2c_bench_call *subjects = calloc((size_t)entries, sizeof *subjects);
  int *tensors = calloc((size_t)inputs + 1, sizeof *tensors);
  void **in = calloc((size_t)inputs + 1, sizeof *in);
  int status = check_usage(descriptor, arguments, message);
  if (results == NULL || subjects == NULL || tensors == NULL || in == NULL)
    status = attn2c_fail(message, ATTN2C_MEMORY, "bench: no memory");
  attn2c_old_rows old = {0};
  if (status == ATTN2C_OK && arguments->compare != NULL)
    status = attn2c_old_rows_read(arguments->compare, &old, message);
  const double start = attn2c_now();
  if (status == ATTN2C_OK) status = attn2c_source_choose(arguments, descriptor, &source, message);
  if (status == ATTN2C_OK) status = open_timed(arguments, descriptor, source, &model, message);
  if (status == ATTN2C_OK) {
    status = attn2c_context_create(model, &context);
    if (status != ATTN2C_OK) attn2c_say(message, "bench: no memory for the arena");
  }
  const double open_ms = (attn2c_now() - start) / ATTN2C_NS_IN_MS;
  const int64_t open_peak = peak_bytes();
  if (status == ATTN2C_OK) {
    attn2c_inputs_of_entries(descriptor, tensors);
    status = attn2c_arrays_allocate(descriptor, tensors, inputs, in, message);
  }
  if (status == ATTN2C_OK) {
    for (int e = 0; e < rows; e++) {
      results[e].open_ms = open_ms, results[e].open_peak_bytes = open_peak;
      results[e].threads = arguments->threads > 0 ? arguments->threads : descriptor->threads;
    }
    status = descriptor->continued
                 ? bench_continued(program, context, source, in, results, arguments, message)
             : descriptor->is_open
                 ? bench_open(program, context, source, in, results, arguments, message)
                 : bench_entries(program, context, source, in, subjects, results, arguments, message);
  }
  if (status == ATTN2C_OK && arguments->profile && arguments->format != ATTN2C_FORMAT_CSV) {
    const double bandwidth = attn2c_bandwidth(model->threads); /* csv has no column for it */
    for (int e = 0; e < rows; e++) results[e].bandwidth = bandwidth;
  }
  if (status == ATTN2C_OK) {
    status = attn2c_bench_report(results, rows, arguments->format, out);
    if (status != ATTN2C_OK) attn2c_say(message, "bench: no memory for the report");
  }
  if (status == ATTN2C_OK && arguments->compare != NULL) attn2c_bench_compare(&old, results, rows, out);
  attn2c_old_rows_free(&old);
  for (int e = 0; results != NULL && e < rows; e++) {
    free(results[e].op_ms);
    free(results[e].op_least_ms);
    free(results[e].meetings);
    free(results[e].parts);
    free(results[e].bound_parts);
  }
  free(results);
  free(subjects);
  free(tensors);
  attn2c_arrays_free(in, inputs);
  attn2c_context_destroy(context);
  attn2c_model_close(model);
  attn2c_source_close(source);
  return status;
}
