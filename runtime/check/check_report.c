/* check_report.c - prints the results of a check. The JSON form collects its rows and prints once at the end,
 * so that the output is a whole object or nothing. */
#include "check/check_report.h"

#include <math.h>

/* Writes a shape, "1x128x768". */
static void describe_shape(const attn2c_tensor *tensor, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int axis = 0; axis < tensor->rank && used < size; axis++)
    used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, axis ? "x" : "", tensor->shape[axis]);
}

/* Writes an index, "[0][3][17]". */
static void describe_where(int rank, const int64_t *where, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int axis = 0; axis < rank && used < size; axis++)
    used += (size_t)snprintf(text + used, size - used, "[%" PRId64 "]", where[axis]);
}

static void describe_index(const attn2c_comparison *comparison, char *text, size_t size) {
  describe_where(comparison->rank, comparison->where, text, size);
}

/* Returns a number; JSON has neither NaN nor infinities, so these are strings. */
static json_t *json_number(double value) {
  if (isnan(value)) return json_string("nan");
  if (isinf(value)) return json_string(value > 0 ? "inf" : "-inf");
  return json_real(value);
}

/* Returns a seed, or null without one. One that a signed 64-bit integer cannot hold is a string. */
static json_t *json_seed(const uint64_t *seed) {
  char text[24];
  if (!seed) return json_null();
  if (*seed <= (uint64_t)INT64_MAX) return json_integer((json_int_t)*seed);
  snprintf(text, sizeof text, "%" PRIu64, *seed);
  return json_string(text);
}

static json_t *json_integers(const int64_t *values, int count) {
  json_t *array = json_array();
  for (int i = 0; i < count; i++)
    if (json_array_append_new(array, json_integer(values[i])) != 0) {
      json_decref(array);
      return NULL;
    }
  return array;
}

/* Sets a member whose value may be NULL after a failure; returns 1 if it is set. */
static int set(json_t *object, const char *key, json_t *value) {
  return json_object_set_new(object, key, value) == 0;
}

static int json_comparison(json_t *object, const char *name, const attn2c_comparison *comparison) {
  return set(object, "name", json_string(name)) &&
         set(object, "worst", json_integers(comparison->where, comparison->rank)) &&
         set(object, "expected", json_number(comparison->expected)) &&
         set(object, "got", json_number(comparison->got)) &&
         set(object, "allowed", json_number(comparison->allowed)) &&
         set(object, "why", json_string(comparison->why));
}

/* Returns the error of the worst element, divided by its allowed error. */
static double share_of(const attn2c_comparison *comparison) {
  const double error = fabs(comparison->got - comparison->expected);
  if (error == 0 || (isnan(comparison->got) && isnan(comparison->expected)) ||
      comparison->got == comparison->expected)
    return 0;
  return isfinite(error) && comparison->allowed > 0 ? error / comparison->allowed : INFINITY;
}

/* Adds a row. op: the operation of the result; NULL: a comparison of another kind. */
static int json_row(const attn2c_check_report *report, const char *name, const char *op,
                    const attn2c_tensor *tensor, const attn2c_comparison *comparison) {
  json_t *row = json_object();
  if (json_comparison(row, name, comparison) &&
      set(row, "shape", json_integers(tensor->shape, tensor->rank)) &&
      set(row, "max_abs", json_number(comparison->largest_absolute)) &&
      set(row, "max_rel", json_number(comparison->largest_relative)) &&
      set(row, "rel_l2", json_number(comparison->relative_l2)) &&
      set(row, "share", json_number(share_of(comparison))) &&
      set(row, "op", op ? json_string(op) : json_null()) &&
      set(row, "passed", json_boolean(comparison->passed)))
    return json_array_append_new(report->tensors, row) == 0 ? ATTN2C_OK : ATTN2C_MEMORY;
  json_decref(row);
  return ATTN2C_MEMORY;
}

int attn2c_check_report_begin(attn2c_check_report *report, FILE *out, int json, const char *model,
                              const char *entry, const uint64_t *seed) {
  *report = (attn2c_check_report){.out = out, .seed = seed};
  if (!json) {
    fprintf(out, "%s, %s, ", model, entry);
    if (seed) fprintf(out, "seed %" PRIu64 "\n", *seed);
    if (!seed) fputs("outputs against arrays\n", out);
    fprintf(out, "%-37s %-15s %9s %9s %9s %-18s %s\n", "tensor", "shape", "max abs", "max rel", "rel L2",
            "worst at", "verdict");
    return ATTN2C_OK;
  }
  report->root = json_object();
  report->tensors = json_array();
  return report->root && report->tensors && set(report->root, "model", json_string(model)) &&
                 set(report->root, "entry", json_string(entry)) && set(report->root, "seed", json_seed(seed))
             ? ATTN2C_OK
             : ATTN2C_MEMORY;
}

static int add_row(attn2c_check_report *report, const char *name, const char *op, const attn2c_tensor *tensor,
                   const attn2c_comparison *comparison) {
  if (comparison->passed) report->passed++;
  if (!comparison->passed && report->failed++ == 0) {
    report->first = *comparison;
    snprintf(report->first_name, sizeof report->first_name, "%s", name);
  }
  if (report->root) return json_row(report, name, op, tensor, comparison);
  char shape[128], index[160];
  describe_shape(tensor, shape, sizeof shape);
  describe_index(comparison, index, sizeof index);
  fprintf(report->out, "%-37.37s %-15.15s %9.2e %9.2e %9.2e %-18.18s %s\n", name, shape,
          comparison->largest_absolute, comparison->largest_relative, comparison->relative_l2, index,
          comparison->passed ? "ok" : "FAIL");
  return ATTN2C_OK;
}

/* Keeps a row if it is worse than that of a sequence before with the same name. */
static int collect(attn2c_check_report *report, const char *name, const char *op, const attn2c_tensor *tensor,
                   const attn2c_comparison *comparison) {
  int row = 0;
  while (row < report->worst_count && strcmp(report->worst[row].name, name) != 0) row++;
  if (row == report->worst_count) {
    ATTN2C_TRY(ATTN2C_MORE(report->worst, row));
    report->worst_count++;
    snprintf(report->worst[row].name, sizeof report->worst[row].name, "%s", name);
    report->worst[row].op = op;
  } else {
    const attn2c_comparison *before = &report->worst[row].comparison;
    if (!before->passed || (comparison->passed && share_of(comparison) <= share_of(before))) return ATTN2C_OK;
  }
  report->worst[row].tensor = *tensor;
  report->worst[row].comparison = *comparison;
  report->worst[row].sequence = report->sequence;
  return ATTN2C_OK;
}

int attn2c_check_report_row(attn2c_check_report *report, const char *name, const attn2c_tensor *tensor,
                            const attn2c_comparison *comparison) {
  if (report->sequences) return collect(report, name, NULL, tensor, comparison);
  return add_row(report, name, NULL, tensor, comparison);
}

/* Counts the comparison of an operation's result with the others of its kind. */
static void count_kind(attn2c_check_report *report, const char *op, const attn2c_tensor *tensor,
                       const attn2c_comparison *comparison) {
  const double share = share_of(comparison);
  int row = 0;
  while (row < report->kind_count && strcmp(report->kinds[row].op, op) != 0) row++;
  if (row == report->kind_count && row < ATTN2C_CHECK_KINDS)
    report->kinds[report->kind_count++] = (attn2c_check_kind){.op = op, .share = -1};
  if (row < ATTN2C_CHECK_KINDS) {
    attn2c_check_kind *kind = &report->kinds[row];
    kind->count++;
    if (share > kind->share) {
      kind->share = share;
      kind->tensor = tensor->name;
      kind->rank = comparison->rank;
      memcpy(kind->where, comparison->where, sizeof kind->where);
    }
  }
}

int attn2c_check_report_op(attn2c_check_report *report, const char *op, const attn2c_tensor *tensor,
                           const attn2c_comparison *comparison) {
  if (report->sequences) return collect(report, tensor->name, op, tensor, comparison);
  count_kind(report, op, tensor, comparison);
  return add_row(report, tensor->name, op, tensor, comparison);
}

void attn2c_check_report_collect(attn2c_check_report *report, int sequence, int sequences) {
  report->sequence = sequence;
  report->sequences = sequences;
}

static void forget(attn2c_check_report *report) {
  free(report->worst);
  report->worst = NULL;
  report->worst_count = report->sequences = 0;
}

int attn2c_check_report_release(attn2c_check_report *report) {
  int status = ATTN2C_OK;
  for (int row = 0; row < report->worst_count && status == ATTN2C_OK; row++) {
    const attn2c_check_worst *worst = &report->worst[row];
    char name[sizeof report->first_name];
    snprintf(name, sizeof name, "%s, %d of %d", worst->name, worst->sequence + 1, report->sequences);
    if (worst->op) count_kind(report, worst->op, &worst->tensor, &worst->comparison);
    status = add_row(report, name, worst->op, &worst->tensor, &worst->comparison);
  }
  forget(report);
  return status;
}

/* Prints a row per kind of operation. */
static void print_kinds(const attn2c_check_report *report) {
  if (report->kind_count == 0) return;
  fprintf(report->out, "\n%-16s %6s %15s  %s\n", "operation", "count", "worst share", "of its tolerance, at");
  for (int row = 0; row < report->kind_count; row++) {
    const attn2c_check_kind *kind = &report->kinds[row];
    char index[160];
    describe_where(kind->rank, kind->where, index, sizeof index);
    fprintf(report->out, "%-16s %6d %15.3g  %s%s\n", kind->op, kind->count, kind->share, kind->tensor, index);
  }
  fprintf(report->out, "\n");
}

static int json_kinds(const attn2c_check_report *report, json_t *root) {
  json_t *list = json_array();
  if (!set(root, "operations", list)) return 0;
  for (int row = 0; row < report->kind_count; row++) {
    const attn2c_check_kind *kind = &report->kinds[row];
    json_t *item = json_object();
    if (json_array_append_new(list, item) != 0) return 0;
    if (!set(item, "op", json_string(kind->op)) || !set(item, "count", json_integer(kind->count)) ||
        !set(item, "worst_share", json_number(kind->share)) ||
        !set(item, "name", json_string(kind->tensor)) ||
        !set(item, "worst", json_integers(kind->where, kind->rank)))
      return 0;
  }
  return 1;
}

static int print_json(attn2c_check_report *report, const char *repeat_command) {
  json_t *root = report->root;
  int made = set(root, "tensors", json_incref(report->tensors)) && json_kinds(report, root) &&
             set(root, "passed", json_integer(report->passed)) &&
             set(root, "failed", json_integer(report->failed)) &&
             set(root, "overflow", report->overflow ? json_string(report->overflow) : json_null());
  if (report->failed) {
    json_t *first = json_object();
    made = made && json_comparison(first, report->first_name, &report->first) &&
           set(first, "repeat", json_string(repeat_command ? repeat_command : "")) &&
           set(root, "first_to_diverge", json_incref(first));
    json_decref(first);
  }
  ATTN2C_OWN char *text = made ? json_dumps(root, JSON_COMPACT) : NULL;
  if (!text) return ATTN2C_MEMORY;
  fprintf(report->out, "%s\n", text);
  return ATTN2C_OK;
}

static void print_tally(const attn2c_check_report *report, const char *repeat_command) {
  print_kinds(report);
  if (report->overflow)
    fprintf(report->out,
            "overflow: %s has values or sums beyond 3.4e38, the largest float: weights or inputs are too "
            "large for f32\n",
            report->overflow);
  fprintf(report->out, "%d passed, %d failed\n", report->passed, report->failed);
  if (!report->failed) return;
  char index[160];
  describe_index(&report->first, index, sizeof index);
  fprintf(report->out, "first to diverge: %s%s%s: expected %.9g, got %.9g, allowed %.3g (%s)",
          report->first_name, index[0] ? " at " : "", index, report->first.expected, report->first.got,
          report->first.allowed, report->first.why);
  if (report->seed)
    fprintf(report->out, "; seed %" PRIu64 "; repeat: %s", *report->seed,
            repeat_command ? repeat_command : "-");
  fputc('\n', report->out);
}

int attn2c_check_report_end(attn2c_check_report *report, const char *repeat_command, int print) {
  int status = ATTN2C_OK;
  forget(report);
  if (print && report->root) status = print_json(report, repeat_command);
  if (print && !report->root) print_tally(report, repeat_command);
  json_decref(report->tensors);
  json_decref(report->root);
  report->tensors = report->root = NULL;
  if (!print || status != ATTN2C_OK) return status;
  if (fflush(report->out) != 0 || ferror(report->out)) return ATTN2C_IO;
  return report->failed ? ATTN2C_MISMATCH : ATTN2C_OK;
}
