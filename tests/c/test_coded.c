/* test_coded.c - tensors as codes with scales and zero points: the values of every form to the bit, against
 * their definition (tests/hf/quantised_files.py); parts that are missing, of another shape or damaged are
 * refused in one line that names them. */
#define _GNU_SOURCE
#include "readers.h"
#include "faults.h"
#include "scratch.h"
#include "reading/checkpoint.h"
#include "packing/scale_blocks.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUT = 32, IN = 128, ALL = OUT * IN };

/* The type in scale blocks that holds a layer's numbers; f32: it has no such blocks. */
static const struct {
  const char *name;
  const struct attn2c_coding *coding;
  attn2c_type blocks;
} layers[] = {{"gptq", &attn2c_gptq, ATTN2C_Q4},
              {"gptq_asymmetric", &attn2c_gptq, ATTN2C_Q4F},
              {"gptq_order", &attn2c_gptq, ATTN2C_F32},
              {"gptq_order_32", &attn2c_gptq, ATTN2C_F32},
              {"gptq_one_group", &attn2c_gptq, ATTN2C_Q4F},
              {"gptq_8", &attn2c_gptq, ATTN2C_Q8F},
              {"gptq_2", &attn2c_gptq, ATTN2C_Q4F},
              {"gptq_v2", &attn2c_gptq_v2, ATTN2C_Q4F},
              {"awq", &attn2c_awq, ATTN2C_Q4F},
              {"awq_one_group", &attn2c_awq, ATTN2C_Q4F},
              {"compressed", &attn2c_compressed_tensors, ATTN2C_Q4F},
              {"compressed_asymmetric", &attn2c_compressed_tensors, ATTN2C_Q4F},
              {"compressed_order", &attn2c_compressed_tensors, ATTN2C_F32},
              {"compressed_8", &attn2c_compressed_tensors, ATTN2C_Q8F},
              {"compressed_bytes", &attn2c_compressed_tensors, ATTN2C_Q8F},
              {"compressed_tensor", &attn2c_compressed_tensors, ATTN2C_Q8}};
enum { LAYERS = sizeof layers / sizeof *layers };

static char text[2048];
static unsigned char bytes[1 << 16];
static size_t size;
static float values[ALL];

static attn2c_message quiet(void) { return attn2c_message_make(text, sizeof text); }

static const char *path_of(const char *name) {
  static char path[100];
  snprintf(path, sizeof path, "tests/hf/quantised/%s.safetensors", name);
  return path;
}

static void load(const char *name) { size = scratch_get(path_of(name), bytes, sizeof bytes); }

/* Opens `bytes` and reads all values; the status of the first that fails. */
static int read_all(const struct attn2c_coding *coding) {
  attn2c_message message = quiet();
  attn2c_checkpoint *file;
  int status = attn2c_checkpoint_open_memory(bytes, size, readers_with(coding), &file, &message);
  if (status) return status;
  const int found = attn2c_checkpoint_find(file, "layer.weight");
  const attn2c_file_tensor *tensor = found >= 0 ? attn2c_checkpoint_tensor(file, found) : NULL;
  if (tensor && tensor->elements <= ALL)
    status = attn2c_checkpoint_read(file, found, 0, tensor->elements, values, &message);
  attn2c_checkpoint_close(file);
  return status;
}

Test(coded, values_are_those_of_the_definition) {
  static const int64_t parts[][2] = {{0, ALL}, {0, 1}, {ALL - 1, 1}, {31, 2}, {100, 700}, {IN, IN}, {ALL, 0}};
  attn2c_message message = quiet();
  attn2c_tensor_file *meant;
  cr_assert_eq(attn2c_tensor_file_open(&attn2c_safetensors_format, path_of("meant"), &meant, &message),
               ATTN2C_OK, "%s", text);
  cr_assert_eq(meant->count, LAYERS);
  for (int l = 0; l < LAYERS; l++) {
    static float expected[ALL];
    attn2c_checkpoint *file;
    const int number = attn2c_tensor_file_find(meant, layers[l].name);
    cr_assert_eq(attn2c_tensor_file_read(meant, number, 0, ALL, expected, &message), ATTN2C_OK);
    cr_assert_eq(
        attn2c_checkpoint_open(path_of(layers[l].name), readers_with(layers[l].coding), &file, &message),
        ATTN2C_OK, "%s", text);
    cr_assert_eq(attn2c_checkpoint_count(file), 1, "%s", layers[l].name);
    cr_assert_eq(attn2c_checkpoint_find(file, "layer.weight"), 0);
    cr_assert_eq(attn2c_checkpoint_find(file, "layer.qweight"), -1);
    const attn2c_file_tensor *tensor = attn2c_checkpoint_tensor(file, 0);
    cr_assert(attn2c_is_readable(tensor->type));
    cr_assert(tensor->rank == 2 && tensor->shape[0] == OUT && tensor->shape[1] == IN);
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
      const int64_t first = parts[p][0], count = parts[p][1];
      cr_assert_eq(attn2c_checkpoint_read(file, 0, first, count, values, &message), ATTN2C_OK, "%s", text);
      cr_assert_arr_eq(values, expected + first, (size_t)count * sizeof *values, "%s, %lld from %lld",
                       layers[l].name, (long long)count, (long long)first);
    }
    cr_assert_eq(attn2c_checkpoint_read(file, 0, ALL - 1, 2, values, &message), ATTN2C_FORMAT);
    const int has = layers[l].blocks != ATTN2C_F32;
    cr_assert_eq(attn2c_checkpoint_has_blocks(file, 0, IN, IN, IN), has, "%s", layers[l].name);
    cr_assert_not(attn2c_checkpoint_has_blocks(file, 0, 8, IN, IN));
    static attn2c_scale_block blocks[ALL / ATTN2C_BLOCK_NUMBERS];
    for (int64_t first = 0; has && first < ALL; first += ALL / 2) {
      cr_assert_eq(attn2c_checkpoint_read_blocks(file, 0, first, ALL / 2, blocks, &message), ATTN2C_OK);
      for (int i = 0; i < ALL / 2; i++) {
        const attn2c_scale_block *block = &blocks[i / ATTN2C_BLOCK_NUMBERS];
        const float number = attn2c_block_number(block, i % ATTN2C_BLOCK_NUMBERS);
        cr_assert_eq(number, expected[first + i], "%s, %lld", layers[l].name, (long long)first + i);
        cr_assert(attn2c_blocks_fit(attn2c_facts_of(layers[l].blocks), block, 1), "%s", layers[l].name);
      }
    }
    attn2c_checkpoint_close(file);
  }
  attn2c_tensor_file_close(meant);
}

/* Reads a layer's values, and its order of inputs, which must have each input once. */
static void read_order(attn2c_checkpoint *file, int number, float *as_stored, int32_t *inputs) {
  attn2c_message message = quiet();
  int has[IN] = {0};
  cr_assert_eq(attn2c_checkpoint_read(file, number, 0, ALL, as_stored, &message), ATTN2C_OK, "%s", text);
  cr_assert_eq(attn2c_checkpoint_order(file, number, IN, inputs, &message), ATTN2C_OK, "%s", text);
  for (int i = 0; i < IN; i++) {
    cr_assert(inputs[i] >= 0 && inputs[i] < IN && !has[inputs[i]], "input %d", inputs[i]);
    has[inputs[i]] = 1;
  }
}

Test(coded, columns_in_groups_have_the_same_values_in_their_order) {
  attn2c_message message = quiet();
  for (int l = 0; l < LAYERS; l++) {
    static float as_stored[ALL];
    int32_t inputs[IN];
    attn2c_checkpoint *file;
    cr_assert_eq(
        attn2c_checkpoint_open(path_of(layers[l].name), readers_with(layers[l].coding), &file, &message),
        ATTN2C_OK, "%s", text);
    const int has_order = strstr(layers[l].name, "order") != NULL;
    const int in_groups = attn2c_checkpoint_in_groups(file, 0);
    read_order(file, 0, as_stored, inputs);
    int moved = 0;
    for (int i = 0; i < IN; i++) moved += inputs[i] != i;
    cr_assert_eq(moved > 0, has_order, "%s", layers[l].name);
    cr_assert_eq(attn2c_checkpoint_tensor(file, in_groups)->elements, ALL);
    cr_assert_eq(attn2c_checkpoint_read(file, in_groups, 0, ALL, values, &message), ATTN2C_OK, "%s", text);
    for (int i = 0; i < ALL; i++)
      cr_assert_eq(values[i], as_stored[i / IN * IN + inputs[i % IN]], "%s, %d", layers[l].name, i);
    /* both are read again, as the codes in memory are one of theirs */
    cr_assert_eq(attn2c_checkpoint_read(file, 0, 0, ALL, values, &message), ATTN2C_OK);
    cr_assert_arr_eq(values, as_stored, sizeof values);
    attn2c_checkpoint_close(file);
  }
}

Test(coded, groups_of_whole_blocks_are_blocks_once_they_are_in_order) {
  static float as_stored[ALL];
  static attn2c_scale_block blocks[ALL / ATTN2C_BLOCK_NUMBERS];
  attn2c_message message = quiet();
  int32_t inputs[IN];
  attn2c_checkpoint *file;
  cr_assert_eq(attn2c_checkpoint_open(path_of("gptq_order_32"), readers_with(&attn2c_gptq), &file, &message),
               ATTN2C_OK);
  read_order(file, 0, as_stored, inputs);
  const int in_groups = attn2c_checkpoint_in_groups(file, 0);
  cr_assert_not(attn2c_checkpoint_has_blocks(file, 0, 0, IN, IN));
  cr_assert(attn2c_checkpoint_has_blocks(file, in_groups, 0, IN, IN));
  cr_assert_eq(attn2c_checkpoint_read_blocks(file, in_groups, 0, ALL, blocks, &message), ATTN2C_OK, "%s",
               text);
  for (int i = 0; i < ALL; i++) {
    const attn2c_scale_block *block = &blocks[i / ATTN2C_BLOCK_NUMBERS];
    cr_assert_eq(attn2c_block_number(block, i % ATTN2C_BLOCK_NUMBERS),
                 as_stored[i / IN * IN + inputs[i % IN]], "%d", i);
    cr_assert(attn2c_blocks_fit(attn2c_facts_of(ATTN2C_Q4F), block, 1));
  }
  attn2c_checkpoint_close(file);
  cr_assert_eq(attn2c_checkpoint_open(path_of("gptq_order"), readers_with(&attn2c_gptq), &file, &message),
               ATTN2C_OK);
  cr_assert_not(attn2c_checkpoint_has_blocks(file, attn2c_checkpoint_in_groups(file, 0), 0, IN, IN),
                "groups of 16");
  attn2c_checkpoint_close(file);
}

/* Writes an integer over the first of a tensor's. */
static void put_first(const char *name, const struct attn2c_coding *coding, const char *part,
                      const void *value, size_t wide) {
  attn2c_message message = quiet();
  attn2c_checkpoint *file;
  load(name);
  cr_assert_eq(attn2c_checkpoint_open_memory(bytes, size, readers_with(coding), &file, &message), ATTN2C_OK,
               "%s", text);
  const attn2c_file_tensor *tensor = attn2c_checkpoint_plain(file, attn2c_checkpoint_find_plain(file, part));
  uint64_t header;
  memcpy(&header, bytes, sizeof header);
  memcpy(bytes + sizeof header + header + tensor->begin, value, wide);
  attn2c_checkpoint_close(file);
}

Test(coded, the_order_of_groups_of_other_sizes_has_each_input_once) {
  static float as_stored[ALL];
  attn2c_message message = quiet();
  int32_t inputs[IN];
  attn2c_checkpoint *file;
  const int32_t group = 1; /* the file has group 0 for the first input */
  put_first("gptq_order_32", &attn2c_gptq, "layer.g_idx", &group, sizeof group);
  cr_assert_eq(attn2c_checkpoint_open_memory(bytes, size, readers_with(&attn2c_gptq), &file, &message),
               ATTN2C_OK);
  const int in_groups = attn2c_checkpoint_in_groups(file, 0);
  cr_assert_not(attn2c_checkpoint_has_blocks(file, in_groups, 0, IN, IN));
  read_order(file, 0, as_stored, inputs);
  cr_assert_eq(attn2c_checkpoint_read(file, in_groups, 0, ALL, values, &message), ATTN2C_OK, "%s", text);
  for (int i = 0; i < ALL; i++) cr_assert_eq(values[i], as_stored[i / IN * IN + inputs[i % IN]], "%d", i);
  attn2c_checkpoint_close(file);
}

/* Replaces a text of the header by another of the same length. */
static void replace(const char *from, const char *to) {
  cr_assert_eq(strlen(from), strlen(to));
  unsigned char *at = memmem(bytes, size, from, strlen(from));
  cr_assert_not_null(at, "%s", from);
  memcpy(at, to, strlen(to));
}

static void refuse(const char *name, const struct attn2c_coding *coding, const char *from, const char *to,
                   const char *line) {
  load(name);
  replace(from, to);
  faults_clear();
  cr_assert_eq(read_all(coding), ATTN2C_FORMAT, "%s: %s", to, text);
  cr_assert_not_null(strstr(text, line), "%s: %s", to, text);
  cr_assert_null(strchr(text, '\n'), "%s", text);
  cr_assert_eq(faults_live_blocks(), 0);
}

Test(coded, parts_that_do_not_fit_are_named) {
  const struct attn2c_coding *const gptq = &attn2c_gptq, *const awq = &attn2c_awq,
                                    *const other = &attn2c_compressed_tensors;
  refuse("gptq", gptq, "layer.scales", "layer.scalez",
         "layer.scales: missing, but the tensor is one of GPTQ");
  refuse("gptq", gptq, "layer.qzeros", "layer.qzeroz",
         "layer.qzeros: missing, but the tensor is one of GPTQ");
  refuse("gptq", gptq, "[16,32]", "[32,16]", "layer.qweight: I32 [32, 16], but a code for each input");
  refuse("gptq", gptq, "[4,4]", "[2,8]", "layer.qzeros: I32 [2, 8], but one zero point");
  refuse("gptq", gptq, "[4,32]", "[32,4]", "layer.qzeros: I32 [4, 4], but one zero point");
  refuse("gptq", awq, "layer.g_idx", "layer.g_idx", "layer.qweight: I32 [16, 32], but a code for each input");
  refuse("awq", gptq, "layer.scales", "layer.scales",
         "layer.qweight: I32 [128, 4], but a code for each input");
  refuse("gptq_8", awq, "layer.g_idx", "layer.g_idx",
         "layer.qzeros: I32 [2, 8], but one zero point of 4 bits");
  refuse("compressed", other, "[32,16]", "[16,32]", "layer.weight_packed: I32 [16, 32], but codes of");
  refuse("compressed", other, "layer.weight_shape", "layer.weight_shapz", "layer.weight_shape: missing");
  refuse("compressed_asymmetric", other, "[4,4]", "[2,8]", "[2, 8]");
}

Test(coded, an_order_of_two_axes_is_refused) {
  load("gptq");
  unsigned char *at = memmem(bytes, size, "[128]", 5), *end = memmem(bytes, size, "}} ", 3);
  cr_assert(at && end);
  memmove(at + 6, at + 5, (size_t)(end + 2 - (at + 5)));
  memcpy(at, "[8,16]", 6);
  cr_assert_eq(read_all(&attn2c_gptq), ATTN2C_FORMAT);
  cr_assert_str_eq(text, "layer.g_idx: I32 [8, 16], but I32 with a group for each input is expected");
}

Test(coded, numbers_that_do_not_fit_are_named) {
  const int32_t group = 8, below = -1;
  const int64_t stated = 31, negative = -32;
  put_first("gptq_order", &attn2c_gptq, "layer.g_idx", &group, sizeof group);
  cr_assert_eq(read_all(&attn2c_gptq), ATTN2C_FORMAT);
  cr_assert_str_eq(text, "layer.g_idx: group 8 of input 0, but the tensor has 8 groups");
  put_first("compressed_order", &attn2c_compressed_tensors, "layer.weight_g_idx", &below, sizeof below);
  cr_assert_eq(read_all(&attn2c_compressed_tensors), ATTN2C_FORMAT);
  cr_assert_str_eq(text, "layer.weight_g_idx: group -1 of input 0, but the tensor has 8 groups");
  put_first("compressed", &attn2c_compressed_tensors, "layer.weight_shape", &stated, sizeof stated);
  cr_assert_eq(read_all(&attn2c_compressed_tensors), ATTN2C_FORMAT);
  cr_assert_not_null(strstr(text, "layer.weight_packed: I32 [32, 16], but codes of"), "%s", text);
  put_first("compressed", &attn2c_compressed_tensors, "layer.weight_shape", &negative, sizeof negative);
  cr_assert_eq(read_all(&attn2c_compressed_tensors), ATTN2C_FORMAT);
  cr_assert_not_null(strstr(text, "layer.weight_shape: says -32 and 128"), "%s", text);
}

Test(coded, every_changed_byte_of_a_header_is_taken_or_refused) {
  static const unsigned char changed[] = {'0', '9', ',', '"', 'x', 0x80};
  for (int l = 0; l < LAYERS; l += 2) {
    load(layers[l].name);
    uint64_t header;
    memcpy(&header, bytes, sizeof header);
    for (size_t at = 0; at < 8 + header; at++) {
      const unsigned char kept = bytes[at];
      bytes[at] = changed[at % sizeof changed];
      const int status = read_all(layers[l].coding);
      cr_assert(status == ATTN2C_OK || status == ATTN2C_FORMAT, "%s, byte %zu", layers[l].name, at);
      cr_assert(status == ATTN2C_OK || strlen(text) > 20);
      bytes[at] = kept;
    }
  }
}

Test(coded, whatever_fails_has_a_status_and_leaves_nothing) {
  load("gptq_order");
  for (long nth = 1;; nth++) {
    faults_clear();
    faults_allocation(nth, 1);
    const int status = read_all(&attn2c_gptq);
    const long met = faults_met();
    cr_assert_eq(faults_live_blocks(), 0, "allocation %ld", nth);
    if (met == 0) break;
    cr_assert_eq(status, ATTN2C_MEMORY, "allocation %ld", nth);
    cr_assert_not_null(strstr(text, "out of memory"), "%s", text);
  }
  faults_clear();
}
