/* timing.h - the monotonic clock, and the statistics of a list of samples. */
#ifndef ATTN2C_TIMING_H
#define ATTN2C_TIMING_H

/* Nanoseconds since some fixed moment; never runs backwards. */
double attn2c_now(void);

typedef struct {
  double median, minimum, deviation; /* in the unit of the samples; the deviation is of a sample (n - 1) */
  double p95,
      p99; /* below which 95 and 99 of 100 samples lie; between two samples, on the line between them */
} attn2c_spread;

/* Sorts the samples in place. With no sample all are 0; of one the deviation is 0. */
attn2c_spread attn2c_spread_of(double *samples, int count);

/* Of sorted samples, at least one, the value below which such a part of them lies; between two samples, on
 * the line between them. */
double attn2c_quantile(const double *samples, int count, double part);

#endif
