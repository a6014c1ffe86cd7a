/* gguf.c - reads the header, the metadata and the list of tensors of a GGUF file. The layout is: "GGUF", the
 * version, the numbers of tensors and of metadata entries; the entries; the list; padding; the data. All
 * numbers are little-endian. Each refusal is one line that names the entry, the tensor or the byte. */
#include "formats/gguf.h"
#include "base/checksum.h"
#include "base/floats.h"
#include "base/shape.h"
#include "formats/gguf_blocks.h"
#include "formats/gguf_types.h"

#include <stdarg.h>

enum {
  LONGEST_KEY = 65535,    /* bytes, the format's limit */
  LONGEST_NAME = 63,      /* bytes of a tensor's name, ggml's limit */
  MOST_DIMENSIONS = 4,    /* ggml's limit */
  MOST_ENTRIES = 65536,   /* of metadata: real files have some 30 */
  MOST_TENSORS = 1 << 20, /* real files have some hundreds */
  DEEPEST_ARRAY = 4,
  USUAL_ALIGNMENT = 32,
  LEAST_ENTRY = 8 + 1 + 4 + 1,         /* bytes of the smallest metadata entry */
  LEAST_TENSOR = 8 + 1 + 4 + 8 + 4 + 8 /* bytes of the smallest entry of the list */
};

/* Types of metadata values. */
enum { U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64, VALUE_TYPES };

static const struct {
  const char *name;
  int bytes; /* 0: varies */
} value_types[VALUE_TYPES] = {{"UINT8", 1},  {"INT8", 1},    {"UINT16", 2}, {"INT16", 2},  {"UINT32", 4},
                              {"INT32", 4},  {"FLOAT32", 4}, {"BOOL", 1},   {"STRING", 0}, {"ARRAY", 0},
                              {"UINT64", 8}, {"INT64", 8},   {"FLOAT64", 8}};

#define TYPE(id, name, elements, bytes, widen, split, weights)                                               \
  [id] = {#name, elements, bytes, widen, ATTN2C_GGUF_READABLE, 0, split},
static const attn2c_element_type types[] = {ATTN2C_GGUF_TYPES(TYPE)};

static const attn2c_element_type *type_of(uint32_t id) {
  return id < sizeof types / sizeof *types && types[id].name ? &types[id] : NULL;
}

/* A place in the file, and the bytes around it that were read last. */
typedef struct {
  const attn2c_file *file;
  attn2c_message *message;
  int64_t at, begin; /* offsets of the next byte, and of the first byte of the buffer */
  size_t filled;     /* bytes in the buffer */
  int status;        /* the first failure's; reading then does nothing */
  int64_t alignment; /* bytes, of tensors in the data */
  char where[140];   /* what is being read, for messages */
  unsigned char buffer[8192];
} reader;

static int64_t bytes_left(const reader *r) { return r->file->size - r->at; }

/* Sets the status, and adds a line unless there is one. */
__attribute__((format(ATTN2C_PRINTF, 2, 3))) static void refuse(reader *r, const char *format, ...) {
  char text[300];
  va_list arguments;
  if (r->status) return;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  attn2c_say(r->message, "%s: %s%s%s", r->file->name, r->where, *r->where ? ": " : "", text);
  r->status = ATTN2C_FORMAT;
}

/* Moves to after `bytes` bytes; returns 0 if the file ends before. */
static int skip(reader *r, uint64_t bytes) {
  if (r->status) return 0;
  if (bytes > (uint64_t)bytes_left(r)) {
    refuse(r, "the file ends at byte %lld, but %llu bytes are expected at byte %lld: it was cut, or damaged",
           (long long)r->file->size, (unsigned long long)bytes, (long long)r->at);
    return 0;
  }
  r->at += (int64_t)bytes;
  return 1;
}

/* Reads `bytes` bytes, which are at most a buffer's; zeros on failure. */
static void take(reader *r, void *to, size_t bytes) {
  const int64_t from = r->at;
  memset(to, 0, bytes);
  if (!skip(r, bytes)) return;
  if (from < r->begin || r->at > r->begin + (int64_t)r->filled) {
    const int64_t rest = r->file->size - from;
    r->begin = from, r->filled = rest < (int64_t)sizeof r->buffer ? (size_t)rest : sizeof r->buffer;
    r->status = attn2c_file_read(r->file, from, r->buffer, r->filled, r->message);
    if (r->status) return;
  }
  memcpy(to, r->buffer + (from - r->begin), bytes);
}

static uint32_t take_u32(reader *r) {
  uint32_t value;
  take(r, &value, sizeof value);
  return value;
}

static uint64_t take_u64(reader *r) {
  uint64_t value;
  take(r, &value, sizeof value);
  return value;
}

/* Metadata. */

static void skip_values(reader *r, uint32_t type, uint64_t count, int depth) {
  if (type >= VALUE_TYPES) {
    refuse(r, "has a value of type %u, which is not a type of the format", (unsigned)type);
    return;
  }
  const uint64_t left = (uint64_t)bytes_left(r);
  const uint64_t least = type == STRING ? 8 : type == ARRAY ? 12 : (uint64_t)value_types[type].bytes;
  if (!r->status && count > left / least) {
    refuse(r, "%llu values of type %s are beyond the %llu bytes that follow", (unsigned long long)count,
           value_types[type].name, (unsigned long long)left);
    return;
  }
  if (value_types[type].bytes) {
    skip(r, count * (uint64_t)value_types[type].bytes);
    return;
  }
  if (type == ARRAY && depth == DEEPEST_ARRAY) refuse(r, "has arrays within arrays, %d deep", DEEPEST_ARRAY);
  for (uint64_t i = 0; i < count && !r->status; i++) {
    if (type == STRING) {
      skip(r, take_u64(r));
    } else {
      const uint32_t of = take_u32(r);
      skip_values(r, of, take_u64(r), depth + 1);
    }
  }
}

/* Reads one integer of any type that is not negative. */
static int64_t take_integer(reader *r, uint32_t type) {
  if (type >= VALUE_TYPES || type == F32 || type == F64 || type == BOOL || !value_types[type].bytes) {
    refuse(r, "has type %s, but an integer is expected", type < VALUE_TYPES ? value_types[type].name : "?");
    return 0;
  }
  uint64_t value = 0;
  const int bytes = value_types[type].bytes,
            is_signed = type == I8 || type == I16 || type == I32 || type == I64;
  take(r, &value, (size_t)bytes);
  const uint64_t most = bytes == 8 || !is_signed ? INT64_MAX : (UINT64_C(1) << (8 * bytes - 1)) - 1;
  if (!r->status && value > most) refuse(r, "is negative, or too large");
  return (int64_t)value;
}

/* A key that was read: its checksum, and where it is. */
typedef struct {
  uint64_t sum;
  int64_t at, bytes;
} key_place;

static int compare_keys(const void *left, const void *right) {
  const key_place *a = left, *b = right;
  return (a->sum > b->sum) - (a->sum < b->sum);
}

/* Reads a key to r->where, cut to what a message shows. */
static key_place take_key(reader *r, uint64_t number) {
  key_place key = {0, 0, 0};
  snprintf(r->where, sizeof r->where, "metadata entry %llu", (unsigned long long)number);
  const uint64_t length = take_u64(r);
  if (!r->status && (length == 0 || length > LONGEST_KEY))
    refuse(r, "a key of %llu bytes, but 1 to %d are allowed", (unsigned long long)length, LONGEST_KEY);
  key.at = r->at, key.bytes = (int64_t)length;
  char shown[65] = "";
  for (uint64_t done = 0; done < length && !r->status;) {
    char part[64];
    const size_t some = length - done < sizeof part ? (size_t)(length - done) : sizeof part;
    take(r, part, some);
    key.sum = attn2c_checksum(key.sum, part, some);
    if (done == 0) memcpy(shown, part, some);
    done += some;
  }
  if (!r->status && strlen(shown) < (length < 64 ? length : 64)) refuse(r, "its key has a byte of zero");
  if (!r->status) snprintf(r->where, sizeof r->where, "metadata \"%s\"", shown);
  return key;
}

static int is_key(const reader *r, const char *key) {
  const size_t length = strlen(key);
  return strncmp(r->where, "metadata \"", 10) == 0 && strncmp(r->where + 10, key, length) == 0 &&
         r->where[10 + length] == '"' && r->where[11 + length] == '\0';
}

static void read_entry(attn2c_tensor_file *file, reader *r) {
  const uint32_t type = take_u32(r);
  if (is_key(r, "general.alignment")) {
    if (!r->status && type != U32)
      refuse(r, "has type %s, but UINT32 is expected", type < VALUE_TYPES ? value_types[type].name : "?");
    r->alignment = take_u32(r);
    if (!r->status && (r->alignment < 1 || r->alignment & (r->alignment - 1)))
      refuse(r, "is %lld, but a power of two is expected", (long long)r->alignment);
  } else if (is_key(r, "split.no")) {
    file->split.number = take_integer(r, type);
  } else if (is_key(r, "split.count")) {
    file->split.count = take_integer(r, type);
  } else if (is_key(r, "split.tensors.count")) {
    file->split.tensors = take_integer(r, type);
  } else {
    skip_values(r, type, 1, 0);
  }
}

static int read_metadata(attn2c_tensor_file *file, reader *r, uint64_t count) {
  if (count > MOST_ENTRIES || count > (uint64_t)bytes_left(r) / LEAST_ENTRY) {
    refuse(r, "%llu metadata entries, but %lld bytes follow and at most %d are supported",
           (unsigned long long)count, (long long)bytes_left(r), MOST_ENTRIES);
    return r->status;
  }
  key_place *keys = malloc((size_t)(count + 1) * sizeof *keys);
  if (!keys) return ATTN2C_MEMORY;
  for (uint64_t i = 0; i < count && !r->status; i++) {
    keys[i] = take_key(r, i);
    read_entry(file, r);
  }
  *r->where = '\0';
  if (!r->status) qsort(keys, (size_t)count, sizeof *keys, compare_keys);
  for (uint64_t i = 1; i < count && !r->status; i++)
    if (keys[i].sum == keys[i - 1].sum && keys[i].bytes == keys[i - 1].bytes)
      refuse(r, "metadata: the key at byte %lld is at byte %lld, too",
             (long long)(keys[i].at > keys[i - 1].at ? keys[i].at : keys[i - 1].at),
             (long long)(keys[i].at > keys[i - 1].at ? keys[i - 1].at : keys[i].at));
  free(keys);
  return r->status;
}

/* The list of tensors. */

static void take_name(reader *r, char name[LONGEST_NAME + 1], int number) {
  snprintf(r->where, sizeof r->where, "tensor %d", number);
  const uint64_t length = take_u64(r);
  if (!r->status && (length == 0 || length > LONGEST_NAME))
    refuse(r, "a name of %llu bytes, but 1 to %d are allowed", (unsigned long long)length, LONGEST_NAME);
  if (r->status) return;
  memset(name, 0, LONGEST_NAME + 1);
  take(r, name, (size_t)length);
  if (!r->status && strlen(name) < length) refuse(r, "its name has a byte of zero");
  snprintf(r->where, sizeof r->where, "\"%s\"", name);
}

/* Reads the dimensions, of which the file has the fastest first. */
static void take_shape(reader *r, attn2c_file_tensor *tensor) {
  const uint32_t rank = take_u32(r);
  if (!r->status && (rank < 1 || rank > MOST_DIMENSIONS)) {
    refuse(r, "%u dimensions, but 1 to %d are allowed", (unsigned)rank, MOST_DIMENSIONS);
    return;
  }
  tensor->rank = (int)rank;
  for (uint32_t d = 0; d < rank && !r->status; d++) {
    const uint64_t size = take_u64(r);
    if (!r->status && (size == 0 || size > INT64_MAX))
      refuse(r, "dimension %u is %llu", (unsigned)d, (unsigned long long)size);
    tensor->shape[rank - 1 - d] = (int64_t)size;
  }
  if (!r->status && !attn2c_shape_count(tensor->rank, tensor->shape, &tensor->elements))
    refuse(r, "shape %s is too large", attn2c_shape_write(tensor->rank, tensor->shape).text);
}

static void take_type(reader *r, attn2c_file_tensor *tensor) {
  const uint32_t id = take_u32(r);
  if (r->status) return;
  tensor->type = type_of(id);
  if (!tensor->type)
    refuse(r, "type %u is not known; %s is expected", (unsigned)id, ATTN2C_GGUF_READABLE);
  else if (tensor->shape[tensor->rank - 1] % tensor->type->elements)
    refuse(r, "shape %s, but the rows of type %s are a multiple of %d",
           attn2c_shape_write(tensor->rank, tensor->shape).text, tensor->type->name, tensor->type->elements);
}

static void take_place(reader *r, attn2c_file_tensor *tensor) {
  const uint64_t offset = take_u64(r);
  int64_t bytes = 0;
  if (r->status) return;
  if (__builtin_mul_overflow(tensor->elements / tensor->type->elements, (int64_t)tensor->type->bytes, &bytes))
    refuse(r, "shape %s is too large", attn2c_shape_write(tensor->rank, tensor->shape).text);
  else if (offset % (uint64_t)r->alignment)
    refuse(r, "offset %llu is not a multiple of the alignment, %lld", (unsigned long long)offset,
           (long long)r->alignment);
  else if (offset > INT64_MAX || __builtin_add_overflow((int64_t)offset, bytes, &tensor->end))
    refuse(r, "offset %llu is too large", (unsigned long long)offset);
  else
    tensor->begin = (int64_t)offset;
}

static int read_list(attn2c_tensor_file *file, reader *r, uint64_t count) {
  if (count > MOST_TENSORS || count > (uint64_t)bytes_left(r) / LEAST_TENSOR) {
    refuse(r, "%llu tensors, but %lld bytes follow and at most %d are supported", (unsigned long long)count,
           (long long)bytes_left(r), MOST_TENSORS);
    return r->status;
  }
  file->tensors = calloc((size_t)count + 1, sizeof *file->tensors);
  char(*names)[LONGEST_NAME + 1] = file->names = calloc((size_t)count + 1, sizeof *names);
  if (!file->tensors || !names) return ATTN2C_MEMORY;
  for (int i = 0; i < (int)count && !r->status; i++) {
    attn2c_file_tensor *tensor = &file->tensors[i];
    take_name(r, names[i], i);
    tensor->name = names[i];
    take_shape(r, tensor);
    take_type(r, tensor);
    take_place(r, tensor);
  }
  *r->where = '\0';
  file->count = (int)count;
  return r->status;
}

static int compare_ranges(const void *left, const void *right) {
  const attn2c_file_tensor *a = left, *b = right;
  return (a->begin > b->begin) - (a->begin < b->begin);
}

/* Sorts the tensors by name. No name may occur twice, and no tensors may share a byte. */
static void check_tensors(attn2c_tensor_file *file, reader *r) {
  const int64_t size = file->file.size > file->start ? file->file.size - file->start : 0;
  qsort(file->tensors, (size_t)file->count, sizeof *file->tensors, compare_ranges);
  for (int i = 0; i < file->count && !r->status; i++) {
    const attn2c_file_tensor *tensor = &file->tensors[i], *before = i ? tensor - 1 : NULL;
    if (tensor->end > size)
      refuse(r, "\"%s\": bytes %lld to %lld are beyond the file's %lld bytes of data: it was cut, or damaged",
             tensor->name, (long long)tensor->begin, (long long)tensor->end, (long long)size);
    else if (before && tensor->begin < before->end)
      refuse(r, "\"%s\": its bytes from %lld on overlap \"%s\", which ends at %lld", tensor->name,
             (long long)tensor->begin, before->name, (long long)before->end);
  }
  const attn2c_file_tensor *twice = attn2c_tensor_file_sort(file);
  if (twice) refuse(r, "\"%s\": occurs twice", twice->name);
}

static void read_version(reader *r) {
  const uint32_t magic = take_u32(r), version = take_u32(r);
  if (r->status) return;
  if (memcmp(&magic, attn2c_gguf_format.magic, sizeof magic) != 0)
    refuse(r, "is not a GGUF file");
  else if (version && (version & 0xffff) == 0)
    refuse(r, "is a GGUF file in big-endian numbers, which is not supported");
  else if (version != 2 && version != 3)
    refuse(r, "version %u of GGUF is not supported; 2 and 3 are", (unsigned)version);
}

static int load(attn2c_tensor_file *file, attn2c_message *message) {
  reader r = {.file = &file->file, .message = message, .alignment = USUAL_ALIGNMENT};
  read_version(&r);
  const uint64_t tensors = take_u64(&r), entries = take_u64(&r);
  if (r.status) return r.status;
  int status = read_metadata(file, &r, entries);
  if (!status) status = read_list(file, &r, tensors);
  if (status) return status;
  file->start = (r.at + r.alignment - 1) / r.alignment * r.alignment;
  check_tensors(file, &r);
  return r.status;
}

/* Reads a value's type and place, and moves after it. */
static void take_entry(reader *r, attn2c_gguf_entry *entry) {
  uint32_t type = take_u32(r);
  entry->of = NULL, entry->count = 1;
  entry->type = type < VALUE_TYPES ? value_types[type].name : "?";
  if (type == ARRAY) {
    type = take_u32(r);
    entry->of = type < VALUE_TYPES ? value_types[type].name : "?";
    entry->count = (int64_t)take_u64(r);
  }
  entry->at = r->at;
  skip_values(r, type, (uint64_t)entry->count, 1);
  entry->bytes = r->at - entry->at;
}

int attn2c_gguf_entries(const attn2c_file *file, int (*visit)(void *context, const attn2c_gguf_entry *entry),
                        void *context, attn2c_message *message) {
  reader r = {.file = file, .message = message, .at = 4 + 4 + 8};
  const uint64_t count = take_u64(&r);
  int status = r.status;
  for (uint64_t i = 0; i < count && !status; i++) {
    attn2c_gguf_entry entry;
    const key_place key = take_key(&r, i);
    entry.key = key.at, entry.key_bytes = key.bytes;
    take_entry(&r, &entry);
    status = r.status ? r.status : visit(context, &entry);
  }
  return status;
}

/* The parts of a model have names that end in -00001-of-00003.gguf. */
static int part_path(const char *first, int number, int count, char *path, size_t size) {
  char end[40];
  const size_t length = strlen(first);
  const size_t rest = (size_t)snprintf(end, sizeof end, "-%05d-of-%05d.gguf", 1, count);
  if (length < rest || length >= size || strcmp(first + length - rest, end) != 0) return 0;
  snprintf(path, size, "%.*s-%05d-of-%05d.gguf", (int)(length - rest), first, number + 1, count);
  return 1;
}

const attn2c_format attn2c_gguf_format = {"a GGUF file", "GGUF", load, part_path};
