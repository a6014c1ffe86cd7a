/* kept.h - keys and values that a state keeps as integers: adding rows to a page, and multiplying with a
 * page.
 *
 * A page begins with a scale in f32 for each of its `panel` keys. A number is its key's scale times an
 * integer. Integers are unsigned bytes in groups of four:
 * - 8 bits: integer + 128. Keys are [columns / 4][panel][4], values [panel / 4][columns][4].
 * - 4 bits: an odd integer from -15 to 15 is stored as (integer + 15) / 2, two in a byte. The low half of
 *   keys' bytes has columns 8 i to 8 i + 3, the high half the four after these: [columns / 8][panel][4]. The
 *   low half of values' bytes has the first half of the columns, the high half the others.
 * Columns of values are filled up to whole vectors of every target.
 *
 * Queries, and weights times the scales of values, are rounded to integers of 16 bits with a scale for each
 * row: 256 times as finely as keys and values. Integers are summed exactly. So the bits are the same on every
 * target with fused multiply-adds, and do not depend on the rows beside a row. Weights have a scale for every
 * ATTN2C_KEPT_KEYS keys of a page. */
#pragma once

#include "ops/mask.h"
#include "ops/product/int8.h"

enum {
  ATTN2C_KEPT_AHEAD = 2,      /* pages that are prefetched: a page takes as long as memory does to answer */
  ATTN2C_KEPT_KEYS = 64,      /* whose weights have one scale */
  ATTN2C_KEPT_LANES = 16,     /* columns of values are a multiple of these */
  ATTN2C_KEPT_PARTS = 1 << 8, /* of a unit of 8 bits is a unit of 16 */
  ATTN2C_KEPT_HEAD = 8,       /* bytes of a row of integers before these: its scale, and their sum */
  ATTN2C_KEPT_EACH_BYTES = 2  /* and for each */
};

/* Rows that are multiplied together: their sums stay in registers. */
#if defined(__AVXVNNI__) && !defined(__AVX512VNNI__)
#define ATTN2C_KEPT_ROWS 4
#else
#define ATTN2C_KEPT_ROWS 8
#endif

/* Returns how many columns' integers are in the bytes of a page's row of values, in whole vectors. */
ATTN2C_INLINE int attn2c_kept_half(int cols, int bits) { return bits == 4 ? (cols + 1) / 2 : cols; }
ATTN2C_INLINE int attn2c_kept_wide(int cols, int bits) {
  return (attn2c_kept_half(cols, bits) + ATTN2C_KEPT_LANES - 1) / ATTN2C_KEPT_LANES * ATTN2C_KEPT_LANES;
}

/* Return the integers after the scales of a page, and the bytes of a page of keys and of values. */
ATTN2C_INLINE const uint8_t *attn2c_kept_integers(const int8_t *page, int panel) {
  return (const uint8_t *)page + (ptrdiff_t)panel * (ptrdiff_t)sizeof(float);
}
ATTN2C_INLINE ptrdiff_t attn2c_kept_value_page(int cols, int bits, int panel) {
  return (ptrdiff_t)panel * ((ptrdiff_t)sizeof(float) + attn2c_kept_wide(cols, bits));
}
ATTN2C_INLINE ptrdiff_t attn2c_kept_key_page(int cols, int bits, int panel) {
  const int each = bits == 4 ? 8 : 4;
  return (ptrdiff_t)panel * ((ptrdiff_t)sizeof(float) + (cols + each - 1) / each * 4);
}

/* Returns an integer of a row of attn2c_quantise_heads, or of attn2c_quantise_odd, as a page stores it. */
ATTN2C_INLINE uint8_t attn2c_kept_integer(int8_t x, int bits) {
  const int number = (int)(uint8_t)x - ATTN2C_INT8_ZERO; /* of a zero of 0, modulo 256 */
  return (uint8_t)(bits == 4 ? ((number + 15) & 0xff) / 2 : number + 128);
}

/* Adds the scales of rows to a page. A scale that is not finite becomes NaN, so that all of its row is NaN.
 */
ATTN2C_INLINE void attn2c_add_scales(int8_t *page, const float *scale, int first, int rows, int lds) {
  for (int i = 0; i < rows; i++) {
    const float own = scale[(ptrdiff_t)i * lds] <= FLT_MAX ? scale[(ptrdiff_t)i * lds] : __builtin_nanf("");
    memcpy(page + (ptrdiff_t)(first + i) * (ptrdiff_t)sizeof own, &own, sizeof own);
  }
}

/* Adds x[rows][cols] to a page of keys, from key number `first` on. Rows of x are ldx integers apart. */
ATTN2C_INLINE void attn2c_add_bytes_of_keys(int8_t *page, const int8_t *x, const float *scale, int first,
                                            int rows, int cols, int ldx, int lds, int panel, int bits) {
  const int each = bits == 4 ? 8 : 4;
  attn2c_add_scales(page, scale, first, rows, lds);
  for (int i = 0; i < rows; i++) {
    const int8_t *in = x + (ptrdiff_t)i * ldx;
    uint8_t *out = (uint8_t *)page + (ptrdiff_t)panel * (ptrdiff_t)sizeof(float) + 4 * (ptrdiff_t)(first + i);
    for (int j = 0; j < cols; j += each, out += 4 * (ptrdiff_t)panel) {
      uint8_t group[8] = {0};
      for (int c = 0; c < each && j + c < cols; c++) group[c] = attn2c_kept_integer(in[j + c], bits);
      for (int c = 0; c < 4; c++) out[c] = (uint8_t)(group[c] | group[4 + c] << 4);
    }
  }
}

/* Does the same with a page of values. */
ATTN2C_INLINE void attn2c_add_bytes_of_values(int8_t *page, const int8_t *x, const float *scale, int first,
                                              int rows, int cols, int ldx, int lds, int panel, int bits) {
  const int half = attn2c_kept_half(cols, bits), wide = attn2c_kept_wide(cols, bits);
  attn2c_add_scales(page, scale, first, rows, lds);
  for (int i = 0; i < rows; i++) {
    const int8_t *in = x + (ptrdiff_t)i * ldx;
    const int key = first + i;
    uint8_t *out = (uint8_t *)page + (ptrdiff_t)panel * (ptrdiff_t)sizeof(float) +
                   (ptrdiff_t)(key / 4) * wide * 4 + key % 4;
    for (int j = 0; j < half; j++) {
      const uint8_t high = half + j < cols ? attn2c_kept_integer(in[half + j], bits) : 0;
      out[(ptrdiff_t)4 * j] = (uint8_t)(attn2c_kept_integer(in[j], bits) | high << 4);
    }
  }
}

/* y[rows][heads * width] = x / scale as odd integers from -15 to 15: the nearest, with a scale for each head
 * of a row, the largest magnitude / 16. With / 15 the largest numbers would be exact, and squared errors of
 * numbers with a normal distribution a tenth larger. Rows are ldx, ldy and lds elements apart. */
ATTN2C_INLINE void attn2c_quantise_odd(int8_t *y, float *scale, const float *x, int rows, int heads,
                                       int width, int ldx, int ldy, int lds) {
  for (int i = 0; i < rows; i++)
    for (int h = 0; h < heads; h++) {
      const float *from = x + (ptrdiff_t)i * ldx + (ptrdiff_t)h * width;
      int8_t *to = y + (ptrdiff_t)i * ldy + (ptrdiff_t)h * width;
      const float wanted = attn2c_from_bits((uint32_t)attn2c_largest_bits(from, NULL, width)) * 0x1p-4f;
      const float own = wanted < ATTN2C_INT8_LEAST_SCALE ? ATTN2C_INT8_LEAST_SCALE : wanted;
      const float inverse = own <= FLT_MAX ? 0.5f / own : 0.0f;
      scale[(ptrdiff_t)i * lds + h] = own;
#pragma omp simd
      for (int j = 0; j < width; j++) {
        const float half = from[j] * inverse - 0.5f;
        const float cut = half > 7.0f ? 7.0f : half < -8.0f ? -8.0f : half;
        to[j] = (int8_t)(uint8_t)(2 * attn2c_bits(cut + ATTN2C_INT8_ROUNDER) + 1 + ATTN2C_INT8_ZERO);
      }
    }
}

/* Writes a row x[cols] as integers: its scale, their sum, then `all` integers, of which those after the first
 * cols are 0. A scale is not finite, and all its integers are 0, if the row has a number that is not.
 * all <= 512 is a multiple of 8. Where vpdpbusd multiplies bytes, the upper bytes come first: a lower one is
 * from -128 to 127, an upper one has the rest, divided by 256. Other integers are in order, or for vpmaddwd
 * the even ones of four, then the odd ones. */
ATTN2C_INLINE void attn2c_kept_row(int8_t *y, const float *x, int32_t largest, int cols, int all) {
  float inverse, scale = attn2c_scale_of(largest, &inverse);
  const float least = ATTN2C_INT8_LEAST_SCALE * ATTN2C_KEPT_PARTS;
  if (scale < least) scale = least, inverse = 1.0f / least;
  scale *= 1.0f / ATTN2C_KEPT_PARTS, inverse *= ATTN2C_KEPT_PARTS;
  int16_t numbers[512];
  int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int i = 0; i < cols; i++) {
    const uint32_t bits = attn2c_bits(x[i] * inverse + ATTN2C_INT8_ROUNDER);
    numbers[i] = (int16_t)(uint16_t)bits;
    sum += (int32_t)(bits << 16) >> 16;
  }
  for (int i = cols; i < all; i++) numbers[i] = 0;
  memcpy(y, &scale, sizeof scale);
  memcpy(y + sizeof scale, &sum, sizeof sum);
  y += ATTN2C_KEPT_HEAD;
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#pragma omp simd
  for (int i = 0; i < all; i++) {
    const uint16_t number = (uint16_t)numbers[i];
    y[i] = (int8_t)(uint8_t)((number + 128u) >> 8 & 0xffu);
    y[i + all] = (int8_t)(uint8_t)(number & 0xffu);
  }
#elif defined(ATTN2C_INT8_SUMS)
  for (int i = 0; i < all; i += 4) {
    const int16_t four[4] = {numbers[i], numbers[i + 2], numbers[i + 1], numbers[i + 3]};
    memcpy(y + (ptrdiff_t)i * ATTN2C_KEPT_EACH_BYTES, four, sizeof four);
  }
#else
  memcpy(y, numbers, (size_t)all * sizeof *numbers);
#endif
}

/* The bytes that are multiplied: vpdpbusd takes them as they are, vpmaddwd even and odd ones as numbers of 16
 * bits; the rest go byte by byte. */
typedef struct {
  attn2c_words even, odd;
} attn2c_kept_bytes;

ATTN2C_INLINE attn2c_kept_bytes attn2c_kept_split(attn2c_words w) {
#if defined(ATTN2C_INT8_SUMS)
  return (attn2c_kept_bytes){w & 0x00ff00ffu, w >> 8 & 0x00ff00ffu};
#else
  return (attn2c_kept_bytes){w, w};
#endif
}

/* Adds the products of four integers of a row, from number 4 g on, to the sums of upper and of lower bytes.
 * Without vpdpbusd `lower` is all of the sum. x: the row's integers. Sums may wrap, their total does not. */
ATTN2C_INLINE void attn2c_kept_add(attn2c_integers *upper, attn2c_integers *lower, attn2c_kept_bytes w,
                                   const int8_t *x, int all, int g) {
#if defined(ATTN2C_INT8_SUMS)
  const int8_t *at = x + 4 * ATTN2C_KEPT_EACH_BYTES * (ptrdiff_t)g;
  (void)all, (void)upper;
  *lower = attn2c_int8_halves(w.even, attn2c_words_splat(at), *lower);
  *lower = attn2c_int8_halves(w.odd, attn2c_words_splat(at + 4), *lower);
#elif defined(ATTN2C_INT8_QUADS_AT)
  const int8_t *at = x + 4 * (ptrdiff_t)g;
  ATTN2C_INT8_QUADS_AT(*upper, w.even, at);
  ATTN2C_INT8_QUADS_AT(*lower, w.even, at + all);
#elif defined(__AVX512VNNI__) || defined(__AVXVNNI__)
  const int8_t *at = x + 4 * (ptrdiff_t)g;
  *upper = attn2c_int8_quads(attn2c_words_splat(at), w.even, *upper);
  *lower = attn2c_int8_quads(attn2c_words_splat(at + all), w.even, *lower);
#else
  (void)all, (void)upper;
  for (int i = 0; i < 4; i++) {
    int16_t number;
    memcpy(&number, x + (ptrdiff_t)(4 * g + i) * (ptrdiff_t)sizeof number, sizeof number);
    const attn2c_words products =
        (w.even >> 8 * i & 0xffu) * (uint32_t)number; /* without signs they may wrap */
    *lower = (attn2c_integers)((attn2c_words)*lower + products);
  }
#endif
}

/* Returns the sum of products of integers with a row of integers: without what the place of 0 adds, which is
 * a multiple of the sum of the row's integers. */
ATTN2C_INLINE attn2c_vector attn2c_kept_total(attn2c_integers upper, attn2c_integers lower, const int8_t *row,
                                              int bits) {
  uint32_t of_row;
  memcpy(&of_row, row + sizeof(float), sizeof of_row);
  attn2c_words sum = ((attn2c_words)upper << 8) + (attn2c_words)lower;
  if (bits == 4) sum += sum;
  sum -= (bits == 4 ? 15u : 128u) * of_row;
  return __builtin_convertvector((attn2c_integers)sum, attn2c_vector);
}

/* Returns the scale of a row of integers. */
ATTN2C_INLINE float attn2c_kept_scale(const int8_t *row) {
  float scale;
  memcpy(&scale, row, sizeof scale);
  return scale;
}

/* Returns a total times the scale of its row, then times the scales of keys. The product of both scales may
 * be denormal where a score is not. */
ATTN2C_INLINE attn2c_vector attn2c_kept_score(attn2c_vector total, float row, attn2c_vector keys) {
  return total * attn2c_scale_head(row) * (keys * attn2c_scale_rest(row));
}

/* Returns the integers of a row of queries with `cols` columns. */
ATTN2C_INLINE int attn2c_kept_all(int cols) { return (cols + 7) / 8 * 8; }

/* Writes x[rows][cols], queries, as rows of integers that are ldy bytes apart. */
ATTN2C_INLINE void attn2c_integers_of_queries(int8_t *y, const float *x, int rows, int cols, int ldx,
                                              int ldy) {
  for (int i = 0; i < rows; i++)
    attn2c_kept_row(y + (ptrdiff_t)i * ldy, x + (ptrdiff_t)i * ldx,
                    attn2c_largest_bits(x + (ptrdiff_t)i * ldx, NULL, cols), cols, attn2c_kept_all(cols));
}

/* Do something for each of the rows that are multiplied together, and make their sums. These are variables:
 * gcc 12 would keep an array in memory. */
#if ATTN2C_KEPT_ROWS == 8
#define ATTN2C_KEPT_ALL(each) each(0) each(1) each(2) each(3) each(4) each(5) each(6) each(7)
#else
#define ATTN2C_KEPT_ALL(each) each(0) each(1) each(2) each(3)
#endif
#define ATTN2C_KEPT_BEGIN(r) attn2c_integers upper##r = attn2c_integers_zero(), lower##r = upper##r;

/* Scores of `rows` queries with a vector of keys, from key number `key` on. */
ATTN2C_INLINE void attn2c_scores_of_keys(float *s, const int8_t *q, const int8_t *page, int key, int rows,
                                         int cols, int lds, int ldq, int panel, int bits, int fetches) {
  const int all = attn2c_kept_all(cols), each = bits == 4 ? 8 : 4;
  const uint8_t *at = attn2c_kept_integers(page, panel) + 4 * (ptrdiff_t)key;
  const attn2c_vector scales = attn2c_load((const float *)(const void *)page + key);
  ATTN2C_KEPT_ALL(ATTN2C_KEPT_BEGIN)
  for (int g = 0; g < (cols + each - 1) / each; g++, at += 4 * (ptrdiff_t)panel) {
    const attn2c_words w = attn2c_words_load(at);
    const attn2c_kept_bytes low = attn2c_kept_split(bits == 4 ? w & 0x0f0f0f0fu : w);
    const attn2c_kept_bytes high = attn2c_kept_split(w >> 4 & 0x0f0f0f0fu);
    if (fetches) __builtin_prefetch(at + ATTN2C_KEPT_AHEAD * attn2c_kept_key_page(cols, bits, panel), 0, 3);
#define ATTN2C_KEPT_ADD(r)                                                                                   \
  if ((r) < rows) {                                                                                          \
    const int8_t *row = q + (ptrdiff_t)(r)*ldq + ATTN2C_KEPT_HEAD;                                           \
    attn2c_kept_add(&upper##r, &lower##r, low, row, all, bits == 4 ? 2 * g : g);                             \
    if (bits == 4) attn2c_kept_add(&upper##r, &lower##r, high, row, all, 2 * g + 1);                         \
  }
    ATTN2C_KEPT_ALL(ATTN2C_KEPT_ADD)
#undef ATTN2C_KEPT_ADD
  }
#define ATTN2C_KEPT_END(r)                                                                                   \
  if ((r) < rows) {                                                                                          \
    const int8_t *row = q + (ptrdiff_t)(r)*ldq;                                                              \
    attn2c_store(s + (ptrdiff_t)(r)*lds + key,                                                               \
                 attn2c_kept_score(attn2c_kept_total(upper##r, lower##r, row, bits), attn2c_kept_scale(row), \
                                   scales));                                                                 \
  }
  ATTN2C_KEPT_ALL(ATTN2C_KEPT_END)
#undef ATTN2C_KEPT_END
}

/* Scores of `rows` queries with the first keys of a page. */
ATTN2C_INLINE void attn2c_scores_of_rows(float *s, const int8_t *q, const int8_t *page, int rows, int keys,
                                         int cols, int lds, int ldq, int panel, int bits, int fetches) {
  for (int key = 0; key < keys; key += ATTN2C_LANES)
    attn2c_scores_of_keys(s, q, page, key, rows, cols, lds, ldq, panel, bits, fetches);
}

/* Calls one(row, count, whether these are the first) for groups of rows; each call has a constant count. */
#define ATTN2C_KEPT_EACH(rows, one)                                                                          \
  do {                                                                                                       \
    int row = 0;                                                                                             \
    if ((rows) >= ATTN2C_KEPT_ROWS) {                                                                        \
      one(0, ATTN2C_KEPT_ROWS, 1);                                                                           \
      for (row = ATTN2C_KEPT_ROWS; row + ATTN2C_KEPT_ROWS <= (rows); row += ATTN2C_KEPT_ROWS)                \
        one(row, ATTN2C_KEPT_ROWS, 0);                                                                       \
    }                                                                                                        \
    if (ATTN2C_KEPT_ROWS > 4 && (rows)-row >= 4) {                                                           \
      one(row, 4, row == 0);                                                                                 \
      row += 4;                                                                                              \
    }                                                                                                        \
    if ((rows)-row == 3) one(row, 3, row == 0);                                                              \
    if ((rows)-row == 2) one(row, 2, row == 0);                                                              \
    if ((rows)-row == 1) one(row, 1, row == 0);                                                              \
  } while (0)

/* s[rows][keys] = q · the first keys of a page, times the scales of both. q: rows of integers, ldq bytes
 * apart; keys is a multiple of whole vectors of every target. */
ATTN2C_INLINE void attn2c_scores_of_page(float *s, const int8_t *q, const int8_t *page, int rows, int keys,
                                         int cols, int lds, int ldq, int panel, int bits) {
#define ATTN2C_KEPT_SCORES(row, count, is_first)                                                             \
  attn2c_scores_of_rows(s + (ptrdiff_t)(row)*lds, q + (ptrdiff_t)(row)*ldq, page, count, keys, cols, lds,    \
                        ldq, panel, bits, is_first)
  ATTN2C_KEPT_EACH(rows, ATTN2C_KEPT_SCORES);
#undef ATTN2C_KEPT_SCORES
}

/* c[d] += the sum's number times the row's scale, for the first `count` columns of a vector. */
ATTN2C_INLINE void attn2c_kept_to(float *c, attn2c_integers upper, attn2c_integers lower, const int8_t *row,
                                  int bits, int count) {
  const attn2c_vector total = attn2c_kept_total(upper, lower, row, bits);
  const attn2c_vector scale = attn2c_splat(attn2c_kept_scale(row));
  attn2c_store_first(c, attn2c_vector_fma(total, scale, attn2c_load_first(c, count)), count);
}

/* Adds weights times a vector of values to the first `count` columns of c. at: the integers, wide * 4 bytes
 * from group to group, of which the bits from `shift` on count; x: `rows` rows of integers of the weights. */
ATTN2C_INLINE void attn2c_context_of_columns(float *c, const int8_t *x, const uint8_t *at, int rows,
                                             int groups, int wide, int shift, int count, int ldc, int ldx,
                                             int bits, ptrdiff_t next) {
  if (count <= 0) return;
  ATTN2C_KEPT_ALL(ATTN2C_KEPT_BEGIN)
  for (int g = 0; g < groups; g++, at += 4 * (ptrdiff_t)wide) {
    const attn2c_words w = attn2c_words_load(at);
    const attn2c_kept_bytes bytes = attn2c_kept_split(bits == 4 ? w >> shift & 0x0f0f0f0fu : w);
    if (next && shift == 0) __builtin_prefetch(at + next, 0, 3);
#define ATTN2C_KEPT_ADD(r)                                                                                   \
  if ((r) < rows)                                                                                            \
    attn2c_kept_add(&upper##r, &lower##r, bytes, x + (ptrdiff_t)(r)*ldx + ATTN2C_KEPT_HEAD,                  \
                    ATTN2C_KEPT_KEYS, g);
    ATTN2C_KEPT_ALL(ATTN2C_KEPT_ADD)
#undef ATTN2C_KEPT_ADD
  }
#define ATTN2C_KEPT_END(r)                                                                                   \
  if ((r) < rows)                                                                                            \
    attn2c_kept_to(c + (ptrdiff_t)(r)*ldc, upper##r, lower##r, x + (ptrdiff_t)(r)*ldx, bits, columns);
  if (count >= ATTN2C_LANES) { /* once for all rows, without masks */
    enum { columns = ATTN2C_LANES };
    ATTN2C_KEPT_ALL(ATTN2C_KEPT_END)
  } else {
    const int columns = count;
    ATTN2C_KEPT_ALL(ATTN2C_KEPT_END)
  }
#undef ATTN2C_KEPT_END
}

/* y[i] = p[i] * scale[i] for the keys [begin, end), 0 for the others. */
ATTN2C_INLINE void attn2c_kept_weights(float *y, const float *p, const float *scale, int begin, int end) {
  if (begin == 0 && end == ATTN2C_KEPT_KEYS) { /* a constant number of keys takes half the time */
#pragma omp simd
    for (int i = 0; i < ATTN2C_KEPT_KEYS; i++) y[i] = p[i] * scale[i];
    return;
  }
  memset(y, 0, ATTN2C_KEPT_KEYS * sizeof *y);
#pragma omp simd
  for (int i = begin; i < end; i++) y[i] = p[i] * scale[i];
}

/* Adds weights times values of the keys [from, to) of a page to `rows` rows of a context. */
ATTN2C_INLINE void attn2c_context_of_rows(float *c, const float *p, const int8_t *page, int rows, int from,
                                          int to, int cols, int ldc, int ldp, int panel, int bits,
                                          int fetches) {
  enum { ROW = ATTN2C_KEPT_HEAD + ATTN2C_KEPT_EACH_BYTES * ATTN2C_KEPT_KEYS };
  const int half = attn2c_kept_half(cols, bits), wide = attn2c_kept_wide(cols, bits);
  const float *scale = (const float *)(const void *)page;
  for (int first = 0; first < to; first += ATTN2C_KEPT_KEYS) {
    int8_t x[ATTN2C_KEPT_ROWS * ROW];
    const int begin = attn2c_between(from - first, 0, ATTN2C_KEPT_KEYS);
    const int end = attn2c_between(to - first, 0, ATTN2C_KEPT_KEYS);
    float weight[ATTN2C_KEPT_ROWS][ATTN2C_KEPT_KEYS];
    int32_t largest[ATTN2C_KEPT_ROWS];
    for (int r = 0; r < rows; r++)
      attn2c_kept_weights(weight[r], p + (ptrdiff_t)r * ldp + first, scale + first, begin, end);
    for (int r = 0; r < rows; r++) largest[r] = attn2c_largest_bits(weight[r], NULL, ATTN2C_KEPT_KEYS);
    for (int r = 0; r < rows; r++)
      attn2c_kept_row(x + (ptrdiff_t)r * ROW, weight[r], largest[r], ATTN2C_KEPT_KEYS, ATTN2C_KEPT_KEYS);
    const uint8_t *at = attn2c_kept_integers(page, panel) + (ptrdiff_t)first * wide;
    const ptrdiff_t next = fetches ? ATTN2C_KEPT_AHEAD * attn2c_kept_value_page(cols, bits, panel) : 0;
    for (int j = 0; j < wide; j += ATTN2C_LANES)
      for (int part = 0; part < 8 / bits; part++)
        attn2c_context_of_columns(c + part * half + j, x, at + 4 * (ptrdiff_t)j, rows, (end + 3) / 4, wide,
                                  4 * part, (part == 0 ? half : cols - half) - j, ldc, ROW, bits, next);
  }
}

/* c[rows][cols] += p[rows][keys] · the first keys' values of a page. */
ATTN2C_INLINE void attn2c_context_of_page(float *c, const float *p, const int8_t *page, int rows, int keys,
                                          int cols, int ldc, int ldp, int panel, int bits) {
#define ATTN2C_KEPT_CONTEXT(row, count, is_first)                                                            \
  attn2c_context_of_rows(c + (ptrdiff_t)(row)*ldc, p + (ptrdiff_t)(row)*ldp, page, count, 0, keys, cols,     \
                         ldc, ldp, panel, bits, is_first)
  ATTN2C_KEPT_EACH(rows, ATTN2C_KEPT_CONTEXT);
#undef ATTN2C_KEPT_CONTEXT
}

/* Does the same as attn2c_context_repair (mask.h), for values in pages of integers. */
ATTN2C_INLINE void attn2c_context_repair_bytes(float *c, const float *p, const int8_t *v, int rows, int cols,
                                               int head_dim, int ldc, int ldp, int panel, int bits, int lo,
                                               int hi, int valid) {
  const ptrdiff_t bytes = attn2c_kept_value_page(head_dim, bits, panel);
  for (int r = 0; r < rows; r++) {
    float *row = c + (ptrdiff_t)r * ldc;
    if (attn2c_stays(row, head_dim)) continue;
    const int first = attn2c_between(lo + r, 0, cols);
    const int last = attn2c_between(hi + r < valid ? hi + r : valid, 0, cols);
    for (int page = first / panel; page * panel < last; page++) {
      const int key = page * panel;
      attn2c_context_of_rows(row, p + (ptrdiff_t)r * ldp + key, v + page * bytes, 1,
                             attn2c_between(first - key, 0, panel), attn2c_between(last - key, 0, panel),
                             head_dim, ldc, ldp, panel, bits, 0);
    }
  }
}
