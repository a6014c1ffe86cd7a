/* test_torch.c - files of torch.save(): their tensors are the same as in a safetensors file; what no
 * state_dict has is refused by its name; what is cut or malformed is refused in one line. */
#define _DEFAULT_SOURCE
#include "base/readers.h"
#include "faults.h"
#include "formats/tensors.h"
#include "scratch.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[512];

static const char *path_of(const char *name) {
  static char path[100];
  snprintf(path, sizeof path, "tests/hf/torch/%s", name);
  return path;
}

static int open_file(const attn2c_format *format, const char *name, attn2c_tensor_file **file) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  return attn2c_tensor_file_open(format, path_of(name), file, &message);
}

/* Returns a file's bytes, in a block of its own size. */
static unsigned char *bytes_of(const char *name, size_t *size) {
  static unsigned char read[1 << 16];
  FILE *file = fopen(path_of(name), "rb");
  *size = fread(read, 1, sizeof read, file);
  fclose(file);
  unsigned char *bytes = malloc(*size);
  memcpy(bytes, read, *size);
  return bytes;
}

static int open_bytes(const unsigned char *bytes, size_t size, attn2c_tensor_file **file) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  unsigned char *own = malloc(size ? size : 1);
  memcpy(own, bytes, size);
  const int status = attn2c_tensor_file_open_memory(&attn2c_torch_format, own, size, file, &message);
  free(own);
  return status;
}

Test(torch, tensors_are_those_that_were_saved) {
  static const char *const names[] = {"types.bin", "wide.bin"};
  attn2c_tensor_file *meant, *file;
  float want[300], got[300];
  cr_assert_eq(open_file(&attn2c_safetensors_format, "types.safetensors", &meant), ATTN2C_OK, "%s", text);
  for (int n = 0; n < 2; n++) {
    cr_assert_eq(open_file(&attn2c_torch_format, names[n], &file), ATTN2C_OK, "%s", text);
    cr_assert_eq(file->count, meant->count);
    for (int i = 0; i < meant->count; i++) {
      const attn2c_file_tensor *a = &meant->tensors[i], *b = &file->tensors[i];
      cr_assert_str_eq(a->name, b->name);
      cr_assert_eq(a->type, b->type, "%s", a->name);
      cr_assert_eq(a->rank, b->rank, "%s", a->name);
      cr_assert_arr_eq(a->shape, b->shape, sizeof a->shape, "%s", a->name);
      cr_assert_eq(a->end - a->begin, b->end - b->begin, "%s", a->name);
      const size_t bytes = (size_t)(a->end - a->begin);
      cr_assert_eq(attn2c_tensor_file_bytes(meant, i, 0, bytes, want, NULL), ATTN2C_OK);
      cr_assert_eq(attn2c_tensor_file_bytes(file, i, 0, bytes, got, NULL), ATTN2C_OK);
      cr_assert_arr_eq(want, got, bytes, "%s", a->name);
      if (a->type->widen)
        cr_assert_eq(attn2c_tensor_file_read(file, i, 0, b->elements, got, NULL), ATTN2C_OK);
    }
    attn2c_tensor_file_close(file);
  }
  attn2c_tensor_file_close(meant);
}

Test(torch, what_no_state_dict_has_is_refused) {
  static const char *const cases[][2] = {
      {"turned.bin", "\"weight\": its elements are not row by row; save it after .contiguous()"},
      {"module.bin",
       "its pickle needs torch.nn.modules.linear.Linear, which is not supported; save a state_dict"},
      {"expanded.bin", "\"weight\": its elements are not row by row"},
      {"negative.bin", "a tensor is a negative or conjugate view; save it after .clone()"},
      {"twice.bin", "a member occurs twice"},
      {"nested.bin", "its outermost value is no dictionary of tensors; save model.state_dict() only"},
      {"compressed.bin", "a member is compressed"},
      {"big.bin", "its numbers are not little-endian"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    attn2c_tensor_file *file;
    cr_assert_eq(open_file(&attn2c_torch_format, cases[i][0], &file), ATTN2C_FORMAT);
    cr_assert_not_null(strstr(text, cases[i][1]), "%s", text);
    cr_assert_null(strchr(text, '\n'), "%s", text);
    cr_assert_eq(faults_live_blocks(), 0, "%s leaks", cases[i][0]);
  }
}

/* Writes over the only place of some bytes; of the last one, if they are in the list of members, too. */
static void replace(unsigned char *bytes, size_t size, const char *old, const char *new, size_t count) {
  for (size_t at = 0; at + count <= size; at++)
    if (memcmp(bytes + at, old, count) == 0) memcpy(bytes + at, new, count);
}

Test(torch, what_contradicts_itself_is_refused) {
  static const struct {
    const char *old, *new, *said;
    size_t count;
  } cases[] = {
      /* the shape [4, 3] of 12 elements */
      {"K\4K\3\x86", "K\5K\3\x86", "\"weight\": it is larger than its storage", 5},
      {"K\4K\3\x86", "K\4K\4\x86", "\"weight\": its elements are not row by row", 5},
      {"K\3K\1\x86", "K\2K\1\x86", "\"weight\": its elements are not row by row", 5},
      {"few/data/0", "few/data/1", "\"weight\": its storage is missing", 10},
      {"few/data.pkl", "few/data.pkx", "it has no data.pkl", 12},
      {"FloatStorage", "FlootStorage", "its pickle needs torch.FlootStorage", 12},
      {"\x80\2}q", "\x80\3}q", "a protocol other than 2", 4},
      {"storage", "sturage", "a storage is expected", 7},
      {"_rebuild_tensor_v2", "_rebuild_parameter", "no dictionary of tensors", 18},
      {"PK\1\2", "PK\1\3", "its list is malformed", 4},
      {"PK\5\6", "PK\5\7", "its last record is missing", 4},
      {"PK\3\4", "PK\3\5", "a member is not at its place", 4},
  };
  size_t size;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    unsigned char *bytes = bytes_of("few.bin", &size);
    attn2c_tensor_file *file = NULL;
    replace(bytes, size, cases[i].old, cases[i].new, cases[i].count);
    cr_assert_eq(open_bytes(bytes, size, &file), ATTN2C_FORMAT, "case %zu", i);
    cr_assert_not_null(strstr(text, cases[i].said), "case %zu: %s", i, text);
    free(bytes);
  }
}

/* With the places of the list only in the records of files of 4 GB or more. */
Test(torch, the_list_of_a_large_file) {
  size_t size;
  unsigned char *bytes = bytes_of("few.bin", &size);
  attn2c_tensor_file *file;
  memset(bytes + size - 22 + 12, 0xff, 8);
  cr_assert_eq(open_bytes(bytes, size, &file), ATTN2C_OK, "%s", text);
  cr_assert_eq(file->count, 1);
  attn2c_tensor_file_close(file);
  bytes[size - 22 - 20] = 'X';
  cr_assert_eq(open_bytes(bytes, size, &file), ATTN2C_FORMAT);
  cr_assert_not_null(strstr(text, "its list has no place"), "%s", text);
  free(bytes);
}

Test(torch, cut_at_every_byte) {
  size_t size;
  unsigned char *bytes = bytes_of("types.bin", &size);
  for (size_t cut = 0; cut < size; cut++) {
    attn2c_tensor_file *file;
    cr_assert_eq(open_bytes(bytes, cut, &file), ATTN2C_FORMAT, "%zu", cut);
    cr_assert_null(file);
  }
  free(bytes);
  cr_assert_eq(faults_live_blocks(), 0);
}

Test(torch, the_nth_allocation_or_read_fails) {
  for (int reads = 0; reads < 2; reads++) {
    int nth = 1;
    for (;; nth++) {
      attn2c_tensor_file *file;
      faults_clear();
      if (reads)
        faults_read(nth, FAULT_ERROR, 0);
      else
        faults_allocation(nth, 0);
      const int status = open_file(&attn2c_torch_format, "types.bin", &file);
      if (faults_met() == 0) {
        attn2c_tensor_file_close(file);
        break;
      }
      cr_assert_eq(status, reads ? ATTN2C_IO : ATTN2C_MEMORY, "%d: %d, %s", nth, status, text);
      cr_assert_eq(faults_live_blocks(), 0, "%d leaks", nth);
    }
    cr_assert(nth > 8, "%d", nth - 1);
  }
}
