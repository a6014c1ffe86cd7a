/* sum.c - adds values of all ranks: within a machine in shared memory, where each rank adds a part of all
 * values and writes it to all; between machines by across.c. */

#include "ranks/inner.h"

/* Sums in shared memory of more floats are added in parts; fewer are copied, which takes one wait less. */
enum { FEW = 512 };

int attn2c_ranks_count(const attn2c_ranks *ranks) { return ranks ? ranks->count : 1; }

int attn2c_ranks_own(const attn2c_ranks *ranks) { return ranks ? ranks->own : 0; }

static attn2c_rank_window *own_window(const attn2c_ranks *ranks) { return ranks->windows[ranks->node_own]; }

/* Waits for a counter of every rank of this machine. */
#define UNTIL_ALL(ranks, counter, number)                                                                    \
  for (int each = 0; each < (ranks)->node_count; each++)                                                     \
  attn2c_ranks_until(ranks, &(ranks)->windows[each]->counter, number)

/* Returns the shared memory that has these values; -1: none has. */
static int block_of(const attn2c_ranks *ranks, const float *values, size_t count) {
  const char *begin = (const char *)values, *end = (const char *)(values + count);
  for (int i = 0; i < ATTN2C_RANKS_BLOCKS; i++) {
    const attn2c_rank_block *block = &ranks->blocks[i];
    if (block->own && begin >= block->own && end <= block->own + block->bytes) return i;
  }
  return -1;
}

/* Adds the values of a machine's ranks, which are at at[] of each, and of other machines. This rank
 * adds its part of them, and writes it to all. */
static void add_part(attn2c_ranks *ranks, attn2c_rank_sum *sum, float *const *at, size_t count) {
  const int n = ranks->node_count, own = ranks->node_own;
  const size_t first = attn2c_ranks_part(count, own, n), some = attn2c_ranks_part(count, own + 1, n) - first;
  float *to[ATTN2C_RANKS_MOST] = {NULL};
  const float *from[ATTN2C_RANKS_MOST] = {NULL};
  for (int i = 0; i < n; i++) from[i] = to[i] = at[i] + first;
  if (ranks->machines == 1) {
    attn2c_ranks_add(n, to, n, from, some);
    return;
  }
  attn2c_ranks_add(1, &to[own], n, from, some);
  attn2c_across_begin(ranks, sum, to[own], some);
  attn2c_across_end(ranks, sum, to[own], some);
  for (int i = 0; i < n; i++)
    if (i != own) memcpy(to[i], to[own], some * sizeof(float));
}

/* Tells the other ranks of this machine what sum this rank begins. Its kind is known. */
static void tell(attn2c_ranks *ranks, attn2c_rank_sum *sum) {
  attn2c_rank_window *own = own_window(ranks);
  sum->among = atomic_load_explicit(&own->begun, memory_order_relaxed) + 1;
  atomic_store_explicit(&own->what[sum->among % ATTN2C_RANKS_RING],
                        (uint64_t)sum->count * 4 + (uint64_t)sum->kind, memory_order_relaxed);
  attn2c_ranks_publish(&own->begun, sum->among);
}

static void begin_small(attn2c_ranks *ranks, attn2c_rank_sum *sum) {
  attn2c_rank_window *own = own_window(ranks);
  sum->number = ++ranks->small;
  memcpy(own->ring[sum->number % ATTN2C_RANKS_RING], sum->values, sum->count * sizeof(float));
  attn2c_ranks_publish(&own->small, sum->number);
}

static void end_small(attn2c_ranks *ranks, attn2c_rank_sum *sum) {
  const float *from[ATTN2C_RANKS_MOST];
  UNTIL_ALL(ranks, small, sum->number);
  for (int i = 0; i < ranks->node_count; i++)
    from[i] = ranks->windows[i]->ring[sum->number % ATTN2C_RANKS_RING];
  if (ranks->machines == 1) {
    attn2c_ranks_add(1, &sum->values, ranks->node_count, from, sum->count);
    return;
  }
  attn2c_ranks_add(1, &ranks->of_machine, ranks->node_count, from, sum->count);
  attn2c_across_begin(ranks, sum, ranks->of_machine, sum->count);
  attn2c_across_end(ranks, sum, ranks->of_machine, sum->count);
  memcpy(sum->values, ranks->of_machine, sum->count * sizeof(float));
}

static void begin_shared(attn2c_ranks *ranks, attn2c_rank_sum *sum, int block) {
  attn2c_rank_window *own = own_window(ranks);
  const size_t offset = (size_t)((char *)sum->values - ranks->blocks[block].own);
  sum->block = block;
  sum->number = ++ranks->shared;
  attn2c_ranks_publish(&own->offset[sum->number % ATTN2C_RANKS_RING], offset);
  attn2c_ranks_publish(&own->shared, sum->number);
}

static void end_shared(attn2c_ranks *ranks, attn2c_rank_sum *sum) {
  float *at[ATTN2C_RANKS_MOST];
  UNTIL_ALL(ranks, shared, sum->number);
  for (int i = 0; i < ranks->node_count; i++) {
    const uint64_t offset = atomic_load_explicit(&ranks->windows[i]->offset[sum->number % ATTN2C_RANKS_RING],
                                                 memory_order_acquire);
    at[i] = (float *)(void *)(ranks->blocks[sum->block].parts[i] + offset);
  }
  add_part(ranks, sum, at, sum->count);
  attn2c_ranks_publish(&own_window(ranks)->added, sum->number);
  UNTIL_ALL(ranks, added, sum->number);
}

/* Adds values of private memory through the stage, piece by piece. */
static void end_staged(attn2c_ranks *ranks, attn2c_rank_sum *sum) {
  attn2c_rank_window *own = own_window(ranks);
  float *at[ATTN2C_RANKS_MOST];
  for (int i = 0; i < ranks->node_count; i++) at[i] = ranks->windows[i]->stage;
  for (size_t done = 0; done < sum->count;) {
    const size_t rest = sum->count - done, some = rest < ATTN2C_RANKS_STAGE ? rest : ATTN2C_RANKS_STAGE;
    UNTIL_ALL(ranks, finished, ranks->staged);
    const uint64_t number = ++ranks->staged;
    memcpy(own->stage, sum->values + done, some * sizeof(float));
    attn2c_ranks_publish(&own->staged, number);
    UNTIL_ALL(ranks, staged, number);
    add_part(ranks, sum, at, some);
    attn2c_ranks_publish(&own->finished, number);
    UNTIL_ALL(ranks, finished, number);
    memcpy(sum->values + done, own->stage, some * sizeof(float));
    done += some;
  }
}

static void end(attn2c_ranks *ranks, attn2c_rank_sum *sum) {
  if (sum->count == 0) return;
  if (ranks->node_count == 1)
    attn2c_across_end(ranks, sum, sum->values, sum->count);
  else if (sum->kind == ATTN2C_SUM_SMALL)
    end_small(ranks, sum);
  else if (sum->kind == ATTN2C_SUM_SHARED)
    end_shared(ranks, sum);
  else
    end_staged(ranks, sum);
  sum->count = 0;
}

/* Returns the place of the first sum under way, which the next one takes, and moves on. */
static attn2c_rank_sum *next_place(attn2c_ranks *ranks) {
  attn2c_rank_sum *sum = &ranks->sums[ranks->next_sum];
  ranks->next_sum = (ranks->next_sum + 1) % ATTN2C_RANKS_SUMS;
  end(ranks, sum);
  return sum;
}

void attn2c_ranks_sum_begin(attn2c_ranks *ranks, float *values, size_t count) {
  if (!ranks || ranks->count == 1 || count == 0) return;
  if (ranks->counted) {
    attn2c_ranks_count_meeting(ranks, ATTN2C_MEETING_SUM, count);
    return;
  }
  attn2c_rank_sum *sum = next_place(ranks);
  sum->values = values, sum->count = count;
  if (ranks->node_count == 1) {
    sum->kind = ATTN2C_SUM_NONE;
    attn2c_across_begin(ranks, sum, values, count);
    return;
  }
  const int block = block_of(ranks, values, count);
  sum->kind = block >= 0 && count > FEW     ? ATTN2C_SUM_SHARED
              : count <= ATTN2C_RANKS_SMALL ? ATTN2C_SUM_SMALL
                                            : ATTN2C_SUM_STAGED;
  tell(ranks, sum);
  if (sum->kind == ATTN2C_SUM_SHARED) begin_shared(ranks, sum, block);
  if (sum->kind == ATTN2C_SUM_SMALL) begin_small(ranks, sum);
}

void attn2c_ranks_sums_end(attn2c_ranks *ranks) {
  if (!ranks || ranks->count == 1) return;
  for (int i = 0; i < ATTN2C_RANKS_SUMS; i++) next_place(ranks);
}

void attn2c_ranks_sum(attn2c_ranks *ranks, float *values, size_t count) {
  attn2c_ranks_sum_begin(ranks, values, count);
  attn2c_ranks_sums_end(ranks);
}
