/* constants.h - constants from formulas: tables of positions and of distances, lists of numbers. */
#pragma once

#include "base/descriptor.h"

/* The names of all formulas, for messages: "sinusoidal, rope_cos, .. or list". */
extern const char attn2c_constant_names[];

/* Writes the values of the constant `tensor`, row-major, and returns 1. If the formula is unknown, does not
 * parse or does not fit the tensor's shape, returns 0 and writes nothing. values may be NULL, to check the
 * formula only.
 *
 *   sinusoidal [FIRST [LAYOUT]]    [s][d]: sin and cos of the position FIRST + s; 1: the sines first; 2: so,
 * and the last wavelength is 20000 pi rope_cos THETA FIRST           [s][R/2]: cos((FIRST + s) THETA^(-2d/R))
 *   rope_sin THETA FIRST           the same with sin
 *   angle_cos FIRST SCALE F0 F1 .. [s][n]: SCALE cos((FIRST + s) F_d), n frequencies
 *   angle_sin FIRST SCALE F0 F1 .. the same with sin
 *   plane_cos THETA TOKENS ACROSS [s][n]: cosines of the angles of patches in a plane, after TOKENS rows
 *   plane_sin THETA TOKENS ACROSS the same with sin
 *   grown_cos FIRST SCALE BETA LONG F0 ..
 *                                  the same times 1 + BETA ln(1 + floor((FIRST + s) / LONG))
 *   grown_sin FIRST SCALE BETA LONG F0 ..
 *                                  the same with sin
 *   alibi FIRST                    [heads][n]: -slope |d + FIRST| of the distance d + FIRST
 *   alibi_of MOST FACTOR FIRST     the same, with slopes times FACTOR from 2^(-MOST / heads) to 2^-MOST
 *   t5_buckets BUCKETS DISTANCE BIDIRECTIONAL FIRST
 *                                  [n]: T5's bucket of the distance, key minus query, d + FIRST
 *   ones                           any shape: all 1
 *   list A B C ..                  any shape: one number per element
 *
 * Words are separated by one or more spaces; numbers are written as in C, whatever the locale. */
int attn2c_constant_fill(const char *formula, const attn2c_tensor *tensor, float *values);

/* Reads the next number of a formula, whatever the locale, and moves *rest to its end. 0: none. */
int attn2c_constant_number(const char **rest, double *number);
