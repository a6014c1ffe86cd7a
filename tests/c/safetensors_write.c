/* safetensors_write.c - writes f32 tensors: sorted by name, no date, no metadata, data aligned to 8 bytes. So
 * the same tensors always make the same bytes. */
#include "safetensors_write.h"

#include "formats/file.h"
#include "formats/tensors.h"
#include "base/shape.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A header that is being written, or only measured if text is NULL. */
typedef struct {
  char *text;
  size_t used;
} header_text;

static void put(header_text *header, const char *text, size_t length) {
  if (header->text) memcpy(header->text + header->used, text, length);
  header->used += length;
}

static void put_number(header_text *header, int64_t number) {
  char digits[24];
  put(header, digits, (size_t)snprintf(digits, sizeof digits, "%lld", (long long)number));
}

static void put_string(header_text *header, const char *text) {
  put(header, "\"", 1);
  for (; *text; text++) {
    char escape[8];
    unsigned char byte = (unsigned char)*text;
    if (byte == '"' || byte == '\\') put(header, "\\", 1);
    if (byte >= 0x20)
      put(header, text, 1);
    else
      put(header, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", byte));
  }
  put(header, "\"", 1);
}

static void put_header(header_text *header, const safetensors_item *items, int count) {
  int64_t begin = 0;
  put(header, "{", 1);
  for (int i = 0; i < count; i++) {
    int64_t elements = 0;
    attn2c_shape_count(items[i].rank, items[i].shape, &elements);
    if (i) put(header, ",", 1);
    put_string(header, items[i].name);
    put(header, ":{\"dtype\":\"F32\",\"shape\":[", 25);
    for (int d = 0; d < items[i].rank; d++) {
      if (d) put(header, ",", 1);
      put_number(header, items[i].shape[d]);
    }
    put(header, "],\"data_offsets\":[", 18);
    put_number(header, begin);
    put(header, ",", 1);
    begin += elements * (int64_t)sizeof(float);
    put_number(header, begin);
    put(header, "]}", 2);
  }
  put(header, "}", 1);
  while (header->used % 8) put(header, " ", 1);
}

static int compare_items(const void *left, const void *right) {
  return strcmp(((const safetensors_item *)left)->name, ((const safetensors_item *)right)->name);
}

static int is_utf8(const char *text) {
  size_t left = strlen(text), width;
  for (; left; text += width, left -= width)
    if ((width = attn2c_utf8_width(text, left)) == 0) return 0;
  return 1;
}

/* Checks the names and shapes of sorted items. */
static int check_items(const safetensors_item *items, int count, attn2c_message *message) {
  int64_t total = 0;
  for (int i = 0; i < count; i++) {
    const safetensors_item *item = &items[i];
    const char *fault = NULL;
    int64_t elements, bytes;
    if (!is_utf8(item->name))
      fault = "a name must be UTF-8";
    else if (strcmp(item->name, "__metadata__") == 0)
      fault = "the name is reserved";
    else if (i && strcmp(items[i - 1].name, item->name) == 0)
      fault = "is given twice";
    else if (item->rank < 0 || item->rank > ATTN2C_FILE_MAX_RANK)
      fault = "0 to 16 dimensions are allowed";
    else if (!attn2c_shape_count(item->rank, item->shape, &elements) ||
             __builtin_mul_overflow(elements, (int64_t)sizeof(float), &bytes) ||
             __builtin_add_overflow(total, bytes, &total) || total > (int64_t)1 << 53)
      fault = "its shape is negative or too large";
    if (fault) {
      attn2c_say(message, "\"%s\": %s", item->name, fault);
      return ATTN2C_USAGE;
    }
  }
  return ATTN2C_OK;
}

/* Writes sorted items. `parts` has count + 2 elements; the first two are the length and the header. */
static int write_sorted(const char *path, const safetensors_item *items, int count, attn2c_file_part *parts,
                        attn2c_message *message) {
  header_text header = {NULL, 0};
  put_header(&header, items, count);
  if (header.used > 100000000) {
    attn2c_say(message, "%s: a header of %zu bytes, but at most 100000000 are allowed", path, header.used);
    return ATTN2C_USAGE;
  }
  uint64_t length = header.used;
  header = (header_text){malloc(header.used), 0};
  if (!header.text) return ATTN2C_MEMORY;
  put_header(&header, items, count);
  parts[0] = (attn2c_file_part){&length, sizeof length};
  parts[1] = (attn2c_file_part){header.text, header.used};
  for (int i = 0; i < count; i++) {
    int64_t elements = 0;
    attn2c_shape_count(items[i].rank, items[i].shape, &elements);
    parts[i + 2] = (attn2c_file_part){items[i].values, (size_t)elements * sizeof(float)};
  }
  int status = attn2c_file_write(path, parts, count + 2, message);
  free(header.text);
  return status;
}

int safetensors_write(const char *path, const safetensors_item *items, int count, attn2c_message *message) {
  size_t number = count > 0 ? (size_t)count : 0;
  int status = ATTN2C_MEMORY;
  safetensors_item *sorted = malloc((number + 1) * sizeof *sorted);
  attn2c_file_part *parts = malloc((number + 2) * sizeof *parts);
  if (sorted && parts) {
    if (number) memcpy(sorted, items, number * sizeof *sorted);
    qsort(sorted, number, sizeof *sorted, compare_items);
    status = check_items(sorted, (int)number, message);
    if (!status) status = write_sorted(path, sorted, (int)number, parts, message);
  }
  if (status == ATTN2C_MEMORY) attn2c_say(message, "%s: out of memory", path);
  free(sorted);
  free(parts);
  return status;
}
