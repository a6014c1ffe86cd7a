/* bench_compare.h - `bench --compare OLD.json`: times beside those that an earlier
 * `bench -o json` wrote. */
#ifndef ATTN2C_BENCH_COMPARE_H
#define ATTN2C_BENCH_COMPARE_H

#include "program/bench_report.h"

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

/* Reads the rows: a JSON object a line. ATTN2C_FORMAT and one line that names the row and what is expected,
 * _IO or _MEMORY; free them in every case. */
int attn2c_old_rows_read(const char *path, attn2c_old_rows *old, attn2c_message *message);
void attn2c_old_rows_free(attn2c_old_rows *old);

/* Prints old, new, their ratio, and whether they differ by more than twice the deviation of their difference;
 * a row of the same model, entry and threads is the old one. */
void attn2c_bench_compare(const attn2c_old_rows *old, const attn2c_bench_result *results, int count,
                          FILE *out);

#endif
