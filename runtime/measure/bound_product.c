/* bound_product.c - walks a candidate's panels, blocks, strips and blocks of inputs, and calls a kernel for
 * each. The compiler decides how a product is divided. */
#include "measure/bound.h"

#include "ops/fetch.h"

enum { LINE = 16, PANELS = 3, BLOCKS = 2, STRIPS = 2 };

/* Kernels of a strip: for the first block of inputs, for the others, and for the inputs after them. */
enum { FIRST, NEXT, TAIL, CALLS };
typedef attn2c_kernel strip_kernels[CALLS];

struct attn2c_tiled_product {
  attn2c_part_product product;
  const attn2c_candidate *candidate;
  strip_kernels kernels[PANELS][BLOCKS][STRIPS];
  attn2c_code *code; /* the kernels' machine code */
};

/* Dispatches the kernels of each kind of strip and panel. */
static int dispatch_all(attn2c_tiled_product *x, const char *target) {
  enum { MOST = PANELS * BLOCKS * STRIPS * CALLS };
  const attn2c_candidate *t = x->candidate;
  attn2c_kernel_shape shapes[MOST];
  attn2c_kernel made[MOST], *places[MOST];
  int count = 0;
  for (int i = 0; i < MOST; i++) {
    const int call = i % CALLS, strip = i / CALLS % STRIPS, block = i / (CALLS * STRIPS) % BLOCKS,
              panel = i / (CALLS * STRIPS * BLOCKS);
    if (t->panels[panel].count == 0 || t->blocks[block].count == 0) continue;
    if (t->blocks[block].strips[strip].count == 0 || (call == NEXT && t->k.count < 2)) continue;
    if (call == TAIL && t->k.tail == 0) continue;
    shapes[count] = (attn2c_kernel_shape){.m = t->panels[panel].outputs,
                                          .n = t->blocks[block].strips[strip].rows,
                                          .k = call == TAIL ? t->k.tail : t->k.size,
                                          .lda = t->panels[panel].ld,
                                          .ldb = x->product.ldb,
                                          .ldc = x->product.ldc,
                                          .beta = call != FIRST};
    places[count++] = &x->kernels[panel][block][strip][call];
  }
  attn2c_kernels_dispatch(shapes, NULL, count, target, made, &x->code);
  for (int i = 0; i < count; i++) {
    if (made[i] == NULL) return ATTN2C_MACHINE;
    *places[i] = made[i];
  }
  return ATTN2C_OK;
}

int attn2c_tiled_product_open(const attn2c_part_product *product, const attn2c_candidate *candidate,
                              const char *target, int64_t weight_floats, attn2c_tiled_product **tiled) {
  *tiled = NULL;
  if (candidate == NULL && product->own_floats > weight_floats) return ATTN2C_MACHINE;
  for (int panel = 0; candidate != NULL && panel < PANELS && candidate->panels[panel].count > 0; panel++)
    if ((int64_t)candidate->panels[panel].ld * product->inputs > weight_floats) return ATTN2C_MACHINE;
  attn2c_tiled_product *x = calloc(1, sizeof *x);
  if (x == NULL) return ATTN2C_MEMORY;
  x->product = *product;
  x->candidate = candidate;
  const int status = candidate == NULL ? ATTN2C_OK : dispatch_all(x, target);
  if (status != ATTN2C_OK) {
    attn2c_tiled_product_close(x);
    return status;
  }
  *tiled = x;
  return ATTN2C_OK;
}

/* Operands of a tile. */
typedef struct {
  const attn2c_tiled_product *x;
  int panel, block;
  const float *a, *b;
  float *c;
} tile;

/* Runs the calls of a tile. Each prefetches its share of the weights that are `ahead` inputs later. */
static void run_tile(const tile *t) {
  const attn2c_tiled_product *x = t->x;
  const attn2c_candidate *d = x->candidate;
  const int64_t ld = d->panels[t->panel].ld, lines = x->product.inputs * ld / LINE;
  const int blocks = d->k.count + (d->k.tail > 0);
  int64_t calls = 0, number = 0, done = 0, row = 0;
  for (int s = 0; s < STRIPS; s++) calls += (int64_t)d->blocks[t->block].strips[s].count * blocks;
  for (int s = 0; s < STRIPS; s++) {
    const attn2c_kernel *kernels = x->kernels[t->panel][t->block][s];
    for (int strip = 0; strip < d->blocks[t->block].strips[s].count; strip++) {
      for (int block = 0; block < blocks; block++) {
        const int64_t upto = lines * ++number / calls, input = (int64_t)block * d->k.size;
        if (d->ahead > 0 && upto > done) {
          attn2c_fetch(t->a + d->ahead * ld + LINE * done, (int)(upto - done));
          done = upto;
        }
        kernels[block == d->k.count ? TAIL
                : block > 0         ? NEXT
                                    : FIRST](t->a + input * ld, t->b + row * x->product.ldb + input,
                                     t->c + row * x->product.ldc);
      }
      row += d->blocks[t->block].strips[s].rows;
    }
  }
}

/* Runs all panels of a block of rows, the first of which is `row`; returns the end of their weights. */
static int64_t run_block(const attn2c_tiled_product *x, int block, int64_t row, int64_t at,
                         const attn2c_product_setting *setting) {
  int64_t column = 0;
  for (int panel = 0; panel < PANELS; panel++) {
    const int64_t floats = (int64_t)x->candidate->panels[panel].ld * x->product.inputs;
    for (int i = 0; i < x->candidate->panels[panel].count; i++) {
      if (at + floats > setting->weight_floats) at = 0;
      const tile t = {.x = x,
                      .panel = panel,
                      .block = block,
                      .a = setting->weights + at,
                      .b = setting->b + row * x->product.ldb,
                      .c = setting->c + row * x->product.ldc + column};
      run_tile(&t);
      at += floats;
      column += x->candidate->panels[panel].width;
    }
  }
  return at;
}

static void run_own(const attn2c_part_product *product, attn2c_product_setting *setting) {
  if (setting->position + product->own_floats > setting->weight_floats) setting->position = 0;
  product->own(setting->kernels, setting->weights + setting->position, setting->b, setting->c);
  setting->position += product->own_floats;
}

void attn2c_tiled_product_run(const attn2c_tiled_product *x, attn2c_product_setting *setting) {
  if (x->candidate == NULL) {
    run_own(&x->product, setting);
    return;
  }
  int64_t end = setting->position, row = 0;
  for (int block = 0; block < BLOCKS; block++) {
    for (int i = 0; i < x->candidate->blocks[block].count; i++) {
      end = run_block(x, block, row, setting->position, setting); /* each block walks over the same weights */
      row += x->candidate->blocks[block].rows;
    }
  }
  setting->position = end;
}

void attn2c_tiled_product_close(attn2c_tiled_product *tiled) {
  if (tiled == NULL) return;
  attn2c_code_free(tiled->code);
  free(tiled);
}
