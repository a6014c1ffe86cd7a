/* report.h - the results of a bench, and printing them as a table, as JSON or as comma-separated
 * values. */
#pragma once

#include "program/arguments.h"
#include "program/bench/result.h"

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

/* Prints one row an entry, and their profiles if they have any. Returns ATTN2C_OK or _MEMORY; the caller
 * checks the stream for errors. */
int attn2c_bench_report(const attn2c_bench_result *results, int count, attn2c_report_format format,
                        FILE *out);
