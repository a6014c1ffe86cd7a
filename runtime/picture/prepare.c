/* prepare.c - turns pixels into a model's input. Only what the crop leaves is computed. */
#include "picture/prepare.h"

#include <math.h>

/* Sets the shorter and the longer edge for a least and a most length, as transformers' sizes of two edges. */
static void between(int64_t least, int64_t most, int64_t *shorter, int64_t *longer) {
  const double ratio = (double)*longer / (double)*shorter;
  double edge = (double)least;
  if (ratio * edge > (double)most) edge = (double)(most * *shorter) / (double)*longer;
  if (*shorter == (int64_t)rint(edge)) return;
  *longer = (int64_t)(edge * (double)*longer / (double)*shorter);
  *shorter = (int64_t)rint(edge);
}

/* Sets the sizes after resizing. */
static void resized(const attn2c_picture_facts *facts, int64_t width, int64_t height, int64_t *to_width,
                    int64_t *to_height) {
  *to_width = width, *to_height = height;
  if (facts->resize == ATTN2C_RESIZE_EXACT)
    *to_width = facts->resize_width, *to_height = facts->resize_height;
  if (facts->resize == ATTN2C_RESIZE_BETWEEN && width < height)
    between(facts->resize_height, facts->resize_width, to_width, to_height);
  else if (facts->resize == ATTN2C_RESIZE_BETWEEN)
    between(facts->resize_height, facts->resize_width, to_height, to_width);
  if (facts->resize == ATTN2C_RESIZE_WITHIN) {
    const double high = facts->resize_height / (double)height, wide = facts->resize_width / (double)width;
    const double scale = high < wide ? high : wide;
    *to_width = (int64_t)((double)width * scale), *to_height = (int64_t)((double)height * scale);
  }
  if (facts->resize != ATTN2C_RESIZE_SHORTEST) return;
  const int64_t edge = facts->resize_height;
  if (width <= height)
    *to_width = edge, *to_height = edge * height / width;
  else
    *to_height = edge, *to_width = edge * width / height;
}

/* Returns the patches along a side of a picture that is scaled. */
static int64_t patches_along(double scale, int64_t side, int patch) {
  const double patches = ceil((double)side * scale / patch);
  return patches < 1 ? 1 : (int64_t)patches;
}

/* Sets the patches along both sides for the largest scale, to 1e-5, that gives no more patches than the model
 * takes. transformers searches it by halves, too, so that the numbers are the same. Returns 0 if there is no
 * such scale. */
static int grid_of(const attn2c_picture_facts *facts, int64_t width, int64_t height, int64_t *across,
                   int64_t *down) {
  double least = 1e-5 / 10, most = 100;
  while (most - least >= 1e-5) {
    const double scale = (least + most) / 2;
    const int64_t patches =
        patches_along(scale, width, facts->patch) * patches_along(scale, height, facts->patch);
    if (patches <= facts->most)
      least = scale;
    else
      most = scale;
  }
  *across = patches_along(least, width, facts->patch), *down = patches_along(least, height, facts->patch);
  return *across * *down <= facts->most;
}

int attn2c_picture_fits(const attn2c_picture_facts *facts, int64_t width, int64_t height) {
  int64_t to_width, to_height;
  if (width < 1 || height < 1 || width > ATTN2C_LONGEST_SIDE || height > ATTN2C_LONGEST_SIDE) return 0;
  if (facts->patch) return grid_of(facts, width, height, &to_width, &to_height);
  resized(facts, width, height, &to_width, &to_height);
  if (to_width < 1 || to_height < 1) return 0;
  if (facts->pads) return to_width <= facts->width && to_height <= facts->height;
  return facts->crops || (to_width == facts->width && to_height == facts->height);
}

/* Sets the window that a crop of `size` leaves of an axis, and its place in the crop. Where the axis is
 * shorter than the crop, all of it is left, and half of the rest is before it: of an odd number one more than
 * after it, but with torchvision one less. */
static int64_t window_of(const attn2c_picture_facts *facts, int64_t from, int64_t to, int64_t size,
                         attn2c_resample_axis *axis) {
  const int is_short = to < size;
  *axis = (attn2c_resample_axis){from, to, is_short ? 0 : (to - size) / 2, is_short ? to : size};
  return is_short && !facts->pads ? (size - to + !facts->keeps_fractions) / 2 : 0;
}

/* Returns what a pixel's value becomes. */
static float value_of(const attn2c_picture_facts *facts, int plane, double value) {
  return ((float)(value * facts->scale) - facts->mean[plane]) / facts->deviation[plane];
}

/* Writes the window of the resized picture, [y.count][x.count][3]. */
static int resize(const attn2c_picture_facts *facts, const uint8_t *pixels, const attn2c_resample_axis *x,
                  const attn2c_resample_axis *y, float *window) {
  if (facts->keeps_fractions) return attn2c_resample_floats(pixels, x, y, facts->filter, window);
  const int64_t size = x->count * y->count * ATTN2C_PLANES;
  ATTN2C_OWN uint8_t *bytes = malloc((size_t)size);
  ATTN2C_TRY(bytes ? attn2c_resample(pixels, x, y, facts->filter, bytes) : ATTN2C_MEMORY);
  for (int64_t i = 0; i < size; i++) window[i] = bytes[i];
  return ATTN2C_OK;
}

int attn2c_picture_prepare(const attn2c_picture_facts *facts, const uint8_t *pixels, int64_t width,
                           int64_t height, float *input) {
  if (!attn2c_picture_fits(facts, width, height)) return ATTN2C_USAGE;
  const int64_t area = (int64_t)facts->width * facts->height;
  attn2c_resample_axis x, y;
  int64_t to_width, to_height;
  resized(facts, width, height, &to_width, &to_height);
  const int64_t left = window_of(facts, width, to_width, facts->width, &x);
  const int64_t top = window_of(facts, height, to_height, facts->height, &y);
  ATTN2C_OWN float *window = malloc((size_t)(x.count * y.count * ATTN2C_PLANES) * sizeof *window);
  ATTN2C_TRY(window ? resize(facts, pixels, &x, &y, window) : ATTN2C_MEMORY);
  for (int plane = 0; plane < ATTN2C_PLANES; plane++) {
    for (int64_t r = 0; r < facts->height; r++) {
      const int has_row = r >= top && r < top + y.count;
      const float *row = has_row ? window + (r - top) * x.count * ATTN2C_PLANES + plane : NULL;
      for (int64_t c = 0; c < facts->width; c++) {
        const int is_inside = has_row && c >= left && c < left + x.count;
        input[plane * area + r * facts->width + c] =
            is_inside     ? value_of(facts, plane, row[(c - left) * ATTN2C_PLANES])
            : facts->pads ? 0
                          : value_of(facts, plane, 0);
      }
    }
  }
  return ATTN2C_OK;
}

int attn2c_picture_patches(const attn2c_picture_facts *facts, const uint8_t *pixels, int64_t width,
                           int64_t height, float *patches, int32_t shape[2]) {
  int64_t across, down;
  if (!attn2c_picture_fits(facts, width, height) || !grid_of(facts, width, height, &across, &down))
    return ATTN2C_USAGE;
  const int64_t side = facts->patch, row = across * side * ATTN2C_PLANES, area = side * side * ATTN2C_PLANES;
  const attn2c_resample_axis x = {width, across * side, 0, across * side};
  const attn2c_resample_axis y = {height, down * side, 0, down * side};
  ATTN2C_OWN uint8_t *whole = malloc((size_t)(down * side * row));
  const int status = whole ? attn2c_resample(pixels, &x, &y, facts->filter, whole) : ATTN2C_MEMORY;
  for (int64_t i = 0; i < facts->most * area && status == ATTN2C_OK; i++) {
    const int64_t patch = i / area, line = i % area / (side * ATTN2C_PLANES), at = i % (side * ATTN2C_PLANES);
    const int64_t from = (patch / across * side + line) * row + patch % across * side * ATTN2C_PLANES + at;
    patches[i] = patch < across * down ? value_of(facts, (int)(at % ATTN2C_PLANES), whole[from]) : 0;
  }
  shape[0] = (int32_t)down, shape[1] = (int32_t)across;
  return status;
}
