/* test_sizes.c - arrays of the caller's size for a model that takes any: which shapes they have, which sizes
 * are refused, and what is said of a number out of range. */
#include "program/sizes.h"

#include <criterion/criterion.h>
#include <string.h>

#include "formats/npy.h"
#include "program/inputs.h"
#include "scratch.h"

enum { BATCH = 2, SEQ = 8, PAST = 2, WIDTH = 4, VOCABULARY = 9 };
enum { IDS, MASK, ROWS, FLOATS };

static const attn2c_tensor tensors[] = {
    {"ids", ATTN2C_INPUT, ATTN2C_I32, 2, {BATCH, SEQ}, 0, VOCABULARY, -1, 0},
    {"mask", ATTN2C_INPUT, ATTN2C_I32, 2, {BATCH, SEQ + PAST}, 0, 2, -1, 0},
    {"rows", ATTN2C_INPUT, ATTN2C_I32, 1, {BATCH}, 1, SEQ + 1, -1, 0},
    {"floats", ATTN2C_INPUT, ATTN2C_F32, 3, {BATCH, SEQ, WIDTH}, 0, 0, -1, 0},
    {"y", ATTN2C_OUTPUT, ATTN2C_F32, 3, {BATCH, SEQ, WIDTH}, 0, 0, -1, 0},
};
static const int inputs[] = {0, 1, 2, 3}, outputs[] = {4};
static const attn2c_entry entry = {
    .name = "forward", .inputs = inputs, .outputs = outputs, .input_count = 4, .output_count = 1};
static const attn2c_axes input_axes[] = {{0, 1, -1, ATTN2C_HIDES_NOTHING},
                                         {0, -1, 1, ATTN2C_HIDES_ZEROS},
                                         {0, -1, -1, ATTN2C_HIDES_AFTER},
                                         {0, 1, -1, ATTN2C_HIDES_NOTHING}},
                         output_axes[] = {{0, 1, -1, ATTN2C_HIDES_NOTHING}};
static const attn2c_size entry_size = {BATCH, SEQ};

static attn2c_lengths lengths;
static attn2c_descriptor model;
static attn2c_program program;
static char said[400];

static void setup(void) {
  scratch_open();
  lengths = (attn2c_lengths){input_axes, output_axes, &entry_size, 1, NULL};
  model = (attn2c_descriptor){.name = "m",
                              .entries = &entry,
                              .tensors = tensors,
                              .entry_count = 1,
                              .tensor_count = 5,
                              .is_open = 1,
                              .lengths = &lengths};
  program = (attn2c_program){.model = &model};
}

TestSuite(sizes, .init = setup, .fini = scratch_close);

static attn2c_sizes opened(void) {
  attn2c_sizes sizes;
  cr_assert_eq(attn2c_sizes_open(&program, &sizes, NULL), ATTN2C_OK);
  return sizes;
}

/* Reads an input of a shape; every number of it is `value`. */
static int given(attn2c_sizes *sizes, int index, int rank, const int64_t *shape, int value) {
  static float floats[1000];
  static int32_t integers[1000];
  const attn2c_type type = tensors[inputs[index]].type;
  const char *path = scratch_path("input.npy");
  void *values;
  for (int i = 0; i < 1000; i++) floats[i] = (float)value, integers[i] = value;
  cr_assert_eq(
      attn2c_npy_write(path, type, rank, shape, type == ATTN2C_F32 ? (void *)floats : integers, NULL),
      ATTN2C_OK);
  attn2c_message message = attn2c_message_make(said, sizeof said);
  const int status = attn2c_sizes_read(sizes, index, path, &values, &message);
  cr_assert_eq(status == ATTN2C_OK, values != NULL);
  attn2c_free(values);
  return status;
}

static void shape_is(const attn2c_sizes *sizes, int is_input, int index, int64_t first, int64_t second) {
  const attn2c_tensor tensor = attn2c_sizes_tensor(sizes, is_input, index);
  cr_expect_eq(tensor.shape[0], first);
  if (tensor.rank > 1) cr_expect_eq(tensor.shape[1], second);
}

Test(sizes, an_input_sets_them_for_all_arrays) {
  attn2c_sizes sizes = opened();
  shape_is(&sizes, 1, MASK, BATCH, SEQ + PAST);
  cr_assert_eq(given(&sizes, IDS, 2, (const int64_t[]){3, 5}, 8), ATTN2C_OK, "%s", said);
  cr_expect_eq(sizes.batch, 3);
  cr_expect_eq(sizes.seq, 5);
  shape_is(&sizes, 1, IDS, 3, 5);
  shape_is(&sizes, 1, MASK, 3, 5 + PAST);
  shape_is(&sizes, 1, ROWS, 3, 0);
  shape_is(&sizes, 0, 0, 3, 5);
  cr_expect_eq(given(&sizes, MASK, 2, (const int64_t[]){3, 5 + PAST}, 1), ATTN2C_OK, "%s", said);
  cr_expect_eq(given(&sizes, MASK, 2, (const int64_t[]){3, SEQ + PAST}, 1), ATTN2C_FORMAT);
  cr_expect_eq(given(&sizes, ROWS, 1, (const int64_t[]){3}, 5), ATTN2C_OK, "%s", said);
  cr_expect_eq(given(&sizes, ROWS, 1, (const int64_t[]){3}, SEQ + 1), ATTN2C_FORMAT);
  cr_expect_str_eq(said, "rows[0]: 9, but 1 to 8 is allowed");
  cr_expect_eq(given(&sizes, ROWS, 1, (const int64_t[]){3}, 0), ATTN2C_FORMAT);
  attn2c_sizes_close(&sizes);
}

Test(sizes, that_disagree_are_refused) {
  for (int batch = 1; batch <= 3; batch += 2) {
    attn2c_sizes sizes = opened();
    cr_assert_eq(given(&sizes, IDS, 2, (const int64_t[]){2, 5}, 8), ATTN2C_OK);
    cr_expect_eq(given(&sizes, FLOATS, 3, (const int64_t[]){batch, 5, WIDTH}, 0), ATTN2C_FORMAT);
    cr_expect_str_eq(said, batch == 1 ? "floats: 1 sequences, but ids has 2"
                                      : "floats: 3 sequences, but ids has 2");
    cr_expect_eq(given(&sizes, FLOATS, 3, (const int64_t[]){2, batch + 3, WIDTH}, 0), ATTN2C_FORMAT);
    cr_expect_str_eq(said,
                     batch == 1 ? "floats: 4 tokens, but ids has 5" : "floats: 6 tokens, but ids has 5");
    attn2c_sizes_close(&sizes);
  }
}

Test(sizes, of_an_array_of_another_shape_count_for_nothing) {
  attn2c_sizes sizes = opened();
  cr_expect_eq(given(&sizes, FLOATS, 3, (const int64_t[]){5, 3, WIDTH - 1}, 0), ATTN2C_FORMAT);
  cr_expect_not_null(strstr(said, "[2, 8, 4]"), "%s", said);
  cr_expect_eq(given(&sizes, FLOATS, 2, (const int64_t[]){5, 3}, 0), ATTN2C_FORMAT);
  cr_expect_eq(sizes.batch, 0);
  cr_expect_eq(sizes.seq, 0);
  attn2c_sizes_settle(&sizes);
  cr_expect_eq(sizes.batch, BATCH);
  cr_expect_eq(sizes.seq, SEQ);
  attn2c_sizes_close(&sizes);
}

/* Whether a call of some tokens is allowed. */
static int allows(int64_t seq) {
  attn2c_sizes sizes = opened();
  const int status = given(&sizes, IDS, 2, (const int64_t[]){1, seq}, 0);
  attn2c_sizes_close(&sizes);
  cr_expect(status == ATTN2C_OK || status == ATTN2C_FORMAT);
  return status == ATTN2C_OK;
}

Test(sizes, are_bounded_by_the_entry) {
  cr_expect(allows(SEQ) && !allows(SEQ + 1));
  cr_expect_not_null(strstr(said, "9 tokens, but 1 to 8 are allowed"), "%s", said);
  lengths.least = 3;
  cr_expect(allows(3) && !allows(2));
  cr_expect_not_null(strstr(said, "2 tokens, but 3 to 8 are allowed"), "%s", said);
}

Test(sizes, of_a_model_of_one_length_are_its_own) {
  model.is_open = 0, model.lengths = NULL, program.lengths = &lengths;
  cr_expect(allows(SEQ) && !allows(SEQ - 1));
  cr_expect_not_null(strstr(said, "7 tokens, but 8 are expected"), "%s", said);
  cr_expect(!allows(SEQ + 1));
}

Test(sizes, a_number_out_of_range_has_its_place) {
  int32_t values[3 * SEQ] = {0};
  attn2c_message message = attn2c_message_make(said, sizeof said);
  values[SEQ + 3] = VOCABULARY;
  cr_expect_eq(attn2c_input_in_range(&tensors[IDS], values, 2, &message), ATTN2C_FORMAT);
  cr_expect_str_eq(said, "ids[1][3]: 9, but 0 to 8 is allowed");
  values[SEQ + 3] = VOCABULARY - 1, values[2 * SEQ + 7] = -1;
  message = attn2c_message_make(said, sizeof said);
  cr_expect_eq(attn2c_input_in_range(&tensors[IDS], values, 2, &message), ATTN2C_OK);
  cr_expect_eq(attn2c_input_in_range(&tensors[IDS], values, 3, &message), ATTN2C_FORMAT);
  cr_expect_str_eq(said, "ids[2][7]: -1, but 0 to 8 is allowed");
}

Test(sizes, an_entry_has_a_name) {
  attn2c_message message = attn2c_message_make(said, sizeof said);
  cr_expect_eq(attn2c_entry_find(&model, NULL, &message), 0);
  cr_expect_eq(attn2c_entry_find(&model, "forward", &message), 0);
  cr_expect_eq(attn2c_entry_find(&model, "forward_8", &message), -1);
  cr_expect_not_null(strstr(said, "known: forward"), "%s", said);
  const attn2c_entry two[] = {{.name = "forward_4"}, {.name = "forward_8"}};
  model.entries = two, model.entry_count = 2;
  cr_expect_eq(attn2c_entry_find(&model, NULL, &message), 1, "the largest is the usual one");
  cr_expect_eq(attn2c_entry_find(&model, "forward_4", &message), 0);
}
