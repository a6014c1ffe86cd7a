/* bench_report.h - what a bench found, and how it is printed: as a table, as JSON or as
 * comma-separated values. */
#ifndef ATTN2C_BENCH_REPORT_H
#define ATTN2C_BENCH_REPORT_H

#include <stdint.h>
#include <stdio.h>
#include "program/arguments.h"
#include "measure/bound.h"
#include "measure/timing.h"

typedef struct {
  const attn2c_descriptor *model;
  const attn2c_entry *entry;
  char label[80];           /* of a call that does not fill the entry, with its tokens; else empty */
  const char *provider;     /* of the kernels */
  attn2c_spread ms;         /* of a call */
  int repetitions;          /* samples of it */
  int calls;                /* calls in a sample */
  double open_ms, first_ms; /* opening the model; its first call */
  int64_t open_peak_bytes;  /* the most that the process had in memory until it was open; 0: not available */
  double roof;              /* GFLOP/s; 0: not available */
  double peak;              /* GFLOP/s of the multipliers alone; 0: not available */
  double *op_ms;            /* with --profile: of each graph op of the entry, the median; else NULL */
  double *op_least_ms;      /* the same, the least */
  int with_bound;           /* --bound */
  double bound_ms;          /* 0: not available */
  attn2c_bound_part *bound_parts;
  int bound_count;
} attn2c_bench_result;

/* What the ops of a profile are added up by; ATTN2C_BY_RESULT: each is a row by itself. */
typedef enum { ATTN2C_BY_KIND, ATTN2C_BY_SECTION, ATTN2C_BY_RESULT } attn2c_profile_by;

/* The time and the work of the ops that share a kind or a section. */
typedef struct {
  const char *name;
  double ms, least_ms, flops; /* sums of medians and of least times */
} attn2c_profile_row;

/* Adds up the entry's ops, in the order of their first appearance. `rows` has room for op_count; the number
 * of rows. */
int attn2c_profile_group(const attn2c_bench_result *result, attn2c_profile_by by, attn2c_profile_row *rows);

/* What a row is called: its label, or the entry's name. */
const char *attn2c_bench_label(const attn2c_bench_result *result);

/* GFLOP/s of that work in that time; 0 where there is no time. */
double attn2c_gflops(double flops, double ms);

/* Prints one row an entry, and their profiles where there are any. ATTN2C_OK or _MEMORY; the stream's errors
 * are the caller's to look at. */
int attn2c_bench_report(const attn2c_bench_result *results, int count, attn2c_report_format format,
                        FILE *out);

#endif
