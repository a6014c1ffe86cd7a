/* test_bound.c - the parts of the bound that can be judged without a clock: that a tiled
 * product computes the product, whatever its tile, and walks through all weights; and that a model's parts
 * come out as its table says. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/bound.h"

#include "bound_candidates.h"

enum { WEIGHTS = 1 << 17 };

static float *values(int64_t count, int seed) {
  float *list = attn2c_allocate(sizeof *list * (size_t)count);
  cr_assert_not_null(list);
  for (int64_t i = 0; i < count; i++) list[i] = (float)((i * 7 + seed) % 13 - 6); /* sums stay exact */
  return list;
}

/* Whether C is B . A with A in the candidate's panels from `position` on. */
static void expect_product(const attn2c_part_product *p, const attn2c_candidate *candidate,
                           const attn2c_product_setting *s, int64_t position) {
  int64_t panel_at = position;
  int column = 0;
  for (int kind = 0; kind < 3; kind++) {
    const int width = candidate->panels[kind].width, lda = candidate->panels[kind].ld;
    for (int panel = 0; panel < candidate->panels[kind].count; panel++) {
      for (int t = 0; t < p->tokens; t++) {
        for (int j = 0; j < width; j++) {
          double sum = 0.0;
          for (int i = 0; i < p->inputs; i++) {
            sum += (double)s->weights[panel_at + (int64_t)i * lda + j] * (double)s->b[t * p->ldb + i];
          }
          const float got = s->c[t * p->ldc + column + j];
          cr_assert_eq((double)got, sum, "%s: C[%d][%d] is %g, not %g", candidate->text, t, column + j,
                       (double)got, sum);
        }
      }
      panel_at += (int64_t)lda * p->inputs;
      column += width;
    }
  }
  cr_assert_eq(column, p->outputs);
}

static void try_all_candidates(const attn2c_part_product *p) {
  attn2c_product_setting setting = {.weights = values(WEIGHTS, 1),
                                    .weight_floats = WEIGHTS,
                                    .b = values((int64_t)p->tokens * p->ldb, 5),
                                    .c = values((int64_t)p->tokens * p->ldc, 0)};
  for (int i = 0; i < p->candidate_count; i++) {
    attn2c_tiled_product *tiled;
    const int status = attn2c_tiled_product_open(p, &p->candidates[i], "x86_64", WEIGHTS, &tiled);
    if (status == ATTN2C_MACHINE) cr_skip("no kernels here");
    cr_assert_eq(status, ATTN2C_OK);
    setting.position = 0;
    for (int j = 0; j < p->tokens * p->ldc; j++) setting.c[j] = NAN;
    attn2c_tiled_product_run(tiled, &setting);
    expect_product(p, &p->candidates[i], &setting, 0);
    const int64_t second = setting.position;
    cr_expect_gt(second, 0);
    attn2c_tiled_product_run(tiled, &setting);
    expect_product(p, &p->candidates[i], &setting, second);
    attn2c_tiled_product_close(tiled);
  }
  attn2c_free((void *)setting.weights);
  attn2c_free((void *)setting.b);
  attn2c_free(setting.c);
}

Test(bound, tiled_products_are_the_product) {
  for (size_t i = 0; i < sizeof drawn / sizeof drawn[0]; i++) try_all_candidates(&drawn[i]);
}

static const attn2c_candidate plain[] = {{"plain", {{1, 32, 32, 32}}, {{1, 4, {{1, 4}}}}, {64, 1, 0}, 0}};

Test(bound, a_product_goes_round_in_the_weights) {
  const attn2c_part_product p = {"p", 32, 64, 4, 64, 32, 1.0, plain, 1, NULL, 0, NULL};
  attn2c_tiled_product *tiled;
  cr_expect_eq(attn2c_tiled_product_open(&p, plain, "x86_64", 32 * 64 - 1, &tiled), ATTN2C_MACHINE);
  cr_expect_null(tiled);
  const int status = attn2c_tiled_product_open(&p, plain, "x86_64", 5000, &tiled);
  if (status == ATTN2C_MACHINE) cr_skip("no kernels here");
  attn2c_product_setting s = {.weights = values(5000, 1), .weight_floats = 5000, .b = values(256, 2)};
  s.c = values(128, 0);
  const int64_t expected[] = {2048, 4096, 2048, 4096};
  for (int i = 0; i < 4; i++) {
    attn2c_tiled_product_run(tiled, &s);
    cr_expect_eq(s.position, expected[i]);
  }
  attn2c_tiled_product_close(tiled);
  attn2c_free((void *)s.weights);
  attn2c_free((void *)s.b);
  attn2c_free(s.c);
}

static void double_weights(const attn2c_kernel *kernels, const float *weights, const float *b, float *c) {
  (void)kernels;
  for (int i = 0; i < 1024; i++) c[i % 8] = 2.0f * weights[i] + b[0];
}

/* A product that brings kernels of its own needs no candidate, and goes round in the weights as well. */
Test(bound, a_product_has_kernels_of_its_own) {
  const attn2c_part_product p = {"own", 8, 128, 1, 128, 16, 1.0, NULL, 0, double_weights, 1024, "in C"};
  attn2c_tiled_product *tiled;
  cr_expect_eq(attn2c_tiled_product_open(&p, NULL, "x86_64", 1000, &tiled), ATTN2C_MACHINE);
  cr_expect_null(tiled);
  cr_assert_eq(attn2c_tiled_product_open(&p, NULL, "x86_64", 2500, &tiled), ATTN2C_OK);
  attn2c_product_setting s = {
      .weights = values(2500, 1), .weight_floats = 2500, .b = values(128, 2), .c = values(16, 0)};
  const int64_t expected[] = {1024, 2048, 1024};
  for (int i = 0; i < 3; i++) {
    attn2c_tiled_product_run(tiled, &s);
    cr_expect_eq(s.position, expected[i]);
    cr_expect_eq(s.c[7], 2.0f * s.weights[s.position - 1] + s.b[0]);
  }
  attn2c_tiled_product_close(tiled);
  attn2c_free((void *)s.weights);
  attn2c_free((void *)s.b);
  attn2c_free(s.c);
}

static void add_one(const attn2c_kernel *kernels, float *scratch) { scratch[0] += kernels != NULL; }

Test(bound, adds_up_the_parts_of_a_model) {
  static const attn2c_candidate eight[] = {
      {"eight rows", {{1, 32, 32, 32}}, {{1, 8, {{1, 8}}}}, {64, 1, 0}, 0}};
  static const attn2c_part_product products[] = {{"p", 32, 64, 8, 64, 32, 3.0, eight, 1, NULL, 0, NULL},
                                                 {NULL, 0, 0, 0, 0, 0, 0.0, NULL, 0, NULL, 0, NULL}};
  static const attn2c_part_row rows[] = {
      {"a", 16, add_one, 5.0, 99.0}, {"r", 16, add_one, 7.0, 0.0}, {NULL, 0, NULL, 0.0, 0.0}};
  static const attn2c_parts parts[] = {{products, rows}};
  static const attn2c_kernel_shape shapes[] = {{32, 8, 32, 32, 64, 32, 0, NULL}};
  static const attn2c_weight weights[] = {{.tensor = 0, .panel = 32, .panel_count = 1}, {.tensor = -1}};
  static const attn2c_descriptor descriptor = {.name = "m",
                                               .target = "x86_64",
                                               .kernels = shapes,
                                               .kernel_count = 1,
                                               .weights = weights,
                                               .weight_count = 1,
                                               .weight_floats = 4096};
  attn2c_kernel kernels[1];
  attn2c_code *code;
  attn2c_kernels_dispatch(shapes, NULL, 1, "x86_64", kernels, &code);
  if (kernels[0] == NULL) cr_skip("no kernels here");
  attn2c_model model = {.descriptor = &descriptor,
                        .kernels = kernels,
                        .weights = values(4096, 3),
                        .provider = "libxsmm",
                        .code = code,
                        .workers = 1};
  attn2c_program program = {.model = &descriptor, .parts = parts};
  attn2c_bound *bound;
  cr_assert_eq(attn2c_bound_open(&program, 0, &model, &bound), ATTN2C_OK);
  cr_assert_not_null(bound);
  for (int i = 0; i < 3; i++) attn2c_bound_sample(bound);
  cr_assert_eq(attn2c_bound_count(bound), 3);
  attn2c_bound_part list[3];
  const double ms = attn2c_bound_result(bound, list);
  double sum = 0.0;
  static const char *const kinds[] = {"product", "attention", "row operation"};
  static const double flops[] = {2.0 * 32 * 64 * 8, 99.0, 0.0};
  for (int i = 0; i < 3; i++) {
    cr_expect_str_eq(list[i].kind, kinds[i]);
    cr_expect_eq(list[i].calls, 3.0 + 2 * i);
    cr_expect_eq(list[i].flops, flops[i]);
    cr_expect_gt(list[i].microseconds, 0.0);
    sum += 1e-3 * list[i].calls * list[i].microseconds;
  }
  cr_expect_float_eq(ms, sum, 1e-9 * sum);
  cr_expect_str_eq(list[0].tile, "eight rows");
  cr_expect_str_eq(list[1].tile, "");
  attn2c_bound_close(bound);

  program.parts = NULL; /* a program that does not say what it is made of */
  cr_assert_eq(attn2c_bound_open(&program, 0, &model, &bound), ATTN2C_OK);
  cr_expect_null(bound);
  attn2c_code_free(code);
  attn2c_free((void *)model.weights);
}
