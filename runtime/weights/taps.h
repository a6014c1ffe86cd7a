/* taps.h - reads the weight of a convolution, [out][in][taps], as rows that have the inputs tap by tap. */
#ifndef ATTN2C_TAPS_H
#define ATTN2C_TAPS_H

#include "weights/views.h"

/* Reads rows [row, row + count) of a view with ATTN2C_VIEW_TAPS to values[count][columns]; with
 * ATTN2C_VIEW_TIMES the values are multiplied. Statuses: those of attn2c_view_read. */
int attn2c_taps_read(const attn2c_checkpoint *checkpoint, int tensor, const attn2c_view *view, int64_t row,
                     int64_t count, int64_t columns, float *values, attn2c_band *band,
                     attn2c_message *message);

#endif
