/* check_judge.c - judges results of an entry: each op by its own tolerance, the outputs by the model's. */
#include "check/check_parts.h"
#include "check/check_sources.h"
#include "reference/ops.h"
#include "reference/types.h"

#include <float.h>
#include <math.h>

/* Size of row names: of the tensor, and what is compared. */
#define NAME_SIZE 160

int attn2c_check_run(const attn2c_check_job *job, attn2c_run run, float *arena, void *const *outputs,
                     const char *variant) {
  const attn2c_lengths *lengths = attn2c_lengths_of(job->descriptor, job->entry);
  const int64_t longest = lengths ? lengths->sizes[0].seq : 0;
  const int32_t first[] = {0, (int32_t)longest};
  static const int32_t zeros[ATTN2C_MOST_WINDOWS];
  const attn2c_sequences whole = {.rows = longest,
                                  .count = 1,
                                  .first = first,
                                  .past = zeros,
                                  .slot = zeros,
                                  .source = job->sources ? job->sources->lengths : NULL,
                                  .origin = zeros,
                                  .forgotten = zeros};
  const attn2c_call call = {.kernels = job->model->kernels,
                            .weights = job->model->weights,
                            .arena = arena,
                            .state = job->state,
                            .in = job->inputs,
                            .out = outputs,
                            .team = job->team,
                            .ranks = job->model->ranks,
                            .sequences = job->sequences ? job->sequences
                                         : lengths      ? &whole
                                                        : NULL};
  int status = attn2c_model_run(job->model, run, &call);
  if (status != ATTN2C_OK)
    attn2c_say(job->message, "entry %s, the %s variant: %s", job->entry->name, variant,
               attn2c_strerror(status));
  return status;
}

/* Allows 0 for masked keys where a NaN makes a whole row of weights NaN. No step that skips a masked key
 * writes its weight, and none reads it. */
int attn2c_check_settle_masked(const attn2c_check_job *job, const attn2c_op *op, const float *got,
                               int64_t leading_dimension, float *want) {
  const attn2c_tensor *shape = attn2c_check_tensor(job, op->result);
  int64_t width = attn2c_reference_width(shape), elements = attn2c_elements(shape);
  int tensor = attn2c_check_scores_of(job->entry, op);
  if (tensor < 0) return ATTN2C_OK;
  void *copy;
  const float *scores = attn2c_check_trace_view(&job->trace, tensor, &copy);
  if (!scores) return attn2c_check_no_memory(job, attn2c_check_tensor(job, tensor)->name);
  for (int64_t i = 0; i < elements; i++)
    if (isnan(want[i]) && scores[i] == -INFINITY && got[i / width * leading_dimension + i % width] == 0)
      want[i] = 0;
  attn2c_free(copy);
  return ATTN2C_OK;
}

/* Does the same without scores, for the keys that the static mask of the op's scores hides. */
void attn2c_check_settle_hidden(const attn2c_check_job *job, const attn2c_op *op, const float *got,
                                int64_t leading_dimension, float *want) {
  const attn2c_op *scores = attn2c_check_mask_of_weights(job->entry, (int)(op - job->entry->ops));
  const attn2c_tensor *shape = attn2c_check_tensor(job, op->result);
  if (!scores || shape->rank < 2) return;
  attn2c_reference_mask mask = attn2c_reference_mask_of(scores);
  int64_t queries = shape->shape[shape->rank - 2], keys = shape->shape[shape->rank - 1];
  int64_t elements = attn2c_elements(shape);
  for (int64_t i = 0; i < elements; i++)
    if (isnan(want[i]) && attn2c_reference_masked(mask, keys, i / keys % queries, i % keys) &&
        got[i / keys * leading_dimension + i % keys] == 0)
      want[i] = 0;
}

static int is_of_terms(const attn2c_check_job *job, int tensor) {
  const attn2c_divided *divided = job->descriptor->divided;
  return divided && tensor >= 0 && divided->divisions[tensor].axis == ATTN2C_TERMS;
}

/* Returns the sums of magnitudes of a tensor of terms; NULL: no memory. */
static float *magnitudes_of(const attn2c_check_job *job, int tensor) {
  const attn2c_tensor *shape = attn2c_check_tensor(job, tensor);
  const int64_t width = attn2c_reference_width(shape), elements = attn2c_elements(shape);
  float *values = attn2c_reference_allocate(shape);
  int64_t leading_dimension;
  const float *terms = attn2c_check_trace_find(&job->trace, tensor, &leading_dimension);
  const float *magnitudes = terms + job->trace.floats / 2;
  for (int64_t i = 0; values && i < elements; i++)
    values[i] = magnitudes[i / width * leading_dimension + i % width];
  return values;
}

/* An op on terms is linear in them, and each rank computes it of its own: y is the sum of f(x) of the ranks,
 * the reference's is f of the sum. Computes sums = f of the sums of the terms' magnitudes, and states the
 * magnitude of y in `allowed` for these, so that y may have the error of another order. */
static int compute_magnitudes(attn2c_check_job *job, const attn2c_op *op, float *allowed, float *sums) {
  float *own[ATTN2C_MAX_OPERANDS] = {NULL};
  void *given[ATTN2C_MAX_OPERANDS], *const want = job->tensors[op->result];
  int status = ATTN2C_OK;
  for (int operand = 0; operand < ATTN2C_MAX_OPERANDS; operand++) {
    const int tensor = op->operands[operand];
    if (tensor < 0 || !is_of_terms(job, tensor)) continue;
    given[operand] = job->tensors[tensor];
    own[operand] = magnitudes_of(job, tensor);
    if (!own[operand]) {
      status = attn2c_check_no_memory(job, attn2c_check_tensor(job, tensor)->name);
      break;
    }
    job->tensors[tensor] = own[operand];
  }
  job->tensors[op->result] = sums;
  if (status == ATTN2C_OK)
    status = attn2c_reference_op(job->descriptor, op, job->tensors, allowed, job->message);
  job->tensors[op->result] = want;
  for (int operand = 0; operand < ATTN2C_MAX_OPERANDS; operand++) {
    if (!own[operand]) continue;
    job->tensors[op->operands[operand]] = given[operand];
    attn2c_free(own[operand]);
  }
  return status;
}

/* Computes the tolerance of an op on terms. */
static int tolerance_of_terms(attn2c_check_job *job, const attn2c_op *op, float *allowed) {
  const attn2c_tensor *shape = attn2c_check_tensor(job, op->result);
  const double unit = 2 * (job->descriptor->divided->count + 1) * 0x1p-24;
  ATTN2C_OWN_ALIGNED float *sums = attn2c_reference_allocate(shape);
  if (!sums) return attn2c_check_no_memory(job, shape->name);
  ATTN2C_TRY(compute_magnitudes(job, op, allowed, sums));
  ATTN2C_TRY(attn2c_tolerance_op(job->descriptor, op, job->tensors, allowed, job->message));
  for (int64_t i = 0; i < attn2c_elements(shape); i++) allowed[i] += (float)(unit * fabs((double)sums[i]));
  return ATTN2C_OK;
}

static int has_terms(const attn2c_check_job *job, const attn2c_op *op) {
  for (int operand = 0; operand < ATTN2C_MAX_OPERANDS; operand++)
    if (is_of_terms(job, op->operands[operand])) return 1;
  return 0;
}

/* Returns the largest magnitude of a tensor, and infinity for a NaN. Rows are leading_dimension floats apart.
 * -infinity, the score of a masked key, counts only if `counts_masked`. */
static float largest(const attn2c_tensor *shape, const float *x, int64_t leading_dimension,
                     int counts_masked) {
  const int64_t width = attn2c_reference_width(shape), elements = attn2c_elements(shape);
  float most = 0;
  for (int64_t i = 0; i < elements; i++) {
    const float value = x[i / width * leading_dimension + i % width];
    if (isnan(value)) return INFINITY;
    if (fabsf(value) > most && (counts_masked || value != -INFINITY)) most = fabsf(value);
  }
  return most;
}

/* True if an op sums the squares of its operand's rows, or of their differences from the mean, and a sum is
 * beyond all floats. */
static int has_large_squares(const attn2c_check_job *job, const attn2c_op *op) {
  static const char *const ops[] = {"rms_norm", "normalise", "row_length", "layer_norm", "sparsify"};
  enum { OF_DIFFERENCES = 3 }; /* the first op in the list that subtracts the mean */
  size_t kind = 0;
  while (kind < sizeof ops / sizeof ops[0] && strcmp(op->op, ops[kind]) != 0) kind++;
  if (kind == sizeof ops / sizeof ops[0]) return 0;
  const attn2c_tensor *shape = attn2c_check_tensor(job, op->operands[0]);
  const float *x = job->tensors[op->operands[0]];
  const int64_t width = attn2c_reference_width(shape) / (int64_t)attn2c_number(op, "heads", 1);
  for (int64_t i = 0; i < attn2c_elements(shape); i += width) {
    double variance;
    const double mean = attn2c_reference_mean(x + i, width, &variance);
    if ((variance + (kind < OF_DIFFERENCES ? mean * mean : 0)) * (double)width > FLT_MAX) return 1;
  }
  return 0;
}

/* Notes the first result that has a NaN or an infinity though its operands have none: in the reference, or in
 * the trace if an operand is so large that a sum of products may be beyond all floats. Notes a norm whose
 * sum of squares is beyond all floats, too. */
static void note_overflow(attn2c_check_job *job, const attn2c_op *op, const float *got,
                          int64_t leading_dimension) {
  const attn2c_tensor *shape = attn2c_check_tensor(job, op->result);
  if (job->nan || job->report.overflow) return;
  const int is_wanted = isinf(largest(shape, job->tensors[op->result], attn2c_reference_width(shape), 0)) ||
                        has_large_squares(job, op);
  if (!is_wanted && !isinf(largest(shape, got, leading_dimension, 0))) return;
  float most = 0;
  for (int operand = 0; operand < ATTN2C_MAX_OPERANDS; operand++) {
    const int tensor = op->operands[operand];
    if (tensor < 0 || attn2c_check_tensor(job, tensor)->type != ATTN2C_F32) continue;
    const attn2c_tensor *of = attn2c_check_tensor(job, tensor);
    most = fmaxf(most, largest(of, job->tensors[tensor], attn2c_reference_width(of), 1));
  }
  if (isfinite(most) && (is_wanted || most > 0x1p56f)) job->report.overflow = shape->name;
}

/* Judges a float result; its operands and the reference's result are in job->tensors. */
static int judge_floats(attn2c_check_job *job, const attn2c_op *op, float *allowed,
                        attn2c_comparison *comparison) {
  const attn2c_tensor *shape = attn2c_check_tensor(job, op->result);
  int64_t leading_dimension;
  const float *got = attn2c_check_trace_find(&job->trace, op->result, &leading_dimension);
  float *want = job->tensors[op->result];
  note_overflow(job, op, got, leading_dimension);
  ATTN2C_TRY(has_terms(job, op)
                 ? tolerance_of_terms(job, op, allowed)
                 : attn2c_tolerance_op(job->descriptor, op, job->tensors, allowed, job->message));
  ATTN2C_TRY(attn2c_check_settle_masked(job, op, got, leading_dimension, want));
  attn2c_check_settle_hidden(job, op, got, leading_dimension, want);
  attn2c_tolerance tolerance = {.allowed = allowed, .relative_l2 = -1};
  attn2c_compare(shape, want, got, leading_dimension, &tolerance, comparison);
  const int is_softmax = strcmp(op->op, "softmax") == 0 || strcmp(op->op, "softmax_rows") == 0;
  if (is_softmax && op->operands[1] < 0 && shape->rank > 0) /* a sink takes a part of the sum */
    attn2c_compare_row_sums(shape, want, got, leading_dimension,
                            attn2c_tolerance_row_sum(shape->shape[shape->rank - 1]), comparison);
  return ATTN2C_OK;
}

static int judge_indices(attn2c_check_job *job, const attn2c_op *op, attn2c_comparison *comparison) {
  void *copy, *got = attn2c_check_trace_view(&job->trace, op->result, &copy);
  if (!got) return attn2c_check_no_memory(job, attn2c_check_tensor(job, op->result)->name);
  attn2c_compare_indices(attn2c_check_tensor(job, op->result), job->tensors[op->result], got, NULL, 0, 1, 0,
                         comparison);
  attn2c_free(copy);
  return ATTN2C_OK;
}

int attn2c_check_op(attn2c_check_job *job, const attn2c_op *op) {
  const attn2c_tensor *shape = attn2c_check_tensor(job, op->result);
  void *copies[ATTN2C_MAX_OPERANDS] = {NULL};
  ATTN2C_OWN_ALIGNED float *allowed = attn2c_reference_allocate(shape);
  void *want = attn2c_reference_allocate(shape);
  int status = allowed && want ? ATTN2C_OK : attn2c_check_no_memory(job, shape->name);
  for (int operand = 0; operand < ATTN2C_MAX_OPERANDS && status == ATTN2C_OK; operand++) {
    int tensor = op->operands[operand];
    if (tensor < 0) continue;
    job->tensors[tensor] = attn2c_check_trace_view(&job->trace, tensor, &copies[operand]);
    if (!job->tensors[tensor]) status = attn2c_check_no_memory(job, attn2c_check_tensor(job, tensor)->name);
  }
  job->tensors[op->result] = want;
  attn2c_comparison comparison;
  if (status == ATTN2C_OK)
    status = attn2c_reference_op(job->descriptor, op, job->tensors, allowed, job->message);
  if (status == ATTN2C_OK)
    status = shape->type == ATTN2C_F32 ? judge_floats(job, op, allowed, &comparison)
                                       : judge_indices(job, op, &comparison);
  if (status == ATTN2C_OK) status = attn2c_check_report_op(&job->report, op->op, shape, &comparison);
  for (int operand = 0; operand < ATTN2C_MAX_OPERANDS; operand++) attn2c_free(copies[operand]);
  attn2c_free(want);
  return status;
}

static double root_mean_square(const float *x, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i++) sum += isfinite(x[i]) ? (double)x[i] * x[i] : 0;
  return count > 0 ? sqrt(sum / (double)count) : 0;
}

/* The grids of rounded tensors: of bf16; of integers with a scale for each row, or for each column of a
 * sequence; of integers; of numbers in scale blocks, of 8 bits and of 15. */
typedef enum { NO_GRID, BF16_GRID, ROW_GRID, COLUMN_GRID, INTEGER_GRID, BLOCK_GRID, FINE_GRID } grid;

static grid grid_of(const attn2c_op *op) {
  static const struct {
    const char *op;
    grid grid;
  } grids[] = {{"round", BF16_GRID},
               {"round_weights", BF16_GRID},
               {"quantise", ROW_GRID},
               {"quantise_columns", COLUMN_GRID},
               {"round_to_bytes", INTEGER_GRID},
               {"quantise_blocks", BLOCK_GRID},
               {"quantise_blocks_finely", FINE_GRID}};
  for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++)
    if (strcmp(op->op, grids[i].op) == 0) return grids[i].grid;
  return NO_GRID;
}

/* Returns the distance of neighbours on the grid of the scale block of element i. */
static double block_unit(const float *x, int64_t i, int64_t width, grid grid) {
  const int64_t row = i / width * width, first = (i - row) / ATTN2C_BLOCK_NUMBERS * ATTN2C_BLOCK_NUMBERS;
  const int64_t left = width - first, count = left < ATTN2C_BLOCK_NUMBERS ? left : ATTN2C_BLOCK_NUMBERS;
  const double scale = attn2c_reference_byte_scale(x + row + first, count);
  return grid == FINE_GRID ? scale / 128 : scale;
}

/* True if row[k] are k different numbers from 0 to cols - 1 whose x are at least `least`. */
static int may_choose(const int32_t *row, int64_t k, const float *x, int64_t cols, double least) {
  for (int64_t j = 0; j < k; j++) {
    if (row[j] < 0 || row[j] >= cols || !(x[row[j]] >= least)) return 0;
    for (int64_t other = 0; other < j; other++)
      if (row[other] == row[j]) return 0;
  }
  return 1;
}

/* Returns how far the numbers that an op rounds or chooses from may be off, beyond what usual models have. */
static double spread_of(const attn2c_check_job *job, const attn2c_op *op) {
  return job->spread ? job->spread[op->operands[0]] : 0;
}

/* Replaces the choices of a row, such as its experts, by the trace's if these may be right: each chosen
 * number and the least one that the reference chooses may be off by attn2c_tolerance_settled. A number that
 * is nearly as large as another may be chosen in its place, and all that follows is then another computation.
 */
static int settle_choice(const attn2c_check_job *job, const attn2c_op *op, void *const *tensors) {
  const int64_t k = attn2c_reference_picks(op),
                cols = attn2c_reference_width(attn2c_check_tensor(job, op->operands[0]));
  const int64_t rows = attn2c_reference_rows(attn2c_check_tensor(job, op->operands[0]));
  const attn2c_tolerance tolerance = attn2c_tolerance_model(job->descriptor->layers);
  const float *x = tensors[op->operands[0]];
  const double size = root_mean_square(x, rows * cols);
  int32_t *chosen = tensors[op->result];
  void *copy;
  const int32_t *traced = attn2c_check_trace_view(&job->trace, op->result, &copy);
  if (!traced) return attn2c_check_no_memory(job, attn2c_check_tensor(job, op->result)->name);
  for (int64_t r = 0; r < rows; r++) {
    const float *of_row = x + r * cols;
    const double least = of_row[chosen[r * k + k - 1]];
    const double bound = 2 * (attn2c_tolerance_settled(&tolerance, least, size, 0) + spread_of(job, op));
    if (may_choose(traced + r * k, k, of_row, cols, least - bound))
      memcpy(chosen + r * k, traced + r * k, (size_t)k * sizeof *chosen);
  }
  attn2c_free(copy);
  return ATTN2C_OK;
}

/* True if a guide settles an op's result: it is rounded, or chosen. */
static int is_settled(const attn2c_op *op) {
  return grid_of(op) != NO_GRID || strcmp(op->op, "topk_indices") == 0;
}

/* Replaces elements of a rounded tensor by the trace's elements if these may be right
 * (attn2c_tolerance_settled), and so choices. Integer weights have the error of their polynomial. */
static int settle_rounded(void *of_job, const attn2c_op *op, void *const *tensors) {
  const attn2c_check_job *job = of_job;
  const grid grid = grid_of(op);
  if (strcmp(op->op, "topk_indices") == 0 && attn2c_check_tensor(job, op->result)->kind == ATTN2C_SCRATCH)
    return settle_choice(job, op, tensors);
  if (grid == NO_GRID) return ATTN2C_OK;
  const attn2c_tensor *shape = attn2c_check_tensor(job, op->result);
  const attn2c_tolerance tolerance = attn2c_tolerance_model(job->descriptor->layers);
  const int64_t elements = attn2c_elements(shape);
  const float *x = tensors[op->operands[0]];
  const double size = root_mean_square(x, elements);
  void *copy;
  const float *traced = attn2c_check_trace_view(&job->trace, op->result, &copy);
  if (!traced) return attn2c_check_no_memory(job, shape->name);
  const int has_scales = grid == ROW_GRID || grid == COLUMN_GRID;
  const int64_t width = attn2c_reference_width(shape);
  const int64_t sequence = grid == COLUMN_GRID ? shape->shape[1] * width : 0; /* elements of one */
  const float *scales = has_scales ? tensors[op->operands[1]] : NULL;
  const int64_t shared =
      grid == ROW_GRID ? elements / attn2c_elements(attn2c_check_tensor(job, op->operands[1])) : 1;
  const double step = attn2c_number(op, "bits", 8) == 4 ? 2 : 1; /* odd integers are two units apart */
  const float *factors = grid == ROW_GRID && op->operands[2] >= 0 ? tensors[op->operands[2]] : NULL;
  float *y = tensors[op->result];
  for (int64_t i = 0; i < elements; i++) {
    const double factor = factors ? factors[i % width] : 1;
    const double unit = grid == ROW_GRID                          ? scales[i / shared] / factor
                        : grid == COLUMN_GRID                     ? scales[i / sequence * width + i % width]
                        : grid == BF16_GRID                       ? attn2c_reference_bf16_unit(traced[i])
                        : grid == BLOCK_GRID || grid == FINE_GRID ? block_unit(x, i, width, grid)
                                                                  : 1;
    const double meant = has_scales ? traced[i] * unit : traced[i];
    const double own =
        spread_of(job, op) + (grid == INTEGER_GRID ? ATTN2C_EXPONENTIAL_ERROR * fabs(x[i]) : 0);
    if (fabs(meant - x[i]) <= attn2c_tolerance_settled(&tolerance, x[i], size, step * unit) + own)
      y[i] = traced[i];
  }
  attn2c_free(copy);
  return ATTN2C_OK;
}

static int is_kept(const attn2c_check_job *job, int output) {
  return output >= job->entry->output_count - job->kept_outputs;
}

/* Returns the limits of an output. The absolute limit of a model is for numbers of size 1, as hidden states
 * are after a norm. Keys and values are k = W x of such a state, and are as large as W makes them: elements
 * of x of deviation s give elements of k of deviation |w| s, with w a row of W. An error d in each element of
 * x gives one of deviation |w| d, in the same way, however small it is. So an error in k is d / s of the root
 * mean square of k, and the limit is that much of it. If a model amplifies errors more, as strong attention
 * does between two keys of nearly the same score, a trial measures how much: see judge_outputs. */
static attn2c_tolerance limits_of(const attn2c_check_job *job, int output) {
  const int tensor = job->entry->outputs[output];
  attn2c_tolerance tolerance = attn2c_tolerance_model(job->descriptor->layers);
  if (is_kept(job, output))
    tolerance.absolute *=
        root_mean_square(job->tensors[tensor], attn2c_elements(attn2c_check_tensor(job, tensor)));
  return tolerance;
}

static void judge_output(attn2c_check_job *job, int output, const attn2c_tolerance *tolerance,
                         attn2c_comparison *comparison) {
  const int tensor = job->entry->outputs[output];
  const attn2c_tensor *shape = attn2c_check_tensor(job, tensor);
  const attn2c_op *op = &job->entry->ops[attn2c_check_maker(job->entry, tensor)];
  if (shape->type == ATTN2C_F32) {
    int64_t width = attn2c_reference_width(shape);
    attn2c_check_settle_hidden(job, op, job->traced[output], width, job->tensors[tensor]);
    attn2c_compare(shape, job->tensors[tensor], job->traced[output], width, tolerance, comparison);
    return;
  }
  /* Two indices are equally good if the difference of their values is less than its own error. */
  const int64_t picks = attn2c_reference_picks(op);
  const attn2c_tensor *values = picks > 0 ? attn2c_check_tensor(job, op->operands[0]) : NULL;
  attn2c_compare_indices(
      shape, job->tensors[tensor], job->traced[output], values ? job->tensors[op->operands[0]] : NULL,
      values ? values->shape[values->rank - 1] : 0, picks, 2 * tolerance->absolute, comparison);
}

/* Runs the reference again. It follows the trace's roundings within the errors of this model. */
static int run_again(attn2c_check_job *job, const attn2c_reference_guide *guide, const double *spread) {
  attn2c_reference_release(job->entry, job->tensors);
  job->spread = spread;
  const int status = attn2c_check_run_guided(job, guide);
  job->spread = NULL;
  return status;
}

/* Judges the outputs by their tolerances. If one is beyond the limits of usual models, all are judged by the
 * errors of this model, for which `allowed` and `spread`, by tensor, have the memory. */
static int judge_outputs(attn2c_check_job *job, float *const *allowed, attn2c_tolerance *tolerances,
                         double *spread, const char *what) {
  const attn2c_reference_guide settled = {settle_rounded, job};
  const attn2c_reference_guide *guide = job->trace.arena ? &settled : NULL; /* several calls have no trace */
  int is_spread = 0;
  for (int output = 0; output < job->entry->output_count; output++) {
    const attn2c_tensor *shape = attn2c_check_tensor(job, job->entry->outputs[output]);
    attn2c_comparison comparison;
    judge_output(job, output, &tolerances[output], &comparison);
    if (!comparison.passed && !is_spread && shape->type == ATTN2C_F32) {
      ATTN2C_TRY(attn2c_check_spread(job, guide, is_settled, allowed, tolerances, spread));
      for (int i = 0; i < job->entry->output_count; i++) tolerances[i].allowed = allowed[i];
      is_spread = 1;
      if (guide) ATTN2C_TRY(run_again(job, guide, spread));
      judge_output(job, output, &tolerances[output], &comparison);
    }
    char name[NAME_SIZE];
    if (is_kept(job, output))
      snprintf(name, sizeof name, "state of %s", shape->name);
    else
      snprintf(name, sizeof name, "output %s, %s", shape->name, what);
    ATTN2C_TRY(attn2c_check_report_row(&job->report, name, shape, &comparison));
  }
  return ATTN2C_OK;
}

int attn2c_check_outputs(attn2c_check_job *job, const char *what) {
  const int count = job->entry->output_count;
  ATTN2C_OWN attn2c_tolerance *tolerances = calloc((size_t)count + 1, sizeof *tolerances);
  ATTN2C_OWN float **allowed = calloc((size_t)count + 1, sizeof *allowed);
  ATTN2C_OWN double *spread = calloc((size_t)job->descriptor->tensor_count + 1, sizeof *spread);
  int status = tolerances && allowed && spread ? ATTN2C_OK : attn2c_check_no_memory(job, job->entry->name);
  for (int i = 0; i < count && status == ATTN2C_OK; i++) {
    const attn2c_tensor *shape = attn2c_check_tensor(job, job->entry->outputs[i]);
    tolerances[i] = limits_of(job, i);
    allowed[i] = attn2c_reference_allocate(shape);
    if (!allowed[i]) status = attn2c_check_no_memory(job, shape->name);
  }
  if (status == ATTN2C_OK) status = judge_outputs(job, allowed, tolerances, spread, what);
  for (int i = 0; allowed && i < count; i++) attn2c_free(allowed[i]);
  return status;
}

/* Runs the reference from the inputs; its results are in job->tensors, until they are released. */
int attn2c_check_run_guided(attn2c_check_job *job, const attn2c_reference_guide *guide) {
  for (int tensor = 0; tensor < job->descriptor->tensor_count; tensor++)
    job->tensors[tensor] = job->weights[tensor];
  for (int input = 0; input < job->entry->input_count; input++)
    job->tensors[job->entry->inputs[input]] = (void *)job->inputs[input];
  return attn2c_reference_run(job->descriptor, job->entry, job->tensors, guide, job->message);
}

int attn2c_check_run_reference(attn2c_check_job *job, int is_traced) {
  const attn2c_reference_guide guide = {settle_rounded, job};
  return attn2c_check_run_guided(job, is_traced ? &guide : NULL);
}

int attn2c_check_end_to_end(attn2c_check_job *job) {
  int status = attn2c_check_run_reference(job, 1);
  if (status == ATTN2C_OK) status = attn2c_check_outputs(job, "end to end");
  attn2c_reference_release(job->entry, job->tensors);
  return status;
}
