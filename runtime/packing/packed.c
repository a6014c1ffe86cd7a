#include "packing/packed.h"
#include "base/checksum.h"
#include "base/readers.h"
#include "packing/packed_header.h"

struct attn2c_packed {
  int holders;
  const attn2c_descriptor *model;
  const float *block;
  uint64_t checksum;   /* the block's, from the header */
  uint64_t set;        /* of files that were packed together */
  float *own;          /* the block if it is a copy, else NULL */
  const void *mapping; /* the whole file; NULL: none */
  int64_t mapped;      /* bytes of the mapping */
  char *name;          /* the file's, for messages */
};

static size_t block_size(const attn2c_descriptor *model) {
  return (size_t)model->weight_floats * sizeof(float);
}

static int no_memory(const char *name, attn2c_message *message) {
  return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory for packed weights", name);
}

/* Makes an object for a verified header. */
static attn2c_packed *make(const attn2c_descriptor *model, const unsigned char *header, const char *name) {
  attn2c_packed *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->holders = 1;
  made->model = model;
  made->checksum = attn2c_packed_header_checksum(header);
  made->set = attn2c_packed_header_set(header);
  made->name = malloc(strlen(name) + 1);
  if (!made->name) {
    free(made);
    return NULL;
  }
  strcpy(made->name, name);
  return made;
}

attn2c_packed *attn2c_packed_hold(attn2c_packed *packed) {
  if (packed) packed->holders++;
  return packed;
}

void attn2c_packed_release(attn2c_packed *packed) {
  if (!packed || --packed->holders > 0) return;
  attn2c_file_unmap(packed->mapping, packed->mapped);
  attn2c_free(packed->own);
  ATTN2C_FREE(packed->name, packed);
}

/* Checks what can be wrong in a block; sets *packed, or drops it. */
static int finish(attn2c_packed *made, int status, attn2c_packed **packed, attn2c_message *message) {
  const attn2c_readers *readers = made->model->readers;
  if (!status && readers->check_packed) status = readers->check_packed(made->model, made->block, message);
  if (status)
    attn2c_packed_release(made);
  else
    *packed = made;
  return status;
}

const attn2c_descriptor *attn2c_packed_model(const attn2c_packed *packed) { return packed->model; }

int attn2c_packed_fits(const attn2c_packed *packed, const attn2c_descriptor *model) {
  return !model->variants || packed->model == model;
}

const float *attn2c_packed_block(const attn2c_packed *packed) { return packed->block; }

float *attn2c_packed_owned(const attn2c_packed *packed) { return packed->own; }

float *attn2c_packed_own(attn2c_packed *packed) {
  if (packed->own) return packed->own;
  packed->own = attn2c_reserve(block_size(packed->model));
  if (!packed->own) return NULL;
  memcpy(packed->own, packed->block, block_size(packed->model));
  packed->block = packed->own;
  return packed->own;
}

static int open_place(const void *bytes, size_t size, const attn2c_descriptor *model, attn2c_packed **packed,
                      attn2c_message *message) {
  static const char name[] = "weights in memory";
  const unsigned char *header = bytes;
  *packed = NULL;
  if (!attn2c_packed_begins(header, size)) return ATTN2C_OK;
  if (size >= ATTN2C_PACKED_HEADER) model = attn2c_packed_header_owner(model, header, (int64_t)size);
  ATTN2C_TRY(attn2c_packed_header_verify(model, header, (int64_t)size, name, message));
  attn2c_packed *made = make(model, header, name);
  if (!made) return no_memory(name, message);
  made->block = (const void *)(header + ATTN2C_PACKED_HEADER);
  return finish(made, ATTN2C_OK, packed, message);
}

/* Opens a copy of bytes. */
static int open_memory(const void *bytes, size_t size, const attn2c_descriptor *model, attn2c_packed **packed,
                       attn2c_message *message) {
  const int status = open_place(bytes, size, model, packed, message);
  if (status || !*packed || attn2c_packed_own(*packed)) return status;
  attn2c_packed_release(*packed);
  *packed = NULL;
  return no_memory("weights in memory", message);
}

/* Reads the header of an opened file; tells whether it holds packed weights, and for which variant of the
 * model. */
static int read_header(const attn2c_file *file, const attn2c_descriptor **model, unsigned char *header,
                       int *is_packed, attn2c_message *message) {
  const size_t size = file->size < ATTN2C_PACKED_HEADER ? (size_t)file->size : ATTN2C_PACKED_HEADER;
  const size_t start = size < ATTN2C_PACKED_MAGIC ? size : ATTN2C_PACKED_MAGIC;
  int status = attn2c_file_read(file, 0, header, start, message);
  *is_packed = status == ATTN2C_OK && attn2c_packed_begins(header, start);
  if (!*is_packed) return status;
  status = attn2c_file_read(file, 0, header, size, message);
  if (status) return status;
  if (size == ATTN2C_PACKED_HEADER) *model = attn2c_packed_header_owner(*model, header, file->size);
  return attn2c_packed_header_verify(*model, header, file->size, file->name, message);
}

static int open_file(const attn2c_file *file, const attn2c_descriptor *model, attn2c_packed **packed,
                     attn2c_message *message) {
  unsigned char header[ATTN2C_PACKED_HEADER];
  int is_packed;
  int status = read_header(file, &model, header, &is_packed, message);
  if (status || !is_packed) return status;
  attn2c_packed *made = make(model, header, file->name);
  if (!made) return no_memory(file->name, message);
  status = attn2c_file_map(file, &made->mapping, message);
  made->mapped = file->size;
  if (!status) made->block = (const void *)((const char *)made->mapping + ATTN2C_PACKED_HEADER);
  return finish(made, status, packed, message);
}

static int open_path(const char *path, const attn2c_descriptor *model, attn2c_packed **packed,
                     attn2c_message *message) {
  ATTN2C_ENDS_BY(attn2c_file_close) attn2c_file file = {.descriptor = -1};
  attn2c_message quiet = attn2c_message_make(NULL, 0);
  *packed = NULL;
  /* a file that cannot be opened is left to the reader of checkpoints, which says why */
  if (attn2c_file_open(path, &file, &quiet) != ATTN2C_OK) return ATTN2C_OK;
  return open_file(&file, model, packed, message);
}

int attn2c_packed_find(attn2c_given *given, const attn2c_descriptor *model, attn2c_message *message) {
  if (given->path) return open_path(given->path, model, &given->packed, message);
  if (!given->bytes) return ATTN2C_OK;
  return (given->stay ? open_place : open_memory)(given->bytes, given->size, model, &given->packed, message);
}

attn2c_given attn2c_packed_embedded(const attn2c_descriptor *model) {
  const attn2c_embedded *of = model->embedded;
  return (attn2c_given){.bytes = of->begin, .size = (size_t)(of->end - of->begin), .stay = 1};
}

uint64_t attn2c_packed_checksum(const attn2c_packed *packed) { return packed->checksum; }

int attn2c_packed_verify(const attn2c_packed *packed, attn2c_message *message) {
  if (attn2c_checksum(0, packed->block, block_size(packed->model)) == packed->checksum) return ATTN2C_OK;
  return attn2c_packed_refuse(packed->model, packed->name, "damaged: their checksum is wrong", message);
}

uint64_t attn2c_packed_set(const attn2c_packed *packed) { return packed->set; }
