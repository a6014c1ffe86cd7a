/* time.h - times a call that was verified. */
#pragma once

#include "program/bench/call.h"
#include "program/bench/report.h"

/* Times a call together with the roof, the bound and the profile that the arguments ask for, and writes them
 * to `result`. Returns ATTN2C_OK, ATTN2C_MEMORY, or ATTN2C_MISMATCH if the profiled variant differs. */
int attn2c_bench_time(attn2c_bench_call *s, const attn2c_arguments *arguments, attn2c_bench_result *result,
                      attn2c_message *message);
