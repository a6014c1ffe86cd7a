/* report.c - prints the results of a bench. All three formats have the same numbers. A number that is
 * not available is n/a in a table, null in JSON and empty in csv. */
#include "program/bench/report.h"

#include "measure/work.h"

static const char *const group_names[] = {"op", "section", "result"};
static const char *const group_lists[] = {"ops", "sections", "results"};

static double op_flops(const attn2c_bench_result *r, const attn2c_op *op) {
  if (r->tokens == 0) return attn2c_op_work(r->profiled, op, r->length);
  const int64_t count = r->tokens / r->sequences;
  return (double)r->sequences * attn2c_op_tokens_work(r->profiled, op, r->position, count);
}

int attn2c_profile_group(const attn2c_bench_result *result, attn2c_profile_by by, attn2c_profile_row *rows) {
  const attn2c_op *ops = result->profiled_entry->ops;
  int count = 0;
  for (int i = 0; i < result->profiled_entry->op_count; i++) {
    const char *name = by == ATTN2C_BY_SECTION ? ops[i].section : ops[i].op;
    int row = 0;
    if (by == ATTN2C_BY_RESULT) {
      name = result->profiled->tensors[ops[i].result].name;
      row = count;
    }
    while (row < count && strcmp(rows[row].name, name) != 0) row++;
    if (row == count) rows[count++] = (attn2c_profile_row){name, 0.0, 0.0, 0.0};
    rows[row].ms += result->op_ms[i];
    rows[row].least_ms += result->op_least_ms[i];
    rows[row].flops += op_flops(result, &ops[i]);
  }
  return count;
}

/* Returns GFLOP/s of that work in that time; 0 if the time is 0. */
static double rate_of(double flops, double ms) { return ms > 0.0 ? flops / (1e6 * ms) : 0.0; }

static double flops_of(const attn2c_bench_result *r) {
  if (r->tokens == 0) return attn2c_entry_work(r->model, r->entry, r->length);
  return (double)r->sequences * attn2c_tokens_work(r->model, r->entry, r->position, r->tokens / r->sequences);
}

static int kernels_of(const attn2c_descriptor *model) {
  return model->kernel_count + model->own_kernel_count;
}

static double fraction(double gflops, double roof) { return roof > 0.0 ? gflops / roof : 0.0; }

static int64_t bytes_of(int64_t floats) { return floats * (int64_t)sizeof(float); }

static double profiled_ms(const attn2c_bench_result *result) {
  double sum = 0.0;
  for (int i = 0; i < result->profiled_entry->op_count; i++) sum += result->op_ms[i];
  return sum;
}

/* Calls `print` with the rows by kind, then by section, and so on up to `last`. */
static int with_groups(const attn2c_bench_result *result, attn2c_profile_by last,
                       int (*print)(const attn2c_bench_result *, attn2c_profile_by,
                                    const attn2c_profile_row *, int, void *),
                       void *where) {
  const int op_count = result->profiled_entry->op_count;
  ATTN2C_OWN attn2c_profile_row *rows = calloc((size_t)op_count + 1, sizeof *rows);
  if (rows == NULL) return ATTN2C_MEMORY;
  for (int by = ATTN2C_BY_KIND; by <= (int)last; by++) {
    const int count = attn2c_profile_group(result, (attn2c_profile_by)by, rows);
    ATTN2C_TRY(print(result, (attn2c_profile_by)by, rows, count, where));
  }
  return ATTN2C_OK;
}

static int md_group(const attn2c_bench_result *result, attn2c_profile_by by, const attn2c_profile_row *rows,
                    int count, void *where) {
  FILE *out = where;
  const double total = profiled_ms(result);
  fprintf(out, "\n| %-14s |       ms |   MFLOP | GFLOP/s | of roof |  share |\n", group_names[by]);
  fprintf(out, "|:---------------|---------:|--------:|--------:|--------:|-------:|\n");
  for (int i = 0; i < count; i++) {
    const double gflops = rate_of(rows[i].flops, rows[i].ms);
    fprintf(out, "| %-14s | %8.4g |", rows[i].name, rows[i].ms);
    if (rows[i].flops > 0.0)
      fprintf(out, " %7.4g | %7.1f |", 1e-6 * rows[i].flops, gflops);
    else
      fprintf(out, "       - |       - |");
    if (rows[i].flops > 0.0 && result->roof > 0.0)
      fprintf(out, " %6.1f%% |", 100.0 * fraction(gflops, result->roof));
    else
      fprintf(out, " %7s |", rows[i].flops > 0.0 ? "n/a" : "-");
    fprintf(out, " %5.1f%% |\n", total > 0.0 ? 100.0 * rows[i].ms / total : 0.0);
  }
  return ATTN2C_OK;
}

static double bound_fraction(const attn2c_bench_result *r) {
  return r->ms.median > 0.0 ? r->bound_ms / r->ms.median : 0.0;
}

static void md_bound(const attn2c_bench_result *r, FILE *out) {
  if (r->bound_ms <= 0.0) {
    fprintf(out, "\n%s: bound n/a: kernels cannot be made at run time here\n", attn2c_bench_label(r));
    return;
  }
  fprintf(out, "\n| %-36s | calls | us a call | ms | GFLOP/s | best tile |\n", "part of the bound");
  fprintf(out, "|:-------------------------------------|------:|----------:|---:|--------:|:----------|\n");
  for (int i = 0; i < r->bound_count; i++) {
    const attn2c_bound_part *part = &r->bound_parts[i];
    fprintf(out, "| %-36s | %.0f | %.4g | %.4g |", part->name, part->calls, part->microseconds,
            1e-3 * part->calls * part->microseconds);
    if (part->flops > 0.0)
      fprintf(out, " %.1f | %s |\n", rate_of(part->flops, 1e-3 * part->microseconds), part->tile);
    else
      fprintf(out, " - | - |\n");
  }
  fprintf(out, "\n%s: bound %.4g ms, %.1f%% of the %.4g ms of a call\n", attn2c_bench_label(r), r->bound_ms,
          100.0 * bound_fraction(r), r->ms.median);
}

static const char *const meeting_names[] = {"sum", "gather"};

static void md_meetings(const attn2c_bench_result *r, FILE *out) {
  fprintf(out, "part %s, without meetings:", r->part);
  for (int i = 0; i < r->meeting_count; i++)
    fprintf(out, "%s %" PRId64 " %s%s of %" PRId64 " floats", i ? "," : "", r->meetings[i].times,
            meeting_names[r->meetings[i].kind], r->meetings[i].times == 1 ? "" : "s", r->meetings[i].floats);
  fprintf(out, "%s\n", r->meeting_count ? "" : " none");
}

static int json_meetings(const attn2c_bench_result *r, json_t *row) {
  json_t *list = json_array();
  int failed = json_object_set_new(row, "part", json_string(r->part));
  failed |= json_object_set_new(row, "meetings", list);
  for (int i = 0; i < r->meeting_count && failed == 0; i++)
    failed = json_array_append_new(
        list, json_pack("{s:s, s:I, s:I}", "kind", meeting_names[r->meetings[i].kind], "floats",
                        (json_int_t)r->meetings[i].floats, "times", (json_int_t)r->meetings[i].times));
  return failed;
}

static int report_md(const attn2c_bench_result *results, int count, FILE *out) {
  fprintf(out, "| model | entry | threads | target | ms | p95 | p99 | GFLOP/s | roof | of roof |\n");
  fprintf(out, "|:------|:------|--------:|:-------|---:|----:|----:|--------:|-----:|--------:|\n");
  for (int i = 0; i < count; i++) {
    const attn2c_bench_result *r = &results[i];
    const double gflops = rate_of(flops_of(r), r->ms.median);
    fprintf(out, "| %s | %s | %d | %s | %.4g ± %.2g | %.4g | %.4g | %.1f |", r->model->name,
            attn2c_bench_label(r), r->threads, r->model->target, r->ms.median, r->ms.deviation, r->ms.p95,
            r->ms.p99, gflops);
    if (r->roof > 0.0)
      fprintf(out, " %.1f | %.1f%% |\n", r->roof, 100.0 * fraction(gflops, r->roof));
    else
      fprintf(out, " n/a | n/a |\n");
  }
  attn2c_bench_tokens_md(results, count, out);
  for (int i = 0; i < count; i++) {
    const attn2c_bench_result *r = &results[i];
    fprintf(
        out,
        "\n%s: median of %d repetitions of %d call%s, least %.4g ms; opened in %.3g ms, first call %.3g ms;\n"
        "%.4g MFLOP, arena %" PRId64 " bytes, weights %" PRId64 " bytes, %d kernel%s (%s)\n",
        attn2c_bench_label(r), r->repetitions, r->calls, r->calls == 1 ? "" : "s", r->ms.minimum, r->open_ms,
        r->first_ms, 1e-6 * flops_of(r), bytes_of(attn2c_entry_arena(r->model, r->entry)),
        bytes_of(r->model->weight_floats), kernels_of(r->model), kernels_of(r->model) == 1 ? "" : "s",
        r->provider);
    if (r->open_peak_bytes > 0)
      fprintf(out, "peak memory until the model was open: %" PRId64 " bytes\n", r->open_peak_bytes);
    if (r->part) md_meetings(r, out);
    if (r->peak > 0.0)
      fprintf(out, "peak of the multipliers %.1f GFLOP/s (%s)\n", r->peak, attn2c_precision(r->model));
    if (r->bandwidth > 0.0) fprintf(out, "memory is read at %.1f GB/s\n", r->bandwidth);
    if (r->with_bound) md_bound(r, out);
    if (r->op_ms == NULL) continue;
    ATTN2C_TRY(with_groups(r, ATTN2C_BY_SECTION, md_group, out));
    fprintf(out, "\n%s%s: %.4g ms with a mark before each op, %.4g ms without\n", attn2c_bench_label(r),
            r->profiled != r->model && r->model->divided ? ", rank 0" : "", profiled_ms(r), r->ms.median);
  }
  return ATTN2C_OK;
}

static json_t *json_whole(double number) { return json_integer((json_int_t)number); }

static json_t *json_fraction(double gflops, double roof) {
  return roof > 0.0 ? json_real(fraction(gflops, roof)) : json_null();
}

static int json_group(const attn2c_bench_result *result, attn2c_profile_by by, const attn2c_profile_row *rows,
                      int count, void *where) {
  json_t *list = json_array();
  const double total = profiled_ms(result);
  int failed = json_object_set_new(where, group_lists[by], list);
  for (int i = 0; i < count && failed == 0; i++) {
    const double gflops = rate_of(rows[i].flops, rows[i].ms);
    failed = json_array_append_new(
        list,
        json_pack("{s:s, s:f, s:f, s:o, s:f, s:o, s:f}", "name", rows[i].name, "ms", rows[i].ms, "ms_min",
                  rows[i].least_ms, "flops", json_whole(rows[i].flops), "gflops", gflops, "roof_fraction",
                  rows[i].flops > 0.0 ? json_fraction(gflops, result->roof) : json_null(), "share",
                  total > 0.0 ? rows[i].ms / total : 0.0));
  }
  return failed == 0 ? ATTN2C_OK : ATTN2C_MEMORY;
}

static int json_bound(const attn2c_bench_result *r, json_t *row) {
  const int known = r->bound_ms > 0.0;
  json_t *list = json_array();
  int failed = json_object_set_new(row, "bound_ms", known ? json_real(r->bound_ms) : json_null());
  failed |= json_object_set_new(row, "bound_fraction", known ? json_real(bound_fraction(r)) : json_null());
  failed |= json_object_set_new(row, "bound", list);
  for (int i = 0; i < r->bound_count && failed == 0; i++) {
    const attn2c_bound_part *part = &r->bound_parts[i];
    const double gflops = rate_of(part->flops, 1e-3 * part->microseconds);
    failed = json_array_append_new(
        list,
        json_pack("{s:s, s:s, s:f, s:f, s:f, s:o, s:s}", "name", part->name, "kind", part->kind, "calls",
                  part->calls, "us", part->microseconds, "ms", 1e-3 * part->calls * part->microseconds,
                  "gflops", part->flops > 0.0 ? json_real(gflops) : json_null(), "tile", part->tile));
  }
  return failed == 0 ? ATTN2C_OK : ATTN2C_MEMORY;
}

/* Adds the parts of a call: worker, phase, begin and end in microseconds from the call's beginning. */
static int json_parts(const attn2c_record *parts, json_t *profile) {
  if (!parts || parts->count == 0) return 0;
  json_t *list = json_array();
  int failed = json_object_set_new(profile, "parts", list);
  failed |= json_object_set_new(profile, "call_us", json_real(1e-3 * (parts->end - parts->begin)));
  for (int i = 0; i < parts->count && failed == 0; i++) {
    const attn2c_recorded_part *part = &parts->list[i];
    failed = json_array_append_new(list, json_pack("{s:i, s:i, s:i, s:f, s:f}", "phase", part->phase, "part",
                                                   part->part, "thread", part->thread, "begin_us",
                                                   1e-3 * (part->begin - parts->begin), "end_us",
                                                   1e-3 * (part->end - parts->begin)));
  }
  return failed;
}

static int json_percentiles(const attn2c_bench_result *r, json_t *row) {
  json_t *list = json_array();
  int failed = json_object_set_new(row, "ms_percentiles", list);
  for (int i = 0; i < ATTN2C_BENCH_PERCENTILES && failed == 0; i++)
    failed = json_array_append_new(list, json_real(r->percentiles[i]));
  return failed;
}

static int json_row(const attn2c_bench_result *r, json_t **row) {
  const double gflops = rate_of(flops_of(r), r->ms.median);
  *row = json_pack("{s:s, s:s, s:i, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:i, s:o, s:f, s:f, s:o, s:o, s:I, "
                   "s:I, s:i, s:f, s:f, s:o}",
                   "model", r->model->name, "entry", attn2c_bench_label(r), "threads", r->threads, "target",
                   r->model->target, "precision", attn2c_precision(r->model), "ms_median", r->ms.median,
                   "ms_min", r->ms.minimum, "ms_sd", r->ms.deviation, "ms_p95", r->ms.p95, "ms_p99",
                   r->ms.p99, "reps", r->repetitions, "flops", json_whole(flops_of(r)), "gflops", gflops,
                   "roof_gflops", r->roof, "roof_fraction", json_fraction(gflops, r->roof), "peak_gflops",
                   r->peak > 0.0 ? json_real(r->peak) : json_null(), "arena_bytes",
                   (json_int_t)bytes_of(attn2c_entry_arena(r->model, r->entry)), "weight_bytes",
                   (json_int_t)bytes_of(r->model->weight_floats), "kernels", kernels_of(r->model), "open_ms",
                   r->open_ms, "first_ms", r->first_ms, "open_peak_bytes",
                   r->open_peak_bytes > 0 ? json_integer(r->open_peak_bytes) : json_null());
  if (*row == NULL || json_percentiles(r, *row) != 0) return ATTN2C_MEMORY;
  if (r->tokens > 0 && attn2c_bench_tokens_json(r, *row) != 0) return ATTN2C_MEMORY;
  if (r->part && json_meetings(r, *row) != 0) return ATTN2C_MEMORY;
  if (r->with_bound && json_bound(r, *row) != ATTN2C_OK) return ATTN2C_MEMORY;
  if (r->op_ms == NULL) return ATTN2C_OK;
  json_t *profile = json_pack("{s:f, s:f}", "profiled_ms", profiled_ms(r), "unprofiled_ms", r->ms.median);
  if (json_object_set_new(*row, "profile", profile) != 0) return ATTN2C_MEMORY;
  json_t *memory = r->bandwidth > 0.0 ? json_real(r->bandwidth) : json_null();
  if (json_object_set_new(profile, "memory_gb_per_s", memory) != 0) return ATTN2C_MEMORY;
  if (json_parts(r->parts, profile) != 0) return ATTN2C_MEMORY;
  return with_groups(r, ATTN2C_BY_RESULT, json_group, profile);
}

/* Prints one object a line: the output of a single entry is a JSON file. */
static int report_json(const attn2c_bench_result *results, int count, FILE *out) {
  int status = ATTN2C_OK;
  for (int i = 0; i < count && status == ATTN2C_OK; i++) {
    json_t *row;
    status = json_row(&results[i], &row);
    char *text = status == ATTN2C_OK ? json_dumps(row, JSON_REAL_PRECISION(6)) : NULL;
    json_decref(row);
    if (text == NULL) return ATTN2C_MEMORY;
    fprintf(out, "%s\n", text);
    free(text);
  }
  return status;
}

/* Writes a field, in quotes if it needs them. */
static void csv_text(const char *text, FILE *out) {
  if (strpbrk(text, ",\"\n\r") == NULL) {
    fputs(text, out);
    return;
  }
  putc('"', out);
  for (; *text != '\0'; text++) {
    if (*text == '"') putc('"', out);
    putc(*text, out);
  }
  putc('"', out);
}

/* Columns of the csv, members of JSON's rows; more for calls with tokens, and for a profile. */
#define COLUMNS                                                                                              \
  "model,entry,threads,target,precision,ms_median,ms_min,ms_sd,ms_p95,ms_p99,reps,flops,gflops,roof_gflops," \
  "roof_fraction,peak_gflops,arena_bytes,weight_bytes,kernels,open_ms,first_ms,open_peak_bytes"
#define TOKEN_COLUMNS                                                                                        \
  ",tokens,sequences,position,tokens_per_s,bytes_per_token,read_gb_per_s,memory_gb_per_s,memory_fraction"
#define GROUP_COLUMNS "name,ms,flops,gflops,roof_fraction,share,ms_min"

/* Writes a line with the members of an object that have these names, which commas separate. */
static void csv_line(const json_t *object, const char *names, FILE *out) {
  for (size_t length; *names != '\0'; names += length) {
    char name[32];
    length = strcspn(names, ",");
    snprintf(name, sizeof name, "%.*s", (int)length, names);
    const json_t *value = json_object_get(object, name);
    const int is_share = strstr(name, "fraction") || strcmp(name, "share") == 0;
    if (json_is_string(value)) csv_text(json_string_value(value), out);
    if (json_is_integer(value)) fprintf(out, "%" PRId64, (int64_t)json_integer_value(value));
    if (json_is_real(value)) fprintf(out, "%.*g", is_share ? 4 : 6, json_real_value(value));
    putc(names[length] ? names[length++] : '\n', out);
  }
}

static void csv_profile(const json_t *row, FILE *out) {
  const json_t *profile = json_object_get(row, "profile"), *each;
  size_t i;
  for (int by = ATTN2C_BY_KIND; by <= ATTN2C_BY_RESULT; by++) {
    json_array_foreach(json_object_get(profile, group_lists[by]), i, each) {
      csv_text(json_string_value(json_object_get(row, "entry")), out);
      fprintf(out, ",%s,", group_names[by]);
      csv_line(each, GROUP_COLUMNS, out);
    }
  }
}

static int report_csv(const attn2c_bench_result *results, int count, FILE *out) {
  json_t *rows = json_array(), *row;
  int status = ATTN2C_OK, is_profiled = 0, has_tokens = 0;
  size_t at;
  for (int i = 0; i < count && status == ATTN2C_OK; i++) {
    has_tokens |= results[i].tokens > 0;
    is_profiled |= results[i].op_ms != NULL;
    status = json_row(&results[i], &row);
    if (json_array_append_new(rows, row) != 0) status = ATTN2C_MEMORY;
  }
  if (status == ATTN2C_OK) {
    const char *names = has_tokens ? COLUMNS TOKEN_COLUMNS : COLUMNS;
    fprintf(out, "%s\n", names);
    json_array_foreach(rows, at, row) csv_line(row, names, out);
    if (is_profiled) fprintf(out, "\nentry,by," GROUP_COLUMNS "\n");
    json_array_foreach(rows, at, row) csv_profile(row, out);
  }
  json_decref(rows);
  return status;
}

int attn2c_bench_report(const attn2c_bench_result *results, int count, attn2c_report_format format,
                        FILE *out) {
  switch (format) {
  case ATTN2C_FORMAT_JSON:
    return report_json(results, count, out);
  case ATTN2C_FORMAT_CSV:
    return report_csv(results, count, out);
  default:
    return report_md(results, count, out);
  }
}
