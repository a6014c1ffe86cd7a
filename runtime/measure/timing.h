/* timing.h - reads the monotonic clock, and computes the statistics of a list of samples. */
#pragma once

/* Returns nanoseconds since a fixed moment; never decreases. */
double attn2c_now(void);

/* Returns operations a nanosecond of a loop that returns their number, repeated for about `nanoseconds`. */
double attn2c_rate_of_loop(double (*loop)(void), double nanoseconds);

typedef struct {
  double median, minimum, deviation; /* in the unit of the samples; the deviation is a sample's (n - 1) */
  double p95, p99; /* 95 and 99 of 100 samples are below these; interpolated between two samples */
} attn2c_spread;

/* Sorts the samples in place. Without samples all fields are 0; with one sample the deviation is 0. */
attn2c_spread attn2c_spread_of(double *samples, int count);

/* Returns the value below which the fraction `part` of the samples is, interpolated between two samples. The
 * samples are sorted, and there is at least one. */
double attn2c_quantile(const double *samples, int count, double part);
