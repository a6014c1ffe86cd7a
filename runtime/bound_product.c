/* bound_product.c - a product as panels, K blocks and token blocks, as the compiler's plan
 * makes them. */
#include "bound_product.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels.h"

enum { LINE = 16, KINDS = 3, FIRST = 0, NEXT = 1, TAIL = 2, MOST_BLOCKS = 1024 };

/* K as blocks of one size and a tail. */
typedef struct {
  int size, count, tail;
} k_blocks;

struct attn2c_tiled_product {
  attn2c_part_product product;
  attn2c_tile tile;
  k_blocks k;
  int blocks; /* of tokens, of two sizes */
  attn2c_kernel kernels[2][2]
                       [KINDS]; /* full or last panel; larger or smaller block; first, next, last of K */
  unsigned long long a_offsets[2][MOST_BLOCKS], b_offsets[MOST_BLOCKS];
};

static int round_up(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

/* As gen/plan.lua: one block up to twice the wanted size, else a divisor of K near it, else a tail. */
static k_blocks divide(int k, int wanted) {
  if (k <= 2 * wanted) return (k_blocks){k, 1, 0};
  int best = 0;
  for (int size = wanted / 2; size <= wanted * 3 / 2; size++) {
    if (k % size == 0 && (best == 0 || abs(size - wanted) < abs(best - wanted))) best = size;
  }
  if (best > 0) return (k_blocks){best, k / best, 0};
  return (k_blocks){wanted, k / wanted, k % wanted};
}

static int same_calls(const attn2c_part_product *product, const attn2c_tile *x, const attn2c_tile *y) {
  const k_blocks a = divide(product->inputs, x->k_block), b = divide(product->inputs, y->k_block);
  const int whole = a.count == 1 && a.tail == 0;
  return x->panel == y->panel && x->tokens == y->tokens && a.size == b.size && a.tail == b.tail &&
         (whole || x->outer == y->outer);
}

int attn2c_tiles_of(const attn2c_part_product *product, attn2c_tile *tiles) {
  static const int panels[] = {16, 32, 48, 64, 128}, sizes[] = {64, 128, 256}, blocks[] = {256, 128, 64, 32};
  const int widest = round_up(product->outputs, LINE);
  int count = 0;
  for (int i = 0; i < 5 * 3 * 2 * 4; i++) {
    attn2c_tile tile = {panels[i / 24], sizes[i / 8 % 3], i / 4 % 2, blocks[i % 4]};
    if (tile.panel > widest) tile.panel = widest;
    if (tile.tokens > product->tokens) tile.tokens = product->tokens;
    int known = 0;
    for (int j = 0; j < count; j++) known |= same_calls(product, &tile, &tiles[j]);
    if (!known) tiles[count++] = tile;
  }
  return count;
}

void attn2c_tile_say(const attn2c_part_product *product, const attn2c_tile *tile,
                     char text[ATTN2C_TILE_TEXT]) {
  const k_blocks k = divide(product->inputs, tile->k_block);
  const char *order = k.count == 1 && k.tail == 0 ? "" : tile->outer ? " outer" : " reduce";
  snprintf(text, ATTN2C_TILE_TEXT, "panel %d, K %d x %d%s, %d tokens", tile->panel, k.count, k.size, order,
           tile->tokens);
}

/* The larger blocks come first, as many as there are tokens over. */
static int block_tokens(const attn2c_tiled_product *x, int smaller) {
  return x->product.tokens / x->blocks + (smaller || x->product.tokens % x->blocks == 0 ? 0 : 1);
}

static int dispatch(attn2c_tiled_product *x, const char *target) {
  const int tail = x->product.outputs % x->tile.panel;
  attn2c_kernel_shape shapes[2 * 2 * KINDS];
  attn2c_kernel made[2 * 2 * KINDS];
  for (int i = 0; i < 2 * 2 * KINDS; i++) {
    const int last = i / (2 * KINDS), smaller = i / KINDS % 2, kind = i % KINDS;
    const int m = last && tail > 0 ? round_up(tail, LINE) : x->tile.panel;
    shapes[i] = (attn2c_kernel_shape){.m = m,
                                      .n = block_tokens(x, smaller),
                                      .k = kind == TAIL && x->k.tail > 0 ? x->k.tail : x->k.size,
                                      .lda = m,
                                      .ldb = x->product.ldb,
                                      .ldc = x->product.ldc,
                                      .beta = kind != FIRST};
    for (int j = 0; j < x->k.count; j++) {
      x->a_offsets[last][j] = sizeof(float) * (unsigned long long)j * (unsigned long long)(x->k.size * m);
      x->b_offsets[j] = sizeof(float) * (unsigned long long)j * (unsigned long long)x->k.size;
    }
  }
  attn2c_kernels_dispatch(shapes, 2 * 2 * KINDS, target, made);
  for (int i = 0; i < 2 * 2 * KINDS; i++) {
    if (made[i] == NULL) return ATTN2C_MACHINE;
    x->kernels[i / (2 * KINDS)][i / KINDS % 2][i % KINDS] = made[i];
  }
  return ATTN2C_OK;
}

int attn2c_tiled_product_open(const attn2c_part_product *product, const attn2c_tile *tile, const char *target,
                              int64_t weight_floats, attn2c_tiled_product **tiled) {
  *tiled = NULL;
  const k_blocks k = divide(product->inputs, tile->k_block);
  if (k.count > MOST_BLOCKS || (int64_t)tile->panel * product->inputs > weight_floats) return ATTN2C_MACHINE;
  attn2c_tiled_product *x = calloc(1, sizeof *x);
  if (x == NULL) return ATTN2C_MEMORY;
  x->product = *product;
  x->tile = *tile;
  x->k = k;
  x->blocks = (product->tokens + tile->tokens - 1) / tile->tokens;
  const int status = dispatch(x, target);
  if (status != ATTN2C_OK) {
    free(x);
    return status;
  }
  *tiled = x;
  return ATTN2C_OK;
}

static void run_tile(const attn2c_tiled_product *x, int last, int smaller, const float *a, const float *b,
                     float *c) {
  const attn2c_kernel *kernels = x->kernels[last][smaller];
  const unsigned long long none = 0, one = 1, count = (unsigned long long)x->k.count;
  const unsigned long long *offsets = x->a_offsets[last];
  const int m =
      (int)(last && x->product.outputs % x->tile.panel ? round_up(x->product.outputs % x->tile.panel, LINE)
                                                       : x->tile.panel);
  if (x->tile.outer) {
    for (int i = 0; i < x->k.count; i++) {
      const float *block = (const float *)((const char *)a + offsets[i]);
      kernels[i == 0 ? FIRST : NEXT](block, b + (ptrdiff_t)i * x->k.size, c, &one, &none, &none);
    }
  } else {
    kernels[FIRST](a, b, c, &count, offsets, x->b_offsets);
  }
  const ptrdiff_t done = (ptrdiff_t)x->k.size * x->k.count;
  if (x->k.tail > 0) kernels[TAIL](a + done * m, b + done, c, &one, &none, &none);
}

void attn2c_tiled_product_run(const attn2c_tiled_product *x, attn2c_product_setting *setting) {
  const attn2c_part_product *product = &x->product;
  const int panels = (product->outputs + x->tile.panel - 1) / x->tile.panel;
  const int larger = product->tokens % x->blocks;
  const int64_t begin = setting->position;
  int64_t at = begin;
  int token = 0;
  for (int block = 0; block < x->blocks; block++) {
    const int smaller = block >= larger;
    at = begin; /* each block walks over the same weights */
    for (int p = 0; p < panels; p++) {
      const int last = p == panels - 1, column = p * x->tile.panel;
      const int width = last ? round_up(product->outputs - column, LINE) : x->tile.panel;
      const int64_t floats = (int64_t)width * product->inputs;
      if (at + floats > setting->weight_floats) at = 0;
      run_tile(x, last, smaller, setting->weights + at, setting->b + (ptrdiff_t)token * product->ldb,
               setting->c + (ptrdiff_t)token * product->ldc + column);
      at += floats;
    }
    token += block_tokens(x, smaller);
  }
  setting->position = at;
}

void attn2c_tiled_product_close(attn2c_tiled_product *tiled) { free(tiled); }
