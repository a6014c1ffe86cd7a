/* constants.h - what a model's constants hold, by the formula that its descriptor has for each: tables of
 * positions and of distances, and lists of numbers. */
#ifndef ATTN2C_CONSTANTS_H
#define ATTN2C_CONSTANTS_H

#include "base/descriptor.h"

/* The names of all formulas, for messages: "sinusoidal, rope_cos, .. or list". */
extern const char attn2c_constant_names[];

/* Writes the values of the constant `tensor`, row-major. 1; or 0, and nothing is written, where the formula
 * is unknown, does not parse or does not fit the tensor's shape. values may be NULL: only to see whether it
 * does.
 *
 *   sinusoidal [FIRST]             [s][d]: sin and cos of the position FIRST + s
 *   rope_cos THETA FIRST           [s][R/2]: cos((FIRST + s) THETA^(-2d/R))
 *   rope_sin THETA FIRST           the same with sin
 *   angle_cos FIRST SCALE F0 F1 .. [s][n]: SCALE cos((FIRST + s) F_d), n frequencies
 *   angle_sin FIRST SCALE F0 F1 .. the same with sin
 *   alibi FIRST                    [heads][n]: -slope |d + FIRST| of the distance d + FIRST
 *   t5_buckets BUCKETS DISTANCE BIDIRECTIONAL FIRST
 *                                  [n]: T5's bucket of the distance, key minus query, d + FIRST
 *   list A B C ..                  any shape: as many numbers as it has elements
 *
 * Words stand one or more spaces apart; numbers are written as in C, whatever the locale. */
int attn2c_constant_fill(const char *formula, const attn2c_tensor *tensor, float *values);

#endif
