/* taps.c - reads the weight of a convolution, [out][in][taps], as rows that have the inputs tap by tap: a row
 * at a time, and the lengths of taps once. */
#include "reading/views.h"

#include <math.h>

static int read_row(const attn2c_checkpoint *checkpoint, int tensor, const attn2c_view *view, int64_t row,
                    attn2c_band *band, attn2c_message *message) {
  const int64_t first = view->first + row * view->row_step;
  band->view = NULL; /* the band's buffer is used */
  return attn2c_checkpoint_read(checkpoint, tensor, first, view->columns, band->values, message);
}

/* Sets band->taps to the inverse lengths of a view's taps, if they are not there. */
static int measure(const attn2c_checkpoint *checkpoint, int tensor, const attn2c_view *view,
                   attn2c_band *band, attn2c_message *message) {
  const int64_t taps = view->column_step;
  if (band->of_taps == view) return ATTN2C_OK;
  free(band->taps);
  band->of_taps = NULL;
  band->taps = calloc((size_t)taps, sizeof *band->taps);
  if (!band->taps) return attn2c_say_no_memory(message);
  for (int64_t i = 0; i < view->rows; i++) {
    ATTN2C_TRY(read_row(checkpoint, tensor, view, i, band, message));
    for (int64_t j = 0; j < view->columns; j++)
      band->taps[j % taps] += (double)band->values[j] * (double)band->values[j];
  }
  for (int64_t t = 0; t < taps; t++) band->taps[t] = 1 / sqrt(band->taps[t]);
  band->of_taps = view;
  return ATTN2C_OK;
}

/* Multiplies a row by a number for each tap. */
static void multiply(const attn2c_view *view, const attn2c_band *band, float *to) {
  const int64_t taps = view->column_step, in = view->columns / taps;
  const int is_unit = (view->flags & ATTN2C_VIEW_UNIT) != 0;
  for (int64_t t = 0; t < taps; t++) {
    const double by = is_unit ? band->taps[t] : (double)band->values[t];
    for (int64_t c = 0; c < in; c++) to[t * in + c] = (float)((double)to[t * in + c] * by);
  }
}

/* Copies the band's row in the order of its taps. */
static void reorder(const attn2c_view *view, const attn2c_band *band, float *to) {
  const int64_t taps = view->column_step, in = view->columns / taps;
  for (int64_t t = 0; t < taps; t++)
    for (int64_t c = 0; c < in; c++) to[t * in + c] = (float)view->factor * band->values[c * taps + t];
}

static int read_taps(const attn2c_checkpoint *checkpoint, int tensor, const attn2c_view *view, int64_t row,
                     int64_t count, int64_t columns, float *values, attn2c_band *band,
                     attn2c_message *message) {
  const int multiplies = (view->flags & ATTN2C_VIEW_TIMES) != 0;
  int status = ATTN2C_OK;
  if (view->flags & ATTN2C_VIEW_UNIT) {
    status = measure(checkpoint, tensor, view, band, message);
  } else if (multiplies) {
    band->view = NULL;
    status =
        attn2c_checkpoint_read(checkpoint, tensor, view->first, view->column_step, band->values, message);
  }
  for (int64_t i = 0; i < count && status == ATTN2C_OK; i++) {
    if (multiplies) {
      multiply(view, band, values + i * columns);
      continue;
    }
    status = read_row(checkpoint, tensor, view, row + i, band, message);
    if (status == ATTN2C_OK) reorder(view, band, values + i * columns);
  }
  return status;
}

static int64_t elements_of(const attn2c_view *view) {
  return (view->rows - 1) * view->row_step + (view->row_step ? view->columns : view->column_step);
}

const attn2c_view_reader attn2c_taps_reader = {elements_of, read_taps};
