/* load.c - reads a model's weights and packs them in one pass, piece by piece. The thread that holds the lock
 * reads the next piece into its own buffer, and packs it after it has released the lock. The helper threads
 * end before the load returns. */
#include "model/load.h"
#include "model/model.h"
#include "model/team.h"
#include "packing/pack.h"

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
  int end; /* the weight to stop at */
  /* what is subtracted from the offsets of weights, and of their scales, to be a place in `packed` */
  int64_t weights_from, scales_from;
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

static const attn2c_block_reader *blocks_of(const loading *l) { return l->descriptor->readers->blocks; }

/* Reads the next piece, while holding the lock; returns 1 if it was read into the buffer. */
static int next(loading *l, attn2c_piece *piece, float *buffer) {
  while (l->status == ATTN2C_OK && l->pieces.weight < l->end && attn2c_pieces_next(&l->pieces, piece)) {
    if (piece->is_made) continue;
    piece->offset -= l->weights_from, piece->scales -= l->scales_from;
    if (attn2c_piece_is_packed(piece)) {
      l->status = attn2c_piece_has_blocks(piece)
                      ? blocks_of(l)->read(l->source, piece->weight, piece->first, piece->count,
                                           (attn2c_scale_block *)buffer, l->message)
                      : attn2c_source_read_rows(l->source, piece->weight, piece->first, piece->count, buffer,
                                                l->message);
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
    if (attn2c_piece_has_blocks(&piece))
      blocks_of(l)->pack(&piece, (const attn2c_scale_block *)buffer, l->packed);
    else
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

/* Returns the number of helper threads that are worth starting for some floats. */
static int helpers_for(int64_t floats, int workers) {
  const int helpers = floats < LEAST_FLOATS ? 0 : workers - 1;
  return helpers > MOST_HELPERS ? MOST_HELPERS : helpers;
}

/* Allocates the buffers of all threads, for pieces of any weight; NULL, and a line, if there is no memory. */
static float *make_buffers(loading *l, int helpers) {
  l->buffer_floats = (attn2c_pieces_largest(l->descriptor) + LINE - 1) / LINE * LINE;
  float *buffers = attn2c_reserve((size_t)l->buffer_floats * (size_t)(helpers + 1) * sizeof(float));
  if (!buffers) attn2c_say(l->message, "no memory for reading the weights");
  return buffers;
}

static int load_pieces(loading *l, float *buffers, int helpers) {
  l->buffers = buffers;
  if (helpers > 0)
    work_together(l, helpers);
  else
    work(l);
  return l->status;
}

int attn2c_load_weights(const attn2c_descriptor *descriptor, attn2c_source *source, float *packed,
                        int workers, attn2c_message *message) {
  loading l = {.descriptor = descriptor,
               .packed = packed,
               .lock = PTHREAD_MUTEX_INITIALIZER,
               .source = source,
               .message = message,
               .pieces = {.descriptor = descriptor},
               .end = descriptor->weight_count,
               .status = ATTN2C_OK};
  const int helpers = helpers_for(descriptor->weight_floats, workers);
  ATTN2C_OWN_ALIGNED float *buffers = make_buffers(&l, helpers);
  if (!buffers) return ATTN2C_MEMORY;
  load_pieces(&l, buffers, helpers);
  pthread_mutex_destroy(&l.lock);
  return l.status;
}

/* One weight after the other. */

/* Returns the weight that holds a weight's scales, or -1. */
static int scales_of(const attn2c_descriptor *descriptor, int weight) {
  return descriptor->packings ? descriptor->packings[weight].scales : -1;
}

/* Returns the floats of the largest weight with its scales. */
static int64_t largest_floats(const attn2c_descriptor *descriptor) {
  int64_t largest = 0;
  for (int w = 0; w < descriptor->weight_count; w++) {
    const int scales = scales_of(descriptor, w);
    const int64_t floats =
        attn2c_packed_floats(descriptor, w) + (scales >= 0 ? attn2c_packed_floats(descriptor, scales) : 0);
    if (floats > largest) largest = floats;
  }
  return largest;
}

/* Packs a weight to the beginning of l->packed, its scales after it, and gives both to `put`. */
static int load_one(loading *l, int weight, float *buffers, int helpers, attn2c_put_weight put,
                    void *context) {
  const attn2c_weight *weights = l->descriptor->weights;
  const int scales = scales_of(l->descriptor, weight);
  const int64_t floats = attn2c_packed_floats(l->descriptor, weight);
  const int64_t more = scales >= 0 ? attn2c_packed_floats(l->descriptor, scales) : 0;
  l->pieces = (attn2c_pieces){.descriptor = l->descriptor, .weight = weight};
  l->end = weight + 1;
  l->weights_from = weights[weight].offset;
  l->scales_from = scales >= 0 ? weights[scales].offset - floats : 0;
  memset(l->packed, 0, (size_t)(floats + more) * sizeof *l->packed);
  int status = load_pieces(l, buffers, helpers);
  if (!status) status = put(context, weights[weight].offset, l->packed, floats, l->message);
  if (!status && more) status = put(context, weights[scales].offset, l->packed + floats, more, l->message);
  return status;
}

int attn2c_load_each(const attn2c_descriptor *descriptor, attn2c_source *source, int workers,
                     attn2c_put_weight put, void *context, attn2c_message *message) {
  loading l = {
      .descriptor = descriptor, .lock = PTHREAD_MUTEX_INITIALIZER, .source = source, .message = message};
  const int64_t largest = largest_floats(descriptor);
  const int helpers = helpers_for(largest, workers);
  ATTN2C_OWN_ALIGNED float *buffers = make_buffers(&l, helpers);
  l.packed = buffers ? attn2c_reserve((size_t)largest * sizeof *l.packed) : NULL;
  if (buffers && !l.packed)
    attn2c_say(message, "no memory for %lld bytes of the largest weight",
               (long long)(largest * (int64_t)sizeof *l.packed));
  int status = buffers && l.packed ? ATTN2C_OK : ATTN2C_MEMORY;
  for (int w = 0; w < descriptor->weight_count && !status; w++)
    if (attn2c_scaled_by(descriptor, w) < 0)
      status = load_one(&l, w, buffers, helpers_for(attn2c_packed_floats(descriptor, w), helpers + 1), put,
                        context);
  attn2c_free(l.packed);
  pthread_mutex_destroy(&l.lock);
  return status;
}

/* Opening. */

static int load_given(const attn2c_given *given, const attn2c_descriptor *descriptor, float *packed,
                      int workers, attn2c_message *message) {
  ATTN2C_ENDS_BY(attn2c_source_end) attn2c_source *source = NULL;
  attn2c_packed_hold(given->packed); /* the source takes it */
  ATTN2C_TRY(attn2c_source_open(given, descriptor, &source, message));
  return attn2c_load_weights(descriptor, source, packed, workers, message);
}

const attn2c_loader attn2c_checkpoint_loader = {load_given};

static int fill(const void *source, attn2c_model *model, attn2c_message *message) {
  return attn2c_load_weights(model->descriptor, (attn2c_source *)(uintptr_t)source, model->own,
                             model->threads, message);
}

int attn2c_model_open(const attn2c_descriptor *descriptor, attn2c_source *source, int threads,
                      attn2c_model **model, attn2c_message *message) {
  return attn2c_model_make(descriptor, attn2c_source_packed(source), fill, source, threads, model, message);
}
