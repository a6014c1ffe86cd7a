/* test_npy.c - array files: what NumPy writes is read, what is written is what NumPy
 * writes, and what is cut, contradictory or meant for another input is refused in one line. */
#define _DEFAULT_SOURCE
#include "faults.h"
#include "formats/npy.h"
#include "scratch.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(npy, .init = scratch_open, .fini = scratch_close);

static char text[512];

/* A file of this version with this dictionary and `size` bytes of data: 0, 1, 2, ... */
static const char *put_array(int version, const char *header, size_t header_size, size_t data) {
  static unsigned char bytes[4096];
  const char *path = scratch_path("x.npy");
  size_t used = 8;
  memcpy(bytes, "\x93NUMPY", 6);
  bytes[6] = (unsigned char)version, bytes[7] = 0;
  bytes[used++] = (unsigned char)header_size, bytes[used++] = (unsigned char)(header_size >> 8);
  if (version > 1) bytes[used++] = 0, bytes[used++] = 0;
  memcpy(bytes + used, header, header_size);
  used += header_size;
  for (size_t i = 0; i < data; i++) bytes[used++] = (unsigned char)i;
  scratch_put(path, bytes, used);
  return path;
}

static int read_path(const char *path, attn2c_npy *array) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  return attn2c_npy_read(path, array, &message);
}

static int read_header(const char *header, size_t data, attn2c_npy *array) {
  return read_path(put_array(1, header, strlen(header), data), array);
}

#define D(descr, order, shape) "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"

Test(npy, well_formed_headers) {
  static const struct {
    const char *header;
    size_t data;
    attn2c_npy_type type;
    int rank;
    int64_t shape[4];
  } cases[] = {
      {D("'<f4'", "False", "(2, 3)"), 24, ATTN2C_NPY_FLOAT32, 2, {2, 3}},
      {D("'=f4'", "False", "(2, 3)"), 24, ATTN2C_NPY_FLOAT32, 2, {2, 3}},
      {D("'<f8'", "False", "(3,)"), 24, ATTN2C_NPY_FLOAT64, 1, {3}},
      {D("'<i4'", "False", "()"), 4, ATTN2C_NPY_INT32, 0, {0}},
      {D("'=i8'", "False", "(1, 1, 1, 2,)"), 16, ATTN2C_NPY_INT64, 4, {1, 1, 1, 2}},
      {D("'|b1'", "False", "(5,)"), 5, ATTN2C_NPY_BOOL, 1, {5}},
      {D("'=b1'", "False", "(5,)"), 5, ATTN2C_NPY_BOOL, 1, {5}},
      {D("'<f2'", "False", "(2,)"), 4, ATTN2C_NPY_FLOAT16, 1, {2}},
      {D("'|i1'", "False", "(3,)"), 3, ATTN2C_NPY_INT8, 1, {3}},
      {D("'<i2'", "False", "(3,)"), 6, ATTN2C_NPY_INT16, 1, {3}},
      {D("'|u1'", "False", "(3,)"), 3, ATTN2C_NPY_UINT8, 1, {3}},
      {D("'=u2'", "False", "(3,)"), 6, ATTN2C_NPY_UINT16, 1, {3}},
      {D("'<u4'", "False", "(3,)"), 12, ATTN2C_NPY_UINT32, 1, {3}},
      {D("'<u8'", "False", "(3,)"), 24, ATTN2C_NPY_UINT64, 1, {3}},
      {D("'<f4'", "True", "(1, 1)"), 4, ATTN2C_NPY_FLOAT32, 2, {1, 1}},
      {D("'<f4'", "True", "(0, 7)"), 0, ATTN2C_NPY_FLOAT32, 2, {0, 7}},
      {D("'<f4'", "True", "(2,)"), 8, ATTN2C_NPY_FLOAT32, 1, {2}},
      {D("'<f4'", "True", "()"), 4, ATTN2C_NPY_FLOAT32, 0, {0}},
      {D("'<f4'", "False", "(0, 7)"), 0, ATTN2C_NPY_FLOAT32, 2, {0, 7}},
      {"{\"shape\":(2,3),\"descr\":\"<f4\",\"fortran_order\":False}", 24, ATTN2C_NPY_FLOAT32, 2, {2, 3}},
      {"  { 'fortran_order' :False ,'shape' : ( 2 , 3 ) , 'descr':'<f4' }   \n",
       24,
       ATTN2C_NPY_FLOAT32,
       2,
       {2, 3}},
      {"{'shape': (1,)\n, 'fortran_order': False, 'descr': '<f4'}\n", 4, ATTN2C_NPY_FLOAT32, 1, {1}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int version = 1; version <= 3; version++) {
      attn2c_npy array;
      int status =
          read_path(put_array(version, cases[i].header, strlen(cases[i].header), cases[i].data), &array);
      cr_assert_eq(status, ATTN2C_OK, "case %zu, version %d: %s", i, version, text);
      cr_assert_eq(array.type, cases[i].type, "case %zu", i);
      cr_assert_eq(array.rank, cases[i].rank, "case %zu", i);
      for (int d = 0; d < array.rank; d++) cr_assert_eq(array.shape[d], cases[i].shape[d], "case %zu", i);
      for (size_t b = 0; b < cases[i].data; b++) cr_assert_eq(((unsigned char *)array.data)[b], b);
      attn2c_npy_free(&array);
    }
}

Test(npy, fortran_order_becomes_c_order) {
  static const char header[] = D("'<i2'", "True", "(2, 3, 4)");
  attn2c_npy array;
  cr_assert_eq(read_header(header, 48, &array), ATTN2C_OK, "%s", text);
  /* Element [i][j][k] lies after i + 2 (j + 3 k) others, and the bytes of the file count 0, 1, 2, ... */
  const unsigned char *bytes = array.data;
  for (int i = 0, to = 0; i < 2; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 4; k++, to += 2) {
        const int from = 2 * (i + 2 * (j + 3 * k));
        cr_assert(bytes[to] == from && bytes[to + 1] == from + 1, "[%d][%d][%d]", i, j, k);
      }
  attn2c_npy_free(&array);
}

Test(npy, malformed_headers) {
  static const struct {
    const char *header;
    size_t data;
    const char *line;
  } cases[] = {
      {D("'>f4'", "False", "(1,)"), 4, "type '>f4' is big-endian"},
      {D("'>u2'", "False", "(2,)"), 4, "type '>u2' is big-endian"},
      {D("'<f16'", "False", "(2,)"), 32,
       "type '<f16', but a float of 16 to 64 bits, an integer or bool is expected"},
      {D("'<c8'", "False", "(1,)"), 8, "type '<c8', but"},
      {D("''", "False", "(1,)"), 4, "type '', but"},
      {D("'|O'", "False", "(1,)"), 8, "type '|O', but"},
      {D("'f4'", "False", "(1,)"), 4, "type 'f4', but"},
      {D("'<U9999999999999999'", "False", "(1,)"), 4, "a string longer"},
      {D("[('a', '<f4')]", "False", "(1,)"), 4, "structured types are not supported"},
      {D("'<\\x664'", "False", "(1,)"), 4, "an escape in a string"},
      {D("<f4", "False", "(1,)"), 4, "a string is expected"},
      {D("'<f4\"", "False", "(1,)"), 4, "',' or '}' is expected"},
      {D("'<f4'", "true", "(1,)"), 4, "must be True or False"},
      {D("'<f4'", "0", "(1,)"), 4, "must be True or False"},
      {D("'<f4'", "Falsey", "(1,)"), 4, "',' or '}' is expected"},
      {D("'<f4'", "False", "(1)"), 4, "shape must be a tuple"},
      {D("'<f4'", "False", "[1]"), 4, "shape must be a tuple"},
      {D("'<f4'", "False", "1"), 4, "shape must be a tuple"},
      {D("'<f4'", "False", "(,)"), 4, "a dimension is expected"},
      {D("'<f4'", "False", "(1,,)"), 4, "a dimension is expected"},
      {D("'<f4'", "False", "(1 1)"), 4, "',' or ')' is expected"},
      {D("'<f4'", "False", "(-1,)"), 4, "a negative dimension"},
      {D("'<f4'", "False", "(1.0,)"), 4, "',' or ')' is expected"},
      {D("'<f4'", "False", "(1L,)"), 4, "',' or ')' is expected"},
      {D("'<f4'", "False", "(01,)"), 4, "leading zero"},
      {D("'<f4'", "False", "(9223372036854775808,)"), 4, "a dimension beyond 2^63"},
      {D("'<f4'", "False", "(4294967296, 4294967296)"), 4, "is too large"},
      {D("'<f4'", "False", "(4611686018427387904,)"), 4, "is too large"},
      {D("'<f4'", "False", "(9223372036854775807, 2, 0)"), 0, "is too large"},
      {D("'<f4'", "False", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"), 4,
       "more than 32 dimensions"},
      {D("'<f4'", "False", "(2, 3)"), 23, "float32 [2, 3] is 24 bytes of data, but the file holds 23"},
      {D("'<f4'", "False", "(2, 3)"), 25, "but the file holds 25"},
      {D("'<f4'", "False", "(1000000000000,)"), 4, "is 4000000000000 bytes of data, but the file holds 4"},
      {"{'descr': '<f4', 'fortran_order': False}", 4, "the header has no shape"},
      {"{'descr': '<f4', 'shape': (1,)}", 4, "the header has no fortran_order"},
      {"{'fortran_order': False, 'shape': (1,)}", 4, "the header has no descr"},
      {"{}", 4, "the header has no descr"},
      {"", 4, "the header is not a dictionary"},
      {"('descr', '<f4')", 4, "the header is not a dictionary"},
      {D("'<f4'", "False", "(1,), 'shape': (1,)"), 4, "a key of the header occurs twice"},
      {D("'<f4'", "False", "(1,), 'extra': 1"), 4, "another key than descr, fortran_order and shape"},
      {D("'<f4'", "False", "(1,)") "x", 4, "something follows the header's dictionary"},
      {D("'<f4'", "False", "(1,),"), 4, "a string is expected"},
      {"{'descr' '<f4', 'fortran_order': False, 'shape': (1,)}", 4, "':' is expected"},
      {"{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}", 4, "',' or '}' is expected"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", 4, "',' or '}' is expected"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,", 4, "a dimension is expected"},
      {"{'descr': '<f4", 4, "a string does not end"},
      {"{'descr': '\x1b[1m', 'fortran_order': False, 'shape': (1,)}", 4, "type '?[1m', but"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    attn2c_npy array;
    faults_clear();
    cr_assert_eq(read_header(cases[i].header, cases[i].data, &array), ATTN2C_FORMAT, "case %zu: %s", i,
                 cases[i].header);
    cr_assert_not_null(strstr(text, cases[i].line), "case %zu, %s: %s", i, cases[i].header, text);
    cr_assert_null(strchr(text, '\n'), "%s", text);
    cr_assert_null(array.data);
    cr_assert_eq(faults_live_blocks(), 0, "case %zu leaks", i);
  }
}

Test(npy, prefixes_that_lie) {
  static const struct {
    unsigned char bytes[12];
    size_t size;
    const char *line;
  } cases[] = {
      {"\x93NUMPY\x01\x00\x02\x00{}", 12, "the header has no descr"},
      {"\x93NUMPY\x01\x00\x03\x00{}", 12, "a header of 3 bytes, but the file has 12"},
      {"\x93NUMPY\x01\x00\xff\xff{}", 12, "a header of 65535 bytes"},
      {"\x93NUMPY\x02\x00\xff\xff\xff\xff", 12, "a header of 4294967295 bytes, but the file has 12"},
      {"\x93NUMPY\x02\x00\x00\x00\x00\x80", 12, "a header of 2147483648 bytes"},
      {"\x93NUMPY\x02\x00\x00\x00\x00\x00", 12, "the header is not a dictionary"},
      {"\x93NUMPY\x02\x00\x00\x00\x00", 11, "a header of"},
      {"\x93NUMPY\x01\x01\x02\x00{}", 12, "version 1.1"},
      {"\x93NUMPY\x00\x00\x02\x00{}", 12, "version 0.0"},
      {"\x93NUMPY\x04\x00\x02\x00{}", 12, "version 4.0"},
      {"\x92NUMPY\x01\x00\x02\x00{}", 12, "is not an .npy file"},
      {"PK\x03\x04 a zip", 12, "is not an .npy file"},
      {"", 0, "is not an .npy file"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    attn2c_npy array;
    scratch_put(scratch_path("x.npy"), cases[i].bytes, cases[i].size);
    faults_clear();
    cr_assert_eq(read_path(scratch_path("x.npy"), &array), ATTN2C_FORMAT, "case %zu", i);
    cr_assert_not_null(strstr(text, cases[i].line), "case %zu: %s", i, text);
    cr_assert(faults_largest_block() < 4096, "case %zu allocates %lu", i, faults_largest_block());
    cr_assert_eq(faults_live_blocks(), 0);
  }
}

/* A file that has the bytes of a header which nobody needs is not read into memory either. */
Test(npy, a_header_that_is_there_but_too_long) {
  const char *path = scratch_path("x.npy");
  attn2c_npy array;
  scratch_put(path, "\x93NUMPY\x02\x00\x00\x00\x00\x10", 12);
  cr_assert_eq(truncate(path, 0x10000000 + 12), 0);
  faults_clear();
  cr_assert_eq(read_path(path, &array), ATTN2C_FORMAT);
  cr_assert_not_null(strstr(text, "at most 65536 are allowed"), "%s", text);
  cr_assert(faults_largest_block() < 4096);
}

Test(npy, missing_or_no_file) {
  attn2c_npy array;
  cr_assert_eq(read_path(scratch_path("missing.npy"), &array), ATTN2C_IO);
  cr_assert_not_null(strstr(text, "missing.npy: cannot be opened: No such file"), "%s", text);
  cr_assert_eq(read_path(scratch_path("."), &array), ATTN2C_IO);
}

/* Writing. */

/* The files that numpy.save writes of zeros((2, 17), 'f4'), zeros(3, 'i4') and zeros((), 'f4'). */
Test(npy, what_is_written_is_what_numpy_writes) {
  static const struct {
    attn2c_type type;
    int rank;
    int64_t shape[2];
    const char *dictionary;
    size_t data;
  } cases[] = {
      {ATTN2C_F32, 2, {2, 17}, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 17), }", 136},
      {ATTN2C_I32, 1, {3}, "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }", 12},
      {ATTN2C_F32, 0, {0}, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 4},
      {ATTN2C_F32, 1, {0}, "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }", 0},
  };
  static const float zeros[34];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    unsigned char bytes[512], expected[128];
    attn2c_message message = attn2c_message_make(text, sizeof text);
    cr_assert_eq(attn2c_npy_write(scratch_path("x.npy"), cases[i].type, cases[i].rank, cases[i].shape, zeros,
                                  &message),
                 ATTN2C_OK, "%s", text);
    memset(expected, ' ', sizeof expected);
    memcpy(expected, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(expected + 10, cases[i].dictionary, strlen(cases[i].dictionary));
    expected[127] = '\n';
    cr_assert_eq(scratch_get(scratch_path("x.npy"), bytes, sizeof bytes), 128 + cases[i].data);
    cr_assert_arr_eq(bytes, expected, 128, "case %zu", i);
    for (size_t b = 0; b < cases[i].data; b++) cr_assert_eq(bytes[128 + b], 0);
  }
}

Test(npy, written_and_read_back_at_every_rank) {
  int64_t shape[33];
  attn2c_npy array;
  float value = 1.5f;
  for (int d = 0; d < 33; d++) shape[d] = 1;
  for (int rank = 0; rank <= 32; rank++) {
    attn2c_message message = attn2c_message_make(text, sizeof text);
    cr_assert_eq(attn2c_npy_write(scratch_path("x.npy"), ATTN2C_F32, rank, shape, &value, &message),
                 ATTN2C_OK);
    cr_assert_eq(read_path(scratch_path("x.npy"), &array), ATTN2C_OK, "rank %d: %s", rank, text);
    cr_assert(array.rank == rank && *(float *)array.data == value);
    attn2c_npy_free(&array);
  }
  unlink(scratch_path("x.npy"));
  cr_assert_eq(attn2c_npy_write(scratch_path("x.npy"), ATTN2C_F32, 33, shape, &value, NULL), ATTN2C_USAGE);
  shape[1] = -1;
  cr_assert_eq(attn2c_npy_write(scratch_path("x.npy"), ATTN2C_F32, 2, shape, &value, NULL), ATTN2C_USAGE);
  shape[0] = shape[1] = (int64_t)1 << 32;
  cr_assert_eq(attn2c_npy_write(scratch_path("x.npy"), ATTN2C_F32, 2, shape, &value, NULL), ATTN2C_USAGE);
  cr_assert_eq(scratch_count(), 0);
}

Test(npy, a_shape_of_the_longest_text) {
  int64_t shape[32];
  shape[0] = 0;
  for (int d = 1; d < 32; d++) shape[d] = INT64_MAX;
  attn2c_npy array;
  attn2c_message message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(attn2c_npy_write(scratch_path("x.npy"), ATTN2C_F32, 32, shape, NULL, &message), ATTN2C_OK,
               "%s", text);
  cr_assert_eq(read_path(scratch_path("x.npy"), &array), ATTN2C_OK, "%s", text);
  cr_assert_arr_eq(array.shape, shape, sizeof shape);
  attn2c_npy_free(&array);
}

Test(npy, a_full_device_is_reported) {
  static const float zeros[6];
  attn2c_message message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(attn2c_npy_write("/dev/full", ATTN2C_F32, 1, (int64_t[]){6}, zeros, &message), ATTN2C_IO);
  cr_assert_not_null(strstr(text, "/dev/full: cannot be written: No space left on device"), "%s", text);
}

/* Files, and what can happen to them. */

Test(npy, cut_at_every_byte_or_one_longer) {
  unsigned char bytes[512];
  static const float six[6] = {1, 2, 3, 4, 5, 6};
  cr_assert_eq(attn2c_npy_write(scratch_path("a.npy"), ATTN2C_F32, 2, (int64_t[]){2, 3}, six, NULL),
               ATTN2C_OK);
  size_t size = scratch_get(scratch_path("a.npy"), bytes, sizeof bytes);
  bytes[size] = 0;
  for (size_t cut = 0; cut <= size + 1; cut++) {
    attn2c_npy array;
    scratch_put(scratch_path("x.npy"), bytes, cut);
    faults_clear();
    int status = read_path(scratch_path("x.npy"), &array);
    cr_assert_eq(status, cut == size ? ATTN2C_OK : ATTN2C_FORMAT, "%zu bytes: %d, %s", cut, status, text);
    if (status)
      cr_assert(text[0] && !strchr(text, '\n'), "%zu bytes: %s", cut, text);
    else
      attn2c_npy_free(&array);
    cr_assert_eq(faults_live_blocks(), 0);
  }
}

Test(npy, the_nth_read_fails) {
  static const struct {
    fault_kind kind;
    int persistent, status;
  } cases[] = {{FAULT_ERROR, 0, ATTN2C_IO}, {FAULT_ERROR, 1, ATTN2C_IO}, {FAULT_INTERRUPTED, 0, ATTN2C_OK},
               {FAULT_SHORT, 0, ATTN2C_OK}, {FAULT_SHORT, 1, ATTN2C_OK}, {FAULT_END, 0, ATTN2C_FORMAT}};
  const char *path = put_array(1, D("'<f4'", "False", "(2, 3)"), strlen(D("'<f4'", "False", "(2, 3)")), 24);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int nth = 1;
    for (;; nth++) {
      attn2c_npy array;
      faults_clear();
      faults_read(nth, cases[i].kind, cases[i].persistent);
      int status = read_path(path, &array);
      if (!status) {
        for (int b = 0; b < 24; b++) cr_assert_eq(((unsigned char *)array.data)[b], b);
        attn2c_npy_free(&array);
      }
      cr_assert_eq(faults_live_blocks(), 0);
      if (faults_met() == 0) break;
      cr_assert_eq(status, cases[i].status, "case %zu, read %d: %d, %s", i, nth, status, text);
    }
    cr_assert(nth > 3);
  }
}

Test(npy, the_nth_allocation_fails) {
  const char *path = put_array(1, D("'<f4'", "True", "(2, 3)"), strlen(D("'<f4'", "True", "(2, 3)")), 24);
  for (int persistent = 0; persistent < 2; persistent++) {
    int nth = 1;
    for (;; nth++) {
      attn2c_npy array;
      faults_clear();
      faults_allocation(nth, persistent);
      int status = read_path(path, &array);
      if (faults_met() == 0) {
        cr_assert_eq(status, ATTN2C_OK);
        attn2c_npy_free(&array);
        break;
      }
      cr_assert_eq(status, ATTN2C_MEMORY);
      cr_assert_not_null(strstr(text, "x.npy: out of memory"), "%s", text);
      cr_assert_eq(faults_live_blocks(), 0);
    }
    cr_assert_eq(nth - 1, 4,
                 "path, header, data and data in C order are allocated, but %d allocations were made",
                 nth - 1);
  }
}

/* As an input. */

/* An array of given type; the data stay the caller's. */
static attn2c_npy make_array(attn2c_npy_type type, int rank, const int64_t *shape, void *data) {
  attn2c_npy array = {.type = type, .rank = rank, .elements = 1, .data = data, .path = "x.npy"};
  for (int d = 0; d < rank; d++) array.elements *= array.shape[d] = shape[d];
  return array;
}

static int convert(const attn2c_npy *array, attn2c_type type, int rank, const int64_t *shape, void *out) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  return attn2c_npy_as(array, type, rank, shape, "hidden", out, &message);
}

Test(npy, conversions) {
  const int64_t shape[] = {2, 2};
  float floats[4] = {1, -0.0f, NAN, INFINITY}, as_float[4];
  double doubles[4] = {0.1, -2, 1e300, NAN};
  int32_t integers[4] = {INT32_MIN, -1, 0, INT32_MAX}, as_integer[4];
  int64_t longs[4] = {INT32_MIN, -1, 0, INT32_MAX};
  unsigned char bools[4] = {0, 1, 2, 255};
  attn2c_npy array = make_array(ATTN2C_NPY_FLOAT32, 2, shape, floats);
  cr_assert_eq(convert(&array, ATTN2C_F32, 2, shape, as_float), ATTN2C_OK, "%s", text);
  cr_assert_arr_eq(as_float, floats, sizeof floats);
  array = make_array(ATTN2C_NPY_FLOAT64, 2, shape, doubles);
  cr_assert_eq(convert(&array, ATTN2C_F32, 2, shape, as_float), ATTN2C_OK, "%s", text);
  cr_assert(as_float[0] == 0.1f && as_float[1] == -2 && as_float[2] == INFINITY && isnan(as_float[3]));
  array = make_array(ATTN2C_NPY_INT32, 2, shape, integers);
  cr_assert_eq(convert(&array, ATTN2C_I32, 2, shape, as_integer), ATTN2C_OK, "%s", text);
  cr_assert_arr_eq(as_integer, integers, sizeof integers);
  array = make_array(ATTN2C_NPY_INT64, 2, shape, longs);
  cr_assert_eq(convert(&array, ATTN2C_I32, 2, shape, as_integer), ATTN2C_OK, "%s", text);
  cr_assert_arr_eq(as_integer, integers, sizeof integers);
  array = make_array(ATTN2C_NPY_BOOL, 2, shape, bools);
  cr_assert_eq(convert(&array, ATTN2C_I32, 2, shape, as_integer), ATTN2C_OK, "%s", text);
  cr_assert(as_integer[0] == 0 && as_integer[1] == 1 && as_integer[2] == 1 && as_integer[3] == 1);
}

Test(npy, integers_of_all_sizes) {
  static const int8_t i8[] = {INT8_MIN, -1, INT8_MAX};
  static const int16_t i16[] = {INT16_MIN, -1, INT16_MAX};
  static const uint8_t u8[] = {0, 1, UINT8_MAX};
  static const uint16_t u16[] = {0, 1, UINT16_MAX};
  static const uint32_t u32[] = {0, 1, INT32_MAX};
  static const uint64_t u64[] = {0, 1, INT32_MAX};
  static const struct {
    attn2c_npy_type type;
    const void *data;
    int32_t values[3];
  } cases[] = {
      {ATTN2C_NPY_INT8, i8, {INT8_MIN, -1, INT8_MAX}}, {ATTN2C_NPY_INT16, i16, {INT16_MIN, -1, INT16_MAX}},
      {ATTN2C_NPY_UINT8, u8, {0, 1, UINT8_MAX}},       {ATTN2C_NPY_UINT16, u16, {0, 1, UINT16_MAX}},
      {ATTN2C_NPY_UINT32, u32, {0, 1, INT32_MAX}},     {ATTN2C_NPY_UINT64, u64, {0, 1, INT32_MAX}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int32_t values[3];
    const attn2c_npy array = make_array(cases[i].type, 1, (int64_t[]){3}, (void *)(uintptr_t)cases[i].data);
    cr_assert_eq(convert(&array, ATTN2C_I32, 1, (int64_t[]){3}, values), ATTN2C_OK, "%s", text);
    cr_assert_arr_eq(values, cases[i].values, sizeof values, "case %zu", i);
    cr_assert_eq(convert(&array, ATTN2C_F32, 1, (int64_t[]){3}, values), ATTN2C_FORMAT);
  }
}

Test(npy, unsigned_integers_that_do_not_fit) {
  uint32_t u32[] = {7, 2147483648u};
  uint64_t u64[] = {7, UINT64_MAX};
  int32_t values[2];
  attn2c_npy array = make_array(ATTN2C_NPY_UINT32, 1, (int64_t[]){2}, u32);
  cr_assert_eq(convert(&array, ATTN2C_I32, 1, (int64_t[]){2}, values), ATTN2C_FORMAT);
  cr_assert_not_null(strstr(text, "int32 expected, but x.npy holds 2147483648 at [1]"), "%s", text);
  array = make_array(ATTN2C_NPY_UINT64, 1, (int64_t[]){2}, u64);
  cr_assert_eq(convert(&array, ATTN2C_I32, 1, (int64_t[]){2}, values), ATTN2C_FORMAT);
  cr_assert_not_null(strstr(text, "int32 expected, but x.npy holds 18446744073709551615 at [1]"), "%s", text);
}

Test(npy, half_floats) {
  uint16_t halves[] = {0x3c00, 0xc000, 0x7c00, 0x0001};
  float values[4];
  const attn2c_npy array = make_array(ATTN2C_NPY_FLOAT16, 1, (int64_t[]){4}, halves);
  cr_assert_eq(convert(&array, ATTN2C_F32, 1, (int64_t[]){4}, values), ATTN2C_OK, "%s", text);
  cr_assert(values[0] == 1 && values[1] == -2 && values[2] == INFINITY && values[3] == 0x1p-24f);
  cr_assert_eq(convert(&array, ATTN2C_I32, 1, (int64_t[]){4}, values), ATTN2C_FORMAT);
}

Test(npy, what_is_not_the_input) {
  static const struct {
    attn2c_npy_type type;
    int rank;
    int64_t shape[3];
    attn2c_type expected;
    const char *line;
  } cases[] = {
      {ATTN2C_NPY_INT64,
       2,
       {2, 17},
       ATTN2C_F32,
       "hidden: float32 [2, 3] expected, but x.npy holds int64 [2, 17]"},
      {ATTN2C_NPY_FLOAT32,
       2,
       {3, 2},
       ATTN2C_F32,
       "hidden: float32 [2, 3] expected, but x.npy holds float32 [3, 2]"},
      {ATTN2C_NPY_FLOAT32,
       1,
       {6},
       ATTN2C_F32,
       "hidden: float32 [2, 3] expected, but x.npy holds float32 [6], without an axis of sequences: one "
       "sequence is [1, 6]"},
      {ATTN2C_NPY_FLOAT32,
       3,
       {1, 2, 3},
       ATTN2C_F32,
       "hidden: float32 [2, 3] expected, but x.npy holds float32 [1, 2, 3]"},
      {ATTN2C_NPY_FLOAT32, 0, {0}, ATTN2C_F32, "hidden: float32 [2, 3] expected, but x.npy holds float32 []"},
      {ATTN2C_NPY_INT32,
       2,
       {2, 3},
       ATTN2C_F32,
       "hidden: float32 [2, 3] expected, but x.npy holds int32 [2, 3]"},
      {ATTN2C_NPY_BOOL,
       2,
       {2, 3},
       ATTN2C_F32,
       "hidden: float32 [2, 3] expected, but x.npy holds bool [2, 3]"},
      {ATTN2C_NPY_FLOAT64,
       2,
       {2, 3},
       ATTN2C_I32,
       "hidden: int32 [2, 3] expected, but x.npy holds float64 [2, 3]"},
  };
  const int64_t shape[] = {2, 3};
  static int64_t zeros[64];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    float out[6];
    attn2c_npy array = make_array(cases[i].type, cases[i].rank, cases[i].shape, zeros);
    cr_assert_eq(convert(&array, cases[i].expected, 2, shape, out), ATTN2C_FORMAT, "case %zu", i);
    cr_assert_str_eq(text, cases[i].line);
  }
}

Test(npy, integers_that_do_not_fit) {
  static const int64_t beyond[] = {(int64_t)INT32_MAX + 1, (int64_t)INT32_MIN - 1, INT64_MAX, INT64_MIN,
                                   (int64_t)1 << 32};
  const int64_t shape[] = {2, 3};
  for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
    int64_t longs[6] = {0, 1, 2, 3, 4, beyond[i]};
    int32_t out[6];
    char line[128];
    attn2c_npy array = make_array(ATTN2C_NPY_INT64, 2, shape, longs);
    cr_assert_eq(convert(&array, ATTN2C_I32, 2, shape, out), ATTN2C_FORMAT);
    snprintf(line, sizeof line, "hidden: int32 expected, but x.npy holds %lld at [1, 2]",
             (long long)beyond[i]);
    cr_assert_str_eq(text, line);
  }
}
