/* torch.c - reads files of torch.save(): a zip whose members are not compressed, with a pickle that names the
 * tensors, and a member for each storage. Tensors may share one. */
#include "base/shape.h"
#include "formats/pickle.h"

enum {
  LOCAL = 30,
  CENTRAL = 46,
  LAST = 22,
  LAST_64 = 56,
  LOCATOR = 20, /* bytes of the records of a zip */
  LONGEST_NOTE = 65535
};

/* Bytes of the list of members, and of the pickle. */
#define LARGEST_LIST   ((uint64_t)64 << 20)
#define LARGEST_PICKLE ((int64_t)16 << 20)

/* A member of a zip. */
typedef struct {
  const char *name;
  size_t length;
  uint64_t at, size; /* of its record, of its bytes */
} member;

typedef struct {
  attn2c_tensor_file *file;
  attn2c_message *message;
  unsigned char *list; /* of the members, as the file has it */
  uint64_t list_at, list_size;
  member *members; /* in the order of their names */
  size_t count, capacity;
  size_t prefix; /* bytes of each name, up to the first slash and with it */
  const char *of_all;
} archive;

static uint64_t number(const unsigned char *at, size_t bytes) {
  uint64_t value = 0;
  memcpy(&value, at, bytes);
  return value;
}

static int refuse(const archive *a, const char *what) {
  return attn2c_fail(a->message, ATTN2C_FORMAT, "%s: is not a zip of torch.save(): %s", a->file->name, what);
}

static int read_at(const archive *a, uint64_t at, void *to, size_t bytes) {
  if (at > (uint64_t)a->file->file.size) return refuse(a, "a place is beyond its end");
  return attn2c_file_read(&a->file->file, (int64_t)at, to, bytes, a->message);
}

static int begins(const unsigned char *record, const char *signature) {
  return record[0] == 'P' && record[1] == 'K' && memcmp(record + 2, signature, 2) == 0;
}

/* Reads the record that tells the place of the list, of a file of 4 GB or more. */
static int find_list_64(archive *a, uint64_t last) {
  unsigned char locator[LOCATOR], record[LAST_64];
  if (last < LOCATOR) return refuse(a, "its list has no place");
  ATTN2C_TRY(read_at(a, last - LOCATOR, locator, LOCATOR));
  if (!begins(locator, "\6\7")) return refuse(a, "its list has no place");
  ATTN2C_TRY(read_at(a, number(locator + 8, 8), record, LAST_64));
  if (!begins(record, "\6\6")) return refuse(a, "its list has no place");
  a->list_size = number(record + 40, 8), a->list_at = number(record + 48, 8);
  return ATTN2C_OK;
}

/* Finds the place of the list of members, by the last record of the file, after which a note may stand. */
static int find_list(archive *a) {
  const uint64_t size = (uint64_t)a->file->file.size;
  const size_t count = size < LAST + LONGEST_NOTE ? (size_t)size : LAST + LONGEST_NOTE;
  ATTN2C_OWN unsigned char *end = malloc(count + 1);
  if (!end) return ATTN2C_MEMORY;
  ATTN2C_TRY(read_at(a, size - count, end, count));
  size_t at = count;
  while (at >= LAST && !begins(end + at - LAST, "\5\6")) at--;
  if (at < LAST) return refuse(a, "its last record is missing; is it cut?");
  a->list_size = number(end + at - LAST + 12, 4), a->list_at = number(end + at - LAST + 16, 4);
  if (a->list_size == UINT32_MAX || a->list_at == UINT32_MAX)
    ATTN2C_TRY(find_list_64(a, size - count + at - LAST));
  return ATTN2C_OK;
}

/* Takes sizes of 8 bytes from the fields after a member's name, if the fields of 4 bytes are full. */
static void widen(const unsigned char *fields, size_t size, member *made, uint64_t *packed) {
  uint64_t *const wide[] = {&made->size, packed, &made->at};
  while (size >= 4) {
    const size_t bytes = (size_t)number(fields + 2, 2);
    if (bytes > size - 4) return;
    if (number(fields, 2) == 1) {
      size_t at = 4;
      for (int i = 0; i < 3; i++)
        if (*wide[i] == UINT32_MAX && at + 8 <= bytes + 4) *wide[i] = number(fields + at, 8), at += 8;
      return;
    }
    fields += bytes + 4, size -= bytes + 4;
  }
}

static int compare_members(const void *left, const void *right) {
  const member *a = left, *b = right;
  const int order = memcmp(a->name, b->name, a->length < b->length ? a->length : b->length);
  return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int read_members(archive *a) {
  int status = a->list_size > LARGEST_LIST ? refuse(a, "its list is too long") : ATTN2C_OK;
  if (status) return status;
  a->list = malloc((size_t)a->list_size + 1);
  if (!a->list) return ATTN2C_MEMORY;
  status = read_at(a, a->list_at, a->list, (size_t)a->list_size);
  for (size_t at = 0; at < a->list_size && !status;) {
    const unsigned char *record = a->list + at;
    const size_t left = (size_t)a->list_size - at;
    if (left < CENTRAL || !begins(record, "\1\2")) return refuse(a, "its list is malformed");
    const size_t length = (size_t)number(record + 28, 2), more = (size_t)number(record + 30, 2),
                 whole = CENTRAL + length + more + (size_t)number(record + 32, 2);
    if (whole > left) return refuse(a, "its list is cut");
    member made = {.name = (const char *)record + CENTRAL,
                   .length = length,
                   .at = number(record + 42, 4),
                   .size = number(record + 24, 4)};
    uint64_t packed = number(record + 20, 4);
    widen(record + CENTRAL + length, more, &made, &packed);
    if (number(record + 10, 2) != 0 || packed != made.size) return refuse(a, "a member is compressed");
    status = attn2c_grow((void **)&a->members, &a->capacity, a->count + 1, sizeof made);
    if (!status) a->members[a->count++] = made;
    at += whole;
  }
  if (status) return status;
  if (a->count == 0) return refuse(a, "it has no members");
  const char *slash = memchr(a->members[0].name, '/', a->members[0].length);
  if (!slash) return refuse(a, "its members are in no folder");
  a->of_all = a->members[0].name, a->prefix = (size_t)(slash - a->of_all) + 1;
  qsort(a->members, a->count, sizeof *a->members, compare_members);
  for (size_t i = 1; i < a->count; i++)
    if (compare_members(&a->members[i - 1], &a->members[i]) == 0) return refuse(a, "a member occurs twice");
  return ATTN2C_OK;
}

/* Returns a member by its name after the folder's, or NULL. */
static const member *find(const archive *a, const char *folder, const char *name) {
  char text[512];
  const int length = snprintf(text, sizeof text, "%.*s%s%s", (int)a->prefix, a->of_all, folder, name);
  const member wanted = {.name = text, .length = (size_t)length};
  if (length < 0 || length >= (int)sizeof text) return NULL;
  return bsearch(&wanted, a->members, a->count, sizeof *a->members, compare_members);
}

/* Finds where a member's bytes begin. */
static int find_bytes(const archive *a, const member *of, int64_t *begin) {
  unsigned char record[LOCAL];
  ATTN2C_TRY(read_at(a, of->at, record, LOCAL));
  if (!begins(record, "\3\4")) return refuse(a, "a member is not at its place");
  const uint64_t at = of->at + LOCAL + number(record + 26, 2) + number(record + 28, 2),
                 size = (uint64_t)a->file->file.size;
  if (at > size || of->size > size - at) return refuse(a, "a member is beyond its end");
  *begin = (int64_t)at;
  return ATTN2C_OK;
}

/* True if the elements of a tensor are row by row. */
static int is_plain(const attn2c_pickled *tensor) {
  int64_t next = 1;
  for (int d = tensor->rank; d-- > 0; next *= tensor->shape[d])
    if (tensor->shape[d] != 1 && tensor->strides[d] != next) return 0;
  return 1;
}

static int take_tensor(void *context, const attn2c_pickled *tensor) {
  archive *a = context;
  attn2c_tensor_file *file = a->file;
  attn2c_file_tensor made = {.name = tensor->name, .rank = tensor->rank};
  const member *storage = find(a, "data/", tensor->storage);
  const char *fault = NULL;
  int64_t begin = 0, bytes = 0, skip = 0;
  memcpy(made.shape, tensor->shape, sizeof made.shape);
  made.type = attn2c_plain_type(tensor->type);
  const int64_t each = made.type->bytes;
  if (!storage)
    fault = "its storage is missing";
  else if (tensor->first < 0 || !attn2c_shape_count(made.rank, made.shape, &made.elements))
    fault = "its shape is too large";
  else if (made.elements > 0 && !is_plain(tensor))
    fault = "its elements are not row by row; save it after .contiguous()";
  else if (__builtin_mul_overflow(made.elements, each, &bytes) ||
           __builtin_mul_overflow(tensor->first, each, &skip) || bytes > INT64_MAX - skip ||
           (uint64_t)(skip + bytes) > storage->size)
    fault = "it is larger than its storage";
  if (fault) return attn2c_fail(a->message, ATTN2C_FORMAT, "%s: \"%s\": %s", file->name, made.name, fault);
  ATTN2C_TRY(find_bytes(a, storage, &begin));
  made.begin = begin + skip, made.end = made.begin + bytes;
  ATTN2C_TRY(ATTN2C_MORE(file->tensors, file->count));
  file->tensors[file->count++] = made;
  return ATTN2C_OK;
}

/* Numbers of a file are little-endian, as its member `byteorder` says; without it they are. */
static int check_order(const archive *a) {
  static const char usual[] = "little";
  const member *order = find(a, "", "byteorder");
  char text[sizeof usual] = "";
  int64_t begin;
  if (!order) return ATTN2C_OK;
  ATTN2C_TRY(find_bytes(a, order, &begin));
  if (order->size == sizeof usual - 1) ATTN2C_TRY(read_at(a, (uint64_t)begin, text, sizeof usual - 1));
  if (strcmp(text, usual) != 0) return refuse(a, "its numbers are not little-endian");
  return ATTN2C_OK;
}

static int read_pickle(archive *a) {
  const member *of = find(a, "", "data.pkl");
  int64_t begin;
  if (!of) return refuse(a, "it has no data.pkl");
  if (of->size > (uint64_t)LARGEST_PICKLE) return refuse(a, "its pickle is too large");
  int status = find_bytes(a, of, &begin);
  if (status) return status;
  unsigned char *bytes = malloc((size_t)of->size + 1);
  if (!bytes) return ATTN2C_MEMORY;
  a->file->names = bytes; /* tensors' names stay in it */
  status = read_at(a, (uint64_t)begin, bytes, (size_t)of->size);
  return status ? status
                : attn2c_pickle_read(bytes, (size_t)of->size, a->file->name, take_tensor, a, a->message);
}

static int load(attn2c_tensor_file *file, attn2c_message *message) {
  archive a = {.file = file, .message = message};
  int status = find_list(&a);
  if (!status) status = read_members(&a);
  if (!status) status = check_order(&a);
  if (!status) status = read_pickle(&a);
  ATTN2C_FREE(a.list, a.members);
  if (status) return status;
  const attn2c_file_tensor *twice = attn2c_tensor_file_sort(file);
  return twice ? attn2c_fail(message, ATTN2C_FORMAT, "%s: \"%s\": occurs twice", file->name, twice->name)
               : ATTN2C_OK;
}

const attn2c_format attn2c_torch_format = {"a file of torch.save()", "PK\3\4", load, NULL};
