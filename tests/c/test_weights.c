/* test_weights.c - the sources of weights: taken from a file by any of their names, whole
 * or by rows, everything that is wrong listed at once; constants by formula; random ones. */
#define _DEFAULT_SOURCE
#include "readers.h"
#include "weights/constants.h"
#include "faults.h"
#include "weights/random.h"
#include "safetensors_write.h"
#include "scratch.h"
#include "weights/weights.h"
#include "base/checksum.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A model of seven weights: three that are rows of one tensor, one of two names, one whose tensor has another
 * rank, one made by a formula, one of a single name. */
static const attn2c_tensor tensors[] = {
    {.name = "l0.attn.q.weight", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {2, 3}},
    {.name = "l0.attn.k.weight", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {1, 3}},
    {.name = "l0.attn.v.weight", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {2, 3}},
    {.name = "l0.norm1.weight", .kind = ATTN2C_WEIGHT, .rank = 1, .shape = {3}},
    {.name = "patches.weight", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {2, 4}},
    {.name = "positions", .kind = ATTN2C_CONSTANT, .rank = 2, .shape = {4, 5}},
    {.name = "class", .kind = ATTN2C_WEIGHT, .rank = 1, .shape = {3}},
};
static const char *const qkv_names[] = {"attn.in_proj_weight", NULL};
static const char *const norm_names[] = {"encoder.layers.0.norm1.weight", "layers.0.norm1.weight",
                                         "norm.gamma", NULL};
static const char *const patch_names[] = {"projection.weight", NULL};
static const char *const class_names[] = {"cls_token", NULL};
static const attn2c_stored stored[] = {
    {.names = qkv_names, .rank = 2, .shape = {5, 3}},
    {.names = norm_names, .rank = 1, .shape = {3}},
    {.names = patch_names, .rank = 4, .shape = {2, 1, 2, 2}},
    {.names = class_names, .rank = 3, .shape = {1, 1, 3}},
};
#define ROWS(number, from, count, width)                                                                     \
  {                                                                                                          \
    .stored = number, .rows = count, .columns = width, .first = (from) * (width), .row_step = width,         \
    .column_step = 1, .factor = 1                                                                            \
  }
static const attn2c_view views[] = {ROWS(0, 0, 2, 3), ROWS(0, 2, 1, 3), ROWS(0, 3, 2, 3),
                                    ROWS(1, 0, 3, 1), ROWS(2, 0, 2, 4), ROWS(3, 0, 3, 1)};
static const attn2c_weight weights[] = {
    {.tensor = 0, .first_view = 0, .view_count = 1, .random_deviation = 0.02},
    {.tensor = 1, .first_view = 1, .view_count = 1, .random_deviation = 0.02},
    {.tensor = 2, .first_view = 2, .view_count = 1, .random_deviation = 0.02},
    {.tensor = 3, .first_view = 3, .view_count = 1, .random_mean = 1, .random_deviation = 0.1},
    {.tensor = 4, .first_view = 4, .view_count = 1, .random_deviation = 0.5},
    {.tensor = 5, .formula = "sinusoidal"},
    {.tensor = 6, .first_view = 5, .view_count = 1, .random_deviation = 1},
};
enum { WEIGHTS = 7 };
static const attn2c_descriptor model = {.readers = &all_readers,
                                        .tensors = tensors,
                                        .weights = weights,
                                        .stored = stored,
                                        .views = views,
                                        .tensor_count = 7,
                                        .weight_count = WEIGHTS,
                                        .stored_count = 4};

static char text[2048];
static float numbers[64];

TestSuite(weights, .init = scratch_open, .fini = scratch_close);

static int open_file(const char *path, const attn2c_descriptor *descriptor, attn2c_source **source) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  return attn2c_source_file(path, descriptor, source, &message);
}

static int read_weight(attn2c_source *source, int index, float *values) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  return attn2c_source_read(source, index, values, &message);
}

/* A checkpoint that fits, with two tensors more. Each tensor counts on from its own hundred. */
static const char *write_checkpoint(void) {
  static const int64_t qkv[] = {5, 3}, norm[] = {3}, patch[] = {2, 1, 2, 2}, token[] = {1, 1, 3};
  static float values[5][20];
  const safetensors_item items[] = {
      {"attn.in_proj_weight", 2, qkv, values[0]}, {"layers.0.norm1.weight", 1, norm, values[1]},
      {"projection.weight", 4, patch, values[2]}, {"cls_token", 3, token, values[3]},
      {"pooler.weight", 1, norm, values[4]},      {"norm.gamma", 1, norm, values[4]}};
  const char *path = scratch_path("checkpoint");
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 20; j++) values[i][j] = (float)(100 * i + j);
  attn2c_message message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(safetensors_write(path, items, 6, &message), ATTN2C_OK, "%s", text);
  return path;
}

Test(weights, taken_from_a_file_and_from_memory) {
  static const float first[WEIGHTS] = {0, 6, 9, 100, 200, 0, 300};
  static unsigned char bytes[4096];
  attn2c_source *source;
  size_t size = scratch_get(write_checkpoint(), bytes, sizeof bytes);
  for (int in_memory = 0; in_memory < 2; in_memory++) {
    attn2c_message message = attn2c_message_make(text, sizeof text);
    int status = in_memory ? attn2c_source_memory(bytes, size, &model, &source, &message)
                           : open_file(scratch_path("checkpoint"), &model, &source);
    cr_assert_eq(status, ATTN2C_OK, "%s", text);
    for (int w = 0; w < WEIGHTS; w++) {
      int64_t elements = attn2c_elements(&tensors[w]);
      if (weights[w].formula) continue;
      numbers[elements] = -1;
      cr_assert_eq(read_weight(source, w, numbers), ATTN2C_OK, "%s", text);
      for (int i = 0; i < elements; i++)
        cr_assert_eq(numbers[i], first[w] + (float)i, "weight %d, element %d", w, i);
      cr_assert_eq(numbers[elements], -1, "weight %d writes beyond its end", w);
    }
    /* Row by row it is the same, of a class token of another rank in the file, too. */
    for (int w = 0; w < WEIGHTS; w++) {
      const int64_t rows = tensors[w].shape[0], elements = attn2c_elements(&tensors[w]);
      if (weights[w].formula) continue; /* constants are made as a whole */
      attn2c_message message = attn2c_message_make(text, sizeof text);
      cr_assert_eq(read_weight(source, w, numbers), ATTN2C_OK, "%s", text);
      for (int64_t row = rows - 1; row >= 0; row--) {
        float values[8];
        cr_assert_eq(attn2c_source_read_rows(source, w, row, 1, values, &message), ATTN2C_OK, "%s", text);
        cr_assert_arr_eq(values, numbers + row * (elements / rows),
                         (size_t)(elements / rows) * sizeof *values);
      }
    }
    /* The second name was found, and so the third is not used. */
    cr_assert_eq(attn2c_source_unused(source), 2);
    cr_assert_str_eq(attn2c_source_unused_name(source, 0), "norm.gamma");
    cr_assert_str_eq(attn2c_source_unused_name(source, 1), "pooler.weight");
    attn2c_source_close(source);
  }
}

/* Bytes of a file with this header and some zeros, in memory. */
static int open_header(const char *header, size_t data, attn2c_source **source) {
  static unsigned char bytes[4096];
  uint64_t length = strlen(header);
  memset(bytes, 0, sizeof bytes);
  memcpy(bytes, &length, 8);
  memcpy(bytes + 8, header, length);
  attn2c_message message = attn2c_message_make(text, sizeof text);
  return attn2c_source_memory(bytes, 8 + length + data, &model, source, &message);
}

/* Factors are for the weights whose first rows have their checksum; random ones are any. */
static int open_with_factors(int64_t rows, float more, attn2c_source **source) {
  static const signed char powers[3];
  static attn2c_factors factors[WEIGHTS];
  float values[6];
  attn2c_descriptor smoothed = model;
  uint64_t sum = 0;
  for (int i = 0; i < 6; i++) values[i] = (float)i; /* of the first weight, from write_checkpoint */
  values[5] += more;
  for (int64_t i = 0; i < rows; i++) sum = attn2c_checksum(sum, values + 3 * i, 3 * sizeof *values);
  factors[0] = (attn2c_factors){powers, 1, sum};
  smoothed.factors = factors;
  return open_file(scratch_path("checkpoint"), &smoothed, source);
}

Test(weights, factors_are_for_the_weights_of_their_checksum) {
  attn2c_source *source;
  write_checkpoint();
  cr_assert_eq(open_with_factors(2, 0, &source), ATTN2C_OK, "%s", text);
  attn2c_source_close(source);
  for (int wrong = 0; wrong < 2; wrong++) {
    cr_assert_eq(open_with_factors(wrong ? 1 : 2, wrong ? 0 : 1, &source), ATTN2C_FORMAT);
    cr_assert_null(source);
    cr_assert_not_null(strstr(text, "l0.attn.q.weight: the model's factors"), "%s", text);
  }
}

Test(weights, factors_where_the_nth_allocation_fails) {
  int nth = 1;
  write_checkpoint();
  for (;; nth++) {
    attn2c_source *source;
    faults_clear();
    faults_allocation(nth, 0);
    const int status = open_with_factors(2, 0, &source);
    attn2c_source_close(source);
    cr_assert_eq(faults_live_blocks(), 0, "allocation %d leaks", nth);
    cr_assert_eq(status, faults_met() ? ATTN2C_MEMORY : ATTN2C_OK, "allocation %d: %s", nth, text);
    if (faults_met() == 0) break;
  }
  cr_assert(nth > 8, "%d allocations were made", nth - 1);
}

Test(weights, everything_that_is_wrong_is_listed_at_once) {
  attn2c_source *source = (attn2c_source *)text;
  cr_assert_eq(
      open_header("{\"attn.in_proj_weight\":{\"dtype\":\"F32\",\"shape\":[3,5],\"data_offsets\":[0,60]},"
                  "\"projection.weight\":{\"dtype\":\"I64\",\"shape\":[8],\"data_offsets\":[60,124]},"
                  "\"cls_token\":{\"dtype\":\"U8\",\"shape\":[1,1,3],\"data_offsets\":[124,127]}}",
                  127, &source),
      ATTN2C_FORMAT);
  cr_assert_null(source);
  cr_assert_str_eq(
      text, "attn.in_proj_weight: shape [3, 5], but [5, 3] is expected\n"
            "encoder.layers.0.norm1.weight: missing (also looked for layers.0.norm1.weight, norm.gamma)\n"
            "projection.weight: type I64, but F32, F64, F16 or BF16 is expected\n"
            "projection.weight: shape [8], but [2, 1, 2, 2] is expected\n"
            "cls_token: type U8, but F32, F64, F16 or BF16 is expected");
}

Test(weights, all_of_them_missing) {
  attn2c_source *source;
  cr_assert_eq(open_header("{}", 0, &source), ATTN2C_FORMAT);
  cr_assert_str_eq(
      text, "attn.in_proj_weight: missing\n"
            "encoder.layers.0.norm1.weight: missing (also looked for layers.0.norm1.weight, norm.gamma)\n"
            "projection.weight: missing\n"
            "cls_token: missing");
  /* The status does not depend on there being room for the lines, or anyone to read them. */
  unsigned char empty[10] = {2, 0, 0, 0, 0, 0, 0, 0, '{', '}'};
  cr_assert_eq(attn2c_source_memory(empty, sizeof empty, &model, &source, NULL), ATTN2C_FORMAT);
}

Test(weights, a_gguf_file_needs_the_names_of_its_tensors) {
  attn2c_source *source;
  cr_assert_eq(open_header("{\"token_embd.weight\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
                           4, &source),
               ATTN2C_FORMAT);
  cr_assert_eq(strncmp(text, "tensors of a GGUF file: names = \"gguf-llama\" and the like", 55), 0, "%s",
               text);
}

Test(weights, in_the_place_of_others_are_copies_of_them) {
  static const char *const of_tokens[] = {"tokens", NULL}, *const of_output[] = {"head", "tokens", NULL};
  static const attn2c_stored tables[] = {{.names = of_tokens, .rank = 1, .shape = {40000}},
                                         {.names = of_output, .rank = 1, .shape = {40000}, .copy_of = 1}};
  const attn2c_descriptor tied = {.readers = &all_readers, .stored = tables, .stored_count = 2};
  static float one[40000], other[40000];
  static const int64_t shape[] = {40000};
  const safetensors_item items[] = {{"tokens", 1, shape, one}, {"head", 1, shape, other}};
  const char *path = scratch_path("checkpoint");
  attn2c_source *source;
  for (int i = 0; i < 40000; i++) one[i] = other[i] = (float)i;
  for (int count = 0; count <= 2; count++) {
    attn2c_message message = attn2c_message_make(text, sizeof text);
    cr_assert_eq(safetensors_write(path, items, count, &message), ATTN2C_OK, "%s", text);
    const int status = open_file(path, &tied, &source);
    cr_assert_eq(status, count ? ATTN2C_OK : ATTN2C_FORMAT, "%s", text);
    if (status)
      cr_assert_str_eq(text, "tokens: missing");
    else
      attn2c_source_close(source);
  }
  attn2c_message message = attn2c_message_make(text, sizeof text);
  other[39999] = 1;
  cr_assert_eq(safetensors_write(path, items, 2, &message), ATTN2C_OK, "%s", text);
  cr_assert_eq(open_file(path, &tied, &source), ATTN2C_FORMAT);
  cr_assert_str_eq(text,
                   "head: differs from tokens, but the model was built with one table for both; build it "
                   "from this checkpoint");
}

Test(weights, missing_ones_come_with_those_that_are_not_used) {
  static const char *const first[] = {"output.0.weight", NULL}, *const second[] = {"output.12.bias", NULL},
                           *const other[] = {"output.1.linear.weight", NULL};
  static const attn2c_stored outputs[] = {{.names = first, .rank = 2, .shape = {2, 3}},
                                          {.names = second, .rank = 1, .shape = {9}},
                                          {.names = other, .rank = 1, .shape = {8}}};
  const attn2c_descriptor torch = {.readers = &all_readers, .stored = outputs, .stored_count = 3};
  attn2c_source *source;
  cr_assert_eq(open_header("{\"other\":{\"dtype\":\"F32\",\"shape\":[5,3],\"data_offsets\":[0,60]},"
                           "\"b\":{\"dtype\":\"U8\",\"shape\":[7],\"data_offsets\":[60,67]}}",
                           67, &source),
               ATTN2C_FORMAT);
  cr_assert_str_eq(
      text, "attn.in_proj_weight: missing; the file has an unused tensor of its shape, other\n"
            "encoder.layers.0.norm1.weight: missing (also looked for layers.0.norm1.weight, norm.gamma)\n"
            "projection.weight: missing\n"
            "cls_token: missing\n"
            "the file's unused tensors: b [7], other [5, 3]");
  static const char many[] = "........{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
                             "\"b\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
                             "\"c\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
                             "\"d\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
                             "\"e\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
                             "\"f\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
                             "\"g\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}";
  char bytes[sizeof many];
  const uint64_t length = sizeof many - 9;
  memcpy(bytes, many, sizeof many);
  memcpy(bytes, &length, sizeof length);
  attn2c_message message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(attn2c_source_memory(bytes, sizeof many - 1, &torch, &source, &message), ATTN2C_FORMAT);
  cr_assert_str_eq(text, "output.0.weight: missing (stage 1 of output: PyTorch's names count from 0)\n"
                         "output.12.bias: missing (stage 13 of output: PyTorch's names count from 0)\n"
                         "output.1.linear.weight: missing\n"
                         "the file's unused tensors: a [0], b [0], c [0], d [0], e [0] and 2 more");
}

Test(weights, a_tensor_of_an_unreadable_type_may_be_unused) {
  static const attn2c_descriptor small = {.readers = &all_readers,
                                          .tensors = tensors,
                                          .weights = weights + 5,
                                          .tensor_count = 7,
                                          .weight_count = 1};
  static const char header[] = "{\"position_ids\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]}}";
  unsigned char bytes[8 + sizeof header - 1 + 8] = {sizeof header - 1};
  attn2c_source *source;
  memcpy(bytes + 8, header, sizeof header - 1);
  cr_assert_eq(attn2c_source_memory(bytes, sizeof bytes, &small, &source, NULL), ATTN2C_OK);
  cr_assert_eq(attn2c_source_unused(source), 1);
  cr_assert_str_eq(attn2c_source_unused_name(source, 0), "position_ids");
  attn2c_source_close(source);
}

Test(weights, a_file_that_is_none) {
  attn2c_source *source;
  cr_assert_eq(open_file(scratch_path("missing"), &model, &source), ATTN2C_IO);
  cr_assert_null(source);
  cr_assert_not_null(strstr(text, "missing: cannot be opened"), "%s", text);
  scratch_put(scratch_path("text"), "no weights here", 15);
  cr_assert_eq(open_file(scratch_path("text"), &model, &source), ATTN2C_FORMAT);
  cr_assert_null(source);
}

/* Against values by another way: sin(s w) and cos(s w) by angle addition, from s = 1. */
static void check_sinusoidal(attn2c_source *source, int index, int rows, int width) {
  cr_assert_eq(read_weight(source, index, numbers), ATTN2C_OK, "%s", text);
  for (int column = 0; column < width; column++) {
    double frequency = exp(-log(10000.0) * (column / 2 * 2) / width), sine = 0, cosine = 1;
    for (int s = 0; s < rows; s++) {
      cr_assert_float_eq(numbers[s * width + column], column % 2 ? cosine : sine, 1e-7, "[%d, %d]", s,
                         column);
      double next = sine * cos(frequency) + cosine * sin(frequency);
      cosine = cosine * cos(frequency) - sine * sin(frequency);
      sine = next;
    }
  }
}

Test(weights, the_sinusoidal_formula) {
  static const attn2c_tensor even_tensor[] = {{.name = "positions", .rank = 3, .shape = {1, 6, 8}}};
  static const attn2c_weight even_weight[] = {{.tensor = 0, .formula = "sinusoidal"}};
  const attn2c_descriptor even = {.readers = &all_readers,
                                  .tensors = even_tensor,
                                  .weights = even_weight,
                                  .tensor_count = 1,
                                  .weight_count = 1};
  attn2c_source *source;
  cr_assert_eq(attn2c_source_random(1, &model, &source, NULL), ATTN2C_OK);
  check_sinusoidal(source, 5, 4, 5);
  /* sin and cos of 1 and of 1 / 10000^(2/5), as tables have them. */
  cr_assert(fabsf(numbers[5] - 0.84147098f) < 1e-7f && fabsf(numbers[6] - 0.54030231f) < 1e-7f);
  cr_assert(fabsf(numbers[7] - 0.02511622f) < 1e-7f && fabsf(numbers[9] - 0.00063095730f) < 1e-9f);
  attn2c_source_close(source);
  cr_assert_eq(attn2c_source_random(1, &even, &source, NULL), ATTN2C_OK);
  check_sinusoidal(source, 0, 6, 8);
  attn2c_source_close(source);
}

Test(weights, the_sinusoidal_formula_behind_a_past) {
  static const attn2c_tensor tensor = {.name = "positions", .rank = 2, .shape = {4, 5}};
  static const attn2c_tensor later = {.name = "positions", .rank = 2, .shape = {2, 5}};
  float whole[20], rest[10];
  cr_assert(attn2c_constant_fill("sinusoidal", &tensor, whole));
  cr_assert(attn2c_constant_fill("sinusoidal 2", &later, rest));
  cr_assert_arr_eq(rest, whole + 10, sizeof rest);
  cr_assert(!attn2c_constant_fill("sinusoidal 2 3", &later, rest));
  cr_assert(!attn2c_constant_fill("sinusoidal 2 -1", &later, rest));
  cr_assert(!attn2c_constant_fill("sinusoidal x", &later, rest));
}

/* Position 3 of 6 columns, by transformers' MarianSinusoidalPositionalEmbedding and
 * M2M100SinusoidalPositionalEmbedding. */
Test(weights, the_sinusoidal_formula_with_the_sines_first) {
  static const attn2c_tensor row = {.name = "positions", .rank = 2, .shape = {1, 6}};
  static const attn2c_tensor narrow = {.name = "positions", .rank = 2, .shape = {1, 3}};
  static const float halves[6] = {0.141120002f,  0.138798103f, 0.00646325899f,
                                  -0.989992499f, 0.990320683f, 0.999979138f},
                     fairseq[6] = {0.141120002f,  0.0299954992f, 0.000299999956f,
                                   -0.989992499f, 0.999550045f,  0.99999994f};
  float found[6];
  cr_assert(attn2c_constant_fill("sinusoidal 3 1", &row, found));
  for (int i = 0; i < 6; i++) cr_assert_float_eq(found[i], halves[i], 1e-7, "[%d]", i);
  cr_assert(attn2c_constant_fill("sinusoidal 3 2", &row, found));
  for (int i = 0; i < 6; i++) cr_assert_float_eq(found[i], fairseq[i], 1e-7, "[%d]", i);
  cr_assert(!attn2c_constant_fill("sinusoidal 3 2", &narrow, found));
}

Test(weights, an_unknown_formula) {
  static const attn2c_weight unknown[] = {{.tensor = 5, .formula = "cosinusoidal"}, {.tensor = 6}};
  const attn2c_descriptor odd = {
      .readers = &all_readers, .tensors = tensors, .weights = unknown, .tensor_count = 7, .weight_count = 2};
  attn2c_source *source;
  attn2c_message message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(attn2c_source_random(1, &odd, &source, &message), ATTN2C_FORMAT);
  cr_assert_str_eq(text,
                   "positions: formula cosinusoidal, but sinusoidal, rope_cos, rope_sin, angle_cos, "
                   "angle_sin, grown_cos, grown_sin, plane_cos, plane_sin, alibi, alibi_of, t5_buckets, "
                   "ones, identity or list, with the numbers of its shape, is expected\n"
                   "class: formula none, but sinusoidal, rope_cos, rope_sin, angle_cos, angle_sin, "
                   "grown_cos, grown_sin, plane_cos, plane_sin, alibi, alibi_of, t5_buckets, ones, "
                   "identity or list, with the numbers of its shape, is expected");
  cr_assert_null(source);
}

Test(weights, random_ones_are_those_of_their_tensor) {
  attn2c_source *source;
  float expected[64];
  cr_assert_eq(attn2c_source_random(42, &model, &source, NULL), ATTN2C_OK);
  cr_assert_eq(attn2c_source_unused(source), 0);
  for (int w = 0; w < WEIGHTS; w++) {
    int64_t elements = attn2c_elements(&tensors[w]);
    if (weights[w].formula) continue;
    numbers[elements] = -1;
    cr_assert_eq(read_weight(source, w, numbers), ATTN2C_OK);
    attn2c_random_fill(42, tensors[w].name, expected, elements, weights[w].random_mean,
                       weights[w].random_deviation);
    cr_assert_arr_eq(numbers, expected, (size_t)elements * sizeof *numbers, "weight %d", w);
    cr_assert_eq(numbers[elements], -1);
  }
  attn2c_source_close(source);
}

/* Opens and reads everything. */
static int use_file(const char *path) {
  attn2c_source *source;
  int status = open_file(path, &model, &source);
  if (status) cr_assert_null(source);
  for (int w = 0; w < WEIGHTS && !status; w++) status = read_weight(source, w, numbers);
  attn2c_source_close(source);
  return status;
}

Test(weights, the_nth_allocation_fails) {
  const char *path = write_checkpoint();
  for (int persistent = 0; persistent < 2; persistent++) {
    int nth = 1;
    for (;; nth++) {
      faults_clear();
      faults_allocation(nth, persistent);
      int status = use_file(path);
      cr_assert_eq(faults_live_blocks(), 0, "allocation %d leaks", nth);
      cr_assert_eq(status, faults_met() ? ATTN2C_MEMORY : ATTN2C_OK, "allocation %d: %d, %s", nth, status,
                   text);
      if (faults_met() == 0) break;
      cr_assert_not_null(strstr(text, "out of memory"), "%s", text);
    }
    cr_assert(nth > 8, "%d allocations were made", nth - 1);
  }
}

Test(weights, the_nth_allocation_of_a_random_source_fails) {
  int nth = 1;
  for (;; nth++) {
    attn2c_source *source;
    faults_clear();
    faults_allocation(nth, 0);
    int status = attn2c_source_random(1, &model, &source, NULL);
    if (faults_met() == 0) {
      attn2c_source_close(source);
      break;
    }
    cr_assert_eq(status, ATTN2C_MEMORY);
    cr_assert_null(source);
    cr_assert_eq(faults_live_blocks(), 0);
  }
  cr_assert(nth > 4);
}

Test(weights, the_nth_read_fails) {
  static const struct {
    fault_kind kind;
    int persistent, status;
  } cases[] = {{FAULT_ERROR, 0, ATTN2C_IO},
               {FAULT_ERROR, 1, ATTN2C_IO},
               {FAULT_INTERRUPTED, 0, ATTN2C_OK},
               {FAULT_SHORT, 1, ATTN2C_OK},
               {FAULT_END, 0, ATTN2C_FORMAT}};
  const char *path = write_checkpoint();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int nth = 1;
    for (;; nth++) {
      faults_clear();
      faults_read(nth, cases[i].kind, cases[i].persistent);
      int status = use_file(path);
      cr_assert_eq(faults_live_blocks(), 0);
      if (faults_met() == 0) break;
      cr_assert_eq(status, cases[i].status, "case %zu, read %d: %d, %s", i, nth, status, text);
    }
    cr_assert(nth > 8, "%d reads were made", nth - 1);
  }
}

Test(weights, a_file_cut_after_it_was_opened) {
  attn2c_source *source;
  const char *path = write_checkpoint();
  cr_assert_eq(open_file(path, &model, &source), ATTN2C_OK);
  cr_assert_eq(truncate(path, 100), 0);
  cr_assert_eq(read_weight(source, 0, numbers), ATTN2C_FORMAT);
  cr_assert_not_null(strstr(text, "when it was opened"), "%s", text);
  cr_assert_eq(read_weight(source, 5, numbers), ATTN2C_OK); /* needs no file */
  attn2c_source_close(source);
}

/* Ten thousand weights, none of which is there, and the same number of a file that has them all. */
Test(weights, many_weights_are_verified_in_a_moment) {
  enum { COUNT = 10000 };
  static char names[COUNT][32];
  static const char *name_lists[COUNT][2];
  static attn2c_weight many[COUNT];
  static attn2c_stored many_stored[COUNT];
  static attn2c_view many_views[COUNT];
  static safetensors_item items[COUNT];
  static const int64_t shape[] = {1};
  const attn2c_descriptor large = {.readers = &all_readers,
                                   .tensors = tensors,
                                   .weights = many,
                                   .stored = many_stored,
                                   .views = many_views,
                                   .tensor_count = 7,
                                   .weight_count = COUNT,
                                   .stored_count = COUNT};
  attn2c_source *source;
  for (int i = 0; i < COUNT; i++) {
    snprintf(names[i], sizeof names[i], "layers.%d.weight", i);
    name_lists[i][0] = names[i];
    many_stored[i] = (attn2c_stored){.names = name_lists[i], .rank = 1, .shape = {1}};
    many_views[i] = (attn2c_view)ROWS(i, 0, 1, 1);
    many[i] = (attn2c_weight){.tensor = 6, .first_view = i, .view_count = 1};
    items[i] = (safetensors_item){names[i], 1, shape, numbers};
  }
  cr_assert_eq(safetensors_write(scratch_path("large"), items, COUNT, NULL), ATTN2C_OK);
  scratch_put(scratch_path("none"), "\2\0\0\0\0\0\0\0{}", 10);
  clock_t start = clock();
  cr_assert_eq(open_file(scratch_path("large"), &large, &source), ATTN2C_OK, "%s", text);
  cr_assert_eq(attn2c_source_unused(source), 0);
  attn2c_source_close(source);
  cr_assert_eq(open_file(scratch_path("none"), &large, &source), ATTN2C_FORMAT);
  cr_assert_not_null(strstr(text, "layers.7.weight: missing\nand 9992 more of 10000 tensors do not fit"),
                     "%s", text);
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  cr_assert_lt(seconds, 2.0, "%g s", seconds);
}
