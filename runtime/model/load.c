/* load.c - reads a model's weights and packs them in one pass, piece by piece. The thread that holds the lock
 * reads the next piece into its own buffer, and packs it after it has released the lock. The helper threads
 * end before the load returns. */
#define _DEFAULT_SOURCE
#include "model/load.h"
#include "weights/pack.h"
#include "model/team.h"

#include <pthread.h>
#include <string.h>

enum { LINE = 16 /* floats: every weight begins at a multiple */, MOST_HELPERS = 7 };

/* With fewer floats, starting a thread costs more than it saves. */
#define LEAST_FLOATS ((int64_t)1 << 21)

typedef struct {
  const attn2c_descriptor *descriptor;
  float *packed;
  int64_t buffer_floats;
  pthread_mutex_t lock; /* protects all fields below */
  attn2c_source *source;
  attn2c_message *message;
  attn2c_pieces pieces;
  float *buffers; /* buffers of the threads that have not started yet */
  int status;
} loading;

/* Reads a piece that is not packed directly to its place; zeros fill the line after a weight's last row. */
static int read_in_place(loading *l, const attn2c_piece *piece) {
  float *to = l->packed + piece->offset;
  const int64_t floats = piece->count * piece->columns, over = (piece->offset + floats) % LINE;
  const int last = l->pieces.weight != piece->weight;
  if (last && over) memset(to + floats, 0, (size_t)(LINE - over) * sizeof *to);
  return attn2c_source_read_rows(l->source, piece->weight, piece->first, piece->count, to, l->message);
}

/* Reads the next piece, while holding the lock; returns 1 if it was read into the buffer. */
static int next(loading *l, attn2c_piece *piece, float *buffer) {
  while (l->status == ATTN2C_OK && attn2c_pieces_next(&l->pieces, piece)) {
    if (piece->is_made) continue;
    if (attn2c_piece_is_packed(piece)) {
      l->status =
          attn2c_source_read_rows(l->source, piece->weight, piece->first, piece->count, buffer, l->message);
      return l->status == ATTN2C_OK;
    }
    l->status = read_in_place(l, piece);
  }
  return 0;
}

static void *work(void *of_all) {
  loading *l = of_all;
  attn2c_piece piece;
  pthread_mutex_lock(&l->lock);
  float *buffer = l->buffers;
  l->buffers += l->buffer_floats;
  while (next(l, &piece, buffer)) {
    pthread_mutex_unlock(&l->lock);
    attn2c_pack(&piece, buffer, l->packed);
    pthread_mutex_lock(&l->lock);
  }
  pthread_mutex_unlock(&l->lock);
  return NULL;
}

/* Runs work on this thread and on up to `helpers` helpers; fewer if threads cannot be made. */
static void work_together(loading *l, int helpers) {
  pthread_t threads[MOST_HELPERS];
  int made = 0;
  while (made < helpers && attn2c_thread_start(&threads[made], work, l) == 0) made++;
  work(l);
  for (int i = 0; i < made; i++) pthread_join(threads[i], NULL);
}

int attn2c_load_weights(const attn2c_descriptor *descriptor, attn2c_source *source, float *packed,
                        int workers, attn2c_message *message) {
  loading l = {.descriptor = descriptor,
               .packed = packed,
               .lock = PTHREAD_MUTEX_INITIALIZER,
               .source = source,
               .message = message,
               .pieces = {.descriptor = descriptor},
               .status = ATTN2C_OK};
  int helpers = descriptor->weight_floats < LEAST_FLOATS ? 0 : workers - 1;
  if (helpers > MOST_HELPERS) helpers = MOST_HELPERS;
  l.buffer_floats = (attn2c_pieces_largest(descriptor) + LINE - 1) / LINE * LINE;
  float *buffers = attn2c_reserve((size_t)l.buffer_floats * (size_t)(helpers + 1) * sizeof(float));
  if (!buffers) {
    attn2c_say(message, "no memory for reading the weights");
    return ATTN2C_MEMORY;
  }
  l.buffers = buffers;
  if (helpers > 0)
    work_together(&l, helpers);
  else
    work(&l);
  pthread_mutex_destroy(&l.lock);
  attn2c_free(buffers);
  return l.status;
}
