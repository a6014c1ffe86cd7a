/* bench.h - the command `bench`: verifies the model, then times it together with the roof (roof.h). A model
 * that fails the verification is not timed. */
#pragma once

#include "program/bench/report.h"

/* Models below this many floating-point operations a call are compared with the reference in full before
 * timing. For larger models that comparison would take longer than the bench. */
#define ATTN2C_BENCH_FULL_CHECK 50e6

/* Two choices for calls that take `call_nanoseconds`. The first function returns the calls in a sample: a
 * sample lasts 200 microseconds, so that reading the clock takes less than a thousandth of it. The second
 * returns the number of samples that take about a second, from 7 to 2000. */
int attn2c_bench_calls(double call_nanoseconds);
int attn2c_bench_repetitions(double call_nanoseconds);

/* True if --part asks for the parts of all ranks. */
int attn2c_bench_is_of_all(const attn2c_arguments *arguments);

/* Opens, verifies, times and prints every entry. Returns ATTN2C_MISMATCH if an output differs between two
 * calls or from the trace variant, is not finite, or fails the comparison with the reference. With --part
 * nothing is verified: without their meetings ranks compute no results. */
int attn2c_bench_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *out,
                         attn2c_message *message);
