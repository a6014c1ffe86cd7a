/* compare.c - reads the JSON of an earlier bench, strictly, and prints it next to the new times. A
 * slower time is no failure: the reader judges the ratio. */
#include "program/bench/bench.h"

#include <math.h>

#define LARGEST_FILE ((int64_t)16 << 20) /* bytes; a row with a profile has some thousands */

enum { MOST_ROWS = 10000, LONGEST_NAME = 200 };

/* Reads a positive number of milliseconds; 0 is allowed with may_be_zero. */
static int read_ms(const json_t *row, const char *key, int may_be_zero, double *ms) {
  const json_t *value = json_object_get(row, key);
  *ms = json_number_value(value);
  return json_is_number(value) && isfinite(*ms) && (*ms > 0.0 || (may_be_zero && *ms == 0.0));
}

static int read_name(const json_t *row, const char *key, const char **name) {
  const json_t *value = json_object_get(row, key);
  *name = json_string_value(value);
  return *name && json_string_length(value) > 0 && json_string_length(value) <= LONGEST_NAME;
}

/* Returns the first field that a row lacks, with the allowed values; NULL if it has all. */
static const char *take_row(const json_t *json, attn2c_old_row *row, int *memory) {
  const char *model, *entry;
  const json_t *threads = json_object_get(json, "threads");
  if (!read_name(json, "model", &model)) return "model, a text";
  if (!read_name(json, "entry", &entry)) return "entry, a text";
  if (!json_is_integer(threads) || json_integer_value(threads) < 0 || json_integer_value(threads) > 4096)
    return "threads, 0 to 4096";
  row->threads = (int)json_integer_value(threads);
  if (!read_ms(json, "ms_median", 0, &row->median)) return "ms_median, a positive number";
  if (!read_ms(json, "ms_sd", 1, &row->deviation)) return "ms_sd, a number from 0";
  row->model = attn2c_copied(model, strlen(model));
  row->entry = attn2c_copied(entry, strlen(entry));
  *memory = row->model && row->entry;
  return NULL;
}

static int refuse(const char *path, int row, const char *expected, attn2c_message *message) {
  return attn2c_fail(message, ATTN2C_FORMAT, "%s: row %d: %s is expected, as bench -o json writes it", path,
                     row, expected);
}

static int take_text(const char *text, size_t size, attn2c_old_rows *old, attn2c_message *message) {
  int status = ATTN2C_OK;
  size_t at = 0;
  while (status == ATTN2C_OK) {
    while (at < size && strchr(" \t\r\n", text[at]) && text[at] != '\0') at++;
    if (at == size) break;
    if (old->count == MOST_ROWS) return refuse(old->path, old->count + 1, "no more than 10000 rows", message);
    json_error_t error;
    json_t *json = json_loadb(text + at, size - at, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &error);
    if (!json_is_object(json) || error.position <= 0) {
      status = refuse(old->path, old->count + 1, "a JSON object", message);
    } else {
      int memory = ATTN2C_MORE(old->rows, old->count) == ATTN2C_OK;
      if (memory) {
        old->rows[old->count] = (attn2c_old_row){0};
        const char *missing = take_row(json, &old->rows[old->count++], &memory);
        if (missing) status = refuse(old->path, old->count, missing, message);
      }
      if (!memory && status == ATTN2C_OK)
        status = attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory for its rows", old->path);
      at += (size_t)error.position;
    }
    json_decref(json);
  }
  if (status == ATTN2C_OK && old->count == 0) return refuse(old->path, 1, "a JSON object", message);
  return status;
}

int attn2c_old_rows_read(const char *path, attn2c_old_rows *old, attn2c_message *message) {
  ATTN2C_ENDS_BY(attn2c_file_close) attn2c_file file = {.descriptor = -1};
  *old = (attn2c_old_rows){.path = path};
  ATTN2C_TRY(attn2c_file_open(path, &file, message));
  if (file.size > LARGEST_FILE)
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: larger than 16 MiB, but the JSON of a bench is smaller",
                       path);
  ATTN2C_OWN char *text = malloc((size_t)file.size + 1);
  if (text == NULL)
    return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory for %lld bytes", path, (long long)file.size);
  ATTN2C_TRY(attn2c_file_read(&file, 0, text, (size_t)file.size, message));
  return take_text(text, (size_t)file.size, old, message);
}

void attn2c_old_rows_free(attn2c_old_rows *old) {
  for (int i = 0; i < old->count; i++) {
    ATTN2C_FREE(old->rows[i].model, old->rows[i].entry);
  }
  free(old->rows);
  *old = (attn2c_old_rows){0};
}

/* Returns the last row that fits: if a file has two benches, the later one counts. */
static const attn2c_old_row *find(const attn2c_old_rows *old, const attn2c_bench_result *result) {
  for (int i = old->count - 1; i >= 0; i--) {
    const attn2c_old_row *row = &old->rows[i];
    if (strcmp(row->model, result->model->name) == 0 && strcmp(row->entry, attn2c_bench_label(result)) == 0 &&
        row->threads == result->threads)
      return row;
  }
  return NULL;
}

void attn2c_bench_compare(const attn2c_old_rows *old, const attn2c_bench_result *results, int count,
                          FILE *out) {
  fprintf(out, "\n| model | entry | threads | old ms | new ms | new / old | difference |\n");
  fprintf(out, "|:------|:------|--------:|-------:|-------:|----------:|:-----------|\n");
  for (int i = 0; i < count; i++) {
    const attn2c_bench_result *r = &results[i];
    const attn2c_old_row *row = find(old, r);
    fprintf(out, "| %s | %s | %d |", r->model->name, attn2c_bench_label(r), r->threads);
    if (row == NULL) {
      fprintf(out, " - | %.4g | - | no such row |\n", r->ms.median);
      continue;
    }
    const double spread = 2.0 * sqrt(row->deviation * row->deviation + r->ms.deviation * r->ms.deviation);
    const double difference = r->ms.median - row->median;
    fprintf(out, " %.4g ± %.2g | %.4g ± %.2g | %.3f | %s |\n", row->median, row->deviation, r->ms.median,
            r->ms.deviation, r->ms.median / row->median,
            fabs(difference) <= spread ? "within the spread"
            : difference < 0.0         ? "faster, by more than the spread"
                                       : "slower, by more than the spread");
  }
}
