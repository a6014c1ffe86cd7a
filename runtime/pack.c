/* pack.c - a weight's rows into the panels that emitted code reads: see attn2c_weight in
 * descriptor.h. */
#include "pack.h"

enum { LANES = 16 /* floats of a cache line */ };

/* panel[i][j] = values[j][i], for width rows of values. A cache line of the panel is made at a time. */
static void pack_panel(const float *values, int64_t inputs, int64_t width, float *panel) {
  const int64_t leading = (width + LANES - 1) / LANES * LANES;
  for (int64_t first = 0; first < width; first += LANES) {
    const int64_t count = width - first < LANES ? width - first : LANES;
    for (int64_t i = 0; i < inputs; i++) {
      float *line = panel + i * leading + first;
      for (int64_t j = 0; j < count; j++) line[j] = values[(first + j) * inputs + i];
    }
  }
}

void attn2c_pack(const attn2c_weight *weight, const attn2c_tensor *tensor, const float *values,
                 float *packed) {
  float *to = packed + weight->offset;
  const int64_t outputs = tensor->shape[0], inputs = tensor->shape[1];
  int64_t done = 0;
  for (int64_t p = 0; done < outputs; p++) {
    const int64_t width = p < weight->panel_count ? weight->panel : weight->tail[p - weight->panel_count];
    pack_panel(values + done * inputs, inputs, width, to);
    to += inputs * ((width + LANES - 1) / LANES * LANES);
    done += width;
  }
}
