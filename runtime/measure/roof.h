/* roof.h - measures the rate that this machine can reach, with matrix kernels on operands in cache. A model's
 * rate is compared with it, so it is measured in the same run, between the model's repetitions, on the same
 * number of threads. */
#pragma once

#include "base/descriptor.h"

/* The shapes of kernels that are timed. libxsmm's are m 32, 48, 64 by n 24, 32, 64 with K 768, beta 0.
 * C kernels are the program's, of any number type, not more and not larger than these. A is packed like
 * weights; the rows of B are 784 floats apart, like rows of a padded tensor. */
#define ATTN2C_ROOF_SHAPES 9
#define ATTN2C_ROOF_BEST   2 /* number of shapes that are kept after the warm-up */
#define ATTN2C_ROOF_K      768
#define ATTN2C_ROOF_LDB    784

typedef struct attn2c_roof attn2c_roof;

/* Dispatches libxsmm's kernels for a target (NULL: none), and adds those in C (roofs may be NULL). It times
 * each for about 2 ms, and keeps the best two. If no kernel can be dispatched, *roof is valid and its rate 0.
 * Returns ATTN2C_OK or _MEMORY. */
int attn2c_roof_open(const char *target, const attn2c_roofs *roofs, int threads, attn2c_roof **roof);
/* Times the best shapes for some 1 ms in all. After a fixed number of samples the oldest is overwritten. */
void attn2c_roof_sample(attn2c_roof *roof);
/* Returns GFLOP/s: the median of the samples, each from the better of the two shapes; 0: not available. */
double attn2c_roof_rate(attn2c_roof *roof);
/* Returns GFLOP/s of only the multipliers (peak.h) on the same number of threads. It is the best of the
 * samples, which are taken together with the roof's; 0: not available. */
double attn2c_roof_peak(const attn2c_roof *roof);
void attn2c_roof_close(attn2c_roof *roof);
