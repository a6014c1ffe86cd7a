/* check_report.h - prints a check's results: a row per comparison, the counts, and the first that diverged.
 * The first one has all that is needed to repeat it. The output is an aligned table for people, or one JSON
 * object per line. */
#pragma once

#include "check/compare.h"

#include <jansson.h>

/* Results of one kind of operation: their number, and the one closest to its allowed error. */
typedef struct {
  const char *op, *tensor; /* the descriptor's names */
  int count;
  double share; /* its error / the allowed error */
  int rank;
  int64_t where[ATTN2C_MAX_RANK];
} attn2c_check_kind;

/* A comparison that is made for each sequence of a call, and the sequence with the largest share. */
typedef struct {
  char name[128];
  const char *op; /* NULL: not of an operation's result */
  attn2c_tensor tensor;
  attn2c_comparison comparison;
  int sequence;
} attn2c_check_worst;

#define ATTN2C_CHECK_KINDS 64 /* more than there are operations */

typedef struct {
  FILE *out;
  const uint64_t *seed;   /* of random weights and inputs; NULL: outputs are compared with arrays */
  json_t *root, *tensors; /* for the JSON form, else NULL */
  int passed, failed;
  char first_name[160]; /* name of the first comparison that failed */
  attn2c_comparison first;
  const char *overflow; /* the first result that has a NaN or an infinity of its own; NULL: none */
  attn2c_check_kind kinds[ATTN2C_CHECK_KINDS];
  int kind_count;
  int sequence, sequences;   /* of the call whose rows are collected; sequences 0: rows are printed at once */
  attn2c_check_worst *worst; /* the rows, in the order in which they were added */
  int worst_count;
} attn2c_check_report;

/* Starts the report of one entry. seed: kept until the end; NULL: as above. Returns ATTN2C_OK or
 * ATTN2C_MEMORY. End it with attn2c_check_report_end in every case. */
int attn2c_check_report_begin(attn2c_check_report *report, FILE *out, int json, const char *model,
                              const char *entry, const uint64_t *seed);

/* Adds one comparison of a tensor, under a name of the caller's. Returns ATTN2C_OK or ATTN2C_MEMORY. */
int attn2c_check_report_row(attn2c_check_report *report, const char *name, const attn2c_tensor *tensor,
                            const attn2c_comparison *comparison);

/* Adds the comparison of an operation's result, which is also counted with the others of its kind. */
int attn2c_check_report_op(attn2c_check_report *report, const char *op, const attn2c_tensor *tensor,
                           const attn2c_comparison *comparison);

/* Collects the rows of a call's sequences: of comparisons with the same name, only the worst becomes a row.
 * `sequence`, from 0, is the one that the next rows are of. */
void attn2c_check_report_collect(attn2c_check_report *report, int sequence, int sequences);
/* Adds the collected rows, each with the number of its sequence. Returns ATTN2C_OK or ATTN2C_MEMORY. */
int attn2c_check_report_release(attn2c_check_report *report);

/* Prints a row per kind of operation, the counts and the first failure, and frees the report. The failure has
 * the command that repeats it. Returns ATTN2C_OK: all passed; _MISMATCH; _MEMORY; _IO: `out` could not be
 * written. With print 0 it only frees. */
int attn2c_check_report_end(attn2c_check_report *report, const char *repeat_command, int print);
