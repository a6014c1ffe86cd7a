/* ops.h - declares what the reference's files and the tolerances share: a call of an op, operands,
 * masks. It also declares the functions of the table in reference.c. */
#pragma once

#include "base/descriptor.h"
#include "reference/table.h"

/* Sizes of axes by their letter; 0: not known. */
enum { ATTN2C_LETTERS = 128 };
typedef int64_t attn2c_reference_sizes[ATTN2C_LETTERS];

typedef struct {
  const attn2c_descriptor *model;
  const attn2c_op *op;
  void *const *tensors;
  float *magnitude; /* NULL: not wanted */
  attn2c_message *message;
  const void *in[ATTN2C_MAX_OPERANDS]; /* the operands' values; NULL: not given */
  void *out;                           /* the result's */
  attn2c_reference_sizes n;            /* by the table's shapes */
} attn2c_reference_call;

/* Returns a call without sizes. */
attn2c_reference_call attn2c_reference_call_of(const attn2c_descriptor *model, const attn2c_op *op,
                                               void *const *tensors, float *magnitude,
                                               attn2c_message *message);

typedef int attn2c_reference_function(const attn2c_reference_call *call);

#define ATTN2C_DECLARE(op, operands, result, reference, tolerance, shapes)                                   \
  attn2c_reference_function attn2c_reference_##reference;
ATTN2C_OPS(ATTN2C_DECLARE)
#undef ATTN2C_DECLARE

/* Returns the operand at a position in the op table's order, or NULL if it is not given. */
static inline const attn2c_tensor *attn2c_reference_operand(const attn2c_reference_call *call, int position) {
  int index = call->op->operands[position];
  return index < 0 ? NULL : &call->model->tensors[index];
}

static inline const attn2c_tensor *attn2c_reference_result(const attn2c_reference_call *call) {
  return &call->model->tensors[call->op->result];
}

/* Returns the last dimension; 1 for a tensor without dimensions. */
static inline int64_t attn2c_reference_width(const attn2c_tensor *tensor) {
  return tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;
}

/* Returns the product of all dimensions but the last. */
static inline int64_t attn2c_reference_rows(const attn2c_tensor *tensor) {
  int64_t rows = 1;
  for (int axis = 0; axis + 1 < tensor->rank; axis++) rows *= tensor->shape[axis];
  return rows;
}

/* True if the first `count` dimensions are equal. */
static inline int attn2c_reference_same(const attn2c_tensor *a, const attn2c_tensor *b, int count) {
  if (a->rank < count || b->rank < count) return 0;
  for (int axis = 0; axis < count; axis++)
    if (a->shape[axis] != b->shape[axis]) return 0;
  return 1;
}

/* True if a weight, an operand, is in scale blocks with minima. */
int attn2c_reference_has_minima(const attn2c_reference_call *call, int position);

/* Returns the sum of x[k] w[k], and the magnitude of its terms. with_minimum: of the weight. */
double attn2c_reference_dot(const float *x, const float *w, int64_t length, int with_minimum,
                            double *magnitude);

/* Returns the mean of a row, and computes its variance. */
double attn2c_reference_mean(const float *x, int64_t width, double *variance);

/* True if operands and result have the shapes of a notation, which has operands in the op table's order, then
 * the result: "*i, oi -> *o". A letter is an axis; letters in parentheses are an axis of their product, 1 is
 * an axis of size 1, and `*` stands for any number of leading axes, the same wherever it is. Sizes that are
 * known before the call must fit, and the sizes of words after the shapes: f=4, or k=kernel, an attribute
 * that must be at least 1. It finds the others. Operands that are not given, and those with `?`,
 * may have any shape. Otherwise says so in one line. */
int attn2c_reference_fits(const attn2c_reference_call *call, const char *shapes, attn2c_reference_sizes n);

/* Says in one line which rule of the op its descriptor breaks; returns ATTN2C_USAGE. */
int attn2c_reference_fault(const attn2c_reference_call *call, const char *rule);

/* True if every lengths[b], operand `position`, is within minimum..limit, or the operand is not given.
 * Otherwise says a line that names the tensor and the index. */
int attn2c_reference_lengths(const attn2c_reference_call *call, int position, int64_t batch, int64_t minimum,
                             int64_t limit);

/* Returns a count attribute, or `otherwise` if the op does not have it. -1: no integer from 0 to 2^31 - 1. */
int64_t attn2c_reference_count(const attn2c_reference_call *call, const char *name, int64_t otherwise);

/* The part of a mask that is known when the model is built. Query i is at position offset + i of the keys. It
 * never masks the keys before `prefix` and the last `extra` ones. */
typedef struct {
  int causal;
  int64_t left, right; /* -1: unbounded */
  int64_t prefix, offset, extra;
} attn2c_reference_mask;

static inline attn2c_reference_mask attn2c_reference_mask_of(const attn2c_op *op) {
  attn2c_reference_mask mask = {
      attn2c_number(op, "causal", 0) != 0,     (int64_t)attn2c_number(op, "left", -1),
      (int64_t)attn2c_number(op, "right", -1), (int64_t)attn2c_number(op, "prefix", 0),
      (int64_t)attn2c_number(op, "offset", 0), (int64_t)attn2c_number(op, "extra", 0)};
  return mask;
}

/* True if it may mask anything. */
static inline int attn2c_reference_masks(attn2c_reference_mask mask) {
  return mask.causal || mask.left >= 0 || mask.right >= 0;
}

/* True if query i does not see key j of `keys`. */
static inline int attn2c_reference_masked(attn2c_reference_mask mask, int64_t keys, int64_t i, int64_t j) {
  if (j < mask.prefix || j >= keys - mask.extra) return 0;
  int64_t position = i + mask.offset;
  return (mask.causal && j > position) || (mask.left >= 0 && j < position - mask.left) ||
         (mask.right >= 0 && j > position + mask.right);
}

/* Masks and lengths that hide keys of an attention: the mask of the op that makes its scores, and the lengths
 * of the keys from mask.offset on, without the extra ones, or NULL. */
typedef struct {
  attn2c_reference_mask mask;
  const int32_t *lengths;
} attn2c_reference_hiding;

/* True if query i of sequence b does not see key j of `keys`. */
static inline int attn2c_reference_hides(attn2c_reference_hiding by, int64_t keys, int64_t b, int64_t i,
                                         int64_t j) {
  return (by.lengths && j >= by.mask.offset + by.lengths[b] && j < keys - by.mask.extra) ||
         attn2c_reference_masked(by.mask, keys, i, j);
}

/* Finds what hides keys of the scores [batch][heads][queries][keys] that an op works on. They may have been
 * made some ops before it. Returns 0 if they are no scores. */
int attn2c_reference_hiding_of(const attn2c_reference_call *call, attn2c_reference_hiding *by);

/* The sizes of an attention, and what hides its keys. */
typedef struct {
  int64_t batch, heads, key_heads, queries, keys, width; /* width: of a head */
  attn2c_reference_hiding by;
} attn2c_reference_attention;

/* Finds them by a notation in which b, h, g, q, k and d are these sizes in their order. lengths: the operand
 * of the lengths; -1: there is none. Returns ATTN2C_OK, _USAGE or _FORMAT, with a line. */
int attn2c_reference_attention_of(const attn2c_reference_call *call, const char *shapes, int64_t key_heads,
                                  int lengths, attn2c_reference_attention *of);

/* Returns the heads of the values: the heads of the queries without the attribute. */
static inline int64_t attn2c_reference_key_heads(const attn2c_reference_call *call) {
  return attn2c_reference_count(call, "kv_heads", attn2c_reference_count(call, "heads", 0));
}
