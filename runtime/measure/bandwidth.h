/* bandwidth.h - the rate at which threads read memory that no cache holds: the other roof of a roofline. */
#ifndef ATTN2C_BANDWIDTH_H
#define ATTN2C_BANDWIDTH_H

/* GB/s (10^9 bytes) that so many threads together read from memory, the best of some rounds, in about a fifth
 * of a second. It takes 256 MB meanwhile, or an eighth of the machine's memory where that is less. 0: there
 * is no room. */
double attn2c_bandwidth(int threads);

#endif
