/* test_safetensors.c - the strict reader: what is well-formed is read, to the bit; what is
 * hostile, cut or contradictory is refused in one line and without allocating its claim;
 * and whatever the machine does, there is a status and nothing leaks. */
#define _DEFAULT_SOURCE
#include "faults.h"
#include "base/readers.h"
#include "formats/tensors.h"
#include "safetensors_write.h"
#include "scratch.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A file in memory: this header, then data bytes 0, 1, 2, ... In a block of its own size, so that a sanitizer
 * sees a byte read beyond it. */
typedef struct {
  unsigned char *bytes;
  size_t size;
} image;

static image make_image(const char *header, size_t header_size, size_t data_size) {
  image made = {malloc(8 + header_size + data_size), 8 + header_size + data_size};
  uint64_t length = header_size;
  memcpy(made.bytes, &length, 8);
  memcpy(made.bytes + 8, header, header_size);
  for (size_t i = 0; i < data_size; i++) made.bytes[8 + header_size + i] = (unsigned char)i;
  return made;
}

static char text[512];

/* Opens a header with some bytes of data; the line is in `text`. */
static int open_header(const char *header, size_t header_size, size_t data_size, attn2c_tensor_file **file) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  image made = make_image(header, header_size, data_size);
  int status =
      attn2c_tensor_file_open_memory(&attn2c_safetensors_format, made.bytes, made.size, file, &message);
  free(made.bytes); /* only values are read later on */
  return status;
}

#define ONE  "{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}"
#define NEXT "{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}"
#define T(dtype, shape, offsets)                                                                             \
  "{\"x\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

Test(safetensors, what_is_malformed_is_refused_with_one_line) {
  static const struct {
    const char *header;
    size_t data;
    const char *line; /* contained in the message */
  } cases[] = {
      {"[]", 0, "does not start with '{'"},
      {" {}", 0, "does not start with '{'"},
      {"{} \n", 0, "only spaces may follow the object, at byte 11"},
      {"{}{}", 0, "only spaces may follow"},
      {"{\"x\":" ONE, 4, "',' or '}' is expected"},
      {"{\"x\":" ONE ",}", 4, "a string is expected"},
      {"{\"x\":" ONE "} ,", 4, "only spaces"},
      {"{'x':" ONE "}", 4, "a string is expected"},
      {"{\"x\":1}", 0, "\"x\": '{' is expected, at byte 13"},
      {"{\"x\":{}}", 0, "\"x\": dtype is missing"},
      {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "\"x\": data_offsets is missing"},
      {"{\"x\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, "\"x\": shape is missing"},
      {"{\"x\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
       "\"x\": key \"dtype\" occurs twice"},
      {"{\"x\":{\"type\":\"F32\"}}", 4, "\"x\": key \"type\" is not known"},
      {"{\"x\":" ONE ",\"x\":" NEXT "}", 8, "\"x\": occurs twice"},
      {"{\"x\":" ONE ",\"\\u0078\":" ONE "}", 4, "\"x\": occurs twice"},
      {T("F32", "[1]", "[0,5]"), 5, "F32 [1] is 4 bytes, but data_offsets [0, 5] hold 5"},
      {T("F33", "[1]", "[0,4]"), 4, "dtype \"F33\" is not known"},
      {T("f32", "[1]", "[0,4]"), 4, "dtype \"f32\" is not known"},
      {T("F32", "[1]", "[4,0]"), 4, "data_offsets [4, 0] end before they begin"},
      {T("F32", "[1]", "[4,8]"), 8, "data_offsets [4, 8] leave a hole after byte 0"},
      {T("F32", "[1]", "[0,4]"), 8, "4 bytes of data follow the last tensor, which ends at byte 4"},
      {T("F32", "[1]", "[0,4]"), 3, "data_offsets [0, 4] are beyond the file's 3 bytes"},
      {T("F32", "[1]", "[0,4]"), 0, "beyond the file's 0 bytes"},
      {"{\"x\":" ONE ",\"y\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[3,7]}}", 7,
       "\"y\": data_offsets [3, 7] overlap byte 4"},
      {"{\"x\":" ONE ",\"y\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[5,9]}}", 9,
       "\"y\": data_offsets [5, 9] leave a hole after byte 4"},
      {"{\"x\":" ONE ",\"y\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[2,2]}}", 4, "overlap byte 4"},
      {"{\"x\":" ONE ",\"y\":" ONE "}", 4, "overlap byte 4"},
      {T("F32", "[4294967296,4294967296]", "[0,4]"), 4, "shape [4294967296, 4294967296] is too large"},
      {T("F32", "[4294967296,2147483648]", "[0,4]"), 4, "is too large"},
      {T("F64", "[2305843009213693952]", "[0,0]"), 0, "beyond 2^53"},
      {T("F64", "[1152921504606846,1024]", "[0,0]"), 0, "is too large"},
      {T("F32", "[4294967296,4294967296,0]", "[0,0]"), 0, "is too large"},
      {T("F32", "[1]", "[0.0,4]"), 4, "a fraction or exponent"},
      {T("F32", "[1]", "[0,4e0]"), 4, "a fraction or exponent"},
      {T("F32", "[1.5]", "[0,4]"), 4, "a fraction or exponent"},
      {T("F32", "[-1]", "[0,4]"), 4, "a negative number"},
      {T("F32", "[1]", "[-0,4]"), 4, "a negative number"},
      {T("F32", "[01]", "[0,4]"), 4, "a leading zero"},
      {T("F32", "[1]", "[0,9007199254740993]"), 4, "a number beyond 2^53"},
      {T("F32", "[1]", "[0,99999999999999999999999999]"), 4, "a number beyond 2^53"},
      {T("F32", "[1]", "[0,9007199254740992]"), 4, "is 4 bytes, but data_offsets [0, 9007199254740992] hold"},
      {T("F32", "[2251799813685248]", "[0,9007199254740992]"), 4, "beyond the file's 4 bytes"},
      {T("F32", "[1]", "[0]"), 4, "data_offsets must be two integers"},
      {T("F32", "[1]", "[]"), 4, "data_offsets must be two integers"},
      {T("F32", "[1]", "[0,4,4]"), 4, "data_offsets must be two integers"},
      {T("F32", "[1,]", "[0,4]"), 4, "an integer is expected"},
      {T("F32", "[\"1\"]", "[0,4]"), 4, "an integer is expected"},
      {T("F32", "[true]", "[0,4]"), 4, "an integer is expected"},
      {T("F32", "null", "[0,4]"), 4, "'[' is expected"},
      {T("F32", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]"), 4, "more than 16 dimensions"},
      {"{\"x\":{\"dtype\":32,\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "\"x\": a string is expected"},
      {"{\"__metadata__\":1}", 0, "__metadata__ must be an object of strings"},
      {"{\"__metadata__\":{\"a\":1}}", 0, "__metadata__ must be an object of strings"},
      {"{\"__metadata__\":{\"a\":null}}", 0, "__metadata__ must be an object of strings"},
      {"{\"__metadata__\":{\"a\":\"b\",\"a\":\"c\"}}", 0, "__metadata__: \"a\" occurs twice"},
      {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "__metadata__ occurs twice"},
      {"{\"\xff\":" ONE "}", 4, "broken UTF-8"},
      {"{\"\xc0\xaf\":" ONE "}", 4, "broken UTF-8"},
      {"{\"\xed\xa0\x80\":" ONE "}", 4, "broken UTF-8"},
      {"{\"\xe2\x82\":" ONE "}", 4, "broken UTF-8"},
      {"{\"a\\u0000b\":" ONE "}", 4, "a NUL character"},
      {"{\"\\ud800\":" ONE "}", 4, "a surrogate without its other half"},
      {"{\"\\ud800\\u0041\":" ONE "}", 4, "a surrogate without its other half"},
      {"{\"\\udc00\":" ONE "}", 4, "a surrogate without its other half"},
      {"{\"\\udc00\\udc00\":" ONE "}", 4, "a surrogate without its other half"},
      {"{\"\\x41\":" ONE "}", 4, "an unknown escape"},
      {"{\"\\u12g4\":" ONE "}", 4, "four hexadecimal digits"},
      {"{\"a\nb\":" ONE "}", 4, "a control character in a string"},
      {"{\"x", 0, "a string does not end"},
      {"{\"x\\", 0, "a string does not end"},
      {"{\"x\\u12", 0, "four hexadecimal digits"},
      {"{\"e\\u001b[31m\":{}}", 0, "\"e?[31m\": dtype is missing"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    attn2c_tensor_file *file = (attn2c_tensor_file *)text;
    faults_clear();
    int status = open_header(cases[i].header, strlen(cases[i].header), cases[i].data, &file);
    cr_assert_eq(status, ATTN2C_FORMAT, "case %zu, %s: status %d", i, cases[i].header, status);
    cr_assert_null(file);
    cr_assert_not_null(strstr(text, cases[i].line), "case %zu, %s: %s", i, cases[i].header, text);
    cr_assert_null(strchr(text, '\n'), "%s", text);
    cr_assert_eq(faults_live_blocks(), 0, "case %zu leaks", i);
  }
}

Test(safetensors, a_raw_nul_in_a_name_is_refused) {
  static const char header[] = "{\"a\0b\":" ONE "}";
  attn2c_tensor_file *file;
  cr_assert_eq(open_header(header, sizeof header - 1, 4, &file), ATTN2C_FORMAT);
  cr_assert_not_null(strstr(text, "a control character in a string"), "%s", text);
}

Test(safetensors, what_is_well_formed_is_read) {
  static const struct {
    const char *header;
    size_t data;
    int count;
    const char *name; /* of a tensor that must be found, or NULL */
  } cases[] = {
      {"{}", 0, 0, NULL},
      {"{}      ", 0, 0, NULL},
      {"{\"__metadata__\":{}}", 0, 0, NULL},
      {"{\"__metadata__\":{\"format\":\"pt\",\"a\":\"\"},\"x\":" ONE "}", 4, 1, "x"},
      {"{\"x\":" ONE ",\"__metadata__\":{\"format\":\"pt\"}}  ", 4, 1, "x"},
      {"{\r\n\t\"x\" : { \"data_offsets\" : [ 0 , 4 ] ,\n\"shape\":[ 1 ],\"dtype\" :\"F32\" } }", 4, 1, "x"},
      {"{\"y\":" NEXT ",\"x\":" ONE "}", 8, 2, "y"},
      {"{\"\":" ONE "}", 4, 1, ""},
      {"{\"\xc3\xa9\\u00e9\\ud83d\\ude00\\\"\\\\\\/\\b\\f\\n\\r\\t\":" ONE "}", 4, 1,
       "\xc3\xa9\xc3\xa9\xf0\x9f\x98\x80\"\\/\b\f\n\r\t"},
      {T("F32", "[]", "[0,4]"), 4, 1, "x"},
      {T("F32", "[0]", "[0,0]"), 0, 1, "x"},
      {T("F32", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]"), 4, 1, "x"},
      {"{\"x\":" ONE ",\"e\":{\"dtype\":\"F32\",\"shape\":[3,0],\"data_offsets\":[4,4]},\"y\":" NEXT "}", 8,
       3, "e"},
      {T("BOOL", "[3]", "[0,3]"), 3, 1, "x"},
      {T("F8_E4M3", "[3]", "[0,3]"), 3, 1, "x"},
      {T("F8_E5M2", "[3]", "[0,3]"), 3, 1, "x"},
      {T("I8", "[3]", "[0,3]"), 3, 1, "x"},
      {T("U8", "[3]", "[0,3]"), 3, 1, "x"},
      {T("I16", "[3]", "[0,6]"), 6, 1, "x"},
      {T("U16", "[3]", "[0,6]"), 6, 1, "x"},
      {T("I32", "[3]", "[0,12]"), 12, 1, "x"},
      {T("U32", "[3]", "[0,12]"), 12, 1, "x"},
      {T("I64", "[3]", "[0,24]"), 24, 1, "x"},
      {T("U64", "[3]", "[0,24]"), 24, 1, "x"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    attn2c_tensor_file *file;
    int status = open_header(cases[i].header, strlen(cases[i].header), cases[i].data, &file);
    cr_assert_eq(status, ATTN2C_OK, "case %zu, %s: %s", i, cases[i].header, text);
    cr_assert_eq(file->count, cases[i].count, "case %zu", i);
    cr_assert_eq(attn2c_tensor_file_find(file, "no such name"), -1);
    if (cases[i].name) {
      int found = attn2c_tensor_file_find(file, cases[i].name);
      cr_assert(found >= 0, "case %zu", i);
      cr_assert_str_eq(file->tensors[found].name, cases[i].name);
    }
    attn2c_tensor_file_close(file);
  }
}

Test(safetensors, hostile_header_lengths_allocate_nothing) {
  static const uint64_t lengths[] = {0,
                                     1,
                                     7,
                                     41,
                                     43,
                                     100000000,
                                     100000001,
                                     (uint64_t)1 << 32,
                                     (uint64_t)1 << 63,
                                     UINT64_MAX,
                                     UINT64_MAX - 7,
                                     INT64_MAX};
  unsigned char bytes[8 + 42];
  memset(bytes, ' ', sizeof bytes);
  memcpy(bytes + 8, "{}", 2);
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    attn2c_message message = attn2c_message_make(text, sizeof text);
    attn2c_tensor_file *file;
    memcpy(bytes, &lengths[i], 8);
    faults_clear();
    cr_assert_eq(
        attn2c_tensor_file_open_memory(&attn2c_safetensors_format, bytes, sizeof bytes, &file, &message),
        ATTN2C_FORMAT, "length %" PRIu64, lengths[i]);
    cr_assert(faults_largest_block() < 1024, "length %" PRIu64 " allocates %lu", lengths[i],
              faults_largest_block());
    cr_assert_eq(faults_live_blocks(), 0);
    if (lengths[i] < 2 || lengths[i] > 100000000)
      cr_assert_not_null(strstr(text, "but 2 to 100000000 is allowed"), "%s", text);
    else if (lengths[i] > 42)
      cr_assert_not_null(strstr(text, "but only 42 bytes follow"), "%s", text);
  }
}

Test(safetensors, nesting_of_any_depth_is_refused_at_once) {
  static const char *const starts[] = {
      "{\"x\":", "{\"x\":{\"dtype\":\"F32\",\"shape\":", "{\"__metadata__\":{\"a\":"};
  static const char *const levels[] = {"[", "{\"a\":"};
  size_t depth = 100000;
  char *header = malloc(64 + 5 * depth);
  for (size_t s = 0; s < 3; s++)
    for (size_t l = 0; l < 2; l++) {
      size_t used = (size_t)sprintf(header, "%s", starts[s]);
      for (size_t i = 0; i < depth; i++) used += (size_t)sprintf(header + used, "%s", levels[l]);
      attn2c_tensor_file *file;
      clock_t start = clock();
      cr_assert_eq(open_header(header, used, 0, &file), ATTN2C_FORMAT);
      cr_assert_lt((double)(clock() - start) / CLOCKS_PER_SEC, 1.0);
    }
  free(header);
}

Test(safetensors, a_hundred_thousand_tensors_in_a_second) {
  enum { COUNT = 100000 };
  char *header = malloc(COUNT * 100), name[64];
  size_t used = 1;
  header[0] = '{';
  for (int i = 0; i < COUNT; i++) /* not in the order of their names, as 10 stands before 2 */
    used += (size_t)sprintf(
        header + used,
        "%s\"encoder.layer.%d.weight\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%d,%d]}",
        i ? "," : "", i, i, i + 1);
  header[used++] = '}';
  attn2c_tensor_file *file;
  clock_t start = clock();
  cr_assert_eq(open_header(header, used, COUNT, &file), ATTN2C_OK, "%s", text);
  for (int i = 0; i < COUNT; i++) {
    sprintf(name, "encoder.layer.%d.weight", i);
    int found = attn2c_tensor_file_find(file, name);
    cr_assert(found >= 0 && file->tensors[found].begin == i);
  }
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  /* It takes 0.2 s without sanitizers; a search through all names would take minutes. */
  cr_assert_lt(seconds, 10.0, "%g s", seconds);
  attn2c_tensor_file_close(file);
  free(header);
}

/* Values. */

static const char typed[] = "{\"d\":{\"dtype\":\"F64\",\"shape\":[6],\"data_offsets\":[0,48]},"
                            "\"f\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[48,72]},"
                            "\"b\":{\"dtype\":\"BF16\",\"shape\":[4],\"data_offsets\":[72,80]},"
                            "\"i\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[80,84]}}";

static attn2c_tensor_file *open_typed(image *made) {
  static const double doubles[6] = {1.0, -0.1, 1e300, -1e-300, NAN, -INFINITY};
  static const float floats[6] = {1, 2, 3, NAN, INFINITY, 0x1p-149f};
  static const uint16_t brains[4] = {0x3f80, 0xc049, 0x7fc0, 0x0001};
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_tensor_file *file;
  *made = make_image(typed, sizeof typed - 1, 84);
  memcpy(made->bytes + 8 + sizeof typed - 1, doubles, 48);
  memcpy(made->bytes + 8 + sizeof typed - 1 + 48, floats, 24);
  memcpy(made->bytes + 8 + sizeof typed - 1 + 72, brains, 8);
  cr_assert_eq(
      attn2c_tensor_file_open_memory(&attn2c_safetensors_format, made->bytes, made->size, &file, &message),
      ATTN2C_OK, "%s", text);
  return file;
}

Test(safetensors, values_of_every_readable_type) {
  image made;
  attn2c_tensor_file *file = open_typed(&made);
  attn2c_message message = attn2c_message_make(text, sizeof text);
  float values[6];
  cr_assert_eq(attn2c_tensor_file_read(file, attn2c_tensor_file_find(file, "d"), 0, 6, values, &message),
               ATTN2C_OK);
  cr_assert(values[0] == 1 && values[1] == -0.1f && values[2] == INFINITY && values[3] == 0 &&
            signbit(values[3]) && isnan(values[4]) && values[5] == -INFINITY);
  cr_assert_eq(attn2c_tensor_file_read(file, attn2c_tensor_file_find(file, "f"), 0, 6, values, &message),
               ATTN2C_OK);
  cr_assert(values[0] == 1 && values[2] == 3 && isnan(values[3]) && values[4] == INFINITY &&
            values[5] == 0x1p-149f);
  cr_assert_eq(attn2c_tensor_file_read(file, attn2c_tensor_file_find(file, "b"), 0, 4, values, &message),
               ATTN2C_OK);
  cr_assert(values[0] == 1 && values[1] == -3.140625f && isnan(values[2]) && values[3] == 0x1p-133f);
  /* A range of rows. */
  values[2] = 99;
  cr_assert_eq(attn2c_tensor_file_read(file, attn2c_tensor_file_find(file, "f"), 1, 2, values, &message),
               ATTN2C_OK);
  cr_assert(values[0] == 2 && values[1] == 3 && values[2] == 99);
  cr_assert_eq(attn2c_tensor_file_read(file, attn2c_tensor_file_find(file, "f"), 6, 0, values, &message),
               ATTN2C_OK);
  attn2c_tensor_file_close(file);
  free(made.bytes);
}

Test(safetensors, ranges_and_types_that_cannot_be_read) {
  static const struct {
    const char *name;
    int64_t first, count;
    const char *line;
  } cases[] = {
      {"i", 0, 1, "\"i\": type I32, but F32, F64, F16 or BF16 is expected"},
      {"f", 0, 7, "\"f\": 7 elements from element 0 are beyond its 6"},
      {"f", 6, 1, "beyond its 6"},
      {"f", 7, 0, "beyond its 6"},
      {"f", -1, 1, "beyond its 6"},
      {"f", 0, -1, "beyond its 6"},
      {"f", 1, INT64_MAX, "beyond its 6"},
      {"f", INT64_MAX, INT64_MAX, "beyond its 6"},
  };
  image made;
  attn2c_tensor_file *file = open_typed(&made);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    attn2c_message message = attn2c_message_make(text, sizeof text);
    float value = 99;
    int found = attn2c_tensor_file_find(file, cases[i].name);
    cr_assert_eq(attn2c_tensor_file_read(file, found, cases[i].first, cases[i].count, &value, &message),
                 ATTN2C_FORMAT, "case %zu", i);
    cr_assert_not_null(strstr(text, cases[i].line), "case %zu: %s", i, text);
    cr_assert_eq(value, 99);
  }
  attn2c_tensor_file_close(file);
  free(made.bytes);
}

/* All f16 there are, by the format's definition; more than one chunk of the conversion. */
Test(safetensors, every_half_precision_number) {
  static const char header[] = T("F16", "[65536]", "[0,131072]");
  image made = make_image(header, sizeof header - 1, 131072);
  static float values[65536];
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_tensor_file *file;
  for (size_t i = 0; i < 65536; i++)
    memcpy(made.bytes + 8 + sizeof header - 1 + 2 * i, &(uint16_t){(uint16_t)i}, 2);
  cr_assert_eq(
      attn2c_tensor_file_open_memory(&attn2c_safetensors_format, made.bytes, made.size, &file, &message),
      ATTN2C_OK, "%s", text);
  cr_assert_eq(attn2c_tensor_file_read(file, 0, 0, 65536, values, &message), ATTN2C_OK, "%s", text);
  for (int i = 0; i < 65536; i++) {
    int exponent = i >> 10 & 31, fraction = i & 1023;
    double sign = i >> 15 ? -1 : 1, expected;
    if (exponent == 31)
      expected = fraction ? NAN : sign * INFINITY;
    else if (exponent)
      expected = sign * ldexp(1024 + fraction, exponent - 25);
    else
      expected = sign * ldexp(fraction, -24);
    int equal =
        isnan(expected) ? isnan(values[i]) : values[i] == expected && !signbit(values[i]) == (sign > 0);
    cr_assert(equal, "%04x is read as %a, but %a is expected", i, values[i], expected);
  }
  attn2c_tensor_file_close(file);
  free(made.bytes);
}

/* Files, and what can happen to them. */

TestSuite(safetensors_file, .init = scratch_open, .fini = scratch_close);

static const float six[6] = {1, 2, 3, 4, 5, 6};

static const char *write_sample(void) {
  static const int64_t wide[] = {2, 3}, narrow[] = {5};
  static const safetensors_item items[] = {{"b \"quoted\"\n", 2, wide, six}, {"a", 1, narrow, six + 1}};
  attn2c_message message = attn2c_message_make(text, sizeof text);
  const char *path = scratch_path("sample.safetensors");
  cr_assert_eq(safetensors_write(path, items, 2, &message), ATTN2C_OK, "%s", text);
  return path;
}

static int open_path(const char *path, attn2c_tensor_file **file) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  return attn2c_tensor_file_open(&attn2c_safetensors_format, path, file, &message);
}

Test(safetensors_file, what_is_written_is_these_bytes) {
  static const char header[] =
      "{\"a\":{\"dtype\":\"F32\",\"shape\":[5],\"data_offsets\":[0,20]},"
      "\"b \\\"quoted\\\"\\u000a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[20,44]}}";
  unsigned char bytes[512];
  uint64_t length;
  size_t size = scratch_get(write_sample(), bytes, sizeof bytes);
  memcpy(&length, bytes, 8);
  cr_assert_eq(length % 8, 0);
  cr_assert(length >= sizeof header - 1 && length < sizeof header + 7);
  cr_assert_arr_eq(bytes + 8, header, sizeof header - 1);
  for (size_t i = sizeof header - 1; i < length; i++) cr_assert_eq(bytes[8 + i], ' ');
  cr_assert_eq(size, 8 + length + 44);
  cr_assert_arr_eq(bytes + 8 + length, six + 1, 20);
  cr_assert_arr_eq(bytes + 8 + length + 20, six, 24);
}

Test(safetensors_file, written_and_read_back) {
  attn2c_tensor_file *file;
  attn2c_message message = attn2c_message_make(text, sizeof text);
  float values[6] = {0};
  cr_assert_eq(open_path(write_sample(), &file), ATTN2C_OK, "%s", text);
  cr_assert_eq(file->count, 2);
  int found = attn2c_tensor_file_find(file, "b \"quoted\"\n");
  cr_assert_eq(file->tensors[found].rank, 2);
  cr_assert_eq(attn2c_tensor_file_read(file, found, 0, 6, values, &message), ATTN2C_OK, "%s", text);
  cr_assert_arr_eq(values, six, sizeof six);
  attn2c_tensor_file_close(file);
}

Test(safetensors_file, nothing_to_write_is_an_empty_file) {
  attn2c_tensor_file *file;
  const char *path = scratch_path("empty");
  cr_assert_eq(safetensors_write(path, NULL, 0, NULL), ATTN2C_OK);
  cr_assert_eq(open_path(path, &file), ATTN2C_OK, "%s", text);
  cr_assert_eq(file->count, 0);
  attn2c_tensor_file_close(file);
}

Test(safetensors_file, what_cannot_be_written_leaves_nothing) {
  static const int64_t one[17] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, negative[] = {-1},
                       large[] = {(int64_t)1 << 32, (int64_t)1 << 32};
  static const safetensors_item cases[][2] = {
      {{"x", 1, one, six}, {"x", 1, one, six}},    {{"x", 1, one, six}, {"__metadata__", 1, one, six}},
      {{"x", 1, one, six}, {"\xff", 1, one, six}}, {{"x", 1, one, six}, {"y", 17, one, six}},
      {{"x", 1, one, six}, {"y", -1, one, six}},   {{"x", 1, one, six}, {"y", 1, negative, six}},
      {{"x", 1, one, six}, {"y", 2, large, six}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    attn2c_message message = attn2c_message_make(text, sizeof text);
    cr_assert_eq(safetensors_write(scratch_path("x"), cases[i], 2, &message), ATTN2C_USAGE, "case %zu", i);
    cr_assert_neq(text[0], '\0');
    cr_assert_eq(scratch_count(), 0);
  }
}

Test(safetensors_file, cut_at_every_byte_or_one_longer) {
  unsigned char bytes[512];
  size_t size = scratch_get(write_sample(), bytes, sizeof bytes);
  const char *path = scratch_path("cut");
  for (size_t cut = 0; cut <= size + 1; cut++) {
    attn2c_tensor_file *file;
    bytes[size] = 0;
    scratch_put(path, bytes, cut);
    faults_clear();
    int status = open_path(path, &file);
    cr_assert_eq(status, cut == size ? ATTN2C_OK : ATTN2C_FORMAT, "%zu bytes: %d, %s", cut, status, text);
    if (cut != size) cr_assert(text[0] && !strchr(text, '\n'), "%zu bytes: %s", cut, text);
    attn2c_tensor_file_close(file);
    cr_assert_eq(faults_live_blocks(), 0, "%zu bytes leak", cut);
  }
}

Test(safetensors_file, missing_or_no_file) {
  attn2c_tensor_file *file;
  cr_assert_eq(open_path(scratch_path("missing"), &file), ATTN2C_IO);
  cr_assert_not_null(strstr(text, "missing: cannot be opened: No such file"), "%s", text);
  cr_assert_null(file);
  cr_assert_eq(open_path(scratch_path("."), &file), ATTN2C_IO);
  cr_assert_not_null(strstr(text, "is not a regular file"), "%s", text);
  cr_assert_eq(open_path("/dev/zero", &file), ATTN2C_IO);
}

Test(safetensors_file, cut_after_it_was_opened) {
  attn2c_tensor_file *file;
  float values[6];
  const char *path = write_sample();
  cr_assert_eq(open_path(path, &file), ATTN2C_OK, "%s", text);
  for (off_t size = 187; size >= 0; size -= 17) {
    attn2c_message message = attn2c_message_make(text, sizeof text);
    cr_assert_eq(truncate(path, size), 0);
    cr_assert_eq(attn2c_tensor_file_read(file, 1, 0, 6, values, &message), ATTN2C_FORMAT, "%ld bytes",
                 (long)size);
    cr_assert_not_null(strstr(text, "when it was opened"), "%s", text);
    if (size == 0) break;
  }
  attn2c_tensor_file_close(file);
}

/* Opens the sample and reads a tensor. */
static int open_and_read(const char *path) {
  attn2c_tensor_file *file;
  attn2c_message message = attn2c_message_make(text, sizeof text);
  float values[6];
  int status = attn2c_tensor_file_open(&attn2c_safetensors_format, path, &file, &message);
  if (status) {
    cr_assert_null(file);
    return status;
  }
  status = attn2c_tensor_file_read(file, 1, 0, 6, values, &message);
  if (!status) cr_assert_arr_eq(values, six, sizeof six);
  attn2c_tensor_file_close(file);
  return status;
}

Test(safetensors_file, the_nth_read_fails) {
  static const struct {
    fault_kind kind;
    int persistent, status;
  } cases[] = {{FAULT_ERROR, 0, ATTN2C_IO},  {FAULT_ERROR, 1, ATTN2C_IO}, {FAULT_INTERRUPTED, 0, ATTN2C_OK},
               {FAULT_SHORT, 0, ATTN2C_OK},  {FAULT_SHORT, 1, ATTN2C_OK}, {FAULT_END, 0, ATTN2C_FORMAT},
               {FAULT_END, 1, ATTN2C_FORMAT}};
  const char *path = write_sample();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int nth = 1;
    for (;; nth++) {
      faults_clear();
      faults_read(nth, cases[i].kind, cases[i].persistent);
      int status = open_and_read(path);
      cr_assert_eq(faults_live_blocks(), 0);
      if (faults_met() == 0) break;
      cr_assert_eq(status, cases[i].status, "case %zu, read %d: %d, %s", i, nth, status, text);
      if (status) cr_assert_neq(text[0], '\0');
    }
    cr_assert(nth > 3, "length, header and values are read, but %d reads were made", nth - 1);
  }
}

Test(safetensors_file, the_nth_allocation_fails) {
  static const char header[] =
      "{\"__metadata__\":{\"format\":\"a text of more than a few characters\",\"b\":\"\"},"
      "\"a name of more than sixteen characters\":" ONE "}";
  image made = make_image(header, sizeof header - 1, 4);
  scratch_put(scratch_path("metadata"), made.bytes, made.size);
  free(made.bytes);
  for (int persistent = 0; persistent < 2; persistent++) {
    int nth = 1;
    for (;; nth++) {
      attn2c_tensor_file *file;
      const char *path = scratch_path("metadata");
      faults_clear();
      faults_allocation(nth, persistent);
      int status = open_path(path, &file);
      if (faults_met() == 0) {
        cr_assert_eq(status, ATTN2C_OK);
        cr_assert_eq(attn2c_tensor_file_find(file, "a name of more than sixteen characters"), 0);
        attn2c_tensor_file_close(file);
        break;
      }
      cr_assert_eq(status, ATTN2C_MEMORY, "allocation %d: %d, %s", nth, status, text);
      cr_assert_not_null(strstr(text, "out of memory"), "%s", text);
      cr_assert_null(file);
      cr_assert_eq(faults_live_blocks(), 0, "allocation %d leaks", nth);
    }
    cr_assert_eq(nth - 1, 5,
                 "file, header, two metadata, tensors are allocated, but %d allocations were made", nth - 1);
  }
}

Test(safetensors_file, the_nth_allocation_of_writing_fails) {
  static const int64_t shape[] = {6};
  static const safetensors_item item = {"x", 1, shape, six};
  int nth = 1;
  for (;; nth++) {
    attn2c_message message = attn2c_message_make(text, sizeof text);
    faults_clear();
    faults_allocation(nth, 0);
    int status = safetensors_write(scratch_path("x"), &item, 1, &message);
    cr_assert_eq(faults_live_blocks(), 0);
    if (faults_met() == 0) break;
    cr_assert_eq(status, ATTN2C_MEMORY);
    cr_assert_eq(scratch_count(), 0);
  }
  cr_assert(nth > 3);
}
