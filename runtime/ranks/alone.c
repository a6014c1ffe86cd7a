/* alone.c - a rank without others, and the meetings that it would have had. */

#include "ranks/inner.h"

struct attn2c_rank_count {
  attn2c_rank_meeting list[ATTN2C_RANKS_COUNTED];
  int count;
};

attn2c_ranks *attn2c_ranks_alone(int count, int own) {
  attn2c_ranks *ranks = calloc(1, sizeof *ranks);
  attn2c_rank_count *counted = calloc(1, sizeof *counted);
  if (!ranks || !counted) {
    ATTN2C_FREE(ranks, counted);
    return NULL;
  }
  ranks->all = ranks->node = ranks->across = MPI_COMM_NULL;
  ranks->window = MPI_WIN_NULL;
  for (int i = 0; i < ATTN2C_RANKS_MOST; i++) ranks->processes[i] = -1;
  for (int i = 0; i < ATTN2C_RANKS_BLOCKS; i++) ranks->blocks[i].window = MPI_WIN_NULL;
  ranks->count = count, ranks->own = own;
  ranks->node_count = ranks->machines = 1;
  ranks->counted = counted;
  ranks->whole = ranks->team = ranks, ranks->stages = 1;
  return ranks;
}

void attn2c_ranks_count_meeting(attn2c_ranks *ranks, attn2c_meeting_kind kind, size_t floats) {
  attn2c_rank_count *counted = ranks->counted;
  int i = 0;
  while (i < counted->count && !(counted->list[i].kind == kind && counted->list[i].floats == (int64_t)floats))
    i++;
  if (i == ATTN2C_RANKS_COUNTED) return;
  if (i == counted->count) counted->list[counted->count++] = (attn2c_rank_meeting){kind, (int64_t)floats, 0};
  counted->list[i].times++;
}

void attn2c_ranks_count_anew(attn2c_ranks *ranks) { ranks->counted->count = 0; }

int attn2c_ranks_counted(const attn2c_ranks *ranks, const attn2c_rank_meeting **list) {
  *list = ranks->counted->list;
  return ranks->counted->count;
}
