/* npy_header.c - parses the dictionary of an array file strictly: a literal with three known keys. */
#include "formats/npy.h"

typedef struct {
  const char *text;
  size_t size, at;
  const char *fault;
} literal;

static int refuse(literal *in, const char *fault) {
  if (!in->fault) in->fault = fault;
  return 0;
}

static int peek(literal *in) {
  while (in->at < in->size && memchr(" \t\n\r", in->text[in->at], 4)) in->at++;
  return in->at < in->size ? (unsigned char)in->text[in->at] : -1;
}

static int take(literal *in, char wanted) {
  if (in->fault || peek(in) != wanted) return 0;
  in->at++;
  return 1;
}

/* Takes a quoted string without escapes, of at most size - 1 bytes. */
static int take_string(literal *in, char *value, size_t size) {
  int quote = peek(in);
  if (quote != '\'' && quote != '"') return refuse(in, "a string is expected");
  const char *start = in->text + ++in->at, *end = memchr(start, quote, in->size - in->at);
  if (!end) return refuse(in, "a string does not end");
  size_t length = (size_t)(end - start);
  if (memchr(start, '\\', length)) return refuse(in, "an escape in a string");
  if (memchr(start, '\0', length)) return refuse(in, "a NUL character in a string");
  if (length >= size) return refuse(in, "a string longer than any that is known");
  memcpy(value, start, length);
  value[length] = '\0';
  in->at += length + 1;
  return 1;
}

static int take_bool(literal *in, int *value) {
  peek(in);
  size_t left = in->size - in->at;
  const char *from = in->text + in->at;
  if (left >= 4 && memcmp(from, "True", 4) == 0)
    *value = 1;
  else if (left >= 5 && memcmp(from, "False", 5) == 0)
    *value = 0;
  else
    return refuse(in, "fortran_order must be True or False");
  in->at += *value ? 4 : 5;
  return 1;
}

static int take_dimension(literal *in, int64_t *value) {
  int64_t number = 0;
  if (peek(in) == '-') return refuse(in, "a negative dimension");
  size_t start = in->at;
  while (in->at < in->size && in->text[in->at] >= '0' && in->text[in->at] <= '9')
    if (__builtin_mul_overflow(number, (int64_t)10, &number) ||
        __builtin_add_overflow(number, (int64_t)(in->text[in->at++] - '0'), &number))
      return refuse(in, "a dimension beyond 2^63");
  if (in->at == start) return refuse(in, "a dimension is expected");
  if (in->at - start > 1 && in->text[start] == '0') return refuse(in, "a dimension with a leading zero");
  *value = number;
  return 1;
}

/* Takes a tuple: "()", "(3,)", "(2, 3)"; "(3)" is a number in Python. */
static int take_shape(literal *in, attn2c_npy_header *header) {
  int comma = 1;
  header->rank = 0;
  if (!take(in, '(')) return refuse(in, "shape must be a tuple");
  while (!take(in, ')')) {
    if (!comma) return refuse(in, "',' or ')' is expected in shape");
    if (header->rank == ATTN2C_NPY_MAX_RANK) return refuse(in, "a shape of more than 32 dimensions");
    if (!take_dimension(in, &header->shape[header->rank])) return 0;
    header->rank++;
    comma = take(in, ',');
  }
  if (header->rank == 1 && !comma) return refuse(in, "shape must be a tuple");
  return 1;
}

static int take_value(literal *in, int key, attn2c_npy_header *header) {
  if (key == 1) return take_bool(in, &header->fortran_order);
  if (key == 2) return take_shape(in, header);
  if (peek(in) == '[') return refuse(in, "structured types are not supported");
  return take_string(in, header->descr, sizeof header->descr);
}

const char *attn2c_npy_parse(const char *text, size_t size, attn2c_npy_header *header) {
  static const char *const keys[] = {"descr", "fortran_order", "shape"};
  literal in = {text, size, 0, NULL};
  int found[3] = {0, 0, 0}, comma = 1;
  char name[16];
  if (!take(&in, '{')) return "the header is not a dictionary";
  while (!take(&in, '}')) {
    int key = 0;
    if (!comma) return "',' or '}' is expected in the header";
    if (!take_string(&in, name, sizeof name)) return in.fault;
    while (key < 3 && strcmp(name, keys[key]) != 0) key++;
    if (key == 3) return "the header has another key than descr, fortran_order and shape";
    if (found[key]++) return "a key of the header occurs twice";
    if (!take(&in, ':')) return "':' is expected in the header";
    if (!take_value(&in, key, header)) return in.fault;
    comma = take(&in, ',');
  }
  if (!found[0]) return "the header has no descr";
  if (!found[1]) return "the header has no fortran_order";
  if (!found[2]) return "the header has no shape";
  return peek(&in) == -1 ? NULL : "something follows the header's dictionary";
}
