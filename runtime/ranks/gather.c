/* gather.c - copies parts of all ranks to all, and bytes of rank 0 to the others. */

#include "ranks/inner.h"

/* Waits until nobody reads this rank's stage any more. */
static void wait_for_stage(const attn2c_ranks *ranks) {
  for (int i = 0; i < ranks->node_count; i++)
    attn2c_ranks_until(ranks, &ranks->windows[i]->finished, ranks->staged);
}

static void copy_rows(uint32_t *to, size_t to_step, const uint32_t *from, size_t from_step, size_t width,
                      size_t rows) {
  for (size_t i = 0; i < rows && to != from; i++)
    memcpy(to + i * to_step, from + i * from_step, width * sizeof *to);
}

/* A piece of every rank's part: columns [column, column + width) of it, where it has them, of some rows. */
typedef struct {
  size_t row, rows, column, width;
} piece;

/* Returns the columns that rank r has of a piece. */
static size_t width_of(const size_t *first, int r, const piece *p) {
  const size_t width = first[r + 1] - first[r];
  const size_t rest = width > p->column ? width - p->column : 0;
  return rest < p->width ? rest : p->width;
}

typedef struct {
  const uint32_t *own;
  uint32_t *all;
  size_t own_step, all_step;
  const size_t *first;
} matrix;

/* Copies one piece through the stages of one machine. */
static void gather_piece(attn2c_ranks *ranks, const matrix *m, const piece *p) {
  attn2c_rank_window *own = ranks->windows[ranks->own];
  const size_t own_width = width_of(m->first, ranks->own, p);
  wait_for_stage(ranks);
  const uint64_t number = ++ranks->staged;
  const uint32_t *from = m->own + p->row * m->own_step + p->column;
  copy_rows((uint32_t *)(void *)own->stage, own_width, from, m->own_step, own_width, p->rows);
  attn2c_ranks_publish(&own->staged, number);
  for (int i = 0; i < ranks->count; i++) {
    const int r = (ranks->own + i) % ranks->count;
    const size_t width = width_of(m->first, r, p);
    uint32_t *to = m->all + p->row * m->all_step + m->first[r] + p->column;
    if (i == 0) {
      copy_rows(to, m->all_step, from, m->own_step, width, p->rows);
      continue;
    }
    attn2c_ranks_until(ranks, &ranks->windows[r]->staged, number);
    copy_rows(to, m->all_step, (const uint32_t *)(const void *)ranks->windows[r]->stage, width, width,
              p->rows);
  }
  attn2c_ranks_publish(&own->finished, number);
}

static void gather_staged(attn2c_ranks *ranks, const matrix *m, size_t rows) {
  size_t widest = 1;
  for (int r = 0; r < ranks->count; r++)
    if (m->first[r + 1] - m->first[r] > widest) widest = m->first[r + 1] - m->first[r];
  const size_t width = widest < ATTN2C_RANKS_STAGE ? widest : ATTN2C_RANKS_STAGE;
  const size_t most = ATTN2C_RANKS_STAGE / width;
  for (size_t row = 0; row < rows; row += most)
    for (size_t column = 0; column < widest; column += width) {
      const piece p = {row, rows - row < most ? rows - row : most, column, width};
      gather_piece(ranks, m, &p);
    }
}

/* Returns a type of MPI for the part of one rank. Rows are at most 2^31 - 1, as are columns. */
static MPI_Datatype part_type(const attn2c_ranks *ranks, size_t rows, size_t width, size_t step) {
  MPI_Datatype type;
  attn2c_ranks_made(ranks, MPI_Type_vector((int)rows, (int)width, (int)step, MPI_UINT32_T, &type));
  attn2c_ranks_made(ranks, MPI_Type_commit(&type));
  return type;
}

/* Sends and receives whole parts by messages. */
static void gather_messages(attn2c_ranks *ranks, const matrix *m, size_t rows) {
  const int n = ranks->count, own = ranks->own, tag = 2 * ATTN2C_RANKS_SUMS;
  int count = 0;
  copy_rows(m->all + m->first[own], m->all_step, m->own, m->own_step, m->first[own + 1] - m->first[own],
            rows);
  for (int i = 1; i < n; i++) {
    const int r = (own + n - i) % n;
    MPI_Datatype type = part_type(ranks, rows, m->first[r + 1] - m->first[r], m->all_step);
    attn2c_ranks_made(
        ranks, MPI_Irecv(m->all + m->first[r], 1, type, r, tag, ranks->all, &ranks->requests[count++]));
    MPI_Type_free(&type);
  }
  MPI_Datatype type = part_type(ranks, rows, m->first[own + 1] - m->first[own], m->own_step);
  for (int i = 1; i < n; i++)
    attn2c_ranks_made(ranks,
                      MPI_Isend(m->own, 1, type, (own + i) % n, tag, ranks->all, &ranks->requests[count++]));
  MPI_Type_free(&type);
  attn2c_ranks_requests(ranks, count, ranks->requests);
}

void attn2c_ranks_gather(attn2c_ranks *ranks, const void *own, size_t own_step, void *all, size_t all_step,
                         const size_t *first, size_t rows) {
  const matrix m = {own, all, own_step, all_step, first};
  if (rows == 0) return;
  if (ranks && ranks->counted) {
    const size_t at = first[ranks->own];
    attn2c_ranks_count_meeting(ranks, ATTN2C_MEETING_GATHER, rows * first[ranks->count]);
    copy_rows((uint32_t *)all + at, all_step, own, own_step, first[ranks->own + 1] - at, rows);
  } else if (!ranks || ranks->count == 1)
    copy_rows(all, all_step, own, own_step, first[1], rows);
  else if (ranks->machines == 1)
    gather_staged(ranks, &m, rows);
  else
    gather_messages(ranks, &m, rows);
}

/* Copies bytes through the stage of one rank. */
static void broadcast_staged(attn2c_ranks *ranks, int root, char *bytes, size_t count) {
  attn2c_rank_window *from = ranks->windows[root], *own = ranks->windows[ranks->own];
  for (size_t done = 0, some; done < count; done += some) {
    some = count - done < sizeof from->stage ? count - done : sizeof from->stage;
    if (ranks->own == root) wait_for_stage(ranks);
    const uint64_t number = ++ranks->staged;
    if (ranks->own == root) {
      memcpy(from->stage, bytes + done, some);
    } else {
      attn2c_ranks_until(ranks, &from->staged, number);
      memcpy(bytes + done, from->stage, some);
    }
    attn2c_ranks_publish(&own->staged, number);
    attn2c_ranks_publish(&own->finished, number);
  }
}

/* Returns the bytes of a broadcast, `some` at most, that follow each other in the ring of rank 0. */
static size_t in_ring(uint64_t at, size_t some) {
  const size_t rest = ATTN2C_RANKS_AHEAD - at % ATTN2C_RANKS_AHEAD;
  return some < rest ? some : rest;
}

/* Writes bytes into the ring of rank 0, whose place all others have read. */
static void tell(attn2c_ranks *ranks, const char *bytes, size_t count) {
  attn2c_rank_window *own = ranks->windows[0];
  uint64_t told = atomic_load_explicit(&own->told, memory_order_relaxed);
  for (size_t done = 0, some; done < count; done += some) {
    some = in_ring(told, count - done < ATTN2C_RANKS_AHEAD / 2 ? count - done : ATTN2C_RANKS_AHEAD / 2);
    for (int i = 1; i < ranks->count && told + some > ATTN2C_RANKS_AHEAD; i++)
      attn2c_ranks_until(ranks, &ranks->windows[i]->heard, told + some - ATTN2C_RANKS_AHEAD);
    memcpy(own->ahead + told % ATTN2C_RANKS_AHEAD, bytes + done, some);
    attn2c_ranks_publish(&own->told, told += some);
  }
}

static void hear(attn2c_ranks *ranks, char *bytes, size_t count) {
  attn2c_rank_window *own = ranks->windows[ranks->own], *first = ranks->windows[0];
  uint64_t heard = atomic_load_explicit(&own->heard, memory_order_relaxed);
  for (size_t done = 0, some; done < count; done += some) {
    attn2c_ranks_until(ranks, &first->told, heard + 1);
    const uint64_t told = atomic_load_explicit(&first->told, memory_order_acquire);
    some = in_ring(heard, count - done < told - heard ? count - done : (size_t)(told - heard));
    memcpy(bytes + done, first->ahead + heard % ATTN2C_RANKS_AHEAD, some);
    attn2c_ranks_publish(&own->heard, heard += some);
  }
}

static void broadcast_messages(attn2c_ranks *ranks, int root, char *bytes, size_t count) {
  for (size_t done = 0, some; done < count; done += some) {
    some = count - done < INT32_MAX ? count - done : INT32_MAX;
    MPI_Request request;
    attn2c_ranks_made(ranks, MPI_Ibcast(bytes + done, (int)some, MPI_BYTE, root, ranks->all, &request));
    attn2c_ranks_requests(ranks, 1, &request);
  }
}

void attn2c_ranks_broadcast(attn2c_ranks *ranks, void *bytes, size_t count) {
  if (!ranks || ranks->count == 1 || ranks->counted) return;
  if (ranks->machines > 1)
    broadcast_messages(ranks, 0, bytes, count);
  else if (ranks->own == 0)
    tell(ranks, bytes, count);
  else
    hear(ranks, bytes, count);
}

void attn2c_ranks_broadcast_from(attn2c_ranks *ranks, int root, void *bytes, size_t count) {
  if (!ranks || ranks->count == 1) return;
  if (ranks->machines > 1)
    broadcast_messages(ranks, root, bytes, count);
  else
    broadcast_staged(ranks, root, bytes, count);
}
