/* views.h - boxes of a checkpoint's tensors as rows of a weight: sliced, transposed, scaled,
 * added. Rows are read as they are asked for; of a transposed tensor so many at a time that
 * each read is a long one. */
#ifndef ATTN2C_VIEWS_H
#define ATTN2C_VIEWS_H

#include "base/descriptor.h"
#include "weights/checkpoint.h"

/* What has been read ahead of a transposed view: `length` elements of each of its columns. Begins as zeros.
 */
typedef struct {
  const attn2c_view *view; /* NULL: of none */
  int64_t row, rows;       /* of the view */
  int64_t length;          /* elements of a column: rows, with the gaps between them */
  float *values;           /* [columns][length] */
  int64_t room;            /* floats of values */
} attn2c_band;

/* Room for the views of a model, NULL where none needs any; and its release. ATTN2C_OK or _MEMORY. */
int attn2c_band_make(const attn2c_descriptor *model, attn2c_band *band);
void attn2c_band_free(attn2c_band *band);

/* Rows [first, first + count) of the weight, as far as the view has them, from tensor number `tensor` of the
 * checkpoint to values[count][columns]. As attn2c_safetensors_read. */
int attn2c_view_read(const attn2c_checkpoint *checkpoint, int tensor, const attn2c_view *view, int64_t first,
                     int64_t count, int64_t columns, float *values, attn2c_band *band,
                     attn2c_message *message);

#endif
