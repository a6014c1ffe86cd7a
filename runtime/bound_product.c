/* bound_product.c - a product as panels, K blocks and token blocks, as the compiler's plan
 * makes them. */
#include "bound_product.h"

#include <stdio.h>
#include <stdlib.h>

#include "fetch.h"
#include "kernels.h"

enum { LINE = 16, MOST_BLOCKS = 1024, ALL = 1 << 20 };

/* K as blocks of one size and a tail. */
typedef struct {
  int size, count, tail;
} k_blocks;

/* A kernel call of a tile: where it lies in A, B and C, the blocks that it sums over, and what it fetches. */
typedef struct {
  attn2c_kernel kernel;
  ptrdiff_t a, b, c, fetch; /* floats; fetch counts from the panel's first */
  unsigned long long blocks;
  int lines;
} tile_call;

typedef struct {
  tile_call *calls;
  int count;
} tile_list;

struct attn2c_tiled_product {
  attn2c_part_product product;
  attn2c_tile tile;
  k_blocks k;
  int blocks;            /* of tokens, of two sizes */
  tile_list lists[2][2]; /* full or last panel; larger or smaller block */
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
         x->call_rows == y->call_rows && x->fetch == y->fetch && (x->fetch == 0 || x->k_span == y->k_span) &&
         (whole || x->outer == y->outer);
}

static int add_tile(const attn2c_part_product *product, attn2c_tile *tiles, int count, attn2c_tile tile) {
  const int widest = round_up(product->outputs, LINE);
  if (tile.panel > widest) tile.panel = widest;
  if (tile.tokens > product->tokens) tile.tokens = product->tokens;
  if (tile.call_rows > tile.tokens) tile.call_rows = tile.tokens;
  for (int i = 0; i < count; i++)
    if (same_calls(product, &tile, &tiles[i])) return count;
  tiles[count] = tile;
  return count + 1;
}

int attn2c_tiles_of(const attn2c_part_product *product, attn2c_tile *tiles) {
  static const int panels[] = {16, 32, 48, 64, 128}, sizes[] = {64, 128, 256}, blocks[] = {256, 128, 64, 32};
  /* A panel and the rows that registers hold of it; inputs of a span and the spans ahead that are fetched. */
  static const int strips[][2] = {{32, 14}, {48, 9}, {64, 6}, {32, 12}};
  static const int spans[][2] = {{768, 0}, {768, 1}, {192, 3}, {96, 4}};
  static const int strip_sizes[] = {24, 48, 64, 96};
  int count = 0;
  for (int i = 0; i < 5 * 3 * 2 * 4; i++) {
    const attn2c_tile tile = {panels[i / 24], sizes[i / 8 % 3], i / 4 % 2, blocks[i % 4], ALL, ALL, 0};
    count = add_tile(product, tiles, count, tile);
  }
  for (int i = 0; i < 4 * 4 * 4 * 2; i++) {
    const int *strip = strips[i / 32], *span = spans[i / 2 % 4];
    const attn2c_tile tile = {strip[0], strip_sizes[i / 8 % 4], 1, blocks[i % 2], strip[1], span[0], span[1]};
    count = add_tile(product, tiles, count, tile);
  }
  return count;
}

void attn2c_tile_say(const attn2c_part_product *product, const attn2c_tile *tile,
                     char text[ATTN2C_TILE_TEXT]) {
  const k_blocks k = divide(product->inputs, tile->k_block);
  const char *order = k.count == 1 && k.tail == 0 ? "" : tile->outer ? " outer" : " reduce";
  const int length = snprintf(text, ATTN2C_TILE_TEXT, "panel %d, K %d x %d%s, %d tokens", tile->panel,
                              k.count, k.size, order, tile->tokens);
  if (tile->call_rows < tile->tokens) {
    snprintf(text + length, ATTN2C_TILE_TEXT - (size_t)length, " by %d%s", tile->call_rows,
             tile->fetch ? ", fetched ahead" : "");
  }
}

/* The larger blocks come first, as many as there are tokens over. */
static int block_tokens(const attn2c_tiled_product *x, int smaller) {
  return x->product.tokens / x->blocks + (smaller || x->product.tokens % x->blocks == 0 ? 0 : 1);
}

static int most(int a, int b) { return a > b ? a : b; }

/* Where part i of n things in `parts` parts begins, the larger parts first (plan.blocks in gen/plan.lua). */
static int part_begin(int n, int parts, int i) {
  const int over = n % parts;
  return n / parts * i + (i < over ? i : over);
}

/* The calls of one tile, in gen/tile.lua's order: spans of K blocks, strips of rows, K blocks. shapes gets
 * each call's kernel. */
static int list_calls(const attn2c_tiled_product *x, int m, int rows, tile_call *calls,
                      attn2c_kernel_shape *shapes) {
  const k_blocks *k = &x->k;
  const int blocks = k->count + (k->tail > 0), in_span = most(1, x->tile.k_span / k->size);
  const int spans = (blocks + in_span - 1) / in_span;
  const int strips = (rows + x->tile.call_rows - 1) / x->tile.call_rows;
  int count = 0, done = 0;
  for (int span = 0; span < spans; span++) {
    const int begin = part_begin(blocks, spans, span), end = part_begin(blocks, spans, span + 1);
    const int inputs = (end > k->count ? k->size * k->count + k->tail : end * k->size) - begin * k->size;
    const int first_call = count;
    for (int strip = 0; strip < strips; strip++) {
      const int row = part_begin(rows, strips, strip), next = part_begin(rows, strips, strip + 1);
      for (int block = begin, step; block < end; block += step) {
        const int tail = block == k->count;
        step = tail || x->tile.outer ? 1 : (end < k->count ? end : k->count) - block;
        shapes[count] = (attn2c_kernel_shape){.m = m,
                                              .n = next - row,
                                              .k = tail ? k->tail : k->size,
                                              .lda = m,
                                              .ldb = x->product.ldb,
                                              .ldc = x->product.ldc,
                                              .beta = block > 0};
        calls[count++] = (tile_call){.a = (ptrdiff_t)block * k->size * m,
                                     .b = (ptrdiff_t)row * x->product.ldb + (ptrdiff_t)block * k->size,
                                     .c = (ptrdiff_t)row * x->product.ldc,
                                     .blocks = (unsigned long long)step};
      }
    }
    const int64_t lines = (int64_t)inputs * m / LINE, ahead = (int64_t)x->tile.fetch * inputs * m;
    done = 0;
    for (int i = first_call; ahead > 0 && i < count; i++) {
      const int upto = (int)(lines * (i - first_call + 1) / (count - first_call));
      calls[i].fetch = (ptrdiff_t)begin * k->size * m + ahead + (ptrdiff_t)LINE * done;
      calls[i].lines = upto - done;
      done = upto;
    }
  }
  return count;
}

/* A tile's calls and their kernels. */
static int make_list(const attn2c_tiled_product *x, int m, int rows, const char *target, tile_list *list) {
  const size_t room = (size_t)(x->k.count + 1) * (size_t)((rows + x->tile.call_rows - 1) / x->tile.call_rows);
  attn2c_kernel_shape *shapes = malloc(room * sizeof *shapes);
  attn2c_kernel *made = malloc(room * sizeof *made);
  list->calls = malloc(room * sizeof *list->calls);
  int status = shapes == NULL || made == NULL || list->calls == NULL ? ATTN2C_MEMORY : ATTN2C_OK;
  if (status == ATTN2C_OK) {
    list->count = list_calls(x, m, rows, list->calls, shapes);
    attn2c_kernels_dispatch(shapes, list->count, target, made);
    for (int i = 0; i < list->count; i++) {
      list->calls[i].kernel = made[i];
      if (made[i] == NULL) status = ATTN2C_MACHINE;
    }
  }
  free(shapes);
  free(made);
  return status;
}

/* Outputs of the last panel, or of the others, with room to whole lines. */
static int panel_width(const attn2c_tiled_product *x, int last) {
  const int tail = x->product.outputs % x->tile.panel;
  return last && tail > 0 ? round_up(tail, LINE) : x->tile.panel;
}

static int prepare(attn2c_tiled_product *x, const char *target) {
  for (int i = 0; i < x->k.count; i++) {
    for (int last = 0; last < 2; last++)
      x->a_offsets[last][i] =
          sizeof(float) * (unsigned long long)i * (unsigned long long)(x->k.size * panel_width(x, last));
    x->b_offsets[i] = sizeof(float) * (unsigned long long)i * (unsigned long long)x->k.size;
  }
  for (int i = 0; i < 4; i++) {
    const int status =
        make_list(x, panel_width(x, i / 2), block_tokens(x, i % 2), target, &x->lists[i / 2][i % 2]);
    if (status != ATTN2C_OK) return status;
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
  const int status = prepare(x, target);
  if (status != ATTN2C_OK) {
    attn2c_tiled_product_close(x);
    return status;
  }
  *tiled = x;
  return ATTN2C_OK;
}

static void run_tile(const attn2c_tiled_product *x, int last, int smaller, const float *a, const float *b,
                     float *c) {
  const tile_list *list = &x->lists[last][smaller];
  for (int i = 0; i < list->count; i++) {
    const tile_call *call = &list->calls[i];
    if (call->lines > 0) attn2c_fetch(a + call->fetch, call->lines);
    call->kernel(a + call->a, b + call->b, c + call->c, &call->blocks, x->a_offsets[last], x->b_offsets);
  }
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
      const int width = panel_width(x, last);
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

void attn2c_tiled_product_close(attn2c_tiled_product *tiled) {
  for (int i = 0; tiled != NULL && i < 4; i++) free(tiled->lists[i / 2][i % 2].calls);
  free(tiled);
}
