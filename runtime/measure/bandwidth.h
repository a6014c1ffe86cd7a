/* bandwidth.h - measures the rate at which threads read memory that no cache holds, the other roof of a
 * roofline. */
#ifndef ATTN2C_BANDWIDTH_H
#define ATTN2C_BANDWIDTH_H

#include <stddef.h>

/* Returns the GB/s (10^9 bytes) that `threads` threads together read from memory. It is the best of several
 * rounds, which take about a fifth of a second. It uses 256 MB meanwhile, or an eighth of the machine's
 * memory if that is less. Returns 0 if there is not enough memory. */
double attn2c_bandwidth(int threads);

/* Returns the same for a block of the caller's at a cache line, which has been written before. */
double attn2c_bandwidth_in(const void *memory, size_t bytes, int threads);

#endif
