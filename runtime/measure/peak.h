/* peak.h - the rate that the multipliers of one core reach with all operands in registers:
 * no matrix product on that core can be faster, whatever its tile. */
#ifndef ATTN2C_PEAK_H
#define ATTN2C_PEAK_H

/* GFLOP/s of one thread with the instructions of a target ("avx512", "avx2", else the processor's plain
 * vectors, which have no fused multiply-add), for about that long. The machine must have them. */
double attn2c_peak_rate(const char *target, double nanoseconds);

#endif
