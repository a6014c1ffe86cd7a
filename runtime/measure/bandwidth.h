/* bandwidth.h - the rate at which threads read memory that no cache holds, the other roof of a roofline. */
#pragma once

#include <stddef.h>

/* Returns the GB/s (10^9 bytes) that `threads` threads together read from memory. It is the best of several
 * rounds, which take about a fifth of a second. It uses 256 MB meanwhile, or an eighth of the machine's
 * memory if that is less. Returns 0 if there is not enough memory. */
double attn2c_bandwidth(int threads);

/* Returns the same for a block of the caller's at a cache line, which has been written before. */
double attn2c_bandwidth_in(const void *memory, size_t bytes, int threads);

/* Samples of that rate, taken between other measurements. */
typedef struct attn2c_reads attn2c_reads;

/* Allocates the memory, and finds out how far ahead of their reads the threads have to ask for it. Returns
 * ATTN2C_OK or _MEMORY; without enough memory *reads is NULL, which the others take, and its rate 0. */
int attn2c_reads_open(int threads, attn2c_reads **reads);
/* Adds a sample: the next 32 MB are read. After a fixed number of samples the oldest is overwritten. */
void attn2c_reads_sample(attn2c_reads *reads);
/* Returns GB/s: the median of the samples, which it discards; 0 if there are none. */
double attn2c_reads_rate(attn2c_reads *reads);
void attn2c_reads_close(attn2c_reads *reads);
