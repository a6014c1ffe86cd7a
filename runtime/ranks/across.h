/* across.h - adds values of machines: each of its ranks talks to those with its number on the others. */
#pragma once

#include "ranks/inner.h"

/* Begins to add values of all machines, in place, where that is possible without waiting. */
void attn2c_across_begin(attn2c_ranks *ranks, attn2c_rank_sum *sum, float *values, size_t count);
/* Ends it. */
void attn2c_across_end(attn2c_ranks *ranks, attn2c_rank_sum *sum, float *values, size_t count);
