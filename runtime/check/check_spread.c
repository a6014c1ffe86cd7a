/* check_spread.c - finds by trial how far a correct run of an entry may be from the reference. The reference
 * is run again with errors of the size that each op's rule allows. Some models amplify small errors more than
 * others, for example if a norm divides the difference of nearly equal numbers, or a sum cancels. */
#include "check/check_parts.h"
#include "reference/ops.h"
#include "weights/random.h"

#include <math.h>

/* The rules of ops allow four times the usual size of an error, which is never met by chance (tolerance.c).
 * So errors are drawn with a quarter of the allowed error as their deviation. Twice the largest resulting
 * error of an output's row in any draw is allowed there, and twice that of its relative L2, which is infinite
 * if the reference is 0 and a draw is not. */
enum { DRAWS = 4 };
static const double USUAL = 0.25, BEYOND = 2;

typedef struct {
  const attn2c_check_job *job;
  const attn2c_reference_guide *guide; /* or NULL */
  int (*is_settled)(const attn2c_op *op);
  float **plain; /* by tensor: copies, without errors, of what is rounded or chosen from; else NULL */
  double *spread;
  int draw;
} bed;

/* Keeps a copy of what an op rounds or chooses from. */
static int keep(void *of, const attn2c_op *op, void *const *tensors) {
  const bed *bed = of;
  const int operand = op->operands[0];
  if (bed->is_settled(op) && !bed->plain[operand]) {
    const attn2c_tensor *shape = &bed->job->descriptor->tensors[operand];
    bed->plain[operand] = attn2c_reference_allocate(shape);
    if (!bed->plain[operand]) return attn2c_check_no_memory(bed->job, shape->name);
    memcpy(bed->plain[operand], tensors[operand], (size_t)attn2c_elements(shape) * sizeof(float));
  }
  return bed->guide->settle(bed->guide->of, op, tensors);
}

/* Notes the largest error of what an op rounds or chooses from. */
static void note(const bed *bed, const attn2c_op *op, void *const *tensors) {
  const int operand = op->operands[0];
  if (!bed->guide || !bed->is_settled(op)) return;
  const float *got = tensors[operand], *want = bed->plain[operand];
  for (int64_t i = 0; i < attn2c_elements(&bed->job->descriptor->tensors[operand]); i++)
    if (isfinite(want[i]) && isfinite(got[i]))
      bed->spread[operand] = fmax(bed->spread[operand], BEYOND * fabs((double)got[i] - (double)want[i]));
}

/* Computes an op's result again, with errors. */
static int disturb(void *of, const attn2c_op *op, void *const *tensors) {
  const bed *bed = of;
  const attn2c_check_job *job = bed->job;
  const attn2c_tensor *shape = &job->descriptor->tensors[op->result];
  note(bed, op, tensors);
  if (shape->type == ATTN2C_F32) {
    const int64_t elements = attn2c_elements(shape);
    float *allowed = attn2c_reference_allocate(shape), *errors = attn2c_reference_allocate(shape);
    int status = allowed && errors ? ATTN2C_OK : attn2c_check_no_memory(job, shape->name);
    if (status == ATTN2C_OK)
      status = attn2c_reference_op(job->descriptor, op, tensors, allowed, job->message);
    if (status == ATTN2C_OK)
      status = attn2c_tolerance_op(job->descriptor, op, tensors, allowed, job->message);
    if (status == ATTN2C_OK) {
      float *y = tensors[op->result];
      attn2c_random_fill((uint64_t)bed->draw, shape->name, errors, elements, 0, USUAL);
      for (int64_t i = 0; i < elements; i++)
        if (isfinite(y[i])) y[i] += allowed[i] * errors[i];
    }
    ATTN2C_FREE_ALIGNED(allowed, errors);
    if (status != ATTN2C_OK) return status;
  }
  return bed->guide ? bed->guide->settle(bed->guide->of, op, tensors) : ATTN2C_OK;
}

/* Adds a draw's errors of an output to the tolerance, row by row. */
static void widen(const attn2c_tensor *shape, const float *want, const float *got, float *allowed,
                  attn2c_tolerance *tolerance) {
  const int64_t elements = attn2c_elements(shape), width = attn2c_reference_width(shape);
  double errors = 0, squares = 0;
  for (int64_t row = 0; row < elements; row += width) {
    double largest = 0;
    for (int64_t i = row; i < row + width; i++) {
      if (!isfinite(want[i]) || !isfinite(got[i])) continue;
      const double error = fabs((double)got[i] - (double)want[i]);
      largest = fmax(largest, error);
      errors += error * error;
      squares += (double)want[i] * want[i];
    }
    for (int64_t i = row; i < row + width; i++) allowed[i] = (float)fmax(allowed[i], BEYOND * largest);
  }
  if (errors > 0) tolerance->relative_l2 = fmax(tolerance->relative_l2, BEYOND * sqrt(errors / squares));
}

/* Runs the reference with a guide, and returns its status; its results are in `tensors`. */
static int run(const attn2c_check_job *job, const attn2c_reference_guide *guide, void **tensors) {
  for (int tensor = 0; tensor < job->descriptor->tensor_count; tensor++)
    tensors[tensor] = job->weights[tensor];
  for (int input = 0; input < job->entry->input_count; input++)
    tensors[job->entry->inputs[input]] = (void *)job->inputs[input];
  return attn2c_reference_run(job->descriptor, job->entry, tensors, guide, job->message);
}

int attn2c_check_spread(const attn2c_check_job *job, const attn2c_reference_guide *guide,
                        int (*is_settled)(const attn2c_op *op), float *const *allowed,
                        attn2c_tolerance *tolerances, double *spread) {
  const int count = job->descriptor->tensor_count;
  ATTN2C_OWN_ALIGNED void **tensors = attn2c_allocate((size_t)count * sizeof *tensors);
  ATTN2C_OWN float **plain = calloc((size_t)count, sizeof *plain);
  if (!tensors || !plain) return attn2c_check_no_memory(job, job->entry->name);
  bed bed = {job, guide, is_settled, plain, spread, 0};
  int status = ATTN2C_OK;
  if (guide) {
    const attn2c_reference_guide keeping = {keep, &bed};
    status = run(job, &keeping, tensors);
    attn2c_reference_release(job->entry, tensors);
  }
  for (bed.draw = 0; bed.draw < DRAWS && status == ATTN2C_OK; bed.draw++) {
    const attn2c_reference_guide disturbed = {disturb, &bed};
    status = run(job, &disturbed, tensors);
    for (int output = 0; output < job->entry->output_count && status == ATTN2C_OK; output++) {
      const int tensor = job->entry->outputs[output];
      const attn2c_tensor *shape = &job->descriptor->tensors[tensor];
      if (shape->type == ATTN2C_F32)
        widen(shape, job->tensors[tensor], tensors[tensor], allowed[output], &tolerances[output]);
    }
    attn2c_reference_release(job->entry, tensors);
  }
  for (int tensor = 0; tensor < count; tensor++) attn2c_free(plain[tensor]);
  return status;
}
