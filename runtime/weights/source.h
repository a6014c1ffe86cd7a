/* source.h - a source of weights, for files that read one kind each. weights.h has its interface. */
#pragma once

#include "weights/orders.h"
#include "packing/pack.h"
#include "weights/projected.h"
#include "reading/views.h"
#include "weights/weights.h"

struct attn2c_source {
  const attn2c_descriptor *model;
  attn2c_checkpoint *file; /* NULL: packed or random */
  attn2c_packed *packed;   /* NULL: a file or random */
  uint64_t seed;
  /* Makes rows of a random weight; NULL: there is a file, packed weights, or nothing to read. */
  void (*draw)(const attn2c_source *source, int index, int64_t first, int64_t count, int64_t columns,
               float *values);
  int *found;  /* for each stored tensor its number in the file, or -1 */
  int *unused; /* tensors of the file that no weight is read from */
  int unused_count;
  attn2c_band band;          /* buffer for reading */
  float *table;              /* the table of distances with its norm, the last that was read; NULL: none */
  attn2c_projected table_of; /* its formula */
  attn2c_orders orders;
  int is_own; /* 1: rows and columns are read as the file has them */
  void (*watch)(int64_t done, int64_t all);
};

/* Makes a source that owns the file or the packed weights, which may be NULL. Verifies all weights. */
int attn2c_source_make(const attn2c_source *given, attn2c_source **source, attn2c_message *message);

static inline const attn2c_tensor *attn2c_source_tensor(const attn2c_source *source, int index) {
  return &source->model->tensors[source->model->weights[index].tensor];
}

/* Returns the number in the file of the tensor that a view reads. */
int attn2c_source_of_view(const attn2c_source *source, const attn2c_view *view);
/* Reads rows of a weight as they are stored, in a file or by a formula. */
int attn2c_source_read_plain(attn2c_source *source, int index, int64_t first, int64_t count, float *values,
                             attn2c_message *message);
/* Tells the watch which weight is read next. */
void attn2c_source_tell(const attn2c_source *source, int index);

/* Returns the row of the whole model's weight that is row `row` of a rank's. */
static inline int64_t attn2c_source_row_of_all(const attn2c_source *source, int index, int64_t row) {
  const attn2c_slice *of = source->model->slices ? &source->model->slices[index] : NULL;
  return of ? of->row + row / of->rows * of->apart + row % of->rows : row;
}

/* Returns the file's row for row `row` of a weight in the order of another's inputs (attn2c_order_reader). */
static inline int64_t attn2c_source_ordered_row(const attn2c_source *source, int index, int64_t row) {
  return source->orders.inputs[attn2c_source_row_of_all(source, index, row)];
}

/* Makes tables of projected distances (projected.h). */
typedef struct attn2c_projector {
  /* True if the formula of a weight is right. */
  int (*fits)(const attn2c_descriptor *model, const attn2c_weight *weight);
  /* Computes rows of a table; `first` is the first row of a head. */
  int (*read)(attn2c_source *source, int index, int64_t first, int64_t count, float *values,
              attn2c_message *message);
} attn2c_projector;
