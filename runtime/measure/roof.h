/* roof.h - the rate this machine itself can reach: matrix kernels of fixed shapes on
 * operands in cache. A model's rate is read beside it, so it is measured in the same run,
 * between the model's repetitions, on as many threads. */
#ifndef ATTN2C_ROOF_H
#define ATTN2C_ROOF_H

#include "base/descriptor.h"

/* Of libxsmm: m 32, 48, 64 by n 24, 32, 64, K 768 as one batch of 12 blocks of 64 by offsets, beta 0. In C:
 * those of the program, of any number type, at most as many, at most as large, with a K that divides 768. A
 * is packed, as weights are; the rows of B lie 784 floats apart, as those of a padded tensor do. */
#define ATTN2C_ROOF_SHAPES 9
#define ATTN2C_ROOF_BEST   2 /* shapes that are kept after the warm-up */
#define ATTN2C_ROOF_K      768
#define ATTN2C_ROOF_BLOCK  64
#define ATTN2C_ROOF_LDB    784

typedef struct attn2c_roof attn2c_roof;

/* Dispatches libxsmm's kernels for a target (NULL: none), takes those in C (roofs may be NULL), and times
 * each for about 2 ms; keeps the best two. Where no kernel can be dispatched *roof is valid and its rate 0.
 * ATTN2C_OK or _MEMORY. */
int attn2c_roof_open(const char *target, const attn2c_roofs *roofs, int threads, attn2c_roof **roof);
/* Times the best shapes for about 1 ms in all: one more sample. Beyond a fixed number the oldest is
 * overwritten. */
void attn2c_roof_sample(attn2c_roof *roof);
/* GFLOP/s: the median of the samples, each that of the better of the two shapes; 0: not available. */
double attn2c_roof_rate(attn2c_roof *roof);
/* GFLOP/s of the multipliers alone (peak.h) on as many threads: the best of the samples, taken beside those
 * of the roof; 0: not available. */
double attn2c_roof_peak(const attn2c_roof *roof);
void attn2c_roof_close(attn2c_roof *roof);

#endif
