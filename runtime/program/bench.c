/* bench.c - verifies and times each entry of a model. It samples the roof between the repetitions, so that
 * both see the same clock rate, neighbours and temperature. */
#define _POSIX_C_SOURCE 200809L
#include "program/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "program/inputs.h"
#include "program/sizes.h"
#include "program/bench_compare.h"
#include "measure/bandwidth.h"
#include "measure/bound.h"
#include "measure/parts.h"
#include "model/dispatch.h"
#include "measure/roof.h"

enum { LEAST_REPETITIONS = 7, MOST_REPETITIONS = 2000, MOST_PROFILES = 2000 };

#define SAMPLE_NANOSECONDS  2e5
#define TOTAL_NANOSECONDS   1e9
#define ROOF_EVERY          5e6 /* nanoseconds of calls between two samples of the roof, if a call is shorter */
#define PROFILE_NANOSECONDS 5e8
#define NANOSECONDS_IN_MS   1e6

/* Tokens of the sequences that are timed by default in a model of any length, in addition to the most. */
static const int64_t usual_lengths[] = {8, 32, 128};
enum { USUAL_LENGTHS = sizeof usual_lengths / sizeof *usual_lengths };

/* An entry with its arrays. */
typedef struct {
  const attn2c_program *program;
  const attn2c_model *model;
  attn2c_context *context;
  const attn2c_entry *entry;
  int number;                /* index of the entry */
  const attn2c_sizes *sizes; /* sizes of a call that does not fill the entry; NULL: a full call */
  void **in;                 /* this entry's part of the list of all inputs */
  void **out, **again;
  const attn2c_sequences *sequence; /* the one of a call of a model of any length; NULL: another model */
} subject;

/* The calls of a model of any length. */
typedef struct {
  attn2c_sizes sizes;
  attn2c_sequences sequence;
  int32_t first[2], zero[1];
} open_call;

int attn2c_bench_calls(double call_nanoseconds) {
  if (!(call_nanoseconds > 1.0)) call_nanoseconds = 1.0;
  return call_nanoseconds < SAMPLE_NANOSECONDS ? (int)ceil(SAMPLE_NANOSECONDS / call_nanoseconds) : 1;
}

int attn2c_bench_repetitions(double call_nanoseconds) {
  const double sample = call_nanoseconds * attn2c_bench_calls(call_nanoseconds);
  if (sample * LEAST_REPETITIONS > TOTAL_NANOSECONDS) return LEAST_REPETITIONS;
  if (sample * MOST_REPETITIONS < TOTAL_NANOSECONDS) return MOST_REPETITIONS;
  return (int)ceil(TOTAL_NANOSECONDS / sample);
}

/* Returns a call of the entry's code. */
static attn2c_call whole_call(const subject *s, void *const *out) {
  attn2c_call made = attn2c_context_call(s->context, (const void *const *)s->in, out);
  if (s->sequence) made.sequences = s->sequence;
  return made;
}

static int call(const subject *s, void *const *out) {
  if (s->sequence) {
    const attn2c_call made = whole_call(s, out);
    return s->entry->run(&made);
  }
  if (s->sizes)
    return attn2c_dispatch(s->context, s->sizes->batch, s->sizes->seq, (const void *const *)s->in, out);
  return attn2c_context_run(s->context, s->entry, (const void *const *)s->in, out);
}

static int failed_call(const subject *s, int status, attn2c_message *message) {
  attn2c_say(message, "bench: %s: %s", s->entry->name, attn2c_strerror(status));
  return status;
}

static int subject_allocate(subject *s, attn2c_message *message) {
  const attn2c_descriptor *model = s->program->model;
  const attn2c_entry *entry = s->entry;
  s->out = calloc((size_t)entry->output_count + 1, sizeof *s->out);
  s->again = calloc((size_t)entry->output_count + 1, sizeof *s->again);
  if (s->out == NULL || s->again == NULL) {
    attn2c_say(message, "bench: no memory");
    return ATTN2C_MEMORY;
  }
  const int status = attn2c_arrays_allocate(model, entry->outputs, entry->output_count, s->out, message);
  if (status != ATTN2C_OK) return status;
  return attn2c_arrays_allocate(model, entry->outputs, entry->output_count, s->again, message);
}

static void subject_free(subject *s) {
  attn2c_arrays_free(s->out, s->entry->output_count);
  attn2c_arrays_free(s->again, s->entry->output_count);
}

/* Fills the outputs with one byte, a different one for each call, so that elements that are not written
 * differ. */
static void spoil(const subject *s, void **arrays, int byte) {
  for (int i = 0; i < s->entry->output_count; i++) {
    const attn2c_tensor *tensor = &s->program->model->tensors[s->entry->outputs[i]];
    memset(arrays[i], byte, attn2c_tensor_bytes(tensor, tensor->shape[0]));
  }
}

/* Returns the shape of an output of a call. */
static attn2c_tensor output_of(const subject *s, int index) {
  if (s->sizes) return attn2c_sizes_tensor(s->sizes, 0, index);
  return s->program->model->tensors[s->entry->outputs[index]];
}

/* Compares `again` with `out` bit for bit, and names the first element that differs. */
static int same_bits(const subject *s, const char *between, attn2c_message *message) {
  for (int i = 0; i < s->entry->output_count; i++) {
    const attn2c_tensor tensor = output_of(s, i);
    const int32_t *first = s->out[i], *second = s->again[i]; /* the bits, for both types */
    const int64_t count = attn2c_elements(&tensor);
    for (int64_t e = 0; e < count; e++) {
      if (first[e] == second[e]) continue;
      char index[ATTN2C_INDEX_TEXT];
      attn2c_index_text(&tensor, e, index, sizeof index);
      attn2c_say(message, "bench: %s%s differs between %s; not timed", tensor.name, index, between);
      return ATTN2C_MISMATCH;
    }
  }
  return ATTN2C_OK;
}

static int all_finite(const subject *s, attn2c_message *message) {
  for (int i = 0; i < s->entry->output_count; i++) {
    const attn2c_tensor tensor = output_of(s, i);
    const float *values = s->out[i];
    const int64_t count = tensor.type == ATTN2C_F32 ? attn2c_elements(&tensor) : 0;
    for (int64_t e = 0; e < count; e++) {
      if (isfinite(values[e])) continue;
      char index[ATTN2C_INDEX_TEXT];
      attn2c_index_text(&tensor, e, index, sizeof index);
      attn2c_say(message, "bench: %s%s is %g, but finite is expected; not timed", tensor.name, index,
                 (double)values[e]);
      return ATTN2C_MISMATCH;
    }
  }
  return ATTN2C_OK;
}

static int verify(const subject *s, double *first_ms, attn2c_message *message) {
  spoil(s, s->out, 0xff); /* a NaN */
  spoil(s, s->again, 0x55);
  const double start = attn2c_now();
  int status = call(s, s->out);
  *first_ms = (attn2c_now() - start) / NANOSECONDS_IN_MS;
  if (status == ATTN2C_OK) status = call(s, s->again);
  if (status != ATTN2C_OK) return failed_call(s, status, message);
  if (same_bits(s, "two calls", message) != ATTN2C_OK) return ATTN2C_MISMATCH;
  if (all_finite(s, message) != ATTN2C_OK) return ATTN2C_MISMATCH;
  if (s->sizes && !s->sequence) return ATTN2C_OK; /* such calls are compared by the command check */
  float *arena = attn2c_allocate(sizeof(float) * (size_t)s->program->trace_floats);
  if (arena == NULL) {
    attn2c_say(message, "bench: no memory for the arena of the trace variant");
    return ATTN2C_MEMORY;
  }
  spoil(s, s->again, 0xaa);
  attn2c_call traced = whole_call(s, s->again);
  traced.arena = arena;
  status = s->program->trace[s->number](&traced);
  attn2c_free(arena);
  if (status != ATTN2C_OK) return failed_call(s, status, message);
  return same_bits(s, "the model and its trace variant", message);
}

/* Compares every tensor of every entry with the reference, and discards the table. */
static int verify_in_full(const attn2c_program *program, const attn2c_model *model, attn2c_source *source,
                          void **in, const attn2c_arguments *arguments, attn2c_message *message) {
  char *table = NULL;
  size_t size;
  FILE *stream = open_memstream(&table, &size);
  if (stream == NULL) {
    attn2c_say(message, "bench: no memory");
    return ATTN2C_MEMORY;
  }
  const int status = attn2c_check(program, model, source, (const void *const *)in, arguments->seed, 0, stream,
                                  0, arguments->path, message);
  fclose(stream);
  free(table);
  if (status == ATTN2C_MISMATCH) {
    attn2c_say(message, "bench: differs from the reference; not timed; '%s check' names the tensor",
               arguments->program);
  }
  return status;
}

/* Returns nanoseconds of a call, as the mean of `calls`. */
static double time_calls(const subject *s, int calls) {
  const double start = attn2c_now();
  for (int i = 0; i < calls; i++) call(s, s->out);
  return (attn2c_now() - start) / calls;
}

/* Returns nanoseconds of a call once the model is warm. */
static double estimate(const subject *s) {
  int calls = 1;
  double each = time_calls(s, calls);
  while (each * calls < SAMPLE_NANOSECONDS && calls < 1 << 20) {
    calls *= 2;
    each = time_calls(s, calls);
  }
  return each;
}

/* Times the calls of an entry. The bound is NULL if it was not asked for or is not available. */
static int measure(const subject *s, const attn2c_arguments *arguments, attn2c_roof *roof,
                   attn2c_bound *bound, attn2c_bench_result *result, attn2c_message *message) {
  const double each = estimate(s);
  const int calls = attn2c_bench_calls(each);
  const int repetitions =
      arguments->repetitions > 0 ? arguments->repetitions : attn2c_bench_repetitions(each);
  const double sample_nanoseconds = each * calls;
  const int roof_every = sample_nanoseconds < ROOF_EVERY ? (int)ceil(ROOF_EVERY / sample_nanoseconds) : 1;
  double *samples = malloc(sizeof *samples * (size_t)repetitions);
  if (samples == NULL) {
    attn2c_say(message, "bench: no memory for %d samples", repetitions);
    return ATTN2C_MEMORY;
  }
  for (int i = 0; i < repetitions; i++) {
    if (i % roof_every == 0) {
      attn2c_roof_sample(roof);
      if (bound != NULL) attn2c_bound_sample(bound);
      /* The roof's operands are in the cache now. A short model would be slowed down by that in its next
       * sample only. */
      if (sample_nanoseconds < ROOF_EVERY) call(s, s->out);
    }
    samples[i] = time_calls(s, calls) / NANOSECONDS_IN_MS;
  }
  attn2c_roof_sample(roof);
  if (bound != NULL) attn2c_bound_sample(bound);
  result->ms = attn2c_spread_of(samples, repetitions);
  for (int i = 0; i < ATTN2C_BENCH_PERCENTILES; i++)
    result->percentiles[i] = attn2c_quantile(samples, repetitions, i / (ATTN2C_BENCH_PERCENTILES - 1.0));
  result->repetitions = repetitions;
  result->calls = calls;
  result->roof = attn2c_roof_rate(roof);
  result->peak = attn2c_roof_peak(roof);
  free(samples);
  return ATTN2C_OK;
}

/* Measures the median time of each graph op over some profiled calls, and keeps the parts of the fastest
 * call. */
static int profile(const subject *s, const attn2c_arguments *arguments, attn2c_bench_result *result,
                   attn2c_message *message) {
  const int ops = s->entry->op_count;
  const double wanted = PROFILE_NANOSECONDS / (result->ms.median * NANOSECONDS_IN_MS);
  int calls = wanted < MOST_PROFILES ? (int)wanted : MOST_PROFILES;
  if (arguments->repetitions > 0 && calls > arguments->repetitions) calls = arguments->repetitions;
  if (calls < LEAST_REPETITIONS && arguments->repetitions == 0) calls = LEAST_REPETITIONS;
  if (calls < 1) calls = 1;
  double *marks = calloc((size_t)ops + 1, sizeof *marks);
  double *samples = calloc(((size_t)ops + 1) * (size_t)calls, sizeof *samples); /* [op][call] */
  result->op_ms = calloc((size_t)ops + 1, sizeof *result->op_ms);
  result->op_least_ms = calloc((size_t)ops + 1, sizeof *result->op_least_ms);
  result->parts = calloc(1, sizeof *result->parts);
  attn2c_record *parts = calloc(1, sizeof *parts);
  attn2c_call profiled = whole_call(s, s->again);
  profiled.nanoseconds = marks;
  int status = ATTN2C_OK;
  if (marks == NULL || samples == NULL || result->op_ms == NULL || result->op_least_ms == NULL ||
      result->parts == NULL || parts == NULL) {
    attn2c_say(message, "bench: no memory for the profile of %d ops", ops);
    status = ATTN2C_MEMORY;
  }
  for (int c = 0; c < calls && status == ATTN2C_OK; c++) {
    memset(marks, 0, sizeof *marks * (size_t)ops);
    attn2c_record_calls(parts);
    parts->begin = attn2c_now();
    status = s->program->profile[s->number](&profiled);
    parts->end = attn2c_now();
    if (status != ATTN2C_OK) failed_call(s, status, message);
    if (c == 0 || parts->end - parts->begin < result->parts->end - result->parts->begin)
      *result->parts = *parts;
    for (int i = 0; i < ops; i++)
      samples[(size_t)i * (size_t)calls + (size_t)c] = marks[i] / NANOSECONDS_IN_MS;
  }
  for (int i = 0; i < ops && status == ATTN2C_OK; i++) {
    const attn2c_spread spread = attn2c_spread_of(samples + (size_t)i * (size_t)calls, calls);
    result->op_ms[i] = spread.median;
    result->op_least_ms[i] = spread.minimum;
  }
  attn2c_record_calls(NULL);
  if (status == ATTN2C_OK) status = same_bits(s, "the model and its profiled variant", message);
  free(parts);
  free(marks);
  free(samples);
  return status;
}

static int keep_bound(attn2c_bound *bound, attn2c_bench_result *result) {
  result->bound_parts = calloc((size_t)attn2c_bound_count(bound) + 1, sizeof *result->bound_parts);
  if (result->bound_parts == NULL) return ATTN2C_MEMORY;
  result->bound_count = attn2c_bound_count(bound);
  result->bound_ms = attn2c_bound_result(bound, result->bound_parts);
  return ATTN2C_OK;
}

static int time_entry(subject *s, const attn2c_arguments *arguments, attn2c_bench_result *result,
                      attn2c_message *message) {
  attn2c_roof *roof;
  const attn2c_descriptor *model = s->program->model;
  const int is_f32 = strncmp(attn2c_precision(model), "f32", 3) == 0; /* the shapes of libxsmm are f32 only */
  int status = attn2c_roof_open(is_f32 ? model->target : NULL, s->program->roofs, model->threads, &roof);
  if (status != ATTN2C_OK) {
    attn2c_say(message, "bench: no memory for the roof");
    return status;
  }
  attn2c_bound *bound = NULL;
  result->with_bound = arguments->bound;
  if (arguments->bound) status = attn2c_bound_open(s->program, s->number, s->model, &bound);
  if (status != ATTN2C_OK) attn2c_say(message, "bench: no memory for the bound");
  if (status == ATTN2C_OK) status = measure(s, arguments, roof, bound, result, message);
  if (status == ATTN2C_OK && bound != NULL) {
    status = keep_bound(bound, result);
    if (status != ATTN2C_OK) attn2c_say(message, "bench: no memory for the bound");
  }
  attn2c_bound_close(bound);
  if (status == ATTN2C_OK && arguments->profile) status = profile(s, arguments, result, message);
  attn2c_roof_close(roof);
  return status;
}

/* Reports a --length that the model does not take. */
static int wrong_length(const attn2c_descriptor *model, const attn2c_lengths *lengths, int64_t length,
                        attn2c_message *message) {
  const long long least = (long long)attn2c_shortest(lengths),
                  most = (long long)attn2c_longest(model, lengths);
  if (lengths->exact) {
    attn2c_say(message, "--length: %lld, but %lld is expected: %s", (long long)length, most, lengths->exact);
  } else {
    attn2c_say(message, "--length: %lld, but %lld to %lld is allowed", (long long)length, least, most);
  }
  return ATTN2C_USAGE;
}

/* Sets the sizes of the calls that --length times, and the number of their entry. */
static int open_length(const attn2c_program *program, attn2c_context *context, int64_t length,
                       attn2c_sizes *sizes, int *number, attn2c_message *message) {
  const attn2c_descriptor *model = program->model;
  int status = attn2c_sizes_open(program, -1, sizes, message);
  if (status != ATTN2C_OK) return status;
  sizes->seq = length;
  sizes->batch = sizes->lengths->sizes[attn2c_primary(model)].batch;
  if (attn2c_dispatch_prepare(context, sizes->lengths) != ATTN2C_OK) {
    attn2c_say(message, "bench: no memory for padding");
    return ATTN2C_MEMORY;
  }
  *number = attn2c_dispatch_entry(context, sizes->batch, length);
  return *number >= 0 ? ATTN2C_OK : wrong_length(model, sizes->lengths, length, message);
}

static void set_label(attn2c_bench_result *result, const attn2c_entry *entry, int64_t length) {
  snprintf(result->label, sizeof result->label, "%.40s (%lld tokens)", entry->name, (long long)length);
}

/* Times a call of --length tokens, with the largest entry's arrays. */
static int bench_length(const attn2c_program *program, attn2c_context *context, void **in,
                        attn2c_bench_result *result, const attn2c_arguments *arguments,
                        attn2c_message *message) {
  const attn2c_descriptor *model = program->model;
  attn2c_sizes sizes;
  int number = -1;
  int status = open_length(program, context, arguments->length, &sizes, &number, message);
  subject s = {program, context->model, context, attn2c_sizes_entry(&sizes), number, &sizes, in,
               NULL,    NULL,           NULL};
  for (int i = 0; i < s.entry->input_count && status == ATTN2C_OK; i++) {
    const attn2c_tensor tensor = attn2c_sizes_tensor(&sizes, 1, i);
    attn2c_input_random(&tensor, arguments->seed, 1, s.in[i]);
  }
  if (status == ATTN2C_OK) status = subject_allocate(&s, message);
  if (status == ATTN2C_OK) status = verify(&s, &result->first_ms, message);
  if (status == ATTN2C_OK) {
    result->model = model;
    result->entry = &model->entries[number];
    result->provider = context->model->provider;
    set_label(result, result->entry, arguments->length);
    status = time_entry(&s, arguments, result, message);
  }
  subject_free(&s);
  attn2c_sizes_close(&sizes);
  return status;
}

/* Verifies all entries before it times any. */
static int bench_entries(const attn2c_program *program, attn2c_context *context, attn2c_source *source,
                         void **in, subject *subjects, attn2c_bench_result *results,
                         const attn2c_arguments *arguments, attn2c_message *message) {
  const attn2c_descriptor *model = program->model;
  int status = ATTN2C_OK, inputs = 0;
  double flops = 0.0;
  for (int e = 0; e < model->entry_count && status == ATTN2C_OK; e++) {
    const attn2c_entry *entry = &model->entries[e];
    subject *s = &subjects[e];
    *s = (subject){program, context->model, context, entry, e, NULL, in + inputs, NULL, NULL, NULL};
    for (int i = 0; i < entry->input_count; i++) {
      attn2c_input_random(&model->tensors[entry->inputs[i]], arguments->seed, 1, s->in[i]);
    }
    inputs += entry->input_count;
    flops += entry->flops;
    status = subject_allocate(s, message);
    if (status == ATTN2C_OK) status = verify(s, &results[e].first_ms, message);
  }
  if (status == ATTN2C_OK && flops < ATTN2C_BENCH_FULL_CHECK) {
    status = verify_in_full(program, context->model, source, in, arguments, message);
  }
  for (int e = 0; e < model->entry_count && status == ATTN2C_OK; e++) {
    results[e].model = model;
    results[e].entry = &model->entries[e];
    results[e].provider = context->model->provider;
    status = time_entry(&subjects[e], arguments, &results[e], message);
  }
  for (int e = 0; e < model->entry_count; e++) {
    if (subjects[e].entry != NULL) subject_free(&subjects[e]);
  }
  return status;
}

/* Writes the lengths that are timed in a model of any length: --length, or the usual ones. Returns how many.
 */
static int lengths_to_time(const attn2c_descriptor *model, const attn2c_arguments *arguments,
                           int64_t lengths[USUAL_LENGTHS + 1]) {
  int count = 0;
  const int64_t most = attn2c_call_rows(model);
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
                        open_call *of, subject *s, attn2c_message *message) {
  const int status = attn2c_sizes_open(program, -1, &of->sizes, message);
  if (status != ATTN2C_OK) return status;
  of->sizes.batch = 1, of->sizes.seq = length;
  of->first[0] = 0, of->first[1] = (int32_t)length;
  of->sequence =
      (attn2c_sequences){.rows = length, .count = 1, .first = of->first, .past = of->zero, .slot = of->zero};
  *s = (subject){.program = program, .model = context->model, .context = context, .in = in};
  s->entry = attn2c_sizes_entry(&of->sizes), s->sizes = &of->sizes, s->sequence = &of->sequence;
  return subject_allocate(s, message);
}

/* Verifies and times sequences of some lengths, in a model of any length. */
static int bench_open(const attn2c_program *program, attn2c_context *context, attn2c_source *source,
                      void **in, attn2c_bench_result *results, const attn2c_arguments *arguments,
                      attn2c_message *message) {
  const attn2c_descriptor *model = program->model;
  int64_t lengths[USUAL_LENGTHS + 1];
  const int count = lengths_to_time(model, arguments, lengths);
  subject subjects[USUAL_LENGTHS + 1] = {{0}};
  open_call calls[USUAL_LENGTHS + 1];
  memset(calls, 0, sizeof calls);
  if (lengths[0] < model->lengths->least || lengths[0] > attn2c_longest(model, model->lengths))
    return wrong_length(model, model->lengths, lengths[0], message);
  for (int i = 0; i < model->entries[0].input_count; i++)
    attn2c_input_random(&model->tensors[model->entries[0].inputs[i]], arguments->seed, 1, in[i]);
  int status = ATTN2C_OK;
  for (int i = 0; i < count && status == ATTN2C_OK; i++) {
    status = open_subject(program, context, in, lengths[i], &calls[i], &subjects[i], message);
    if (status == ATTN2C_OK) status = verify(&subjects[i], &results[i].first_ms, message);
  }
  if (status == ATTN2C_OK && model->entries[0].flops < ATTN2C_BENCH_FULL_CHECK)
    status = verify_in_full(program, context->model, source, in, arguments, message);
  for (int i = 0; i < count && status == ATTN2C_OK; i++) {
    results[i].model = model, results[i].entry = subjects[i].entry, results[i].length = lengths[i];
    results[i].provider = context->model->provider;
    set_label(&results[i], subjects[i].entry, lengths[i]);
    status = time_entry(&subjects[i], arguments, &results[i], message);
  }
  for (int i = 0; i < count; i++) {
    if (subjects[i].entry != NULL) subject_free(&subjects[i]);
    attn2c_sizes_close(&calls[i].sizes);
  }
  return status;
}

/* Reports options that do not go with each other or with the model. */
static int check_usage(const attn2c_descriptor *model, const attn2c_arguments *arguments,
                       attn2c_message *message) {
  int status = ATTN2C_OK;
  if (arguments->length > 0 && !model->is_open && (arguments->profile || arguments->bound)) {
    attn2c_say(message, "--length: does not go with --profile or --bound, which measure whole entries");
    status = ATTN2C_USAGE;
  }
  if (model->is_open && arguments->bound) {
    attn2c_say(message, "--bound: does not go with a model of any length, whose products have no one size; "
                        "build it with seq = N to bound calls of N tokens");
    status = ATTN2C_USAGE;
  }
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

int attn2c_bench_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *out,
                         attn2c_message *message) {
  const attn2c_descriptor *descriptor = program->model;
  const int entries = descriptor->entry_count, inputs = attn2c_inputs_of_entries(descriptor, NULL);
  int64_t lengths[USUAL_LENGTHS + 1];
  const int rows = descriptor->is_open     ? lengths_to_time(descriptor, arguments, lengths)
                   : arguments->length > 0 ? 1
                                           : entries;
  attn2c_source *source = NULL;
  attn2c_model *model = NULL;
  attn2c_context *context = NULL;
  attn2c_bench_result *results = calloc((size_t)(rows > entries ? rows : entries), sizeof *results);
  subject *subjects = calloc((size_t)entries, sizeof *subjects);
  int *tensors = calloc((size_t)inputs + 1, sizeof *tensors);
  void **in = calloc((size_t)inputs + 1, sizeof *in);
  int status = check_usage(descriptor, arguments, message);
  if (results == NULL || subjects == NULL || tensors == NULL || in == NULL) {
    attn2c_say(message, "bench: no memory");
    status = ATTN2C_MEMORY;
  }
  attn2c_old_rows old = {0};
  if (status == ATTN2C_OK && arguments->compare != NULL)
    status = attn2c_old_rows_read(arguments->compare, &old, message);
  const double start = attn2c_now();
  if (status == ATTN2C_OK) status = attn2c_source_choose(arguments, descriptor, &source, message);
  if (status == ATTN2C_OK) status = attn2c_model_open(descriptor, source, &model, message);
  if (status == ATTN2C_OK) {
    status = attn2c_context_create(model, &context);
    if (status != ATTN2C_OK) attn2c_say(message, "bench: no memory for the arena");
  }
  const double open_ms = (attn2c_now() - start) / NANOSECONDS_IN_MS;
  const int64_t open_peak = peak_bytes();
  if (status == ATTN2C_OK) {
    attn2c_inputs_of_entries(descriptor, tensors);
    status = attn2c_arrays_allocate(descriptor, tensors, inputs, in, message);
  }
  if (status == ATTN2C_OK) {
    for (int e = 0; e < rows; e++) results[e].open_ms = open_ms, results[e].open_peak_bytes = open_peak;
    void **last = in + inputs - descriptor->entries[entries - 1].input_count;
    status = descriptor->is_open ? bench_open(program, context, source, in, results, arguments, message)
             : arguments->length > 0
                 ? bench_length(program, context, last, &results[0], arguments, message)
                 : bench_entries(program, context, source, in, subjects, results, arguments, message);
  }
  if (status == ATTN2C_OK && arguments->profile && arguments->format != ATTN2C_FORMAT_CSV) {
    const double bandwidth = attn2c_bandwidth(descriptor->threads); /* csv has no column for it */
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
