/* bench.h - the command `bench`: verifies the model, then times it beside the roof
 * (roof.h). What is wrong is never timed. */
#ifndef ATTN2C_BENCH_H
#define ATTN2C_BENCH_H

#include "program/bench_report.h"

/* Models below this many floating-point operations a call are compared with the reference in full before
 * timing; above, that would take longer than the bench. */
#define ATTN2C_BENCH_FULL_CHECK 50e6

/* For calls of that many nanoseconds: the calls in a sample, so that a sample lasts 200 microseconds and
 * reading the clock takes less than a thousandth of it; and the samples that last about a second, from 7 to
 * 2000. */
int attn2c_bench_calls(double call_nanoseconds);
int attn2c_bench_repetitions(double call_nanoseconds);

/* Opens, verifies, times and prints every entry. ATTN2C_MISMATCH: an output differs between two calls or from
 * the trace variant, is not finite, or fails the comparison with the reference. */
int attn2c_bench_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *out,
                         attn2c_message *message);

#endif
