/* resample.h - resizes pictures of 8-bit planes by filters with antialiasing, to the bits of Pillow's
 * Image.resize. Only a window of the result is computed. */
#pragma once

#include "base/picture_facts.h"

/* One axis: the size before, the size after, and the window of the result, [first, first + count). */
typedef struct attn2c_resample_axis {
  int64_t from, to, first, count;
} attn2c_resample_axis;

/* Resizes `pixels` [y.from][x.from][3] and writes the window to `out` [y.count][x.count][3]. The window must
 * be within the result and not empty. Returns ATTN2C_OK or _MEMORY. */
int attn2c_resample(const uint8_t *pixels, const attn2c_resample_axis *x, const attn2c_resample_axis *y,
                    attn2c_filter filter, uint8_t *out);
