/* test_gguf.c - the reader of GGUF: the values of every type to the bit, against gguf's own
 * (tests/hf/gguf_files.py); what is hostile, cut or contradictory is refused in one line and without
 * allocating its claim. */
#define _DEFAULT_SOURCE
#include "readers.h"
#include "faults.h"
#include "formats/gguf.h"
#include "scratch.h"
#include "reading/checkpoint.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[1024];

static attn2c_message quiet(void) { return attn2c_message_make(text, sizeof text); }

/* A file that is being made. */
typedef struct {
  unsigned char bytes[4096];
  size_t size;
} image;

static void put(image *to, const void *bytes, size_t size) {
  memcpy(to->bytes + to->size, bytes, size);
  to->size += size;
}
static void put_u32(image *to, uint32_t value) { put(to, &value, sizeof value); }
static void put_u64(image *to, uint64_t value) { put(to, &value, sizeof value); }
static void put_text(image *to, const char *value) {
  put_u64(to, strlen(value));
  put(to, value, strlen(value));
}

enum { ENTRIES = 7, TENSORS = 2 };

/* The contents of a file; each case changes some of them. */
typedef struct {
  const char *magic;
  uint32_t version;
  uint64_t tensors, entries;
  const char *key; /* of the last entry, an array */
  uint32_t of;     /* the type of its values */
  uint64_t values, length;
  uint32_t alignment_type, alignment, bool_type;
  const char *name; /* of the second tensor */
  uint32_t rank;
  uint64_t dims[2];
  uint32_t type;
  uint64_t offset;
  size_t data;
} file_facts;

static const file_facts good = {.magic = "GGUF",
                                .version = 3,
                                .tensors = TENSORS,
                                .entries = ENTRIES,
                                .key = "words",
                                .of = 8,
                                .values = 2,
                                .length = 5,
                                .alignment_type = 4,
                                .alignment = 32,
                                .bool_type = 7,
                                .name = "b",
                                .rank = 2,
                                .dims = {32, 2},
                                .type = 8,
                                .offset = 32,
                                .data = 100};

static image make_file(const file_facts *f) {
  image made = {.size = 0};
  put(&made, f->magic, 4);
  put_u32(&made, f->version);
  put_u64(&made, f->tensors);
  put_u64(&made, f->entries);
  put_text(&made, "general.architecture");
  put_u32(&made, 8);
  put_text(&made, "llama");
  put_text(&made, "general.alignment");
  put_u32(&made, f->alignment_type);
  put_u32(&made, f->alignment);
  put_text(&made, "flag");
  put_u32(&made, f->bool_type);
  put(&made, "\1", 1);
  put_text(&made, "split.count");
  put_u32(&made, 2);
  put(&made, "\1", 2);
  put_text(&made, "nested");
  put_u32(&made, 9);
  put_u32(&made, 9);
  put_u64(&made, 1);
  put_u32(&made, 0);
  put_u64(&made, 3);
  put(&made, "abc", 3);
  put_text(&made, "float");
  put_u32(&made, 12);
  put_u64(&made, 0);
  put_text(&made, f->key);
  put_u32(&made, 9);
  put_u32(&made, f->of);
  put_u64(&made, f->values);
  put_u64(&made, f->length);
  put(&made, "hello", 5);
  put_text(&made, "");
  put_text(&made, "a");
  put_u32(&made, 1);
  put_u64(&made, 3);
  put_u32(&made, 0);
  put_u64(&made, 0);
  put_text(&made, f->name);
  put_u32(&made, f->rank);
  for (uint32_t d = 0; d < f->rank && d < 2; d++) put_u64(&made, f->dims[d]);
  put_u32(&made, f->type);
  put_u64(&made, f->offset);
  while (made.size % 32) made.bytes[made.size++] = 0;
  for (size_t i = 0; i < f->data; i++) made.bytes[made.size++] = (unsigned char)i;
  return made;
}

/* Opens bytes, in a block of their own size, so that a sanitizer sees a byte read beyond it. */
static int open_bytes(const unsigned char *bytes, size_t size) {
  attn2c_message message = quiet();
  unsigned char *exact = malloc(size + 1);
  attn2c_tensor_file *file;
  if (size) memcpy(exact + 1, bytes, size);
  const int status = attn2c_tensor_file_open_memory(&attn2c_gguf_format, exact + 1, size, &file, &message);
  if (status == ATTN2C_OK) {
    float values[64];
    for (int i = 0; i < file->count; i++) {
      const attn2c_file_tensor *tensor = &file->tensors[i];
      cr_assert_eq(attn2c_tensor_file_find(file, tensor->name), i);
      const int64_t count = tensor->elements < 64 ? tensor->elements : 64;
      const int read = attn2c_tensor_file_read(file, i, tensor->elements - count, count, values, &message);
      cr_assert_eq(read, attn2c_is_readable(tensor->type) ? ATTN2C_OK : ATTN2C_FORMAT, "%s", text);
    }
  }
  attn2c_tensor_file_close(file);
  free(exact);
  return status;
}

Test(gguf, types_have_the_values_of_their_definition) {
  attn2c_message message = quiet();
  attn2c_tensor_file *file;
  attn2c_tensor_file *meant;
  cr_assert_eq(attn2c_tensor_file_open(&attn2c_gguf_format, "tests/hf/gguf/types.gguf", &file, &message),
               ATTN2C_OK, "%s", text);
  cr_assert_eq(attn2c_tensor_file_open(&attn2c_safetensors_format, "tests/hf/gguf/types.safetensors", &meant,
                                       &message),
               ATTN2C_OK, "%s", text);
  cr_assert_eq(file->count, 21);
  for (int i = 0; i < file->count; i++) {
    static const int64_t parts[][2] = {{0, 512},  {0, 1},     {511, 1},   {31, 2},
                                       {17, 300}, {256, 256}, {250, 262}, {512, 0}};
    float values[512], expected[512];
    const attn2c_file_tensor *tensor = &file->tensors[i];
    const int other = attn2c_tensor_file_find(meant, tensor->name);
    cr_assert_geq(other, 0, "%s", tensor->name);
    cr_assert_str_eq(tensor->type->name, tensor->name);
    cr_assert_eq(attn2c_tensor_file_read(meant, other, 0, 512, expected, &message), ATTN2C_OK);
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
      const int64_t first = parts[p][0], count = parts[p][1];
      cr_assert_eq(attn2c_tensor_file_read(file, i, first, count, values, &message), ATTN2C_OK, "%s", text);
      cr_assert_arr_eq(values, expected + first, (size_t)count * sizeof *values,
                       "%s, %lld elements from %lld", tensor->name, (long long)count, (long long)first);
    }
    cr_assert_eq(attn2c_tensor_file_read(file, i, 500, 13, values, &message), ATTN2C_FORMAT);
  }
  attn2c_tensor_file_close(file);
  attn2c_tensor_file_close(meant);
}

Test(gguf, well_formed_files_are_read) {
  file_facts cases[6];
  for (int i = 0; i < 6; i++) cases[i] = good;
  cases[1].version = 2;
  cases[2].alignment = 1, cases[2].offset = 12;
  cases[3].type = 19, cases[3].dims[0] = 256, cases[3].dims[1] = 1; /* a type that is known by name only */
  cases[4].dims[0] = 64, cases[4].rank = 1;
  cases[5].type = 24, cases[5].dims[0] = 5;
  for (int i = 0; i < 6; i++) {
    const image made = make_file(&cases[i]);
    cr_assert_eq(open_bytes(made.bytes, made.size), ATTN2C_OK, "case %d: %s", i, text);
  }
}

#define CASE(change, line)                                                                                   \
  do {                                                                                                       \
    file_facts facts = good;                                                                                 \
    facts.change;                                                                                            \
    const image made = make_file(&facts);                                                                    \
    faults_clear();                                                                                          \
    cr_assert_eq(open_bytes(made.bytes, made.size), ATTN2C_FORMAT, #change);                                 \
    cr_assert_not_null(strstr(text, line), "%s: %s", #change, text);                                         \
    cr_assert_null(strchr(text, '\n'), "%s", text);                                                          \
    cr_assert_lt(faults_largest_block(), 8192, #change);                                                     \
    cr_assert_eq(faults_live_blocks(), 0);                                                                   \
  } while (0)

Test(gguf, what_contradicts_itself_is_refused_by_its_place) {
  CASE(magic = "GGML", "is not a GGUF file");
  CASE(version = 1, "version 1 of GGUF is not supported; 2 and "
                    "3 are");
  CASE(version = 0, "version 0 of GGUF");
  CASE(version = 3u << 24, "big-endian");
  CASE(tensors = 3, "tensor 2: ");
  CASE(tensors = 1u << 30, "tensors, but");
  CASE(tensors = UINT64_MAX, "18446744073709551615 tensors, but");
  CASE(entries = UINT64_MAX, "18446744073709551615 metadata entries, but");
  CASE(entries = 9, "metadata");
  CASE(key = "", "metadata entry 6: a key of 0 bytes, but 1 to 65535 are allowed");
  CASE(key = "float", "metadata: the key at byte");
  CASE(of = 13, "metadata \"words\": has a value of type "
                "13, which is not a type of the format");
  CASE(values = UINT64_MAX, "metadata \"words\": 18446744073709551615 values of type STRING "
                            "are beyond the");
  CASE(values = 5, "metadata \"words\": the file ends at byte");
  CASE(length = (uint64_t)1 << 63, "metadata \"words\": the file ends at byte");
  CASE(alignment_type = 5, "metadata \"general.alignment\": has type INT32, but UINT32 is expected");
  CASE(alignment = 0, "metadata \"general.alignment\": is 0, but a power of two is expected");
  CASE(alignment = 48, "metadata \"general.alignment\": is 48, but a power of two "
                       "is expected");
  CASE(bool_type = 99, "metadata \"flag\": has a value of type "
                       "99");
  CASE(name = "a", "\"a\": occurs twice");
  CASE(name = "", "tensor 1: a name of 0 bytes, but 1 to 63 are allowed");
  CASE(name = "a name of sixty-four bytes, which is one more than ggml can take",
       "tensor 1: a name of 64 bytes, but 1 to 63 are allowed");
  CASE(rank = 0, "\"b\": 0 dimensions, but 1 to 4 are allowed");
  CASE(rank = 5, "\"b\": 5 dimensions, but 1 to 4 are allowed");
  CASE(dims[0] = 0, "\"b\": dimension 0 is 0");
  CASE(dims[1] = (uint64_t)1 << 63, "\"b\": dimension 1 is 9223372036854775808");
  CASE(dims[1] = (uint64_t)1 << 60, "\"b\": shape [1152921504606846976, 32] is too large");
  CASE(dims[1] = (uint64_t)1 << 57, "\"b\": bytes 32 to 4899916394579099680 are beyond");
  CASE(dims[0] = 33, "\"b\": shape [2, 33], but the rows of "
                     "type Q8_0 are a multiple of 32");
  CASE(type = 4, "\"b\": type 4 is not known; F32, F16, ");
  CASE(type = UINT32_MAX, "\"b\": type 4294967295 "
                          "is not known");
  CASE(offset = 33, "\"b\": offset 33 is not a multiple of the "
                    "alignment, 32");
  CASE(offset = 0, "overlap \"");
  CASE(offset = 64, "\"b\": bytes 64 to 132 are beyond the "
                    "file's 100 bytes of data");
  CASE(offset = UINT64_MAX - 31, "\"b\": offset 18446744073709551584 "
                                 "is too large");
  CASE(data = 99, "\"b\": bytes 32 to 100 are "
                  "beyond the file's 99 bytes of "
                  "data");
}

Test(gguf, a_file_cut_anywhere_is_refused) {
  const image made = make_file(&good);
  for (size_t size = 0; size < made.size; size++) {
    cr_assert_eq(open_bytes(made.bytes, size), ATTN2C_FORMAT, "%zu of %zu bytes", size, made.size);
    cr_assert_null(strchr(text, '\n'), "%s", text);
    cr_assert_gt(strlen(text), 20);
  }
  cr_assert_eq(open_bytes(made.bytes, made.size), ATTN2C_OK, "%s", text);
}

Test(gguf, every_changed_byte_is_taken_or_refused) {
  static const unsigned char values[] = {0, 1, 2, 0x20, 0x7f, 0x80, 0xff};
  image made = make_file(&good);
  for (size_t at = 0; at < made.size - 100; at++)
    for (size_t v = 0; v < sizeof values; v++) {
      const unsigned char kept = made.bytes[at];
      made.bytes[at] = values[v];
      const int status = open_bytes(made.bytes, made.size);
      cr_assert(status == ATTN2C_OK || status == ATTN2C_FORMAT, "byte %zu: %d", at, status);
      made.bytes[at] = kept;
    }
}

TestSuite(gguf_files, .init = scratch_open, .fini = scratch_close);

Test(gguf_files, whatever_fails_has_a_status_and_leaves_nothing) {
  const image made = make_file(&good);
  const char *path = scratch_path("model.gguf");
  scratch_put(path, made.bytes, made.size);
  for (long nth = 1;; nth++) {
    attn2c_message message = quiet();
    attn2c_tensor_file *file;
    faults_clear();
    faults_allocation(nth, 1);
    const int status = attn2c_tensor_file_open(&attn2c_gguf_format, path, &file, &message);
    const long met = faults_met();
    attn2c_tensor_file_close(file);
    cr_assert_eq(faults_live_blocks(), 0);
    if (met == 0) break;
    cr_assert_eq(status, ATTN2C_MEMORY);
    cr_assert_not_null(strstr(text, "model.gguf: out of memory"), "%s", text);
  }
  static const fault_kind kinds[] = {FAULT_ERROR, FAULT_INTERRUPTED, FAULT_SHORT, FAULT_END};
  static const int wanted[] = {ATTN2C_IO, ATTN2C_OK, ATTN2C_OK, ATTN2C_FORMAT};
  for (int k = 0; k < 4; k++) {
    attn2c_message message = quiet();
    attn2c_tensor_file *file;
    faults_clear();
    faults_read(1, kinds[k], 0);
    cr_assert_eq(attn2c_tensor_file_open(&attn2c_gguf_format, path, &file, &message), wanted[k], "%d: %s", k,
                 text);
    attn2c_tensor_file_close(file);
    faults_clear();
  }
}

static void copy(const char *from, const char *to) {
  static unsigned char bytes[1 << 16];
  scratch_put(scratch_path(to), bytes, scratch_get(from, bytes, sizeof bytes));
}

static void refuse(const char *path, int wanted, const char *line) {
  attn2c_message message = quiet();
  attn2c_checkpoint *checkpoint;
  cr_assert_eq(attn2c_checkpoint_open(path, readers_with(NULL), &checkpoint, &message), wanted, "%s", text);
  cr_assert_null(checkpoint);
  cr_assert_not_null(strstr(text, line), "%s", text);
  cr_assert_null(strchr(text, '\n'), "%s", text);
}

#define PARTS "tests/hf/goldens/gguf_qwen2/gguf_qwen2-0000"

Test(gguf_files, parts_of_a_model_are_one_checkpoint) {
  attn2c_message message = quiet();
  attn2c_checkpoint *checkpoint;
  cr_assert_eq(attn2c_checkpoint_open(PARTS "1-of-00003.gguf", readers_with(NULL), &checkpoint, &message),
               ATTN2C_OK, "%s", text);
  cr_assert_eq(attn2c_checkpoint_count(checkpoint), 27);
  const int found = attn2c_checkpoint_find(checkpoint, "blk.1.ffn_norm.weight");
  float values[32];
  cr_assert_geq(found, 0);
  cr_assert_eq(attn2c_checkpoint_read(checkpoint, found, 0, 32, values, &message), ATTN2C_OK);
  attn2c_checkpoint_close(checkpoint);
  refuse(PARTS "2-of-00003.gguf", ATTN2C_FORMAT, "is part 2 of 3 of a model: give the first part");
  copy(PARTS "1-of-00003.gguf", "whole.gguf");
  refuse(scratch_path("whole.gguf"), ATTN2C_FORMAT, "its name does not end in -00001-of-00003.gguf");
  copy(PARTS "1-of-00003.gguf", "m-00001-of-00003.gguf");
  refuse(scratch_path("m-00001-of-00003.gguf"), ATTN2C_IO, "m-00002-of-00003.gguf: cannot be opened");
  copy(PARTS "1-of-00003.gguf", "m-00002-of-00003.gguf");
  refuse(scratch_path("m-00001-of-00003.gguf"), ATTN2C_FORMAT,
         "m-00002-of-00003.gguf: is not part 2 of 3 of");
}
