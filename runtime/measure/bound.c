/* bound.c - times the parts of a model, each by itself. The best tiles of a product are found once. Then
 * every part is timed for each sample of the bench. */
#include "measure/bound.h"

#include "measure/timing.h"

enum { FINALISTS = 3, SEARCH_ROUNDS = 2, SAMPLES = 1024, MOST_CALLS = 1 << 20 };

#define PRODUCT_NANOSECONDS 5e4
#define SMALL_NANOSECONDS   2e4
#define NEAR_THE_BEST       1.15 /* tiles within this factor of the best are timed again */

typedef struct {
  const char *texts[FINALISTS];
  attn2c_tiled_product *tiled[FINALISTS];
  double best[FINALISTS]; /* least nanoseconds of a sample */
} finalists;

typedef struct {
  const attn2c_part_product *product; /* exactly one of these two is set */
  const attn2c_part_row *row;
  finalists of_product;
  double *samples; /* nanoseconds */
  long taken;
} part;

struct attn2c_bound {
  const attn2c_model *model;
  part *parts;
  int count;
  attn2c_product_setting setting;
  float *scratch; /* for rows */
  int64_t scratch_floats;
};

/* Finds the range of the packed block that holds panels; weights that are looked up by row are not walked. */
static void find_weights(const attn2c_model *model, attn2c_product_setting *setting) {
  const attn2c_descriptor *descriptor = model->descriptor;
  int64_t begin = -1, end = 0;
  for (int i = 0; i < descriptor->weight_count; i++) {
    const attn2c_weight *weight = &descriptor->weights[i];
    if (weight->panel == 0) continue;
    if (begin < 0 || weight->offset < begin) begin = weight->offset;
    const int64_t next = weight[1].tensor >= 0 ? weight[1].offset : descriptor->weight_floats;
    if (next > end) end = next;
  }
  setting->weights = begin < 0 ? model->weights : model->weights + begin;
  setting->weight_floats = begin < 0 ? 0 : end - begin;
}

/* One call of a part, for time_of. */
typedef void (*part_call)(attn2c_bound *bound, const part *p, const attn2c_tiled_product *tiled);

static void call_product(attn2c_bound *bound, const part *p, const attn2c_tiled_product *tiled) {
  (void)p;
  attn2c_tiled_product_run(tiled, &bound->setting);
}

static void call_row(attn2c_bound *bound, const part *p, const attn2c_tiled_product *tiled) {
  (void)tiled;
  p->row->call(bound->model->kernels, bound->scratch);
}

/* Returns the nanoseconds of one call of a part: the mean of calls that together last `nanoseconds`. */
static double time_of(attn2c_bound *bound, const part *p, const attn2c_tiled_product *tiled, part_call call,
                      double nanoseconds) {
  int calls = 1;
  for (;;) {
    const double start = attn2c_now();
    for (int i = 0; i < calls; i++) call(bound, p, tiled);
    const double elapsed = attn2c_now() - start;
    if (elapsed >= nanoseconds || calls >= MOST_CALLS) return elapsed / calls;
    const double wanted = elapsed > 0.0 ? 1.2 * nanoseconds / elapsed * calls : 2.0 * calls;
    calls = wanted > MOST_CALLS ? MOST_CALLS : (int)wanted + 1;
  }
}

/* Keeps a candidate among the finalists, or closes it. */
static void keep(finalists *f, const char *text, attn2c_tiled_product *tiled, double time) {
  for (int i = 0; i < FINALISTS; i++) {
    if (f->tiled[i] != NULL && f->best[i] <= time) continue;
    attn2c_tiled_product_close(f->tiled[FINALISTS - 1]);
    for (int j = FINALISTS - 1; j > i; j--) {
      f->texts[j] = f->texts[j - 1];
      f->tiled[j] = f->tiled[j - 1];
      f->best[j] = f->best[j - 1];
    }
    f->texts[i] = text;
    f->tiled[i] = tiled;
    f->best[i] = time;
    return;
  }
  attn2c_tiled_product_close(tiled);
}

/* Returns candidate i; a product's own kernels come before its candidates. */
static const attn2c_candidate *candidate_of(const attn2c_part_product *product, int i) {
  return product->own == NULL ? &product->candidates[i] : i == 0 ? NULL : &product->candidates[i - 1];
}

/* Times all candidates, then those near the best again, since another process may have had the core for a
 * while. tiled and times hold one element per candidate. */
static int search_among(attn2c_bound *bound, part *p, attn2c_tiled_product **tiled, double *times) {
  const int count = p->product->candidate_count + (p->product->own != NULL);
  double least = 0.0;
  int status = ATTN2C_OK;
  for (int i = 0; i < count && status != ATTN2C_MEMORY; i++)
    status =
        attn2c_tiled_product_open(p->product, candidate_of(p->product, i), bound->model->descriptor->target,
                                  bound->setting.weight_floats, &tiled[i]);
  for (int round = 0; round <= SEARCH_ROUNDS && status != ATTN2C_MEMORY; round++) {
    for (int i = 0; i < count; i++) {
      if (tiled[i] == NULL || (round > 0 && times[i] > NEAR_THE_BEST * least)) continue;
      const double now = time_of(bound, p, tiled[i], call_product, PRODUCT_NANOSECONDS);
      times[i] = round == 0 || now < times[i] ? now : times[i];
      if (least == 0.0 || times[i] < least) least = times[i];
    }
  }
  for (int i = 0; i < count; i++) {
    if (tiled[i] != NULL && status != ATTN2C_MEMORY) {
      const attn2c_candidate *candidate = candidate_of(p->product, i);
      keep(&p->of_product, candidate == NULL ? p->product->own_text : candidate->text, tiled[i], times[i]);
    } else {
      attn2c_tiled_product_close(tiled[i]);
    }
  }
  return status == ATTN2C_MEMORY ? status : ATTN2C_OK;
}

static int search(attn2c_bound *bound, part *p) {
  const size_t count = (size_t)p->product->candidate_count + 2;
  ATTN2C_OWN attn2c_tiled_product **tiled = calloc(count, sizeof *tiled);
  ATTN2C_OWN double *times = calloc(count, sizeof *times);
  return tiled == NULL || times == NULL ? ATTN2C_MEMORY : search_among(bound, p, tiled, times);
}

static void add_sample(part *p, double nanoseconds) { p->samples[p->taken++ % SAMPLES] = nanoseconds; }

static void fill(float *values, int64_t count) {
  for (int64_t i = 0; i < count; i++) values[i] = 0.001f * (float)(i % 89) - 0.04f;
}

void attn2c_bound_sample(attn2c_bound *bound) {
  for (int i = 0; i < bound->count; i++) {
    part *p = &bound->parts[i];
    if (p->product != NULL) {
      double least = 0.0;
      for (int j = 0; j < FINALISTS; j++) {
        if (p->of_product.tiled[j] == NULL) continue;
        const double now = time_of(bound, p, p->of_product.tiled[j], call_product, PRODUCT_NANOSECONDS);
        if (least == 0.0 || now < least) least = now;
        if (now < p->of_product.best[j]) p->of_product.best[j] = now;
      }
      add_sample(p, least);
    } else {
      memset(bound->scratch, 0,
             sizeof(float) * (size_t)p->row->floats); /* values that are updated in place stay finite */
      add_sample(p, time_of(bound, p, NULL, call_row, SMALL_NANOSECONDS));
    }
  }
}

/* Lists the parts, and finds how much memory they need. */
static int list_parts(attn2c_bound *bound, const attn2c_parts *parts, int64_t *b_floats, int64_t *c_floats) {
  while (parts->products[bound->count].name != NULL) bound->count++;
  const int products = bound->count;
  while (parts->rows[bound->count - products].name != NULL) bound->count++;
  bound->parts = calloc((size_t)bound->count + 1, sizeof *bound->parts);
  if (bound->parts == NULL) return ATTN2C_MEMORY;
  for (int i = 0; i < bound->count; i++) {
    part *p = &bound->parts[i];
    p->samples = malloc(sizeof *p->samples * SAMPLES);
    if (p->samples == NULL) return ATTN2C_MEMORY;
    if (i < products) {
      p->product = &parts->products[i];
      const int64_t b = (int64_t)p->product->tokens * p->product->ldb,
                    c = (int64_t)p->product->tokens * p->product->ldc;
      if (b > *b_floats) *b_floats = b;
      if (c > *c_floats) *c_floats = c;
    } else {
      p->row = &parts->rows[i - products];
      if (p->row->floats > bound->scratch_floats) bound->scratch_floats = p->row->floats;
    }
  }
  return ATTN2C_OK;
}

static int prepare(attn2c_bound *bound, const attn2c_parts *parts) {
  int64_t b_floats = 1, c_floats = 1;
  ATTN2C_TRY(list_parts(bound, parts, &b_floats, &c_floats));
  float *b = attn2c_allocate(sizeof(float) * (size_t)b_floats);
  bound->setting.b = b;
  bound->setting.c = attn2c_allocate(sizeof(float) * (size_t)c_floats);
  bound->scratch = attn2c_allocate(sizeof(float) * (size_t)(bound->scratch_floats + 1));
  if (b == NULL || bound->setting.c == NULL || bound->scratch == NULL) return ATTN2C_MEMORY;
  fill(b, b_floats);
  for (int i = 0; i < bound->count; i++) {
    part *p = &bound->parts[i];
    if (p->product == NULL) continue;
    ATTN2C_TRY(search(bound, p));
    if (p->of_product.tiled[0] == NULL) return ATTN2C_MACHINE;
  }
  return ATTN2C_OK;
}

int attn2c_bound_open(const attn2c_program *program, int entry, const attn2c_model *model,
                      attn2c_bound **bound) {
  *bound = NULL;
  if (program->parts == NULL) return ATTN2C_OK;
  attn2c_bound *made = calloc(1, sizeof *made);
  if (made == NULL) return ATTN2C_MEMORY;
  made->model = model;
  find_weights(model, &made->setting);
  made->setting.kernels = model->kernels;
  const int status = prepare(made, &program->parts[entry]);
  if (status != ATTN2C_OK) {
    attn2c_bound_close(made);
    return status == ATTN2C_MACHINE ? ATTN2C_OK : status;
  }
  *bound = made;
  return ATTN2C_OK;
}

int attn2c_bound_count(const attn2c_bound *bound) { return bound->count; }

static double flops_of(const part *p) {
  if (p->product != NULL) return 2.0 * p->product->outputs * p->product->inputs * p->product->tokens;
  return p->row->flops;
}

double attn2c_bound_result(attn2c_bound *bound, attn2c_bound_part *parts) {
  double sum = 0.0;
  for (int i = 0; i < bound->count; i++) {
    part *p = &bound->parts[i];
    attn2c_bound_part *to = &parts[i];
    *to = (attn2c_bound_part){.kind = p->product            ? "product"
                                      : p->row->flops > 0.0 ? "attention"
                                                            : "row operation",
                              .name = p->product ? p->product->name : p->row->name,
                              .calls = p->product ? p->product->calls : p->row->calls,
                              .flops = flops_of(p),
                              .tile = ""};
    const int count = p->taken < SAMPLES ? (int)p->taken : SAMPLES;
    to->microseconds =
        1e-3 *
        attn2c_spread_of(p->samples, count).median; /* this sorts the samples, so no more may be added */
    sum += 1e-3 * to->calls * to->microseconds;
    if (p->product == NULL) continue;
    int best = 0;
    for (int j = 1; j < FINALISTS; j++) {
      if (p->of_product.tiled[j] != NULL && p->of_product.best[j] < p->of_product.best[best]) best = j;
    }
    to->tile = p->of_product.texts[best];
  }
  return sum / (bound->model->threads < 1 ? 1 : bound->model->threads);
}

void attn2c_bound_close(attn2c_bound *bound) {
  if (bound == NULL) return;
  for (int i = 0; bound->parts != NULL && i < bound->count; i++) {
    free(bound->parts[i].samples);
    for (int j = 0; j < FINALISTS; j++) attn2c_tiled_product_close(bound->parts[i].of_product.tiled[j]);
  }
  free(bound->parts);
  ATTN2C_FREE_ALIGNED((void *)bound->setting.b, bound->setting.c, bound->scratch);
  free(bound);
}
