/* bound_product.c - walks a candidate's panels, blocks, K panels, strips and runs, and calls a kernel for
 * each. The compiler decides how a product is divided. */
#include "measure/bound_product.h"

#include <stdlib.h>

#include "model/kernels.h"
#include "ops/fetch.h"

enum { LINE = 16, PANELS = 3, BLOCKS = 2, STRIPS = 2, K_PANELS = 3, RUNS = 2 };
enum { KERNELS = PANELS * BLOCKS * STRIPS * K_PANELS * RUNS };

/* Kernels of a run on the rows of a strip: for the first call of a sum, and for others. */
typedef attn2c_kernel run_kernels[2];

struct attn2c_tiled_product {
  attn2c_part_product product;
  const attn2c_candidate *candidate;
  run_kernels kernels[PANELS][BLOCKS][STRIPS][K_PANELS][RUNS];
  attn2c_code *code; /* the kernels' machine code */
  /* Offsets in bytes of the blocks in a run that sums over several; one list per panel. */
  unsigned long long *a_offsets[PANELS], *b_offsets;
};

/* Dispatches the kernels of each run on each kind of panel and strip. */
static int dispatch_all(attn2c_tiled_product *x, const char *target) {
  const attn2c_candidate *t = x->candidate;
  attn2c_kernel_shape shapes[2 * KERNELS];
  attn2c_kernel made[2 * KERNELS], *places[2 * KERNELS];
  int count = 0;
  for (int i = 0; i < KERNELS; i++) {
    const int run = i % RUNS, k_panel = i / RUNS % K_PANELS, strip = i / (RUNS * K_PANELS) % STRIPS;
    const int block = i / (RUNS * K_PANELS * STRIPS) % BLOCKS,
              panel = i / (RUNS * K_PANELS * STRIPS * BLOCKS);
    if (t->panels[panel].count == 0 || t->blocks[block].count == 0 || t->k_panels[k_panel].count == 0)
      continue;
    if (t->blocks[block].strips[strip].count == 0 || t->k_panels[k_panel].runs[run].count == 0) continue;
    for (int beta = k_panel == 0 && run == 0 ? 0 : 1; beta < 2; beta++) {
      shapes[count] = (attn2c_kernel_shape){.m = t->panels[panel].outputs,
                                            .n = t->blocks[block].strips[strip].rows,
                                            .k = t->k_panels[k_panel].runs[run].size,
                                            .lda = t->panels[panel].ld,
                                            .ldb = x->product.ldb,
                                            .ldc = x->product.ldc,
                                            .beta = beta};
      places[count++] = &x->kernels[panel][block][strip][k_panel][run][beta];
    }
  }
  attn2c_kernels_dispatch(shapes, count, target, made, &x->code);
  for (int i = 0; i < count; i++) {
    if (made[i] == NULL) return ATTN2C_MACHINE;
    *places[i] = made[i];
  }
  return ATTN2C_OK;
}

/* Returns the largest number of blocks that a run sums over. All runs over several blocks have one size. */
static unsigned long long most_blocks(const attn2c_candidate *t, int *size) {
  int most = 1;
  *size = 0;
  for (int i = 0; i < K_PANELS * RUNS; i++) {
    const int k_panel = i / RUNS, run = i % RUNS;
    if (t->k_panels[k_panel].count == 0 || t->k_panels[k_panel].runs[run].count == 0) continue;
    if (t->k_panels[k_panel].runs[run].blocks <= most) continue;
    most = t->k_panels[k_panel].runs[run].blocks;
    *size = t->k_panels[k_panel].runs[run].size;
  }
  return (unsigned long long)most;
}

static int prepare_offsets(attn2c_tiled_product *x) {
  int size;
  const unsigned long long blocks = most_blocks(x->candidate, &size);
  const unsigned long long step = sizeof(float) * (unsigned long long)size;
  x->b_offsets = malloc(sizeof *x->b_offsets * blocks);
  if (x->b_offsets == NULL) return ATTN2C_MEMORY;
  for (unsigned long long i = 0; i < blocks; i++) x->b_offsets[i] = i * step;
  for (int panel = 0; panel < PANELS && x->candidate->panels[panel].count > 0; panel++) {
    x->a_offsets[panel] = malloc(sizeof *x->b_offsets * blocks);
    if (x->a_offsets[panel] == NULL) return ATTN2C_MEMORY;
    const unsigned long long ld = (unsigned long long)x->candidate->panels[panel].ld;
    for (unsigned long long i = 0; i < blocks; i++) x->a_offsets[panel][i] = i * step * ld;
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
  int status = candidate == NULL ? ATTN2C_OK : prepare_offsets(x);
  if (candidate != NULL && status == ATTN2C_OK) status = dispatch_all(x, target);
  if (status != ATTN2C_OK) {
    attn2c_tiled_product_close(x);
    return status;
  }
  *tiled = x;
  return ATTN2C_OK;
}

/* State of a tile's calls, besides the kernels of its runs. */
typedef struct {
  const attn2c_tiled_product *x;
  int panel, block;
  const float *a, *b;
  float *c;
} tile;

/* Runs the calls of one K panel, `first` inputs after the tile's first. Each prefetches its share of a K
 * panel of weights, `ahead` inputs later. */
static void run_k_panel(const tile *t, int k_panel, int64_t first) {
  const attn2c_tiled_product *x = t->x;
  const attn2c_candidate *d = x->candidate;
  const int64_t ld = d->panels[t->panel].ld, lines = d->k_panels[k_panel].inputs * ld / LINE;
  int64_t calls = 0, number = 0, done = 0, row = 0;
  for (int s = 0; s < STRIPS; s++)
    for (int r = 0; r < RUNS; r++)
      calls += (int64_t)d->blocks[t->block].strips[s].count * d->k_panels[k_panel].runs[r].count;
  for (int s = 0; s < STRIPS; s++) {
    for (int strip = 0; strip < d->blocks[t->block].strips[s].count; strip++) {
      int64_t input = first;
      for (int r = 0; r < RUNS; r++) {
        const unsigned long long blocks = (unsigned long long)d->k_panels[k_panel].runs[r].blocks;
        const attn2c_kernel *kernels = x->kernels[t->panel][t->block][s][k_panel][r];
        for (int call = 0; call < d->k_panels[k_panel].runs[r].count; call++) {
          const int64_t upto = lines * ++number / calls;
          if (d->ahead > 0 && upto > done) {
            attn2c_fetch(t->a + (first + d->ahead) * ld + LINE * done, (int)(upto - done));
            done = upto;
          }
          kernels[input > 0](t->a + input * ld, t->b + row * x->product.ldb + input,
                             t->c + row * x->product.ldc, &blocks, x->a_offsets[t->panel], x->b_offsets);
          input += (int64_t)d->k_panels[k_panel].runs[r].blocks * d->k_panels[k_panel].runs[r].size;
        }
      }
      row += d->blocks[t->block].strips[s].rows;
    }
  }
}

static void run_tile(const tile *t) {
  int64_t first = 0;
  for (int k_panel = 0; k_panel < K_PANELS; k_panel++) {
    for (int i = 0; i < t->x->candidate->k_panels[k_panel].count; i++) {
      run_k_panel(t, k_panel, first);
      first += t->x->candidate->k_panels[k_panel].inputs;
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
  product->own(setting->weights + setting->position, setting->b, setting->c);
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
  for (int panel = 0; panel < PANELS; panel++) free(tiled->a_offsets[panel]);
  free(tiled->b_offsets);
  attn2c_code_free(tiled->code);
  free(tiled);
}
