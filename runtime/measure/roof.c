/* roof.c - times matrix kernels on operands in cache, on every thread at once. Each thread has its own
 * operands and its own clock, and their rates are added. */
#include "measure/roof.h"

#include <sched.h>

#include "measure/timing.h"
#include "model/model.h"
#include "model/team.h"

enum { WIDEST = 64, SAMPLES = 4096, WARM_UP_ROUNDS = 2 };

#define WARM_UP_NANOSECONDS 2e6
#define SAMPLE_NANOSECONDS  1e6
#define PEAK_NANOSECONDS    1e5

typedef struct {
  float *a, *b, *c; /* [768][m], [n][784], [n][m] */
} operands;

/* The task that several threads time at once: a kernel, or without a shape the multipliers. */
typedef struct {
  const attn2c_kernel_shape *shape;
  attn2c_kernel kernel;
  double (*peak)(void);
  double nanoseconds;
  atomic_int ready, go;
} race;

typedef struct {
  race *race;
  const operands *operands;
  pthread_t thread;
  double rate;
} runner;

struct attn2c_roof {
  attn2c_kernel_shape shapes[ATTN2C_ROOF_BEST];
  attn2c_kernel kernels[ATTN2C_ROOF_BEST];
  int count; /* number of shapes that are timed */
  int threads;
  operands *of_thread;
  runner *runners;
  attn2c_code *code;       /* the kernels' machine code */
  double samples[SAMPLES]; /* GFLOP/s */
  double sorted[SAMPLES];  /* buffer for the median */
  long taken;
  double (*peak_round)(void);
  double peak; /* the best so far */
};

/* Returns GFLOP/s of one shape on one thread, timed for about `nanoseconds`. */
static double rate_of_thread(const attn2c_kernel_shape *shape, attn2c_kernel kernel, const operands *x,
                             double nanoseconds) {
  for (int i = 0; i < 2; i++) kernel(x->a, x->b, x->c); /* loads the operands into the cache */
  double calls = 0.0, elapsed;
  const double start = attn2c_now();
  do {
    for (int i = 0; i < 8; i++) kernel(x->a, x->b, x->c);
    calls += 8.0;
    elapsed = attn2c_now() - start;
  } while (elapsed < nanoseconds);
  return calls * 2.0 * shape->m * shape->n * ATTN2C_ROOF_K / elapsed;
}

static double timed(const race *race, const operands *x) {
  if (!race->shape) return attn2c_rate_of_loop(race->peak, race->nanoseconds); /* GFLOP/s */
  return rate_of_thread(race->shape, race->kernel, x, race->nanoseconds);
}

static void *run_one(void *of_runner) {
  runner *r = of_runner;
  atomic_fetch_add(&r->race->ready, 1);
  while (!atomic_load(&r->race->go)) sched_yield();
  r->rate = timed(r->race, r->operands);
  return NULL;
}

/* Returns GFLOP/s of all threads together. */
static double rate(const attn2c_kernel_shape *shape, attn2c_kernel kernel, const attn2c_roof *roof,
                   double nanoseconds) {
  race race = {.shape = shape, .kernel = kernel, .peak = roof->peak_round, .nanoseconds = nanoseconds};
  /* If not all threads can be made, as may happen to the model's, the sum is of those that ran. */
  int made = 1;
  while (made < roof->threads) {
    runner *next = &roof->runners[made];
    *next = (runner){.race = &race, .operands = &roof->of_thread[made]};
    if (attn2c_thread_start(&next->thread, run_one, next) != 0) break;
    made++;
  }
  while (atomic_load(&race.ready) < made - 1) sched_yield();
  atomic_store(&race.go, 1);
  double sum = timed(&race, &roof->of_thread[0]);
  for (int t = 1; t < made; t++) {
    pthread_join(roof->runners[t].thread, NULL);
    sum += roof->runners[t].rate;
  }
  return sum;
}

/* Fills x with numbers of this period: the bits of the first, and larger lower bits in both halves. */
static void fill(float *x, int count, int period, uint32_t first) {
  for (int i = 0; i < count; i++) {
    const uint32_t bits = first + 0x10001u * (uint32_t)(i % period);
    memcpy(&x[i], &bits, sizeof bits);
  }
}

static int operands_allocate(operands *x) {
  x->a = attn2c_allocate(sizeof(float) * ATTN2C_ROOF_K * WIDEST);
  x->b = attn2c_allocate(sizeof(float) * ATTN2C_ROOF_LDB * WIDEST);
  x->c = attn2c_allocate(sizeof(float) * WIDEST * WIDEST);
  if (x->a == NULL || x->b == NULL || x->c == NULL) return ATTN2C_MEMORY;
  /* Values are ordinary floats, and two bf16: zeros could use less power, and denormals are slower. */
  fill(x->a, ATTN2C_ROOF_K * WIDEST, 97, 0x3f003e80u);
  fill(x->b, ATTN2C_ROOF_LDB * WIDEST, 89, 0xbd003c80u);
  return ATTN2C_OK;
}

/* Finds the best two of `count` shapes with a kernel. Each is timed in several rounds and judged by its best,
 * since another process that takes the core for a while affects only one round of a shape. */
static void warm_up(attn2c_roof *roof, const attn2c_kernel_shape *shapes, const attn2c_kernel *kernels,
                    int count) {
  double reached[2 * ATTN2C_ROOF_SHAPES] = {0.0};
  for (int round = 0; round < WARM_UP_ROUNDS; round++) {
    for (int i = 0; i < count; i++) {
      if (kernels[i] == NULL) continue;
      const double now = rate(&shapes[i], kernels[i], roof, WARM_UP_NANOSECONDS / WARM_UP_ROUNDS);
      if (now > reached[i]) reached[i] = now;
    }
  }
  while (roof->count < ATTN2C_ROOF_BEST) {
    int best = 0;
    for (int i = 1; i < count; i++) {
      if (reached[i] > reached[best]) best = i;
    }
    if (reached[best] <= 0.0) return;
    roof->shapes[roof->count] = shapes[best];
    roof->kernels[roof->count++] = kernels[best];
    reached[best] = 0.0;
  }
}

int attn2c_roof_open(const char *target, const attn2c_roofs *roofs, int threads, attn2c_roof **roof) {
  static const int widths[] = {32, 48, 64}, heights[] = {24, 32, 64};
  attn2c_kernel_shape shapes[2 * ATTN2C_ROOF_SHAPES];
  attn2c_kernel kernels[2 * ATTN2C_ROOF_SHAPES] = {NULL};
  for (int i = 0; i < ATTN2C_ROOF_SHAPES; i++) {
    const int m = widths[i / 3], n = heights[i % 3];
    shapes[i] = (attn2c_kernel_shape){
        .m = m, .n = n, .k = ATTN2C_ROOF_K, .lda = m, .ldb = ATTN2C_ROOF_LDB, .ldc = m, .beta = 0};
  }
  attn2c_roof *made = calloc(1, sizeof *made);
  *roof = made;
  if (made == NULL) return ATTN2C_MEMORY;
  made->threads = threads < 1 ? 1 : threads;
  made->peak_round = roofs != NULL ? roofs->peak : NULL;
  made->of_thread = calloc((size_t)made->threads, sizeof *made->of_thread);
  made->runners = calloc((size_t)made->threads, sizeof *made->runners);
  int status = made->of_thread == NULL || made->runners == NULL ? ATTN2C_MEMORY : ATTN2C_OK;
  for (int t = 0; t < made->threads && status == ATTN2C_OK; t++)
    status = operands_allocate(&made->of_thread[t]);
  if (status != ATTN2C_OK) {
    attn2c_roof_close(made);
    *roof = NULL;
    return status;
  }
  if (target != NULL) attn2c_kernels_dispatch(shapes, NULL, ATTN2C_ROOF_SHAPES, target, kernels, &made->code);
  int count = ATTN2C_ROOF_SHAPES;
  for (int i = 0; roofs != NULL && roofs->kernels[i].m > 0 && i < ATTN2C_ROOF_SHAPES; i++) {
    shapes[count] = roofs->kernels[i];
    kernels[count++] = roofs->kernels[i].in_c;
  }
  warm_up(made, shapes, kernels, count);
  return ATTN2C_OK;
}

void attn2c_roof_sample(attn2c_roof *roof) {
  const double peak = roof->peak_round != NULL ? rate(NULL, NULL, roof, PEAK_NANOSECONDS) : 0.0;
  if (peak > roof->peak) roof->peak = peak;
  if (roof->count == 0) return;
  double best = 0.0;
  for (int i = 0; i < roof->count; i++) {
    const double reached = rate(&roof->shapes[i], roof->kernels[i], roof, SAMPLE_NANOSECONDS / roof->count);
    if (reached > best) best = reached;
  }
  roof->samples[roof->taken++ % SAMPLES] = best;
}

double attn2c_roof_rate(attn2c_roof *roof) {
  const int count = roof->taken < SAMPLES ? (int)roof->taken : SAMPLES;
  memcpy(roof->sorted, roof->samples, sizeof *roof->samples * (size_t)count);
  return attn2c_spread_of(roof->sorted, count).median;
}

double attn2c_roof_peak(const attn2c_roof *roof) { return roof->peak; }

void attn2c_roof_close(attn2c_roof *roof) {
  if (roof == NULL) return;
  for (int t = 0; roof->of_thread != NULL && t < roof->threads; t++) {
    ATTN2C_FREE_ALIGNED(roof->of_thread[t].a, roof->of_thread[t].b, roof->of_thread[t].c);
  }
  ATTN2C_FREE(roof->of_thread, roof->runners);
  attn2c_code_free(roof->code);
  free(roof);
}
