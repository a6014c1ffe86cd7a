/* prepare.h - turns the pixels of a picture into a model's input, as transformers' image processors do:
 * resize, crop the middle, multiply, normalise. */
#pragma once

#include "base/picture_facts.h"

/* The longest side of a picture, in pixels. */
#define ATTN2C_LONGEST_SIDE ((int64_t)1 << 24)

/* Returns 1 if a picture of this size becomes an input of the model's size. A model that neither resizes to
 * one size nor crops takes only pictures of its own size. */
int attn2c_picture_fits(const attn2c_picture_facts *facts, int64_t width, int64_t height);

/* Writes the input [3][height][width] that becomes of `pixels` [height][width][3]: red, green and blue, from
 * 0 to 255. Returns ATTN2C_OK, _USAGE if the sizes do not fit, or _MEMORY. */
int attn2c_picture_prepare(const attn2c_picture_facts *facts, const uint8_t *pixels, int64_t width,
                           int64_t height, float *input);

/* Writes the patches [most][patch][patch][3] that become of `pixels`, row by row, resized to the most of them
 * that its ratio allows, then zeros, and their rows and columns. For facts with a patch. Returns the same. */
int attn2c_picture_patches(const attn2c_picture_facts *facts, const uint8_t *pixels, int64_t width,
                           int64_t height, float *patches, int32_t shape[2]);

/* Resizes pictures of 8-bit planes by filters with antialiasing. Only a window of the result is computed. */

/* One axis: the size before, the size after, and the window of the result, [first, first + count). */
typedef struct attn2c_resample_axis {
  int64_t from, to, first, count;
} attn2c_resample_axis;

/* Resizes `pixels` [y.from][x.from][3] and writes the window to `out` [y.count][x.count][3], to the bits of
 * Pillow's Image.resize. The window must be within the result and not empty. Returns ATTN2C_OK or _MEMORY. */
int attn2c_resample(const uint8_t *pixels, const attn2c_resample_axis *x, const attn2c_resample_axis *y,
                    attn2c_filter filter, uint8_t *out);

/* Does the same without rounding, as torch.nn.functional.interpolate with antialias resizes floats. */
int attn2c_resample_floats(const uint8_t *pixels, const attn2c_resample_axis *x,
                           const attn2c_resample_axis *y, attn2c_filter filter, float *out);
