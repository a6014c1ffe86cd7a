/* safetensors.c - reads and verifies the header of a safetensors file, and reads values. The layout is 8
 * bytes of little-endian length, that many bytes of JSON, the data. The checks follow the format's own list;
 * each refusal is one line that names the tensor and its offsets. */
#include "formats/tensors.h"
#include "base/floats.h"
#include "formats/json.h"
#include "base/shape.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "data is little-endian and copied as it is");

#define PREFIX_BYTES   8
#define LONGEST_HEADER 100000000

#define PLAIN(name, bytes, widen)                                                                            \
  { name, 1, bytes, widen, "F32, F64, F16 or BF16", 0, NULL }
static const attn2c_element_type types[] = {PLAIN("F64", 8, attn2c_floats_from_f64),
                                            PLAIN("F32", 4, attn2c_floats_from_f32),
                                            PLAIN("F16", 2, attn2c_floats_from_f16),
                                            PLAIN("BF16", 2, attn2c_floats_from_bf16),
                                            PLAIN("I64", 8, NULL),
                                            PLAIN("I32", 4, NULL),
                                            PLAIN("I16", 2, NULL),
                                            PLAIN("I8", 1, NULL),
                                            PLAIN("U64", 8, NULL),
                                            PLAIN("U32", 4, NULL),
                                            PLAIN("U16", 2, NULL),
                                            PLAIN("U8", 1, NULL),
                                            PLAIN("BOOL", 1, NULL),
                                            PLAIN("F8_E4M3", 1, NULL),
                                            PLAIN("F8_E5M2", 1, NULL)};

const attn2c_element_type *attn2c_plain_type(const char *name) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(types[i].name, name) == 0) return &types[i];
  return NULL;
}

static int say_fault(const attn2c_tensor_file *file, const attn2c_json *json, attn2c_message *message) {
  return attn2c_fail(message, ATTN2C_FORMAT, "%s: header: %s, at byte %zu of the file", file->name,
                     json->fault, PREFIX_BYTES + json->at);
}

static int compare_texts(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Checks an object of strings, and drops it. No key may occur twice. */
static int read_metadata(const attn2c_tensor_file *file, attn2c_json *json, attn2c_message *message) {
  const char **keys = NULL, *key, *value;
  int64_t members = 0;
  int status = ATTN2C_OK;
  attn2c_json_enter(json, '{');
  while (!status && attn2c_json_member(json, '}', &members)) {
    if (!attn2c_json_key(json, &key) || !attn2c_json_string(json, &value)) break;
    status = ATTN2C_MORE(keys, members - 1);
    if (!status) keys[members - 1] = key;
  }
  if (!status && json->fault)
    status = attn2c_fail(message, ATTN2C_FORMAT,
                         "%s: __metadata__ must be an object of strings: %s, at byte %zu of the file",
                         file->name, json->fault, PREFIX_BYTES + json->at);
  if (!status && members > 1) {
    qsort(keys, (size_t)members, sizeof *keys, compare_texts);
    for (int64_t i = 1; i < members && !status; i++)
      if (strcmp(keys[i - 1], keys[i]) == 0)
        status =
            attn2c_fail(message, ATTN2C_FORMAT, "%s: __metadata__: \"%s\" occurs twice", file->name, keys[i]);
  }
  free(keys);
  return status;
}

static int read_shape(attn2c_json *json, attn2c_file_tensor *tensor) {
  int64_t members = 0, dimension;
  if (!attn2c_json_enter(json, '[')) return 0;
  while (attn2c_json_member(json, ']', &members)) {
    if (members > ATTN2C_FILE_MAX_RANK) {
      json->fault = "a shape of more than 16 dimensions";
      return 0;
    }
    if (!attn2c_json_integer(json, &dimension)) return 0;
    tensor->shape[members - 1] = dimension;
  }
  tensor->rank = (int)members;
  return !json->fault;
}

static int read_offsets(attn2c_json *json, attn2c_file_tensor *tensor) {
  int64_t members = 0;
  return attn2c_json_enter(json, '[') && attn2c_json_member(json, ']', &members) &&
         attn2c_json_integer(json, &tensor->begin) && attn2c_json_member(json, ']', &members) &&
         attn2c_json_integer(json, &tensor->end) && !attn2c_json_member(json, ']', &members) && !json->fault;
}

/* Checks that a tensor's type, shape and byte range agree. */
static int check_tensor(const attn2c_tensor_file *file, attn2c_file_tensor *tensor, attn2c_message *message) {
  const char *path = file->name;
  attn2c_shape_text shape = attn2c_shape_write(tensor->rank, tensor->shape);
  long long begin = tensor->begin, end = tensor->end;
  int64_t bytes;
  if (begin > end)
    attn2c_say(message, "%s: \"%s\": data_offsets [%lld, %lld] end before they begin", path, tensor->name,
               begin, end);
  else if (!attn2c_shape_count(tensor->rank, tensor->shape, &tensor->elements) ||
           __builtin_mul_overflow(tensor->elements, (int64_t)tensor->type->bytes, &bytes))
    attn2c_say(message, "%s: \"%s\": shape %s is too large", path, tensor->name, shape.text);
  else if (bytes != tensor->end - tensor->begin)
    attn2c_say(message, "%s: \"%s\": %s %s is %lld bytes, but data_offsets [%lld, %lld] hold %lld", path,
               tensor->name, tensor->type->name, shape.text, (long long)bytes, begin, end, end - begin);
  else
    return ATTN2C_OK;
  return ATTN2C_FORMAT;
}

static int read_tensor(const attn2c_tensor_file *file, attn2c_json *json, attn2c_file_tensor *tensor,
                       attn2c_message *message) {
  static const char *const keys[] = {"dtype", "shape", "data_offsets"};
  const char *key, *type = NULL, *path = file->name;
  int64_t members = 0;
  int found[3] = {0, 0, 0};
  attn2c_json_enter(json, '{');
  while (attn2c_json_member(json, '}', &members)) {
    int which = 0;
    if (!attn2c_json_key(json, &key)) break;
    while (which < 3 && strcmp(key, keys[which]) != 0) which++;
    if (which == 3 || found[which]++)
      return attn2c_fail(message, ATTN2C_FORMAT,
                         "%s: \"%s\": key \"%s\" %s; dtype, shape and data_offsets are expected", path,
                         tensor->name, key, which == 3 ? "is not known" : "occurs twice");
    if (which == 0) attn2c_json_string(json, &type);
    if (which == 1) read_shape(json, tensor);
    if (which == 2 && !read_offsets(json, tensor) && !json->fault)
      json->fault = "data_offsets must be two integers";
  }
  if (json->fault)
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: \"%s\": %s, at byte %zu of the file", path, tensor->name,
                       json->fault, PREFIX_BYTES + json->at);
  for (int i = 0; i < 3; i++)
    if (!found[i])
      return attn2c_fail(message, ATTN2C_FORMAT, "%s: \"%s\": %s is missing", path, tensor->name, keys[i]);
  tensor->type = attn2c_plain_type(type);
  if (!tensor->type)
    return attn2c_fail(message, ATTN2C_FORMAT,
                       "%s: \"%s\": dtype \"%s\" is not known; F64, F32, F16, BF16, F8_E4M3, F8_E5M2, I64, "
                       "I32, I16, I8, U64, U32, U16, U8 or BOOL is expected",
                       path, tensor->name, type);
  return check_tensor(file, tensor, message);
}

/* Returns a new element of the list, or NULL if there is no memory. A header has at most LONGEST_HEADER / 40
 * tensors, so their number cannot overflow. */
static attn2c_file_tensor *add_tensor(attn2c_tensor_file *file) {
  if (ATTN2C_MORE(file->tensors, file->count) != ATTN2C_OK) return NULL;
  attn2c_file_tensor *tensor = &file->tensors[file->count++];
  memset(tensor, 0, sizeof *tensor);
  return tensor;
}

static int read_header(attn2c_tensor_file *file, size_t size, attn2c_message *message) {
  char *header = file->names;
  attn2c_json json = attn2c_json_make(header, size);
  const char *name;
  int64_t members = 0;
  int status = ATTN2C_OK, has_metadata = 0;
  if (header[0] != '{')
    return attn2c_fail(message, ATTN2C_FORMAT,
                       "%s: is not a safetensors file: its header does not start with '{'", file->name);
  attn2c_json_enter(&json, '{');
  while (!status && attn2c_json_member(&json, '}', &members)) {
    if (!attn2c_json_key(&json, &name)) break;
    if (strcmp(name, "__metadata__") == 0) {
      if (has_metadata++)
        return attn2c_fail(message, ATTN2C_FORMAT, "%s: header: __metadata__ occurs twice", file->name);
      status = read_metadata(file, &json, message);
      continue;
    }
    attn2c_file_tensor *tensor = add_tensor(file);
    if (!tensor) return ATTN2C_MEMORY;
    tensor->name = name;
    status = read_tensor(file, &json, tensor, message);
  }
  if (status) return status;
  if (json.fault) return say_fault(file, &json, message);
  for (; json.at < size; json.at++)
    if (header[json.at] != ' ') {
      json.fault = "only spaces may follow the object";
      return say_fault(file, &json, message);
    }
  return ATTN2C_OK;
}

static int compare_ranges(const void *left, const void *right) {
  const attn2c_file_tensor *a = left, *b = right;
  if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
  return (a->end > b->end) - (a->end < b->end);
}

/* Checks that every byte of the data belongs to exactly one tensor. The tensors are sorted by range. */
static int check_ranges(const attn2c_tensor_file *file, attn2c_message *message) {
  const char *path = file->name;
  int64_t size = file->file.size - file->start, claimed = 0;
  for (int i = 0; i < file->count; i++) {
    const attn2c_file_tensor *tensor = &file->tensors[i];
    long long begin = tensor->begin, end = tensor->end;
    if (tensor->end > size)
      return attn2c_fail(message, ATTN2C_FORMAT,
                         "%s: \"%s\": data_offsets [%lld, %lld] are beyond the file's %lld bytes of data",
                         path, tensor->name, begin, end, (long long)size);
    if (tensor->begin != claimed)
      return attn2c_fail(
          message, ATTN2C_FORMAT,
          "%s: \"%s\": data_offsets [%lld, %lld] %s byte %lld, where the tensor before it ends", path,
          tensor->name, begin, end, tensor->begin > claimed ? "leave a hole after" : "overlap",
          (long long)claimed);
    claimed = tensor->end;
  }
  if (claimed != size)
    return attn2c_fail(message, ATTN2C_FORMAT,
                       "%s: %lld bytes of data follow the last tensor, which ends at byte %lld of the data",
                       path, (long long)(size - claimed), (long long)claimed);
  return ATTN2C_OK;
}

static int load(attn2c_tensor_file *file, attn2c_message *message) {
  uint64_t length;
  int64_t size = file->file.size;
  if (size < PREFIX_BYTES)
    return attn2c_fail(message, ATTN2C_FORMAT,
                       "%s: is not a safetensors file: %lld bytes, but 8 of header length are expected",
                       file->name, (long long)size);
  ATTN2C_TRY(attn2c_file_read(&file->file, 0, &length, PREFIX_BYTES, message));
  if (length < 2 || length > LONGEST_HEADER)
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: header length %llu, but 2 to 100000000 is allowed",
                       file->name, (unsigned long long)length);
  if ((int64_t)length > size - PREFIX_BYTES)
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: header length %llu, but only %lld bytes follow",
                       file->name, (unsigned long long)length, (long long)(size - PREFIX_BYTES));
  file->start = PREFIX_BYTES + (int64_t)length;
  char *header = file->names = malloc(length);
  if (!header) return ATTN2C_MEMORY;
  int status = attn2c_file_read(&file->file, PREFIX_BYTES, header, length, message);
  if (!status) status = read_header(file, length, message);
  if (status) return status;
  /* Names come first: a tensor that occurs twice also overlaps itself, and that message would say less. */
  const attn2c_file_tensor *twice = attn2c_tensor_file_sort(file);
  if (twice) return attn2c_fail(message, ATTN2C_FORMAT, "%s: \"%s\": occurs twice", file->name, twice->name);
  if (file->count) qsort(file->tensors, (size_t)file->count, sizeof *file->tensors, compare_ranges);
  status = check_ranges(file, message);
  attn2c_tensor_file_sort(file);
  return status;
}

const attn2c_format attn2c_safetensors_format = {"a safetensors file", NULL, load, NULL};
