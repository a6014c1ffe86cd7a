/* across.c - adds values of machines with messages of MPI, in the order of ranks: small ones are exchanged
 * whole; of large ones each rank adds a part, and gives it to the others. */
#include "ranks/inner.h"

/* The tags of a sum's messages: its values, and the sums of its parts. */
static int tag_of(const attn2c_ranks *ranks, const attn2c_rank_sum *sum, int is_second) {
  return (int)(sum - ranks->sums) * 2 + is_second;
}

static void send(attn2c_ranks *ranks, attn2c_rank_sum *sum, const float *values, size_t count, int to,
                 int tag) {
  attn2c_ranks_made(ranks, MPI_Isend(values, (int)count, MPI_FLOAT, to, tag, ranks->across,
                                     &sum->requests[sum->request_count++]));
}

static void receive(attn2c_ranks *ranks, attn2c_rank_sum *sum, float *values, size_t count, int from,
                    int tag) {
  attn2c_ranks_made(ranks, MPI_Irecv(values, (int)count, MPI_FLOAT, from, tag, ranks->across,
                                     &sum->requests[sum->request_count++]));
}

static size_t begin_of(const attn2c_ranks *ranks, int number, size_t count) {
  return attn2c_ranks_part(count, number, ranks->machines);
}

static size_t size_of(const attn2c_ranks *ranks, int number, size_t count) {
  return begin_of(ranks, number + 1, count) - begin_of(ranks, number, count);
}

/* Returns where the values of a machine are received. */
static float *place_of(const attn2c_ranks *ranks, const attn2c_rank_sum *sum, int machine, size_t count) {
  const size_t step = count <= ATTN2C_RANKS_SMALL ? count : size_of(ranks, ranks->machine, count);
  return sum->received + (size_t)(machine - (machine > ranks->machine)) * step;
}

/* Begins the exchange of one piece: all values if there are few, else the values of each rank's part. */
static void begin_piece(attn2c_ranks *ranks, attn2c_rank_sum *sum, float *values, size_t count) {
  const int own = ranks->machine, tag = tag_of(ranks, sum, 0), is_small = count <= ATTN2C_RANKS_SMALL;
  sum->request_count = 0;
  for (int i = 1; i < ranks->machines; i++) {
    const int from = (own + ranks->machines - i) % ranks->machines;
    receive(ranks, sum, place_of(ranks, sum, from, count), is_small ? count : size_of(ranks, own, count),
            from, tag);
  }
  for (int i = 1; i < ranks->machines; i++) {
    const int to = (own + i) % ranks->machines;
    if (is_small)
      send(ranks, sum, values, count, to, tag);
    else
      send(ranks, sum, values + begin_of(ranks, to, count), size_of(ranks, to, count), to, tag);
  }
}

static void end_piece(attn2c_ranks *ranks, attn2c_rank_sum *sum, float *values, size_t count) {
  const int own = ranks->machine, tag = tag_of(ranks, sum, 1), is_small = count <= ATTN2C_RANKS_SMALL;
  attn2c_ranks_requests(ranks, sum->request_count, sum->requests);
  float *const to = is_small ? values : values + begin_of(ranks, own, count);
  const float *from[ATTN2C_RANKS_MOST];
  for (int i = 0; i < ranks->machines; i++) from[i] = i == own ? to : place_of(ranks, sum, i, count);
  attn2c_ranks_add(1, &to, ranks->machines, from, is_small ? count : size_of(ranks, own, count));
  sum->request_count = 0;
  for (int i = 1; i < ranks->machines && !is_small; i++) {
    const int other = (own + ranks->machines - i) % ranks->machines;
    receive(ranks, sum, values + begin_of(ranks, other, count), size_of(ranks, other, count), other, tag);
  }
  for (int i = 1; i < ranks->machines && !is_small; i++)
    send(ranks, sum, to, size_of(ranks, own, count), (own + i) % ranks->machines, tag);
  attn2c_ranks_requests(ranks, sum->request_count, sum->requests);
  sum->request_count = 0;
}

static size_t piece_of(size_t rest) { return rest < ATTN2C_RANKS_PIECE ? rest : ATTN2C_RANKS_PIECE; }

void attn2c_across_begin(attn2c_ranks *ranks, attn2c_rank_sum *sum, float *values, size_t count) {
  if (count > 0) begin_piece(ranks, sum, values, piece_of(count));
}

void attn2c_across_end(attn2c_ranks *ranks, attn2c_rank_sum *sum, float *values, size_t count) {
  for (size_t done = 0; done < count;) {
    const size_t piece = piece_of(count - done);
    if (done > 0) begin_piece(ranks, sum, values + done, piece);
    end_piece(ranks, sum, values + done, piece);
    done += piece;
  }
}
