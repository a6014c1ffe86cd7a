/* check_report.h - what a check tells: a row a comparison, how many passed, and the first that diverged with
 * what is needed to see it again. As an aligned table for people, or as one JSON object a line. */
#ifndef ATTN2C_CHECK_REPORT_H
#define ATTN2C_CHECK_REPORT_H

#include "compare.h"

#include <jansson.h>
#include <stdio.h>

typedef struct {
  FILE *out;
  json_t *root, *tensors; /* of the JSON form; else NULL */
  int passed, failed;
  char first_name[160]; /* of the first comparison that failed */
  attn2c_comparison first;
} attn2c_check_report;

/* Starts the report of one entry. ATTN2C_OK or ATTN2C_MEMORY. End it with attn2c_check_report_end in every
 * case. */
int attn2c_check_report_begin(attn2c_check_report *report, FILE *out, int json, const char *model,
                              const char *entry, uint64_t seed);

/* One comparison of a tensor, under a name of the caller's. ATTN2C_OK or ATTN2C_MEMORY. */
int attn2c_check_report_row(attn2c_check_report *report, const char *name, const attn2c_tensor *tensor,
                            const attn2c_comparison *comparison);

/* Prints the tally and, if any failed, the first one with the command that repeats it; frees the report.
 * ATTN2C_OK: all passed; _MISMATCH; _MEMORY; _IO: `out` took not everything. With print 0 it only frees. */
int attn2c_check_report_end(attn2c_check_report *report, uint64_t seed, const char *repeat_command,
                            int print);

#endif
