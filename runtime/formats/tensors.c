/* tensors.c - opens files of tensors, reads a tensor's blocks in pieces, and converts them. A block of which
 * only a part is asked for is converted whole, next to the caller's values. */
#include "formats/tensors.h"
#include "base/floats.h"

enum { PIECE = 8192 /* bytes that are read at a time */ };

const attn2c_format *attn2c_format_of(const attn2c_format *const *formats, const void *bytes, size_t size) {
  for (; *formats; formats++) {
    const char *magic = (*formats)->magic;
    if (!magic || (size >= 4 && memcmp(bytes, magic, 4) == 0)) return *formats;
  }
  return NULL;
}

/* Returns a file that has only its name; NULL if there is no memory. */
static attn2c_tensor_file *make(const char *name) {
  const size_t length = strlen(name) + 1;
  attn2c_tensor_file *made = calloc(1, sizeof *made + length);
  if (!made) return NULL;
  memcpy(made->name, name, length);
  made->file.descriptor = -1;
  made->split = (attn2c_split){0, 1, -1};
  return made;
}

static int finish(const attn2c_format *format, attn2c_tensor_file *made, int status,
                  attn2c_tensor_file **file, attn2c_message *message) {
  if (!status) {
    status = format->load(made, message);
    if (status == ATTN2C_MEMORY) attn2c_file_no_memory(made->name, message);
  }
  if (status)
    attn2c_tensor_file_close(made);
  else
    *file = made;
  return status;
}

int attn2c_tensor_file_open(const attn2c_format *format, const char *path, attn2c_tensor_file **file,
                            attn2c_message *message) {
  *file = NULL;
  attn2c_tensor_file *made = make(path);
  if (!made) return attn2c_file_no_memory(path, message);
  return finish(format, made, attn2c_file_open(made->name, &made->file, message), file, message);
}

int attn2c_tensor_file_open_memory(const attn2c_format *format, const void *bytes, size_t size,
                                   attn2c_tensor_file **file, attn2c_message *message) {
  static const char name[] = "weights in memory";
  *file = NULL;
  attn2c_tensor_file *made = make(name);
  if (!made) return attn2c_file_no_memory(name, message);
  made->file = attn2c_file_memory(bytes, size, made->name);
  return finish(format, made, ATTN2C_OK, file, message);
}

void attn2c_tensor_file_close(attn2c_tensor_file *file) {
  if (!file) return;
  attn2c_file_close(&file->file);
  ATTN2C_FREE(file->names, file->tensors, file);
}

static int compare_names(const void *left, const void *right) {
  return strcmp(((const attn2c_file_tensor *)left)->name, ((const attn2c_file_tensor *)right)->name);
}

const attn2c_file_tensor *attn2c_tensor_file_sort(attn2c_tensor_file *file) {
  if (file->count) qsort(file->tensors, (size_t)file->count, sizeof *file->tensors, compare_names);
  for (int i = 1; i < file->count; i++)
    if (strcmp(file->tensors[i - 1].name, file->tensors[i].name) == 0) return &file->tensors[i];
  return NULL;
}

int attn2c_tensor_file_find(const attn2c_tensor_file *file, const char *name) {
  const attn2c_file_tensor wanted = {.name = name};
  if (file->count == 0) return -1;
  const attn2c_file_tensor *found =
      bsearch(&wanted, file->tensors, (size_t)file->count, sizeof *file->tensors, compare_names);
  return found ? (int)(found - file->tensors) : -1;
}

/* Converts blocks of `count` elements altogether. */
static void widen(const attn2c_element_type *type, const unsigned char *bytes, float *values, int64_t count) {
  attn2c_scale_block blocks[ATTN2C_LONGEST_BLOCK / ATTN2C_BLOCK_NUMBERS];
  if (!type->split) {
    type->widen(bytes, values, (size_t)count);
    return;
  }
  for (; count > 0; count -= type->elements, bytes += type->bytes, values += type->elements) {
    type->split(bytes, blocks);
    for (int i = 0; i < type->elements; i++)
      values[i] = attn2c_block_number(&blocks[i / ATTN2C_BLOCK_NUMBERS], i % ATTN2C_BLOCK_NUMBERS);
  }
}

/* Reads elements [skip, skip + count) of one block at byte `offset`. */
static int read_part(const attn2c_file *file, const attn2c_element_type *type, int64_t offset, int64_t skip,
                     int64_t count, float *values, attn2c_message *message) {
  unsigned char bytes[PIECE];
  float whole[ATTN2C_LONGEST_BLOCK];
  ATTN2C_TRY(attn2c_file_read(file, offset, bytes, (size_t)type->bytes, message));
  widen(type, bytes, whole, type->elements);
  memcpy(values, whole + skip, (size_t)count * sizeof *values);
  return ATTN2C_OK;
}

/* Reads whole blocks of `count` elements altogether at byte `offset`. */
static int read_blocks(const attn2c_file *file, const attn2c_element_type *type, int64_t offset,
                       int64_t count, float *values, attn2c_message *message) {
  if (type->widen == attn2c_floats_from_f32)
    return attn2c_file_read(file, offset, values, (size_t)count * sizeof *values, message);
  unsigned char piece[PIECE];
  const int64_t most = PIECE / type->bytes * type->elements;
  while (count) {
    const int64_t some = count < most ? count : most, bytes = some / type->elements * type->bytes;
    ATTN2C_TRY(attn2c_file_read(file, offset, piece, (size_t)bytes, message));
    widen(type, piece, values, some);
    values += some, offset += bytes, count -= some;
  }
  return ATTN2C_OK;
}

/* Checks that elements [first, first + count) are the tensor's. */
static int check_range(const attn2c_tensor_file *file, const attn2c_file_tensor *tensor, int64_t first,
                       int64_t count, attn2c_message *message) {
  if (first < 0 || count < 0 || first > tensor->elements || count > tensor->elements - first)
    return attn2c_fail(message, ATTN2C_FORMAT,
                       "%s: \"%s\": %lld elements from element %lld are beyond its %lld", file->name,
                       tensor->name, (long long)count, (long long)first, (long long)tensor->elements);
  return ATTN2C_OK;
}

int attn2c_tensor_file_read(const attn2c_tensor_file *file, int index, int64_t first, int64_t count,
                            float *values, attn2c_message *message) {
  const attn2c_file_tensor *tensor = &file->tensors[index];
  const attn2c_element_type *type = tensor->type;
  if (!attn2c_is_readable(type))
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: \"%s\": type %s, but %s is expected", file->name,
                       tensor->name, type->name, type->readable);
  ATTN2C_TRY(check_range(file, tensor, first, count, message));
  /* The offsets are within the tensor's range, which is within the file. */
  const int64_t each = type->elements, skip = first % each;
  int64_t offset = file->start + tensor->begin + first / each * type->bytes;
  if (skip && count) {
    const int64_t some = count < each - skip ? count : each - skip;
    ATTN2C_TRY(read_part(&file->file, type, offset, skip, some, values, message));
    values += some, count -= some, offset += type->bytes;
  }
  const int64_t whole = count / each * each;
  const int status = read_blocks(&file->file, type, offset, whole, values, message);
  if (status || count == whole) return status;
  return read_part(&file->file, type, offset + whole / each * type->bytes, 0, count - whole, values + whole,
                   message);
}

int attn2c_tensor_file_read_blocks(const attn2c_tensor_file *file, int index, int64_t first, int64_t count,
                                   attn2c_scale_block *blocks, attn2c_message *message) {
  const attn2c_file_tensor *tensor = &file->tensors[index];
  const attn2c_element_type *type = tensor->type;
  ATTN2C_TRY(check_range(file, tensor, first, count, message));
  unsigned char piece[PIECE];
  const int64_t most = PIECE / type->bytes * type->elements;
  int64_t offset = file->start + tensor->begin + first / type->elements * type->bytes;
  while (count) {
    const int64_t some = count < most ? count : most, bytes = some / type->elements * type->bytes;
    ATTN2C_TRY(attn2c_file_read(&file->file, offset, piece, (size_t)bytes, message));
    for (int64_t at = 0; at < bytes; at += type->bytes, blocks += type->elements / ATTN2C_BLOCK_NUMBERS)
      type->split(piece + at, blocks);
    offset += bytes, count -= some;
  }
  return ATTN2C_OK;
}

int attn2c_tensor_file_bytes(const attn2c_tensor_file *file, int index, int64_t offset, size_t bytes,
                             void *to, attn2c_message *message) {
  return attn2c_file_read(&file->file, file->start + file->tensors[index].begin + offset, to, bytes, message);
}
