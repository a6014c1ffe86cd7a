/* tokens_report.h - the part of a bench's report that only models that continue have: tokens a second,
 * and the bytes that a token reads beside the rate of memory. */
#pragma once

#include <jansson.h>

#include "program/bench/result.h"

/* Prints a table of the results that have tokens, or nothing if none has. */
void attn2c_bench_tokens_md(const attn2c_bench_result *results, int count, FILE *out);

/* Adds the same numbers of one result to its row. Returns 0, or -1 without memory. */
int attn2c_bench_tokens_json(const attn2c_bench_result *result, json_t *row);
