/* report.h - the results of a bench, and printing them as a table, as JSON or as comma-separated
 * values. */
#pragma once

#include "program/arguments.h"
#include "measure/bound.h"
#include "measure/parts.h"
#include "measure/timing.h"
#include "ranks/ranks.h"

#include <jansson.h>

/* The result of a call that was timed. */

/* The percentiles of the samples that JSON has: every fifth from the least (0) to the most (100). */
enum { ATTN2C_BENCH_PERCENTILES = 21 };

typedef struct {
  const attn2c_descriptor *model;
  const attn2c_entry *entry;
  char label[80];       /* the entry's name and the tokens of a call that does not fill it; else empty */
  int64_t length;       /* rows of the sequence, in a model of any length; 0: the entry's own size */
  int threads;          /* of --threads, or that the model was built for; 0: one a core */
  const char *provider; /* the name of the kernels' provider */
  attn2c_spread ms;     /* milliseconds of a call */
  double percentiles[ATTN2C_BENCH_PERCENTILES]; /* milliseconds of a call */
  int repetitions;                              /* number of samples */
  int calls;                                    /* calls in a sample */
  double open_ms, first_ms;                     /* time to open the model; time of its first call */
  int64_t open_peak_bytes; /* peak memory of the process until the model was open; 0: not available */
  double roof;             /* GFLOP/s of the roof; 0: not available */
  double peak;             /* GFLOP/s of only the multipliers; 0: not available */
  /* With --profile, what is profiled: `model` and `entry`, or rank 0's; else NULL. */
  const attn2c_descriptor *profiled;
  const attn2c_entry *profiled_entry;
  double *op_ms;        /* with --profile: median time of each graph op of that entry; else NULL */
  double *op_least_ms;  /* with --profile: least time of each graph op; else NULL */
  double bandwidth;     /* with --profile: GB/s that memory is read at; 0: not available */
  attn2c_record *parts; /* with --profile: times of the parts of the fastest profiled call; else NULL */
  int64_t tokens;       /* of a call of a model that continues, for all its sequences; 0: another call */
  int64_t sequences, position;   /* sequences of such a call; tokens that each had before */
  double bytes;                  /* of weights, keys and values that it reads; 0: not counted */
  double memory;                 /* GB/s that memory was read at between the repetitions; 0: not available */
  const char *part;              /* that of --part; NULL: not given */
  attn2c_rank_meeting *meetings; /* with it: the meetings of a call that were left out */
  int meeting_count;
  int with_bound;  /* 1 with --bound */
  double bound_ms; /* milliseconds; 0: not available */
  attn2c_bound_part *bound_parts;
  int bound_count;
} attn2c_bench_result;

/* Returns the name of a row: its label, or the entry's name. */
static inline const char *attn2c_bench_label(const attn2c_bench_result *result) {
  return *result->label ? result->label : result->entry->name;
}

/* The key that ops of a profile are grouped by. ATTN2C_BY_RESULT gives each op its own row. */
typedef enum { ATTN2C_BY_KIND, ATTN2C_BY_SECTION, ATTN2C_BY_RESULT } attn2c_profile_by;

/* The time and the work of the ops that share a kind or a section. */
typedef struct {
  const char *name;
  double ms, least_ms, flops; /* sums of medians and of least times, in milliseconds; sum of the work */
} attn2c_profile_row;

/* Adds up the profiled entry's ops, in the order of their first appearance. `rows` has a capacity of
 * op_count. Returns the number of rows. */
int attn2c_profile_group(const attn2c_bench_result *result, attn2c_profile_by by, attn2c_profile_row *rows);

/* Prints a row an entry, and profiles. Returns ATTN2C_OK or _MEMORY; the caller checks the stream. */
int attn2c_bench_report(const attn2c_bench_result *results, int count, attn2c_report_format format,
                        FILE *out);

/* The part of a bench's report that only models that continue have: tokens a second, and the bytes that a
 * token reads beside the rate of memory. */

/* Prints a table of the results that have tokens, or nothing if none has. */
void attn2c_bench_tokens_md(const attn2c_bench_result *results, int count, FILE *out);

/* Adds the same numbers of one result to its row. Returns 0, or -1 without memory. */
int attn2c_bench_tokens_json(const attn2c_bench_result *result, json_t *row);
