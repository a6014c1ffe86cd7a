/* expect.c - `check --expect`: reads an array for each output that is expected, compares it with what the
 * model computes, and names the first element that differs. */
#include "program/commands.h"

#include <math.h>

#include "check/check_report.h"
#include "check/tolerance.h"
#include "program/inputs.h"
#include "program/run.h"

/* Two programs that round in another order differ by a small multiple of what one differs from exact numbers.
 */
#define OF_MODEL 10
/* Allowed in addition, as outputs may cancel; with tolerance 0 nothing is allowed. */
#define LEAST 1e-6

/* True if an input declares that row `row` of sequence `b` is padding. rows: of each sequence. */
static int declares_padding(const attn2c_run_job *job, int input, int64_t b, int64_t row, int64_t rows) {
  const attn2c_axes *axes = &job->sizes.lengths->inputs[input];
  const attn2c_tensor *tensor = &job->inputs[input].tensor;
  const int32_t *values = job->inputs[input].values;
  if (values == NULL || tensor->type != ATTN2C_I32 || axes->batch != 0) return 0;
  if (axes->hides == ATTN2C_HIDES_AFTER) return row >= values[b];
  if (axes->keys != 1 || tensor->rank != 2) return 0; /* of the same rows, which are the keys */
  const int32_t value = values[b * tensor->shape[1] + tensor->shape[1] - rows + row];
  return (value != 0) == (axes->hides == ATTN2C_HIDES_ONES);
}

/* Sets the rows of padding to 0 in both arrays of an output. */
static void clear_padding(const attn2c_run_job *job, int output, float *want, float *got) {
  const attn2c_axes *axes = &job->sizes.lengths->outputs[output];
  const attn2c_tensor *tensor = &job->outputs[output].tensor;
  if (job->sizes.each || axes->batch != 0 || axes->rows < 1) return;
  const int64_t elements = attn2c_elements(tensor), rows = tensor->shape[axes->rows];
  int64_t below = 1; /* elements of a row */
  for (int i = axes->rows + 1; i < tensor->rank; i++) below *= tensor->shape[i];
  for (int64_t at = 0; at < elements; at += below) {
    const int64_t b = at / (elements / tensor->shape[0]), row = at / below % rows;
    int is_padding = 0;
    for (int i = 0; i < job->entry->input_count; i++) is_padding |= declares_padding(job, i, b, row, rows);
    if (!is_padding) continue;
    memset(want + at, 0, (size_t)below * sizeof *want);
    memset(got + at, 0, (size_t)below * sizeof *got);
  }
}

static double root_mean_square(const float *x, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i++) sum += isfinite(x[i]) ? (double)x[i] * x[i] : 0;
  return sqrt(sum / (double)count);
}

/* Compares an output. In `first`, the first element that differs takes the place of the worst. */
static void compare(const attn2c_tensor *tensor, double factor, const void *want, const void *got,
                    attn2c_comparison *comparison, attn2c_comparison *first) {
  const int is_float = tensor->type == ATTN2C_F32;
  attn2c_tolerance tolerance = {NULL, 0, 0, -1};
  if (is_float) {
    tolerance.relative = factor;
    tolerance.absolute = factor * root_mean_square(want, attn2c_elements(tensor)) + (factor > 0 ? LEAST : 0);
    attn2c_compare(tensor, want, got, tensor->shape[tensor->rank > 0 ? tensor->rank - 1 : 0], &tolerance,
                   comparison);
  } else {
    attn2c_compare_indices(tensor, want, got, NULL, 0, 1, 0, comparison);
    if (!comparison->passed) comparison->why = "another integer";
  }
  *first = *comparison;
  if (comparison->violations == 0) return;
  int64_t rest = comparison->first;
  first->expected = is_float ? (double)((const float *)want)[rest] : ((const int32_t *)want)[rest];
  first->got = is_float ? (double)((const float *)got)[rest] : ((const int32_t *)got)[rest];
  first->allowed = tolerance.absolute + (isfinite(first->expected) ? factor * fabs(first->expected) : 0);
  for (int axis = tensor->rank - 1; axis >= 0; rest /= tensor->shape[axis--])
    first->where[axis] = rest % tensor->shape[axis];
}

/* Reads the array that is expected for an output, in the output's type and shape. The caller frees *want. */
static int read_expected(const attn2c_run_array *output, attn2c_tensor *tensor, void **want,
                         attn2c_message *message) {
  attn2c_npy array;
  ATTN2C_TRY(attn2c_npy_read(output->path, &array, message));
  *tensor = output->tensor;
  tensor->rank = attn2c_caller_rank(tensor);
  return attn2c_array_take(&array, tensor, want, message);
}

static int report_outputs(const attn2c_run_job *job, const attn2c_tensor *tensors, void *const *want,
                          double factor, attn2c_check_report *report) {
  for (int i = 0; i < job->entry->output_count; i++) {
    attn2c_comparison comparison, first;
    if (want[i] == NULL) continue;
    if (tensors[i].type == ATTN2C_F32) clear_padding(job, i, want[i], job->outputs[i].values);
    compare(&tensors[i], factor, want[i], job->outputs[i].values, &comparison, &first);
    char name[160];
    snprintf(name, sizeof name, "output %s", tensors[i].name);
    const int failed = report->failed;
    ATTN2C_TRY(attn2c_check_report_row(report, name, &tensors[i], &comparison));
    if (failed == 0 && report->failed == 1) report->first = first;
  }
  return ATTN2C_OK;
}

static int compare_outputs(const attn2c_run_job *job, const attn2c_arguments *arguments, FILE *out,
                           attn2c_message *message) {
  const double of_model = OF_MODEL * attn2c_tolerance_model(job->model->layers).absolute;
  const double factor = arguments->tolerance.is_given ? arguments->tolerance.value : of_model;
  const int count = job->entry->output_count;
  ATTN2C_OWN attn2c_tensor *tensors = calloc((size_t)count + 1, sizeof *tensors);
  void **want = calloc((size_t)count + 1, sizeof *want);
  int status = tensors && want ? ATTN2C_OK : ATTN2C_MEMORY;
  for (int i = 0; i < count && tensors && want; i++) {
    const attn2c_run_array *output = &job->outputs[i];
    const int read = output->path ? read_expected(output, &tensors[i], &want[i], message) : ATTN2C_OK;
    if (read != ATTN2C_OK) status = read;
  }
  if (status == ATTN2C_OK) {
    attn2c_check_report report;
    status =
        attn2c_check_report_begin(&report, out, arguments->json, job->model->name, job->entry->name, NULL);
    if (status == ATTN2C_OK) status = report_outputs(job, tensors, want, factor, &report);
    const int end = attn2c_check_report_end(&report, NULL, status == ATTN2C_OK);
    if (status == ATTN2C_OK) status = end;
  }
  attn2c_arrays_free(want, count);
  return status;
}

int attn2c_expect_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *out,
                          FILE *notes, attn2c_message *message) {
  const attn2c_real *tolerance = &arguments->tolerance;
  if (arguments->nan) attn2c_say(message, "check: --nan does not go with --expect");
  if (tolerance->is_given && !(tolerance->value >= 0 && tolerance->value <= 1))
    attn2c_say(message, "--tolerance: %g, but 0 to 1 is allowed", tolerance->value);
  if (message->used > 0) return ATTN2C_USAGE;
  const int status = attn2c_run_arrays(program, arguments, compare_outputs, out, notes, message);
  if (status == ATTN2C_MISMATCH && program->model->packings && !tolerance->is_given)
    fprintf(notes,
            "%s: products of this model are rounded to %s; arrays of a model in f32 may differ by more than "
            "is allowed here. Compare a build with precision=f32, or give --tolerance\n",
            arguments->program, program->model->precision);
  return status;
}
