/* select.c - a selection by digits: three passes find the border's 11 leading bits, and those after them. */
#include "generate/select.h"

#include "generate/bits.h"

attn2c_border attn2c_select(const float *logits, const uint64_t *mass, const int32_t *index, int32_t count,
                            uint64_t target, uint64_t *sums) {
  static const int widths[3] = {11, 11, 10};
  attn2c_border border = {0, 0, 0};
  uint64_t prefix = 0; /* the bits that are known */
  int shift = 32;
  for (int pass = 0; pass < 3; pass++) {
    const int known = shift; /* bits below the prefix */
    const uint32_t digits = 1u << widths[pass];
    shift -= widths[pass];
    memset(sums, 0, digits * sizeof *sums);
    for (int32_t i = 0; i < count; i++) {
      const int32_t token = index ? index[i] : i;
      const uint64_t order = attn2c_order(logits[token]);
      if (order >> known == prefix) sums[order >> shift & (digits - 1)] += mass ? mass[token] : 1;
    }
    uint32_t digit = digits - 1;
    while (digit > 0 && border.above + sums[digit] < target) border.above += sums[digit--];
    border.equal = sums[digit];
    prefix = prefix << widths[pass] | digit;
  }
  border.order = (uint32_t)prefix;
  return border;
}
