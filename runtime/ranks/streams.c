/* streams.c - moves bytes from one rank to another in the order in which they were given: through a ring in
 * the sender's shared memory, which needs no call of MPI, or by messages of MPI. */

#include "ranks/inner.h"

enum { TAG = 100 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static size_t capacity_of(size_t bytes) {
  const size_t line = ATTN2C_ALIGNMENT;
  return bytes < line ? line : (bytes + line - 1) / line * line;
}

size_t attn2c_stream_shared(size_t bytes) { return sizeof(attn2c_rank_ring) + capacity_of(bytes); }

static int begin(attn2c_rank_stream *stream, int other, size_t bytes, void *shared) {
  *stream = (attn2c_rank_stream){.other = other, .ring = shared};
  for (int i = 0; i < ATTN2C_RANKS_MESSAGES; i++) stream->requests[i] = MPI_REQUEST_NULL;
  if (shared) {
    stream->bytes = (char *)shared + sizeof(attn2c_rank_ring);
    stream->capacity = capacity_of(bytes);
    return 1;
  }
  const size_t each = bytes / ATTN2C_RANKS_MESSAGES, most = 1 << 30;
  stream->capacity =
      capacity_of(each < ATTN2C_RANKS_LEAST_MESSAGE ? ATTN2C_RANKS_LEAST_MESSAGE : least(each, most));
  stream->bytes = malloc(ATTN2C_RANKS_MESSAGES * stream->capacity);
  return stream->bytes != NULL;
}

int attn2c_stream_send(attn2c_rank_stream *stream, int other, size_t bytes, void *shared) {
  return begin(stream, other, bytes, shared);
}

static char *message_of(const attn2c_rank_stream *stream, int number) {
  return stream->bytes + (size_t)number * stream->capacity;
}

static void receive(const attn2c_ranks *ranks, attn2c_rank_stream *stream, int number) {
  attn2c_ranks_made(ranks, MPI_Irecv(message_of(stream, number), (int)stream->capacity, MPI_BYTE,
                                     stream->other, TAG, ranks->all, &stream->requests[number]));
}

int attn2c_stream_receive(const attn2c_ranks *ranks, attn2c_rank_stream *stream, int other, size_t bytes,
                          void *shared) {
  if (!begin(stream, other, bytes, shared)) return 0;
  stream->is_receiver = 1;
  for (int i = 0; i < ATTN2C_RANKS_MESSAGES && !shared; i++) receive(ranks, stream, i);
  return 1;
}

/* Ends what is under way: nothing is sent that nobody takes, and receiving ends for what nobody sends. */
void attn2c_stream_end(attn2c_rank_stream *stream) {
  for (int i = 0; i < ATTN2C_RANKS_MESSAGES && stream->bytes && !stream->ring; i++) {
    if (stream->requests[i] == MPI_REQUEST_NULL) continue;
    if (stream->is_receiver) MPI_Cancel(&stream->requests[i]);
    MPI_Wait(&stream->requests[i], MPI_STATUS_IGNORE);
  }
  if (!stream->ring) free(stream->bytes);
  *stream = (attn2c_rank_stream){.other = -1};
}

/* Writes bytes into the ring; returns how many there was room for. */
static size_t put_ring(attn2c_rank_stream *stream, const char *from, size_t count) {
  const uint64_t read = atomic_load_explicit(&stream->ring->read, memory_order_acquire);
  const size_t at = stream->moved % stream->capacity,
               room = stream->capacity - (size_t)(stream->moved - read);
  const size_t some = least(least(count, room), stream->capacity - at);
  memcpy(stream->bytes + at, from, some);
  stream->moved += some;
  atomic_store_explicit(&stream->ring->written, stream->moved, memory_order_release);
  return some;
}

static size_t get_ring(attn2c_rank_stream *stream, char *to, size_t count) {
  const uint64_t written = atomic_load_explicit(&stream->ring->written, memory_order_acquire);
  const size_t at = stream->moved % stream->capacity;
  const size_t some = least(least(count, (size_t)(written - stream->moved)), stream->capacity - at);
  memcpy(to, stream->bytes + at, some);
  stream->moved += some;
  atomic_store_explicit(&stream->ring->read, stream->moved, memory_order_release);
  return some;
}

static int is_done(const attn2c_ranks *ranks, MPI_Request *request, MPI_Status *status) {
  int done = 0;
  attn2c_ranks_made(ranks, MPI_Test(request, &done, status));
  return done;
}

static void send_message(const attn2c_ranks *ranks, attn2c_rank_stream *stream) {
  const int number = stream->number;
  if (stream->filled == 0) return;
  attn2c_ranks_made(ranks, MPI_Isend(message_of(stream, number), (int)stream->filled, MPI_BYTE, stream->other,
                                     TAG, ranks->all, &stream->requests[number]));
  stream->number = (number + 1) % ATTN2C_RANKS_MESSAGES, stream->filled = 0;
}

static size_t put_message(const attn2c_ranks *ranks, attn2c_rank_stream *stream, const char *from,
                          size_t count) {
  if (stream->filled == 0 && !is_done(ranks, &stream->requests[stream->number], MPI_STATUS_IGNORE)) return 0;
  const size_t some = least(count, stream->capacity - stream->filled);
  memcpy(message_of(stream, stream->number) + stream->filled, from, some);
  stream->filled += some;
  if (stream->filled == stream->capacity) send_message(ranks, stream);
  return some;
}

static size_t get_message(const attn2c_ranks *ranks, attn2c_rank_stream *stream, char *to, size_t count) {
  const int number = stream->number;
  if (!stream->is_open) {
    MPI_Status status;
    int filled = 0;
    if (!is_done(ranks, &stream->requests[number], &status)) return 0;
    MPI_Get_count(&status, MPI_BYTE, &filled);
    stream->is_open = 1, stream->filled = (size_t)filled, stream->taken = 0;
  }
  const size_t some = least(count, stream->filled - stream->taken);
  memcpy(to, message_of(stream, number) + stream->taken, some);
  stream->taken += some;
  if (stream->taken == stream->filled) {
    stream->is_open = 0, stream->number = (number + 1) % ATTN2C_RANKS_MESSAGES;
    receive(ranks, stream, number);
  }
  return some;
}

/* Counts bytes of rows that were moved. */
static void advance(attn2c_rank_cursor *rows, size_t bytes) {
  rows->done += bytes;
  if (rows->done < rows->width) return;
  rows->done = 0, rows->row++;
}

int attn2c_stream_put(const attn2c_ranks *ranks, attn2c_rank_stream *stream, attn2c_rank_cursor *rows) {
  while (rows->row < rows->rows) {
    const char *from = rows->at + rows->row * rows->step + rows->done;
    const size_t count = rows->width - rows->done;
    const size_t some =
        stream->ring ? put_ring(stream, from, count) : put_message(ranks, stream, from, count);
    if (some == 0) return 0;
    advance(rows, some);
  }
  if (!stream->ring) send_message(ranks, stream);
  return 1;
}

int attn2c_stream_get(const attn2c_ranks *ranks, attn2c_rank_stream *stream, attn2c_rank_cursor *rows) {
  while (rows->row < rows->rows) {
    char *to = rows->at + rows->row * rows->step + rows->done;
    const size_t count = rows->width - rows->done;
    const size_t some = stream->ring ? get_ring(stream, to, count) : get_message(ranks, stream, to, count);
    if (some == 0) return 0;
    advance(rows, some);
  }
  return 1;
}

void attn2c_ranks_drain(attn2c_ranks *ranks) {
  attn2c_rank_stages *line = ranks->line;
  while (line && line->count > 0) {
    if (!attn2c_stream_get(ranks, &line->last, &line->expected[line->first])) return;
    line->first = (line->first + 1) % ATTN2C_RANKS_EXPECTED, line->count--;
  }
}
