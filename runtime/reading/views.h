/* views.h - reads boxes of a checkpoint's tensors as rows of a weight: sliced, transposed, scaled, added.
 * Rows are read when needed, a transposed tensor's in bands, so that reads are long. */
#pragma once

#include "reading/checkpoint.h"

/* A band of a transposed view: `length` elements of each of its columns. Begins as zeros. */
typedef struct {
  const attn2c_view *view;    /* the band's view; NULL: none */
  int64_t row, rows;          /* range of rows of the view */
  int64_t length;             /* elements of a column: the rows and the gaps between them */
  float *values;              /* [columns][length] */
  int64_t capacity;           /* floats that values can hold */
  const attn2c_view *of_taps; /* the view whose taps have been measured (taps.c); NULL: none */
  double *taps;               /* their inverse lengths */
} attn2c_band;

/* Reads views of a kind of their own, ATTN2C_VIEW_RESIZED or _TAPS. */
typedef struct attn2c_view_reader {
  int64_t (*elements)(const attn2c_view *view); /* of the tensor, from view->first on */
  /* Reads rows [row, row + count) of the view to values[count][columns]. */
  int (*read)(const attn2c_checkpoint *checkpoint, int tensor, const attn2c_view *view, int64_t row,
              int64_t count, int64_t columns, float *values, attn2c_band *band, attn2c_message *message);
} attn2c_view_reader;

/* Allocates and frees the buffer for the views of a model; values is NULL if no view needs one. Returns
 * ATTN2C_OK or _MEMORY. */
int attn2c_band_make(const attn2c_descriptor *model, attn2c_band *band);
void attn2c_band_free(attn2c_band *band);

/* Returns the number of the last element of the tensor that a view reads. */
int64_t attn2c_view_last(const attn2c_readers *readers, const attn2c_view *view);

/* Reads the view's part of rows [first, first + count) of the weight to values[count][columns]. `tensor` is
 * the tensor's number in the checkpoint. Returns the same statuses as attn2c_tensor_file_read. */
int attn2c_view_read(const attn2c_checkpoint *checkpoint, int tensor, const attn2c_view *view, int64_t first,
                     int64_t count, int64_t columns, float *values, attn2c_band *band,
                     attn2c_message *message);

/* Reads the same rows as scale blocks, [count][blocks of a row]. *rows is the number of rows that it wrote:
 * all of the view's, or 0 if the tensor's format has no blocks, or the view does not keep rows of blocks. */
int attn2c_view_read_blocks(const attn2c_checkpoint *checkpoint, int tensor, const attn2c_view *view,
                            int64_t first, int64_t count, int64_t columns, attn2c_scale_block *blocks,
                            int64_t *rows, attn2c_message *message);
