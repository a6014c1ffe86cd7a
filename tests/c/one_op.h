/* one_op.h - a model of a single op, for the tests of the reference: its operands, its attributes, its
 * result, and the comparison with what is expected. */
#ifndef ATTN2C_TESTS_ONE_OP_H
#define ATTN2C_TESTS_ONE_OP_H

#include "readers.h"
#include "reference/reference.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* The operands, then the result. */
#define MOST 7

static attn2c_tensor tensors[MOST];
static void *values[MOST];
static attn2c_attribute attributes[12];
static attn2c_op op;
static attn2c_descriptor model;
static char text[256];
static attn2c_message message;

static inline void start(const char *name) {
  memset(tensors, 0, sizeof tensors);
  memset(attributes, 0, sizeof attributes);
  op = (attn2c_op){.op = name, .operands = {-1, -1, -1, -1, -1, -1}, .attributes = attributes};
  model = (attn2c_descriptor){.readers = &all_readers, .name = "one", .tensors = tensors, .tensor_count = 0};
  message = attn2c_message_make(text, sizeof text);
}

/* Adds a tensor with up to four dimensions (0 ends them) and returns its index. */
static inline int tensor(const char *name, attn2c_type type, void *data, int64_t d0, int64_t d1, int64_t d2,
                         int64_t d3) {
  int64_t shape[] = {d0, d1, d2, d3};
  attn2c_tensor *added = &tensors[model.tensor_count];
  added->name = name, added->type = type;
  while (added->rank < 4 && shape[added->rank]) added->shape[added->rank] = shape[added->rank], added->rank++;
  values[model.tensor_count] = data;
  return model.tensor_count++;
}

static inline void attribute(int place, const char *name, double number, const char *function) {
  attributes[place] = (attn2c_attribute){name, number, function};
}

static inline int run(float *magnitude) {
  return attn2c_reference_op(&model, &op, values, magnitude, &message);
}

static inline void assert_near(const float *got, const double *want, int count, double tolerance) {
  for (int i = 0; i < count; i++)
    cr_assert(isnan(want[i]) ? isnan(got[i]) : got[i] == want[i] || fabs(got[i] - want[i]) <= tolerance,
              "element %d: expected %.9g, got %.9g", i, want[i], got[i]);
}

#endif
