/* tolerance.h - how far a correct float32 result may be from the reference: of each op, an error for each
 * element, derived from the roundings that the op cannot avoid; of a whole model, limits by its depth. */
#ifndef ATTN2C_TOLERANCE_H
#define ATTN2C_TOLERANCE_H

#include "check/compare.h"

/* Half the distance from 1 to the next float, 2^-24: no single rounding has a larger relative error. */
#define ATTN2C_ROUNDOFF 0x1p-24
/* The distance itself, 2^-23: the epsilon that the limits of softmax are usually stated in. */
#define ATTN2C_EPSILON 0x1p-23
/* The smallest normal float: smaller results may come out as zero. */
#define ATTN2C_SMALLEST 0x1p-126

/* Writes into allowed[], one an element of op's result, the largest error of a correct result. On entry
 * allowed[] is the magnitude that attn2c_reference_op has written; tensors[] has the operands, and
 * tensors[op->result] the reference's result. ATTN2C_OK, or ATTN2C_USAGE with a line of message for an op
 * without a rule. */
int attn2c_tolerance_op(const attn2c_descriptor *model, const attn2c_op *op, void *const *tensors,
                        float *allowed, attn2c_message *message);

/* How far the row sums of a softmax over `width` elements may be from 1. */
double attn2c_tolerance_row_sum(int64_t width);

/* Of a model's outputs, end to end, by its number of layers. */
attn2c_tolerance attn2c_tolerance_model(int layers);

/* How far an element of a rounded tensor may be from the number x that the reference rounds there, so that
 * the reference goes on with the element. model: of attn2c_tolerance_model; root_mean_square: of the numbers
 * that are rounded; unit: the grid's, at the element. */
double attn2c_tolerance_settled(const attn2c_tolerance *model, double x, double root_mean_square,
                                double unit);

#endif
