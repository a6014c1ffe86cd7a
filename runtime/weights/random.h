/* random.h - seeded random values that are the same on every machine: weights where no
 * checkpoint is given, and inputs for checks and benches. A value depends on the seed, a
 * name and its own index only, so that the order of filling does not matter. */
#ifndef ATTN2C_RANDOM_H
#define ATTN2C_RANDOM_H

#include <stdint.h>

/* values[0 .. count): nearly normal with this mean and deviation, never further from the mean than 4.9
 * deviations. */
void attn2c_random_fill(uint64_t seed, const char *name, float *values, int64_t count, double mean,
                        double deviation);
/* The same values from number `first` on. */
void attn2c_random_part(uint64_t seed, const char *name, int64_t first, float *values, int64_t count,
                        double mean, double deviation);

/* values[0 .. count): uniform, minimum <= value < limit, both within int32; a range without a member gives
 * minimum. */
void attn2c_random_integers(uint64_t seed, const char *name, int32_t *values, int64_t count, int64_t minimum,
                            int64_t limit);

#endif
