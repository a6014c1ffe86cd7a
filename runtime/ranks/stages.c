/* stages.c - passes rows from one stage of a model to the next, and outputs of the last stage to all others.
 * Every rank has streams to the ranks of its number in other stages. */

#include "ranks/inner.h"

/* Bytes of outputs that may wait for a rank; longer ones are taken while they are given. */
enum { OUTPUT_BYTES = 1 << 18 };

attn2c_ranks *attn2c_ranks_team(const attn2c_ranks *ranks) { return ranks ? ranks->team : NULL; }

int attn2c_ranks_stages(const attn2c_ranks *ranks) { return ranks ? ranks->stages : 1; }

int attn2c_ranks_stage(const attn2c_ranks *ranks) { return ranks ? ranks->stage : 0; }

/* Returns the memory of a stream that a rank of this machine sends, from an offset of its part on; NULL if
 * `other`, which receives or sends it, is on another machine. */
static void *shared_of(const attn2c_ranks *ranks, int sender, int other, size_t offset) {
  const attn2c_rank_block *block = &ranks->line->block;
  if (!block->own || other / ranks->node_count != ranks->machine) return NULL;
  return block->parts[sender % ranks->node_count] + offset;
}

/* Opens the streams of a rank of the last stage to all others, or of another rank from it. */
static int open_outputs(attn2c_ranks *ranks, int each) {
  attn2c_rank_stages *line = ranks->line;
  const int last = ranks->stages - 1, own = ranks->own;
  const size_t bytes = attn2c_stream_shared(OUTPUT_BYTES);
  if (ranks->stage < last) {
    const int from = last * each + own % each;
    return attn2c_stream_receive(ranks, &line->last, from, OUTPUT_BYTES,
                                 shared_of(ranks, from, from, (size_t)ranks->stage * bytes));
  }
  line->others = calloc((size_t)last, sizeof *line->others);
  int is_made = line->others != NULL;
  for (int s = 0; s < last && is_made; s++) {
    const int to = s * each + own % each;
    is_made =
        attn2c_stream_send(&line->others[s], to, OUTPUT_BYTES, shared_of(ranks, own, to, (size_t)s * bytes));
  }
  return is_made;
}

/* Makes the memory of the streams that ranks of this machine send to each other. */
static int make_block(attn2c_ranks *ranks, size_t waiting) {
  const size_t passed = attn2c_stream_shared(waiting);
  const size_t given = (size_t)(ranks->stages - 1) * attn2c_stream_shared(OUTPUT_BYTES);
  attn2c_rank_block block = {.window = MPI_WIN_NULL};
  if (!ranks->windows[0]) return 1;
  if (!attn2c_ranks_make_block(ranks, ranks->stage < ranks->stages - 1 ? passed : given, &block)) return 0;
  memset(block.own, 0, block.bytes);
  ranks->line->block = block;
  return MPI_Barrier(ranks->node) == MPI_SUCCESS;
}

int attn2c_ranks_open_stages(attn2c_ranks *ranks, size_t passed_bytes) {
  const int each = ranks->count / ranks->stages, own = ranks->own;
  const size_t waiting = 2 * passed_bytes;
  attn2c_rank_stages *line = ranks->line = calloc(1, sizeof *line);
  if (!line) return 0;
  line->block.window = MPI_WIN_NULL;
  line->before.other = line->next.other = line->last.other = -1;
  int is_made = make_block(ranks, waiting);
  if (is_made && ranks->stage > 0)
    is_made = attn2c_stream_receive(ranks, &line->before, own - each, waiting,
                                    shared_of(ranks, own - each, own - each, 0));
  if (is_made && ranks->stage < ranks->stages - 1)
    is_made = attn2c_stream_send(&line->next, own + each, waiting, shared_of(ranks, own, own + each, 0));
  return is_made && open_outputs(ranks, each);
}

void attn2c_ranks_close_stages(attn2c_ranks *ranks) {
  attn2c_rank_stages *line = ranks->line;
  if (!line) return;
  for (int s = 0; line->others && s < ranks->stages - 1; s++) attn2c_stream_end(&line->others[s]);
  attn2c_stream_end(&line->before);
  attn2c_stream_end(&line->next);
  attn2c_stream_end(&line->last);
  attn2c_ranks_free_block(&line->block);
  ATTN2C_FREE(line->others, line);
  ranks->line = NULL;
}

/* Rows without gaps are one long row. */
static attn2c_rank_cursor cursor_of(const void *rows, size_t count, size_t width, size_t step) {
  const size_t bytes = sizeof(uint32_t);
  attn2c_rank_cursor made = {.rows = count, .width = width * bytes, .step = step * bytes};
  memcpy(&made.at, &rows, sizeof rows);
  if (step == width || count == 0) made.rows = count > 0, made.width = count * width * bytes;
  return made;
}

void attn2c_ranks_pass(attn2c_ranks *ranks, const void *rows, size_t count, size_t width, size_t step) {
  attn2c_rank_cursor cursor = cursor_of(rows, count, width, step);
  attn2c_patience patience = {0};
  while (!attn2c_stream_put(ranks, &ranks->line->next, &cursor)) attn2c_ranks_rest(ranks, &patience);
}

void attn2c_ranks_take(attn2c_ranks *ranks, void *rows, size_t count, size_t width, size_t step) {
  attn2c_rank_cursor cursor = cursor_of(rows, count, width, step);
  attn2c_patience patience = {0};
  while (!attn2c_stream_get(ranks, &ranks->line->before, &cursor)) attn2c_ranks_rest(ranks, &patience);
}

void attn2c_ranks_give(attn2c_ranks *ranks, const void *rows, size_t count, size_t width, size_t step) {
  attn2c_rank_cursor cursors[ATTN2C_RANKS_MOST];
  attn2c_patience patience = {0};
  for (int s = 0; s < ranks->stages - 1; s++) cursors[s] = cursor_of(rows, count, width, step);
  for (int rest = ranks->stages - 1; rest > 0;) {
    rest = 0;
    for (int s = 0; s < ranks->stages - 1; s++)
      rest += !attn2c_stream_put(ranks, &ranks->line->others[s], &cursors[s]);
    if (rest > 0) attn2c_ranks_rest(ranks, &patience);
  }
}

/* Waits until at most `count` outputs are expected. */
static void wait_for(attn2c_ranks *ranks, int count) {
  attn2c_patience patience = {0};
  for (attn2c_ranks_drain(ranks); ranks->line->count > count; attn2c_ranks_drain(ranks))
    attn2c_ranks_rest(ranks, &patience);
}

void attn2c_ranks_expect(attn2c_ranks *ranks, void *rows, size_t count, size_t width, size_t step) {
  attn2c_rank_stages *line = ranks->line;
  if (count == 0) return;
  wait_for(ranks, ATTN2C_RANKS_EXPECTED - 1);
  line->expected[(line->first + line->count++) % ATTN2C_RANKS_EXPECTED] = cursor_of(rows, count, width, step);
}

void attn2c_ranks_settle(attn2c_ranks *ranks) {
  if (ranks && ranks->line) wait_for(ranks, 0);
}
