/* test_packed.c - files of packed weights: written, mapped, copied and used in place; cut, spoiled and of
 * another model, each refused with one line; and what failing reads, mappings and allocations leave. */
#define _DEFAULT_SOURCE
#include "readers.h"
#include "faults.h"
#include "base/checksum.h"
#include "model/load.h"
#include "model/model.h"
#include "safetensors_write.h"
#include "scratch.h"
#include "packing/packed_header.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WEIGHTS = 3, AT_ROWS = 5 * 48, AT_LIST = AT_ROWS + 48, ALL = AT_LIST + 16 };
enum { HEADER = ATTN2C_PACKED_HEADER, FILE_BYTES = HEADER + ALL * 4 };

static const attn2c_tensor tensors[WEIGHTS] = {
    {.name = "panels", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {38, 5}},
    {.name = "rows", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {7, 6}},
    {.name = "list", .kind = ATTN2C_CONSTANT, .rank = 1, .shape = {3}},
};
static const char *const panel_names[] = {"panels", NULL}, *const row_names[] = {"rows", "old.rows", NULL};
static const attn2c_stored stored[] = {{.names = panel_names, .rank = 2, .shape = {38, 5}},
                                       {.names = row_names, .rank = 2, .shape = {7, 6}}};
static const attn2c_view views[] = {
    {.stored = 0, .rows = 38, .columns = 5, .row_step = 5, .column_step = 1, .factor = 1},
    {.stored = 1, .rows = 7, .columns = 6, .row_step = 6, .column_step = 1, .factor = 0.5}};
static const attn2c_weight weights[] = {
    {.tensor = 0, .view_count = 1, .random_deviation = 1, .panel = 32, .panel_count = 1, .tail = {6, 0}},
    {.tensor = 1, .first_view = 1, .view_count = 1, .random_deviation = 1, .offset = AT_ROWS},
    {.tensor = 2, .formula = "list 1 2 3", .offset = AT_LIST},
};
static const attn2c_kernel_shape no_kernels[1];
static const attn2c_descriptor model = {.readers = &all_readers,
                                        .name = "tiny",
                                        .description_hash = "0123456789abcdef",
                                        .target = "base",
                                        .tensors = tensors,
                                        .weights = weights,
                                        .kernels = no_kernels,
                                        .stored = stored,
                                        .views = views,
                                        .stored_count = 2,
                                        .tensor_count = WEIGHTS,
                                        .weight_count = WEIGHTS,
                                        .weight_floats = ALL,
                                        .threads = 1};

static char text[2000];
static float block[ALL];
static unsigned char bytes[FILE_BYTES + 8];

static attn2c_message fresh(void) { return attn2c_message_make(text, sizeof text); }

static void setup(void) {
  attn2c_message message = fresh();
  attn2c_source *source;
  scratch_open();
  cr_assert_eq(attn2c_source_random(3, &model, &source, &message), ATTN2C_OK, "%s", text);
  cr_assert_eq(attn2c_load_weights(&model, source, block, 1, &message), ATTN2C_OK);
  attn2c_source_close(source);
  cr_assert_eq(attn2c_packed_write(scratch_path("w"), &model, block, &message), ATTN2C_OK, "%s", text);
  cr_assert_eq(scratch_get(scratch_path("w"), bytes, sizeof bytes), FILE_BYTES);
}

static void teardown(void) {
  faults_clear();
  scratch_close();
}

TestSuite(packed, .init = setup, .fini = teardown);

/* One line that ends with what to do. */
static void assert_said(const char *fragment) {
  static const char end[] = "; pack them again: tiny pack --weights CHECKPOINT -o FILE";
  cr_assert(strstr(text, fragment), "no '%s' in '%s'", fragment, text);
  cr_assert_null(strchr(text, '\n'), "%s", text);
  cr_assert(strlen(text) > sizeof end && strcmp(text + strlen(text) - sizeof end + 1, end) == 0, "%s", text);
}

typedef enum { BY_PATH, FROM_MEMORY, IN_PLACE, WAYS } way;

/* Opens `size` of the bytes for a model. */
static int open_by(way how, const attn2c_descriptor *of, size_t size, attn2c_source **source) {
  static _Alignas(64) unsigned char place[sizeof bytes];
  static attn2c_embedded embedded;
  static attn2c_descriptor with;
  attn2c_message message = fresh();
  switch (how) {
  case BY_PATH:
    scratch_put(scratch_path("x"), bytes, size);
    return attn2c_source_file(scratch_path("x"), of, source, &message);
  case FROM_MEMORY:
    return attn2c_source_memory(bytes, size, of, source, &message);
  default:
    memcpy(place, bytes, size);
    embedded = (attn2c_embedded){place, place + size};
    with = *of;
    with.embedded = &embedded;
    return attn2c_source_embedded(&with, source, &message);
  }
}

Test(packed, gives_the_block_and_every_weight_by_any_way) {
  attn2c_source *random, *source;
  attn2c_message message = fresh();
  cr_assert_eq(attn2c_source_random(3, &model, &random, &message), ATTN2C_OK);
  for (way how = 0; how < WAYS; how++) {
    cr_assert_eq(open_by(how, &model, FILE_BYTES, &source), ATTN2C_OK, "%s", text);
    attn2c_packed *packed = attn2c_source_packed(source);
    cr_assert_not_null(packed);
    cr_assert_eq(memcmp(attn2c_packed_block(packed), block, sizeof block), 0);
    cr_assert_eq((uintptr_t)attn2c_packed_block(packed) % ATTN2C_ALIGNMENT, 0);
    cr_assert_eq(attn2c_packed_verify(packed, &message), ATTN2C_OK);
    cr_assert_eq(attn2c_packed_owned(packed) != NULL, how == FROM_MEMORY);
    for (int w = 0; w < WEIGHTS; w++) {
      float want[200], got[200];
      const size_t size = (size_t)attn2c_elements(&tensors[w]) * sizeof(float);
      cr_assert_eq(attn2c_source_read(random, w, want, &message), ATTN2C_OK);
      cr_assert_eq(attn2c_source_read(source, w, got, &message), ATTN2C_OK);
      cr_assert_eq(memcmp(want, got, size), 0, "%s by way %d", tensors[w].name, how);
    }
    cr_assert_eq(attn2c_source_unused(source), 0);
    attn2c_source_close(source);
  }
  attn2c_source_close(random);
}

Test(packed, a_model_takes_the_block_as_it_is_and_keeps_it) {
  for (way how = 0; how < WAYS; how++) {
    attn2c_source *source;
    attn2c_model *opened;
    attn2c_message message = fresh();
    faults_clear();
    cr_assert_eq(open_by(how, &model, FILE_BYTES, &source), ATTN2C_OK);
    cr_assert_eq(attn2c_model_open(&model, source, 0, &opened, &message), ATTN2C_OK, "%s", text);
    cr_assert_eq(opened->weights, attn2c_packed_block(attn2c_source_packed(source)));
    attn2c_source_close(source);
    cr_assert_eq(memcmp(opened->weights, block, sizeof block), 0);
    cr_assert_eq(faults_live_maps(), how == BY_PATH);
    attn2c_model_close(opened);
    cr_assert_eq(faults_live_maps(), 0);
    cr_assert_eq(faults_live_blocks(), 0);
  }
}

Test(packed, an_own_copy_may_be_written_and_the_file_stays) {
  attn2c_source *source;
  cr_assert_eq(open_by(BY_PATH, &model, FILE_BYTES, &source), ATTN2C_OK);
  attn2c_packed *packed = attn2c_source_packed(source);
  float *own = attn2c_packed_own(packed);
  cr_assert_eq(own, attn2c_packed_block(packed));
  cr_assert_eq(own, attn2c_packed_own(packed));
  own[7] += 1;
  attn2c_source_close(source);
  unsigned char after[FILE_BYTES];
  cr_assert_eq(scratch_get(scratch_path("x"), after, sizeof after), FILE_BYTES);
  cr_assert_eq(memcmp(after, bytes, sizeof after), 0);
}

Test(packed, cut_anywhere_or_longer_is_refused) {
  for (way how = 0; how < WAYS; how++) {
    attn2c_source *source;
    for (size_t size = 0; size < FILE_BYTES; size += size < HEADER || size > FILE_BYTES - 9 ? 1 : 61) {
      if (how == BY_PATH && size > 70 && size < HEADER - 70 && size % 53) continue;
      cr_assert_eq(open_by(how, &model, size, &source), ATTN2C_FORMAT, "%zu bytes by way %d: %s", size, how,
                   text);
      cr_assert_null(source);
      cr_assert_null(strchr(text, '\n'), "%s", text);
      if (size >= ATTN2C_PACKED_MAGIC) assert_said("cut");
    }
    for (size_t size = FILE_BYTES + 1; size < sizeof bytes; size++) {
      cr_assert_eq(open_by(how, &model, size, &source), ATTN2C_FORMAT);
      assert_said("too long");
    }
  }
}

Test(packed, every_spoiled_byte_of_the_header_is_seen_at_once) {
  attn2c_source *source;
  for (int at = 0; at < HEADER; at++) {
    const unsigned char before = bytes[at];
    for (int bit = 0; bit < 8; bit += at < 400 ? 1 : 5) {
      bytes[at] = (unsigned char)(before ^ 1 << bit);
      cr_assert_eq(open_by(IN_PLACE, &model, FILE_BYTES, &source), ATTN2C_FORMAT, "byte %d, bit %d", at, bit);
      cr_assert_null(strchr(text, '\n'), "%s", text);
    }
    bytes[at] = before;
  }
}

Test(packed, every_spoiled_byte_of_the_block_is_seen_by_verifying) {
  attn2c_source *source;
  attn2c_message message;
  for (int at = HEADER; at < FILE_BYTES; at++) {
    bytes[at] ^= (unsigned char)(1 << at % 8);
    cr_assert_eq(open_by(IN_PLACE, &model, FILE_BYTES, &source), ATTN2C_OK);
    message = fresh();
    cr_assert_eq(attn2c_packed_verify(attn2c_source_packed(source), &message), ATTN2C_FORMAT, "byte %d", at);
    assert_said("damaged");
    attn2c_source_close(source);
    bytes[at] ^= (unsigned char)(1 << at % 8);
  }
}

/* Header fields that a hostile file has, with a checksum that fits. */
static void put_field(int at, const void *value, size_t size) {
  memcpy(bytes + at, value, size);
  const uint64_t sum = attn2c_checksum(0, bytes, HEADER - 8);
  memcpy(bytes + HEADER - 8, &sum, sizeof sum);
}

Test(packed, says_what_differs) {
  unsigned char whole[FILE_BYTES];
  memcpy(whole, bytes, sizeof whole);
  static char endless[256];
  memset(endless, 'x', sizeof endless);
  const struct {
    int at;
    const void *value;
    size_t size;
    const char *said;
  } cases[] = {
      {16, &(uint32_t){2}, 4, "format 2 is not supported, only 1 is"},
      {20, &(uint32_t){3}, 4, "of type bf16, but this model's are f32"},
      {20, &(uint32_t){1u << 30}, 4, "of type unknown"},
      {24, &(uint64_t){(uint64_t)1 << 62}, 8, "the block has 4611686018427387904 bytes"},
      {24, &(uint64_t){0}, 8, "the block has 0 bytes"},
      {40, &(uint64_t){1}, 8,
       "for a build with other tile parameters or factors (from other files, or another version of attn2c)"},
      {48, "fedcba9876543210", 17,
       "for another description of tiny (fedcba9876543210; this is 0123456789abcdef)"},
      {112, "other", 6, "for another model, other; this is tiny"},
      {112, "\33[31mred", 9, "for another model, ?[31mred; this is tiny"},
      {112, endless, sizeof endless, "xxxx; this is tiny"},
      {48, endless, 32, "for another description"},
  };
  attn2c_source *source;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (way how = 0; how < WAYS; how++) {
      memcpy(bytes, whole, sizeof whole);
      put_field(cases[i].at, cases[i].value, cases[i].size);
      cr_assert_eq(open_by(how, &model, FILE_BYTES, &source), ATTN2C_FORMAT, "%s", cases[i].said);
      assert_said(cases[i].said);
    }
}

/* The bytes are the same, and the target is not what decides that. */
Test(packed, of_another_target_with_the_same_layout_is_taken) {
  attn2c_source *source;
  put_field(80, "avx2", 5);
  for (way how = 0; how < WAYS; how++) {
    cr_assert_eq(open_by(how, &model, FILE_BYTES, &source), ATTN2C_OK);
    attn2c_source_close(source);
  }
  put_field(40, &(uint64_t){1}, 8);
  for (way how = 0; how < WAYS; how++) {
    cr_assert_eq(open_by(how, &model, FILE_BYTES, &source), ATTN2C_FORMAT);
    assert_said("for another target, avx2; this build is for base");
  }
}

/* Every part of a descriptor that decides the block decides the layout, and nothing else does. */
Test(packed, the_layout_is_of_all_that_decides_the_block) {
  attn2c_tensor other_tensors[WEIGHTS];
  attn2c_stored other_stored[2];
  attn2c_view other_views[2];
  attn2c_weight other_weights[WEIGHTS];
  static const char *const names[] = {"rows", "older.rows", NULL}, *const fewer[] = {"rows", NULL};
  const uint64_t layout = attn2c_layout(&model);
  for (int change = 0;; change++) {
    attn2c_descriptor other = model;
    other.tensors = memcpy(other_tensors, tensors, sizeof tensors);
    other.stored = memcpy(other_stored, stored, sizeof stored);
    other.views = memcpy(other_views, views, sizeof views);
    other.weights = memcpy(other_weights, weights, sizeof weights);
    int is_other = 1;
    switch (change) {
    case 0:
      other_tensors[0].name = "panel";
      break;
    case 1:
      other_tensors[0].shape[0] = 5, other_tensors[0].shape[1] = 38;
      break;
    case 2:
      other_tensors[1].rank = 3;
      break;
    case 3:
      other_stored[1].names = names;
      break;
    case 4:
      other_stored[1].names = fewer;
      break;
    case 5:
      other_stored[0].shape[1]++;
      break;
    case 6:
      other_views[0].flags = ATTN2C_VIEW_ADDED;
      break;
    case 7:
      other_views[0].row++;
      break;
    case 8:
      other_views[0].rows--;
      break;
    case 9:
      other_views[0].column++;
      break;
    case 10:
      other_views[0].columns--;
      break;
    case 11:
      other_views[1].first++;
      break;
    case 12:
      other_views[1].row_step--;
      break;
    case 13:
      other_views[1].column_step = 7;
      break;
    case 14:
      other_views[1].factor = 0.25;
      break;
    case 15:
      other_views[1].stored = 0;
      break;
    case 16:
      other_weights[0].panel = 38;
      break;
    case 17:
      other_weights[0].panel_count = 0;
      break;
    case 18:
      other_weights[0].tail[0] = 0, other_weights[0].tail[1] = 6;
      break;
    case 19:
      other_weights[1].offset += 16;
      break;
    case 20:
      other_weights[2].formula = "list 1 2 4";
      break;
    case 21:
      other_weights[0].view_count = 2;
      break;
    case 22:
      other.weight_floats += 16;
      break;
    case 23:
      other.weight_count--;
      break;
    case 24:
      is_other = 0, other_weights[0].random_mean = 1, other.threads = 8, other.target = "avx2";
      break;
    case 25:
      is_other = 0, other.arena_floats = 99, other.name = "x";
      break;
    default:
      return;
    }
    cr_assert_eq(attn2c_layout(&other) != layout, is_other, "change %d", change);
  }
}

Test(packed, a_checksum_sees_order_length_and_every_bit) {
  unsigned char some[100] = {0};
  uint64_t seen[101];
  for (size_t size = 0; size <= sizeof some; size++) { /* zeros, too */
    seen[size] = attn2c_checksum(0, some, size);
    for (size_t i = 0; i < size; i++) cr_assert_neq(seen[i], seen[size]);
  }
  for (size_t bit = 0; bit < 800; bit++) {
    some[bit / 8] ^= (unsigned char)(1 << bit % 8);
    cr_assert_neq(attn2c_checksum(0, some, sizeof some), seen[100]);
    some[bit / 8] ^= (unsigned char)(1 << bit % 8);
  }
  some[0] = 1;
  const uint64_t first = attn2c_checksum(0, some, sizeof some);
  some[0] = 0, some[8] = 1;
  cr_assert_neq(attn2c_checksum(0, some, sizeof some), first);
  cr_assert_neq(attn2c_checksum(1, some, sizeof some), attn2c_checksum(0, some, sizeof some));
}

Test(packed, no_file_that_is_none_is_mapped) {
  attn2c_source *source;
  attn2c_message message = fresh();
  static const char safetensors[] = "\x2\0\0\0\0\0\0\0{}";
  scratch_put(scratch_path("empty"), safetensors, 10);
  cr_assert_eq(attn2c_source_file(scratch_path("empty"), &model, &source, &message), ATTN2C_FORMAT);
  cr_assert(strstr(text, "missing"), "%s", text);
  message = fresh();
  cr_assert_eq(attn2c_source_file("/dev/zero", &model, &source, &message), ATTN2C_IO);
  cr_assert(strstr(text, "is not a regular file"), "%s", text);
  cr_assert_eq(faults_live_maps(), 0);
}

Test(packed, whatever_fails_is_one_line_and_leaves_nothing) {
  static const struct {
    int error, status;
  } maps[] = {{ENOMEM, ATTN2C_MEMORY}, {ENODEV, ATTN2C_IO}, {EACCES, ATTN2C_IO}};
  const char *path = scratch_path("w");
  attn2c_message message;
  attn2c_model *opened;
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
    faults_clear();
    faults_map(maps[i].error);
    cr_assert_eq(attn2c_model_open_file(&model, path, &opened, text, sizeof text), maps[i].status);
    cr_assert_null(opened);
    cr_assert(strstr(text, "cannot be mapped: ") && !strchr(text, '\n'), "%s", text);
    cr_assert_eq(faults_live_blocks(), 0);
  }
  for (int kind = FAULT_ERROR; kind <= FAULT_END; kind++)
    for (long nth = 1;; nth++) {
      faults_clear();
      faults_read(nth, (fault_kind)kind, 0);
      const int status = attn2c_model_open_file(&model, path, &opened, text, sizeof text);
      const int harmless = kind == FAULT_INTERRUPTED || kind == FAULT_SHORT || !faults_met();
      const int is_over = !faults_met();
      attn2c_model_close(opened);
      cr_assert_eq(status,
                   harmless            ? ATTN2C_OK
                   : kind == FAULT_END ? ATTN2C_FORMAT
                                       : ATTN2C_IO,
                   "%d: %s", kind, text);
      cr_assert_eq(faults_live_blocks(), 0);
      cr_assert_eq(faults_live_maps(), 0);
      if (is_over) break;
    }
  for (way how = 0; how < WAYS; how++)
    for (long nth = 1;; nth++) {
      attn2c_source *source = NULL;
      faults_clear();
      faults_allocation(nth, 0);
      int status = open_by(how, &model, FILE_BYTES, &source);
      message = fresh();
      opened = NULL;
      if (status == ATTN2C_OK) status = attn2c_model_open(&model, source, 0, &opened, &message);
      attn2c_source_close(source);
      attn2c_model_close(opened);
      const long met = faults_met();
      faults_allocation(0, 0);
      cr_assert_eq(status, met ? ATTN2C_MEMORY : ATTN2C_OK, "allocation %ld by way %d: %s", nth, how, text);
      cr_assert_null(strchr(text, '\n'), "%s", text);
      cr_assert_eq(faults_live_blocks(), 0, "allocation %ld by way %d", nth, how);
      cr_assert_eq(faults_live_maps(), 0);
      if (!met) break;
    }
}

Test(packed, writing_that_fails_keeps_what_was_there) {
  attn2c_message message;
  for (long nth = 1; nth <= 2; nth++) {
    faults_clear();
    faults_write(nth, FAULT_ERROR, 1);
    message = fresh();
    cr_assert_eq(attn2c_packed_write(scratch_path("w"), &model, block, &message), ATTN2C_IO);
    cr_assert(strstr(text, "No space left on device"), "%s", text);
    faults_clear();
    unsigned char after[FILE_BYTES];
    cr_assert_eq(scratch_get(scratch_path("w"), after, sizeof after), FILE_BYTES);
    cr_assert_eq(memcmp(after, bytes, sizeof after), 0);
    cr_assert_eq(scratch_count(), 1);
  }
}

/* Writes the block in two parts, the second first. */
static int write_parts(void) {
  static attn2c_new_file file;
  attn2c_message message = fresh();
  const int64_t half = model.weight_floats / 32 * 16;
  int status = attn2c_packed_begin(scratch_path("w"), &model, &file, &message);
  if (status) return status;
  status = attn2c_packed_put(&file, half, block + half, model.weight_floats - half, &message);
  if (!status) status = attn2c_packed_put(&file, 0, block, half, &message);
  return attn2c_packed_end(&model, &file, status, &message);
}

Test(packed, a_file_that_is_written_in_parts_is_the_same) {
  unsigned char after[FILE_BYTES];
  const char *path = scratch_path("w");
  for (int is_there = 0; is_there < 2; is_there++) {
    if (!is_there) remove(path);
    cr_assert_eq(write_parts(), ATTN2C_OK, "%s", text);
    cr_assert_eq(scratch_get(path, after, sizeof after), FILE_BYTES);
    cr_assert_arr_eq(after, bytes, sizeof after);
    cr_assert_eq(scratch_count(), 1);
  }
  for (int fault = 0; fault < 7; fault++) {
    faults_clear();
    if (fault < 3) faults_write(fault + 1, FAULT_ERROR, 0);
    if (fault == 3) faults_read(1, FAULT_ERROR, 0);
    if (fault == 4) faults_fsync();
    if (fault == 5) faults_close();
    if (fault == 6) faults_rename();
    cr_assert_eq(write_parts(), ATTN2C_IO, "fault %d", fault);
    faults_clear();
    cr_assert_eq(scratch_get(path, after, sizeof after), FILE_BYTES);
    cr_assert_arr_eq(after, bytes, sizeof after);
    cr_assert_eq(scratch_count(), 1, "fault %d", fault);
    cr_assert_eq(faults_live_blocks(), 0);
  }
}

Test(packed, embedded_weights_are_opened_without_a_path) {
  static _Alignas(64) unsigned char place[FILE_BYTES];
  memcpy(place, bytes, sizeof place);
  const attn2c_embedded embedded = {place, place + sizeof place}, none = {NULL, NULL};
  attn2c_descriptor with = model;
  attn2c_model *opened;
  with.embedded = &embedded;
  cr_assert_eq(attn2c_model_open_file(&with, NULL, &opened, text, sizeof text), ATTN2C_OK, "%s", text);
  cr_assert_eq((const unsigned char *)opened->weights, place + HEADER); /* not a copy */
  attn2c_model_close(opened);
  with.embedded = &none;
  cr_assert_eq(attn2c_model_open_file(&with, NULL, &opened, text, sizeof text), ATTN2C_USAGE);
  cr_assert_eq(attn2c_model_open_file(&model, NULL, &opened, text, sizeof text), ATTN2C_USAGE);
  cr_assert_str_eq(text, "no path of a weights file was given");
}

Test(packed, a_model_of_constants_is_opened_without_a_path) {
  attn2c_descriptor without = model;
  attn2c_model *opened;
  without.weights = weights + 2;
  without.weight_count = 1;
  without.stored_count = 0;
  cr_assert_eq(attn2c_model_open_file(&without, NULL, &opened, text, sizeof text), ATTN2C_OK, "%s", text);
  for (int i = 0; i < 3; i++) cr_assert_eq(opened->weights[AT_LIST + i], (float)(i + 1));
  attn2c_model_close(opened);
  cr_assert_eq(attn2c_model_open_file(&without, "nowhere", &opened, text, sizeof text), ATTN2C_IO);
}

Test(packed, an_embedded_checkpoint_is_read_and_packed) {
  attn2c_message message = fresh();
  attn2c_source *random;
  float values[2][200];
  cr_assert_eq(attn2c_source_random(3, &model, &random, &message), ATTN2C_OK);
  for (int w = 0; w < 2; w++) cr_assert_eq(attn2c_source_read(random, w, values[w], &message), ATTN2C_OK);
  attn2c_source_close(random);
  for (int i = 0; i < 42; i++) values[1][i] *= 2; /* the view's factor halves them */
  const safetensors_item items[] = {{"panels", 2, tensors[0].shape, values[0]},
                                    {"rows", 2, tensors[1].shape, values[1]}};
  cr_assert_eq(safetensors_write(scratch_path("st"), items, 2, &message), ATTN2C_OK, "%s", text);
  static _Alignas(64) unsigned char place[4000];
  const size_t size = scratch_get(scratch_path("st"), place, sizeof place);
  const attn2c_embedded embedded = {place, place + size};
  attn2c_descriptor with = model;
  attn2c_model *opened;
  with.embedded = &embedded;
  cr_assert_eq(attn2c_model_open_file(&with, NULL, &opened, text, sizeof text), ATTN2C_OK, "%s", text);
  cr_assert_eq(memcmp(opened->weights, block, sizeof block), 0);
  attn2c_model_close(opened);
}
