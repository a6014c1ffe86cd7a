/* prepare.c - turns pixels into a model's input. Only the part of the resized picture that the crop leaves is
 * computed. */
#include "picture/prepare.h"

/* Sets the sizes after resizing. */
static void resized(const attn2c_picture_facts *facts, int64_t width, int64_t height, int64_t *to_width,
                    int64_t *to_height) {
  *to_width = width, *to_height = height;
  if (facts->resize == ATTN2C_RESIZE_EXACT)
    *to_width = facts->resize_width, *to_height = facts->resize_height;
  if (facts->resize != ATTN2C_RESIZE_SHORTEST) return;
  const int64_t edge = facts->resize_height;
  if (width <= height)
    *to_width = edge, *to_height = edge * height / width;
  else
    *to_height = edge, *to_width = edge * width / height;
}

int attn2c_picture_fits(const attn2c_picture_facts *facts, int64_t width, int64_t height) {
  int64_t to_width, to_height;
  if (width < 1 || height < 1 || width > ATTN2C_LONGEST_SIDE || height > ATTN2C_LONGEST_SIDE) return 0;
  resized(facts, width, height, &to_width, &to_height);
  return facts->crops || (to_width == facts->width && to_height == facts->height);
}

/* Sets the window that a crop of `size` leaves of an axis, and its place in the crop. Where the axis is
 * shorter than the crop, all of it is left, and the larger half of the rest is before it. */
static int64_t window_of(int64_t from, int64_t to, int64_t size, attn2c_resample_axis *axis) {
  const int is_short = to < size;
  *axis = (attn2c_resample_axis){from, to, is_short ? 0 : (to - size) / 2, is_short ? to : size};
  return is_short ? (size - to + 1) / 2 : 0;
}

/* Writes the values that the 256 values of a pixel become. */
static void values_of(const attn2c_picture_facts *facts, int plane, float values[256]) {
  for (int i = 0; i < 256; i++)
    values[i] = ((float)(i * facts->scale) - facts->mean[plane]) / facts->deviation[plane];
}

int attn2c_picture_prepare(const attn2c_picture_facts *facts, const uint8_t *pixels, int64_t width,
                           int64_t height, float *input) {
  if (!attn2c_picture_fits(facts, width, height)) return ATTN2C_USAGE;
  const int64_t area = (int64_t)facts->width * facts->height;
  attn2c_resample_axis x, y;
  int64_t to_width, to_height;
  resized(facts, width, height, &to_width, &to_height);
  const int64_t left = window_of(width, to_width, facts->width, &x);
  const int64_t top = window_of(height, to_height, facts->height, &y);
  uint8_t *window = malloc((size_t)(x.count * y.count * ATTN2C_PLANES));
  const int status = window ? attn2c_resample(pixels, &x, &y, facts->filter, window) : ATTN2C_MEMORY;
  for (int plane = 0; plane < ATTN2C_PLANES && status == ATTN2C_OK; plane++) {
    float values[256];
    values_of(facts, plane, values);
    for (int64_t r = 0; r < facts->height; r++) {
      const int has_row = r >= top && r < top + y.count;
      const uint8_t *row = has_row ? window + (r - top) * x.count * ATTN2C_PLANES + plane : NULL;
      for (int64_t c = 0; c < facts->width; c++) {
        const int is_inside = has_row && c >= left && c < left + x.count;
        input[plane * area + r * facts->width + c] = values[is_inside ? row[(c - left) * ATTN2C_PLANES] : 0];
      }
    }
  }
  free(window);
  return status;
}
