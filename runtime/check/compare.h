/* compare.h - compares one computed tensor with the reference's, by element and as a whole. It tests each
 * element under a tolerance, the tensor by relative L2, and faults that a tolerance would not see.
 * tolerance.h decides which errors of an op or a model are allowed. */
#pragma once

#include "base/descriptor.h"

/* An element passes if |got - want| <= allowed[i] + absolute + relative |want|. */
typedef struct {
  const float *allowed;      /* one per element, or NULL: all 0 */
  double absolute, relative; /* the same for all elements */
  double relative_l2;        /* limit for the whole tensor; negative: not judged */
} attn2c_tolerance;

typedef struct {
  double largest_absolute; /* |got - want|; infinity if a NaN or an infinity differs */
  double largest_relative; /* |got - want| / |want|, over the elements with want != 0 */
  double relative_l2; /* sqrt(sum of (got - want)^2 / sum of want^2), over the elements that are finite in
                         both */
  int64_t violations; /* elements that do not pass */
  int64_t first;      /* number of the first of them */
  /* The element that exceeds its tolerance most (or, if all pass, is closest to it). */
  int rank;
  int64_t where[ATTN2C_MAX_RANK];
  double expected, got, allowed;
  int passed;
  const char *why; /* reason of the failure, in a few words; "" if it passed */
} attn2c_comparison;

/* Compares got with want, both of the tensor's shape. Rows of got (all dimensions but the last) are
 * leading_dimension floats apart, want is contiguous. The comparison fails if
 * - an element is outside its tolerance;
 * - a NaN or an infinity does not meet one of the same class and sign;
 * - more than 30% of the elements are zero in got and not in want (or smaller there than any normal number);
 * - the relative L2 error is above its limit. */
void attn2c_compare(const attn2c_tensor *tensor, const float *want, const float *got,
                    int64_t leading_dimension, const attn2c_tolerance *tolerance,
                    attn2c_comparison *comparison);

/* Compares int32 results, which must be equal. `operand` may be the values [rows][width] of whose rows these
 * are `picks` indices each. Then another index also passes if its value is within `margin` of the expected
 * one's. */
void attn2c_compare_indices(const attn2c_tensor *tensor, const int32_t *want, const int32_t *got,
                            const float *operand, int64_t width, int64_t picks, double margin,
                            attn2c_comparison *comparison);

/* Compares the bits of each element; both tensors are contiguous and of either type. */
void attn2c_compare_bits(const attn2c_tensor *tensor, const void *want, const void *got,
                         attn2c_comparison *comparison);

/* Adds to a comparison of softmax results that the rows of got must sum to 1 within `limit`. Rows of want
 * with zeros or NaN in place of weights are skipped. */
void attn2c_compare_row_sums(const attn2c_tensor *tensor, const float *want, const float *got,
                             int64_t leading_dimension, double limit, attn2c_comparison *comparison);
