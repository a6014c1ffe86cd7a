/* tolerance.h - computes how far a correct float32 result may be from the reference. For each op this is an
 * error per element, derived from unavoidable roundings; for a whole model it is a limit by its depth. */
#pragma once

#include "check/compare.h"

/* Half the distance from 1 to the next float, 2^-24; the largest relative error of a single rounding. */
#define ATTN2C_ROUNDOFF 0x1p-24
/* The distance itself, 2^-23; limits of softmax are usually stated in this epsilon. */
#define ATTN2C_EPSILON 0x1p-23
/* The smallest normal float; smaller results may be flushed to zero. */
#define ATTN2C_SMALLEST 0x1p-126

/* Writes the largest error of a correct result into allowed[], one per element of op's result. On entry
 * allowed[] is the magnitude that attn2c_reference_op has written; tensors[] has the operands, and
 * tensors[op->result] the reference's result. Returns ATTN2C_OK, or ATTN2C_USAGE with a line of message for
 * an op without a rule. */
int attn2c_tolerance_op(const attn2c_descriptor *model, const attn2c_op *op, void *const *tensors,
                        float *allowed, attn2c_message *message);

/* Returns how far the row sums of a softmax over `width` elements may be from 1. */
double attn2c_tolerance_row_sum(int64_t width);

/* Returns the tolerance of a model's outputs, end to end, by its number of layers. */
attn2c_tolerance attn2c_tolerance_model(int layers);

/* Relative error of exponentials that become integers: twice that of their polynomial. */
#define ATTN2C_EXPONENTIAL_ERROR 1.5e-4

/* Returns how far a rounded element may be from the number x that the reference rounds there. Within this
 * distance the reference continues with the element. model: from attn2c_tolerance_model; root_mean_square: of
 * the rounded numbers; unit: the grid's, at the element. */
double attn2c_tolerance_settled(const attn2c_tolerance *model, double x, double root_mean_square,
                                double unit);
