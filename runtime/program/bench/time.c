/* time.c - times a call that was verified. It samples the roof and the rate of memory between the
 * repetitions, so that all see the same clock rate, neighbours and temperature. */
#include "program/bench/bench.h"

#include <math.h>

#include "measure/roof.h"
#include "program/ranks/program.h"

enum { LEAST_REPETITIONS = 7, MOST_REPETITIONS = 2000, LEAST_PROFILES = 3, MOST_PROFILES = 2000 };

#define SAMPLE_NANOSECONDS  2e5
#define TOTAL_NANOSECONDS   1e9
#define ROOF_EVERY          5e6 /* nanoseconds of calls between two samples of the roof, if a call is shorter */
#define PROFILE_NANOSECONDS 5e8

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

/* Returns nanoseconds of a call, as the mean of `calls`. */
static double time_calls(const attn2c_bench_call *s, int calls) {
  const double start = attn2c_now();
  for (int i = 0; i < calls; i++) attn2c_bench_call_make(s, s->out);
  return (attn2c_now() - start) / calls;
}

/* Returns nanoseconds of a call once the model is warm. */
static double estimate(const attn2c_bench_call *s) {
  int calls = 1;
  double each = time_calls(s, calls);
  while (each * calls < SAMPLE_NANOSECONDS && calls < 1 << 20) {
    calls *= 2;
    each = time_calls(s, calls);
  }
  return each;
}

/* Times the calls of an entry. The bound is NULL if it was not asked for or is not available. */
static int measure(const attn2c_bench_call *s, const attn2c_arguments *arguments, attn2c_roof *roof,
                   attn2c_bound *bound, attn2c_bench_result *result, attn2c_message *message) {
  const double each = arguments->brief ? result->first_ms * ATTN2C_NS_IN_MS : estimate(s);
  const int calls = attn2c_bench_calls(each);
  const int repetitions = arguments->brief             ? 1
                          : arguments->repetitions > 0 ? arguments->repetitions
                                                       : attn2c_bench_repetitions(each);
  const double sample_nanoseconds = each * calls;
  const int roof_every = sample_nanoseconds < ROOF_EVERY ? (int)ceil(ROOF_EVERY / sample_nanoseconds) : 1;
  double *samples = malloc(sizeof *samples * (size_t)repetitions);
  if (samples == NULL)
    return attn2c_fail(message, ATTN2C_MEMORY, "bench: no memory for %d samples", repetitions);
  for (int i = 0; i < repetitions; i++) {
    if (i % roof_every == 0) {
      attn2c_roof_sample(roof);
      if (bound != NULL) attn2c_bound_sample(bound);
      attn2c_reads_sample(s->reads);
      /* The roof's operands are in the cache now. That slows the next sample of a short model only. */
      if (sample_nanoseconds < ROOF_EVERY) attn2c_bench_call_make(s, s->out);
    }
    samples[i] = time_calls(s, calls) / ATTN2C_NS_IN_MS;
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
  result->memory = attn2c_reads_rate(s->reads);
  free(samples);
  return ATTN2C_OK;
}

/* Reads memory, which then takes the place of the model's weights in all caches. */
static void read_other(const unsigned char *memory, size_t bytes) {
  enum { LINE = 64 };
  const volatile unsigned char *at = memory; /* read, although nothing uses it */
  for (size_t i = 0; i < bytes; i += LINE) (void)at[i];
}

/* Measures the median time of each graph op over some profiled calls, and keeps the parts of the fastest
 * call. The ops belong to the model that this process has: a rank's part has others than the whole model.
 */
static int profile(const attn2c_bench_call *s, const attn2c_arguments *arguments, attn2c_bench_result *result,
                   attn2c_message *message) {
  result->profiled = s->model->descriptor;
  result->profiled_entry = &result->profiled->entries[s->number];
  const int ops = result->profiled_entry->op_count;
  const double wanted = PROFILE_NANOSECONDS / (result->ms.median * ATTN2C_NS_IN_MS);
  int calls = wanted < MOST_PROFILES ? (int)wanted : MOST_PROFILES;
  const int least = arguments->repetitions > 0 ? LEAST_PROFILES : LEAST_REPETITIONS;
  if (calls < least) calls = least;
  if (arguments->repetitions > 0 && calls > arguments->repetitions) calls = arguments->repetitions;
  ATTN2C_OWN double *marks = calloc((size_t)ops + 1, sizeof *marks);
  ATTN2C_OWN double *samples = calloc(((size_t)ops + 1) * (size_t)calls, sizeof *samples); /* [op][call] */
  result->op_ms = calloc((size_t)ops + 1, sizeof *result->op_ms);
  result->op_least_ms = calloc((size_t)ops + 1, sizeof *result->op_least_ms);
  result->parts = calloc(1, sizeof *result->parts);
  ATTN2C_OWN attn2c_record *parts = calloc(1, sizeof *parts);
  const size_t other_bytes = (size_t)arguments->cold_megabytes << 20;
  ATTN2C_OWN unsigned char *other = malloc(other_bytes + 1);
  attn2c_call profiled = attn2c_bench_call_whole(s, s->again);
  profiled.nanoseconds = marks;
  int status = ATTN2C_OK;
  if (marks == NULL || samples == NULL || result->op_ms == NULL || result->op_least_ms == NULL ||
      result->parts == NULL || parts == NULL || other == NULL)
    status = attn2c_fail(message, ATTN2C_MEMORY, "bench: no memory for the profile of %d ops", ops);
  if (other != NULL) memset(other, 1, other_bytes); /* pages that nobody wrote are one page */
  for (int c = 0; c < calls && status == ATTN2C_OK; c++) {
    memset(marks, 0, sizeof *marks * (size_t)ops);
    read_other(other, other_bytes);
    attn2c_record_calls(parts);
    parts->begin = attn2c_now();
    status = attn2c_model_run(s->model, s->program->profile[s->number], &profiled);
    parts->end = attn2c_now();
    if (status != ATTN2C_OK) attn2c_bench_call_failed(s, status, message);
    if (c == 0 || parts->end - parts->begin < result->parts->end - result->parts->begin)
      *result->parts = *parts;
    for (int i = 0; i < ops; i++) samples[(size_t)i * (size_t)calls + (size_t)c] = marks[i] / ATTN2C_NS_IN_MS;
  }
  for (int i = 0; i < ops && status == ATTN2C_OK; i++) {
    const attn2c_spread spread = attn2c_spread_of(samples + (size_t)i * (size_t)calls, calls);
    result->op_ms[i] = spread.median;
    result->op_least_ms[i] = spread.minimum;
  }
  attn2c_record_calls(NULL);
  if (status == ATTN2C_OK) status = attn2c_bench_call_same(s, "the model and its profiled variant", message);
  return status;
}

static int keep_bound(attn2c_bound *bound, attn2c_bench_result *result) {
  result->bound_parts = calloc((size_t)attn2c_bound_count(bound) + 1, sizeof *result->bound_parts);
  if (result->bound_parts == NULL) return ATTN2C_MEMORY;
  result->bound_count = attn2c_bound_count(bound);
  result->bound_ms = attn2c_bound_result(bound, result->bound_parts);
  return ATTN2C_OK;
}

/* Makes a call once more, and keeps the meetings that it leaves out. */
static int count_meetings(const attn2c_bench_call *s, const char *part, attn2c_bench_result *result,
                          attn2c_message *message) {
  const attn2c_rank_meeting *list;
  attn2c_the_ranks->count_anew(s->model);
  const int status = attn2c_bench_call_make(s, s->out);
  if (status != ATTN2C_OK) return attn2c_bench_call_failed(s, status, message);
  result->part = part;
  result->meeting_count = attn2c_the_ranks->counted(s->model, &list);
  result->meetings = calloc((size_t)result->meeting_count + 1, sizeof *result->meetings);
  if (!result->meetings) return ATTN2C_MEMORY;
  memcpy(result->meetings, list, (size_t)result->meeting_count * sizeof *list);
  return ATTN2C_OK;
}

int attn2c_bench_time(attn2c_bench_call *s, const attn2c_arguments *arguments, attn2c_bench_result *result,
                      attn2c_message *message) {
  attn2c_roof *roof;
  const attn2c_descriptor *model = s->program->model;
  const int is_f32 = strncmp(attn2c_precision(model), "f32", 3) == 0; /* the shapes of libxsmm are f32 only */
  int status = attn2c_roof_open(is_f32 ? model->target : NULL, s->program->roofs, s->model->threads, &roof);
  if (status != ATTN2C_OK) return attn2c_fail(message, status, "bench: no memory for the roof");
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
  if (status == ATTN2C_OK && arguments->profile && (!s->tokens || s->sequence))
    status = profile(s, arguments, result, message);
  if (status == ATTN2C_OK && arguments->part) status = count_meetings(s, arguments->part, result, message);
  attn2c_roof_close(roof);
  return status;
}
