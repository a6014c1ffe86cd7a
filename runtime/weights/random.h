/* random.h - makes seeded random values that are the same on every machine, for weights and inputs. They are
 * the weights if no checkpoint is given, and the inputs of checks and benches. A value depends on the seed, a
 * name and its own index only, so the order of filling does not matter. */
#pragma once

#include <stdint.h>

/* Fills values[0 .. count) with nearly normal numbers, never further from the mean than 4.9 deviations. */
void attn2c_random_fill(uint64_t seed, const char *name, float *values, int64_t count, double mean,
                        double deviation);
/* Writes the same values from number `first` on. */
void attn2c_random_part(uint64_t seed, const char *name, int64_t first, float *values, int64_t count,
                        double mean, double deviation);

/* Fills values[0 .. count) with uniform integers, minimum <= value < limit; an empty range gives minimum. */
void attn2c_random_integers(uint64_t seed, const char *name, int32_t *values, int64_t count, int64_t minimum,
                            int64_t limit);
