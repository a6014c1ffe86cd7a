/* safetensors_index.c - reads a checkpoint's index strictly: an object with a weight_map and optional
 * metadata. The form is {"metadata": {anything}, "weight_map": {tensor: file, ...}}, in any order. */
#include "formats/safetensors_index.h"
#include "formats/file.h"
#include "formats/json.h"

enum { MOST_FILES = 1000, LONGEST_NAME = 255 /* bytes, the limit of file systems */ };

/* Bytes of the whole file; an index of a million tensors is shorter. */
#define LARGEST_INDEX ((int64_t)100 << 20)

/* True if the name is a plain file name in the index's folder. */
static int is_plain(const char *name) {
  return name[0] != '\0' && name[0] != '.' && strpbrk(name, "/\\") == NULL;
}

/* Returns the index of a file's name, adding a new one. -1: no memory; -2: too many files. */
static int file_number(attn2c_safetensors_index *index, const char *name) {
  for (int i = index->file_count - 1; i >= 0; i--)
    if (strcmp(index->files[i], name) == 0) return i;
  if (index->file_count == MOST_FILES) return -2;
  if (ATTN2C_MORE(index->files, index->file_count) != ATTN2C_OK) return -1;
  index->files[index->file_count] = name;
  return index->file_count++;
}

static int add_entry(const char *path, attn2c_safetensors_index *index, const char *tensor, const char *name,
                     attn2c_message *message) {
  if (!is_plain(name))
    return attn2c_fail(message, ATTN2C_FORMAT,
                       "%s: \"%.100s\" is in \"%.100s\", but a file next to the index is expected", path,
                       tensor, name);
  const size_t length = strlen(name);
  if (length > LONGEST_NAME)
    return attn2c_fail(message, ATTN2C_FORMAT,
                       "%s: \"%.100s\" is in \"%.40s...\", a name of %zu bytes, but at most %d are allowed",
                       path, tensor, name, length, LONGEST_NAME);
  if (ATTN2C_MORE(index->entries, index->entry_count) != ATTN2C_OK)
    return attn2c_file_no_memory(path, message);
  const int file = file_number(index, name);
  if (file == -1) return attn2c_file_no_memory(path, message);
  if (file < 0) return attn2c_fail(message, ATTN2C_FORMAT, "%s: names more than %d files", path, MOST_FILES);
  index->entries[index->entry_count++] = (attn2c_index_entry){tensor, file};
  return ATTN2C_OK;
}

static int read_map(const char *path, attn2c_json *json, attn2c_safetensors_index *index,
                    attn2c_message *message) {
  int64_t members = 0;
  const char *tensor, *name;
  if (!attn2c_json_enter(json, '{')) return ATTN2C_OK; /* the caller reports the fault */
  while (attn2c_json_member(json, '}', &members)) {
    if (!attn2c_json_key(json, &tensor) || !attn2c_json_string(json, &name)) return ATTN2C_OK;
    ATTN2C_TRY(add_entry(path, index, tensor, name, message));
  }
  return ATTN2C_OK;
}

static int compare_entries(const void *left, const void *right) {
  const attn2c_index_entry *a = left, *b = right;
  return strcmp(a->tensor, b->tensor);
}

static int check_entries(const char *path, attn2c_safetensors_index *index, attn2c_message *message) {
  if (index->entry_count == 0)
    return attn2c_fail(message, ATTN2C_FORMAT,
                       "%s: no weight_map, or an empty one: it is not an index of a checkpoint; give the "
                       "checkpoint's folder, or model.safetensors",
                       path);
  qsort(index->entries, (size_t)index->entry_count, sizeof *index->entries, compare_entries);
  for (int i = 1; i < index->entry_count; i++)
    if (strcmp(index->entries[i - 1].tensor, index->entries[i].tensor) == 0)
      return attn2c_fail(message, ATTN2C_FORMAT, "%s: \"%.100s\" occurs twice", path,
                         index->entries[i].tensor);
  return ATTN2C_OK;
}

static int parse(const char *path, size_t size, attn2c_safetensors_index *index, attn2c_message *message) {
  attn2c_json json = attn2c_json_make(index->text, size);
  int64_t members = 0;
  int maps = 0, status = ATTN2C_OK;
  const char *key;
  if (attn2c_json_enter(&json, '{'))
    while (attn2c_json_member(&json, '}', &members) && attn2c_json_key(&json, &key)) {
      if (strcmp(key, "weight_map") != 0) {
        if (!attn2c_json_skip(&json)) break;
        continue;
      }
      if (maps++) return attn2c_fail(message, ATTN2C_FORMAT, "%s: weight_map occurs twice", path);
      status = read_map(path, &json, index, message);
      if (status) return status;
    }
  if (!json.fault) attn2c_json_end(&json);
  if (json.fault) return attn2c_fail(message, ATTN2C_FORMAT, "%s: byte %zu: %s", path, json.at, json.fault);
  return check_entries(path, index, message);
}

int attn2c_safetensors_index_read(const char *path, attn2c_safetensors_index *index,
                                  attn2c_message *message) {
  attn2c_file file;
  *index = (attn2c_safetensors_index){0};
  int status = attn2c_file_open(path, &file, message);
  if (status) return status;
  if (file.size > LARGEST_INDEX) {
    status = attn2c_fail(message, ATTN2C_FORMAT, "%s: an index of %lld bytes, but at most %lld are allowed",
                         path, (long long)file.size, (long long)LARGEST_INDEX);
  } else {
    index->text = malloc((size_t)file.size + 1);
    status = index->text ? attn2c_file_read(&file, 0, index->text, (size_t)file.size, message)
                         : attn2c_file_no_memory(path, message);
  }
  attn2c_file_close(&file);
  if (!status) status = parse(path, (size_t)file.size, index, message);
  if (status) attn2c_safetensors_index_free(index);
  return status;
}

void attn2c_safetensors_index_free(attn2c_safetensors_index *index) {
  ATTN2C_FREE(index->text, index->files, index->entries);
  *index = (attn2c_safetensors_index){0};
}
