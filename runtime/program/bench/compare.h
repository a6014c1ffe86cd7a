/* compare.h - `bench --compare OLD.json`: prints new times and the ones of an earlier `bench -o json`. */
#pragma once

#include "program/bench/report.h"

typedef struct {
  char *model, *entry;
  int threads;
  double median, deviation; /* ms */
} attn2c_old_row;

typedef struct {
  const char *path;
  attn2c_old_row *rows;
  int count;
} attn2c_old_rows;

/* Reads the rows: one JSON object a line. Returns ATTN2C_OK, _IO, _MEMORY, or ATTN2C_FORMAT with one line
 * that names the row and what is expected. The caller frees them in every case. */
int attn2c_old_rows_read(const char *path, attn2c_old_rows *old, attn2c_message *message);
void attn2c_old_rows_free(attn2c_old_rows *old);

/* Prints old, new, their ratio, and whether they differ by more than twice the deviation of their difference.
 * The old row is the one with the same model, entry and threads. */
void attn2c_bench_compare(const attn2c_old_rows *old, const attn2c_bench_result *results, int count,
                          FILE *out);
