/* npy.c - reads, converts and writes array files. The layout is the magic, two bytes of version, the header's
 * length (2 bytes in version 1.0, else 4), the header, the data. */
#include "formats/npy.h"
#include "formats/file.h"
#include "base/floats.h"
#include "base/shape.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "'=' in a type is read as '<'");

#define MAGIC          "\x93NUMPY"
#define LONGEST_HEADER 65536 /* bytes; a header of three keys and 32 dimensions needs a thousand */

/* Returns element `index` of an integer array. A uint64 beyond int64 becomes INT64_MAX. */
typedef int64_t integer_at(const void *data, int64_t index);

#define INTEGER_AT(type)                                                                                     \
  static int64_t type##_at(const void *data, int64_t index) { return ((const type##_t *)data)[index]; }
INTEGER_AT(int8)
INTEGER_AT(int16)
INTEGER_AT(int32)
INTEGER_AT(int64)
INTEGER_AT(uint8)
INTEGER_AT(uint16)
INTEGER_AT(uint32)

static int64_t uint64_at(const void *data, int64_t index) {
  const uint64_t value = ((const uint64_t *)data)[index];
  return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static int64_t bool_at(const void *data, int64_t index) { return uint8_at(data, index) != 0; }

static const struct {
  const char *name, *descr;
  int64_t bytes;
  integer_at *integer; /* NULL: floats */
} types[] = {[ATTN2C_NPY_FLOAT16] = {"float16", "<f2", 2, NULL},
             [ATTN2C_NPY_FLOAT32] = {"float32", "<f4", 4, NULL},
             [ATTN2C_NPY_FLOAT64] = {"float64", "<f8", 8, NULL},
             [ATTN2C_NPY_INT8] = {"int8", "|i1", 1, int8_at},
             [ATTN2C_NPY_INT16] = {"int16", "<i2", 2, int16_at},
             [ATTN2C_NPY_INT32] = {"int32", "<i4", 4, int32_at},
             [ATTN2C_NPY_INT64] = {"int64", "<i8", 8, int64_at},
             [ATTN2C_NPY_UINT8] = {"uint8", "|u1", 1, uint8_at},
             [ATTN2C_NPY_UINT16] = {"uint16", "<u2", 2, uint16_at},
             [ATTN2C_NPY_UINT32] = {"uint32", "<u4", 4, uint32_at},
             [ATTN2C_NPY_UINT64] = {"uint64", "<u8", 8, uint64_at},
             [ATTN2C_NPY_BOOL] = {"bool", "|b1", 1, bool_at}};

static int find_type(const char *path, const char *descr, attn2c_npy_type *type, attn2c_message *message) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    /* '=' means this machine's order, which is '<'. For single bytes all orders are the same. */
    const int order = strchr(types[i].bytes == 1 ? "|<>=" : "<=", descr[0]) != NULL && descr[0] != '\0';
    if (order && strcmp(descr + 1, types[i].descr + 1) == 0) {
      *type = (attn2c_npy_type)i;
      return ATTN2C_OK;
    }
  }
  if (descr[0] == '>')
    attn2c_say(message, "%s: type '%s' is big-endian; little-endian ('<') is expected", path, descr);
  else
    attn2c_say(message, "%s: type '%s', but a float of 16 to 64 bits, an integer or bool is expected", path,
               descr);
  return ATTN2C_FORMAT;
}

/* Writes the place of the header's text to *start and *length. */
static int find_header(const attn2c_file *file, int64_t *start, uint32_t *length, attn2c_message *message) {
  unsigned char prefix[12] = {0};
  size_t there = file->size < 12 ? (size_t)file->size : 12;
  ATTN2C_TRY(attn2c_file_read(file, 0, prefix, there, message));
  if (there < 10 || memcmp(prefix, MAGIC, 6) != 0)
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: is not an .npy file", file->name);
  if (prefix[6] < 1 || prefix[6] > 3 || prefix[7] != 0)
    return attn2c_fail(message, ATTN2C_FORMAT,
                       "%s: version %d.%d of the format, but 1.0, 2.0 or 3.0 is expected", file->name,
                       prefix[6], prefix[7]);
  *length = prefix[8] | (uint32_t)prefix[9] << 8;
  if (prefix[6] > 1) *length |= (uint32_t)prefix[10] << 16 | (uint32_t)prefix[11] << 24;
  *start = prefix[6] > 1 ? 12 : 10;
  if (*start > file->size || *length > file->size - *start)
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: a header of %u bytes, but the file has %lld", file->name,
                       *length, (long long)file->size);
  if (*length > LONGEST_HEADER)
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: a header of %u bytes, but at most %d are allowed",
                       file->name, *length, LONGEST_HEADER);
  return ATTN2C_OK;
}

static int read_header(const attn2c_file *file, int64_t start, uint32_t length, attn2c_npy_header *header,
                       attn2c_message *message) {
  ATTN2C_OWN char *text = malloc((size_t)length + 1);
  if (!text) return ATTN2C_MEMORY;
  int status = attn2c_file_read(file, start, text, length, message);
  const char *fault = status ? NULL : attn2c_npy_parse(text, length, header);
  if (!fault) return status;
  return attn2c_fail(message, ATTN2C_FORMAT, "%s: %s", file->name, fault);
}

/* Copies elements of `bytes` bytes from Fortran order, where the first index runs fastest, to C order. */
static void reorder(const unsigned char *from, unsigned char *to, const attn2c_npy *array, size_t bytes) {
  int64_t index[ATTN2C_NPY_MAX_RANK] = {0}, stride[ATTN2C_NPY_MAX_RANK], next = 1;
  for (int d = 0; d < array->rank; d++) {
    stride[d] = next;
    next *= array->shape[d];
  }
  int64_t at = 0;
  for (int64_t i = 0; i < array->elements; i++) {
    memcpy(to + (size_t)i * bytes, from + (size_t)at * bytes, bytes);
    for (int d = array->rank - 1; d >= 0; d--) {
      at += stride[d];
      if (++index[d] < array->shape[d]) break;
      at -= stride[d] * array->shape[d];
      index[d] = 0;
    }
  }
}

static int take_c_order(attn2c_npy *array, int64_t bytes) {
  void *ordered = malloc(bytes ? (size_t)bytes : 1);
  if (!ordered) return ATTN2C_MEMORY;
  reorder(array->data, ordered, array, (size_t)types[array->type].bytes);
  free(array->data);
  array->data = ordered;
  return ATTN2C_OK;
}

static int read_data(const attn2c_file *file, int64_t start, const attn2c_npy_header *header,
                     attn2c_npy *array, attn2c_message *message) {
  attn2c_shape_text shape = attn2c_shape_write(header->rank, header->shape);
  int64_t bytes, there = file->size - start;
  ATTN2C_TRY(find_type(file->name, header->descr, &array->type, message));
  if (!attn2c_shape_count(header->rank, header->shape, &array->elements) ||
      __builtin_mul_overflow(array->elements, types[array->type].bytes, &bytes))
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: shape %s is too large", file->name, shape.text);
  if (bytes != there)
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: %s %s is %lld bytes of data, but the file holds %lld",
                       file->name, types[array->type].name, shape.text, (long long)bytes, (long long)there);
  array->rank = header->rank;
  memcpy(array->shape, header->shape, (size_t)header->rank * sizeof *array->shape);
  array->data = malloc(bytes ? (size_t)bytes : 1);
  if (!array->data) return ATTN2C_MEMORY;
  int status = attn2c_file_read(file, start, array->data, (size_t)bytes, message);
  /* With fewer than two dimensions both orders are the same. */
  if (!status && header->fortran_order && header->rank > 1) status = take_c_order(array, bytes);
  return status;
}

static int read_file(const attn2c_file *file, attn2c_npy *array, attn2c_message *message) {
  attn2c_npy_header header;
  int64_t start;
  uint32_t length;
  ATTN2C_TRY(find_header(file, &start, &length, message));
  ATTN2C_TRY(read_header(file, start, length, &header, message));
  return read_data(file, start + length, &header, array, message);
}

int attn2c_npy_read(const char *path, attn2c_npy *array, attn2c_message *message) {
  attn2c_file file;
  size_t length = strlen(path) + 1;
  *array = (attn2c_npy){.path = malloc(length)};
  int status = array->path ? ATTN2C_OK : ATTN2C_MEMORY;
  if (!status) {
    memcpy(array->path, path, length);
    status = attn2c_file_open(path, &file, message);
    if (!status) {
      status = read_file(&file, array, message);
      attn2c_file_close(&file);
    }
  }
  if (status == ATTN2C_MEMORY) attn2c_say(message, "%s: out of memory", path);
  if (status) attn2c_npy_free(array);
  return status;
}

void attn2c_npy_free(attn2c_npy *array) {
  ATTN2C_FREE(array->data, array->path);
  *array = (attn2c_npy){0};
}

/* Converts integers to int32; returns the index of the first value that does not fit, or -1. */
static int64_t narrow(const attn2c_npy *array, int32_t *to) {
  integer_at *const at = types[array->type].integer;
  for (int64_t i = 0; i < array->elements; i++) {
    const int64_t value = at(array->data, i);
    if (value < INT32_MIN || value > INT32_MAX) return i;
    to[i] = (int32_t)value;
  }
  return -1;
}

/* Returns the position of a row-major index as a text. */
static attn2c_shape_text position_text(const attn2c_npy *array, int64_t index) {
  int64_t position[ATTN2C_NPY_MAX_RANK];
  for (int d = array->rank - 1; d >= 0; d--) {
    position[d] = index % array->shape[d];
    index /= array->shape[d];
  }
  return attn2c_shape_write(array->rank, position);
}

int attn2c_npy_as(const attn2c_npy *array, attn2c_type type, int rank, const int64_t *shape,
                  const char *input_name, void *out, attn2c_message *message) {
  const int is_float = types[array->type].integer == NULL;
  if (is_float != (type == ATTN2C_F32) || !attn2c_shape_equal(array->rank, array->shape, rank, shape)) {
    attn2c_shape_text expected = attn2c_shape_write(rank, shape);
    attn2c_shape_text came = attn2c_shape_write(array->rank, array->shape);
    const int lacks_axis = array->rank > 0 && array->rank == rank - 1;
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: %s %s expected, but %s holds %s %s%s%s", input_name,
                       type == ATTN2C_F32 ? "float32" : "int32", expected.text, array->path,
                       types[array->type].name, came.text,
                       lacks_axis ? ", without an axis of sequences: one sequence is [1, " : "",
                       lacks_axis ? came.text + 1 : "");
  }
  const size_t elements = (size_t)array->elements;
  if (array->type == ATTN2C_NPY_FLOAT16) {
    attn2c_floats_from_f16(array->data, out, elements);
  } else if (array->type == ATTN2C_NPY_FLOAT64) {
    attn2c_floats_from_f64(array->data, out, elements);
  } else if (is_float) {
    memcpy(out, array->data, elements * sizeof(float));
  } else {
    const int64_t beyond = narrow(array, out);
    if (beyond < 0) return ATTN2C_OK;
    char value[24];
    if (array->type == ATTN2C_NPY_UINT64)
      snprintf(value, sizeof value, "%llu", (unsigned long long)((const uint64_t *)array->data)[beyond]);
    else
      snprintf(value, sizeof value, "%lld", (long long)types[array->type].integer(array->data, beyond));
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: int32 expected, but %s holds %s at %s", input_name,
                       array->path, value, position_text(array, beyond).text);
  }
  return ATTN2C_OK;
}

enum { HEADER = ATTN2C_NPY_HEADER }; /* 32 dimensions of 20 characters and two between them need 704 */

/* Writes the header of elements whose type NumPy calls `descr`. Returns its size. */
static size_t make_header(char header[HEADER], const char *descr, int rank, const int64_t *shape) {
  memset(header, ' ', HEADER);
  memcpy(header, MAGIC "\x01", 8); /* and the minor version 0, the literal's terminator */
  int used = 10;
  used += snprintf(header + used, HEADER - (size_t)used, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                   descr);
  for (int i = 0; i < rank; i++)
    used += snprintf(header + used, HEADER - (size_t)used, i ? ", %lld" : "%lld", (long long)shape[i]);
  used += snprintf(header + used, HEADER - (size_t)used, rank == 1 ? ",), }" : "), }");
  header[used] = ' '; /* replaces the terminator */
  /* NumPy reserves 21 digits for the first dimension, then pads with 1 to 64 spaces and a newline. So the
   * data start at a multiple of 64. */
  if (rank) used += 21 - snprintf(NULL, 0, "%lld", (long long)shape[0]);
  int start = (used + 1) / 64 * 64 + 64;
  header[start - 1] = '\n';
  header[8] = (char)((start - 10) & 0xff);
  header[9] = (char)((start - 10) >> 8);
  return (size_t)start;
}

/* Writes elements of `each` bytes, whose type NumPy calls `descr`. */
static int write_array(const char *path, const char *descr, int64_t each, int rank, const int64_t *shape,
                       const void *data, attn2c_message *message) {
  char header[HEADER];
  int64_t elements, bytes;
  if (rank < 0 || rank > ATTN2C_NPY_MAX_RANK || !attn2c_shape_count(rank, shape, &elements) ||
      __builtin_mul_overflow(elements, each, &bytes))
    return attn2c_fail(message, ATTN2C_USAGE, "%s: cannot be written: its shape is negative or too large",
                       path);
  const attn2c_file_part parts[] = {{header, make_header(header, descr, rank, shape)}, {data, (size_t)bytes}};
  return attn2c_file_write(path, parts, 2, message);
}

static const char *name_of(attn2c_type type) { return type == ATTN2C_F32 ? "<f4" : "<i4"; }

size_t attn2c_npy_begin(char header[HEADER], attn2c_type type, int rank, const int64_t *shape) {
  return make_header(header, name_of(type), rank, shape);
}

int attn2c_npy_write(const char *path, attn2c_type type, int rank, const int64_t *shape, const void *data,
                     attn2c_message *message) {
  return write_array(path, name_of(type), 4, rank, shape, data, message);
}

int attn2c_npy_write_int64(const char *path, int rank, const int64_t *shape, const int64_t *data,
                           attn2c_message *message) {
  return write_array(path, "<i8", 8, rank, shape, data, message);
}
