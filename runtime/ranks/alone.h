/* alone.h - one rank of several that computes its part by itself: its meetings move nothing and are counted.
 * `bench --part` times parts so. */
#pragma once

#include "ranks/ranks.h"

/* Returns rank `own` of `count`, without a communicator; NULL: no memory. Sums leave the rank's own terms; a
 * gather copies the rank's own columns; rank 0's bytes reach nobody. attn2c_ranks_close frees it. */
attn2c_ranks *attn2c_ranks_alone(int count, int own);

/* Forgets the meetings that were counted. */
void attn2c_ranks_count_anew(attn2c_ranks *ranks);
/* Returns the distinct meetings since then, ATTN2C_RANKS_COUNTED at most, and their number. */
int attn2c_ranks_counted(const attn2c_ranks *ranks, const attn2c_rank_meeting **list);
