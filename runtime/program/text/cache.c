/* cache.c - keeps embeddings of texts in a file. A text is known by its length and two hashes. */
#include "program/text/cache.h"

#include "base/checksum.h"
#include "formats/fields.h"
#include "formats/npy.h"
#include "measure/timing.h"
#include "packing/packed_header.h"
#include "system/system.h"

enum { FOOTER = 512, MAGIC = 24, VERSION = 1 };

/* Least nanoseconds between two writes of a run that goes on, and how many times as long as a write it is. */
#define WRITE_EVERY 5e9
#define WRITE_SHARE 20

/* Offsets of the footer's fields; all other bytes are zero. [AT_IDENTITY, AT_TEXTS) decide embeddings. */
enum {
  AT_VERSION = MAGIC,
  AT_IDENTITY = 32,
  AT_WIDTH = AT_IDENTITY,
  AT_LAYOUT = 40,
  AT_WEIGHTS = 48,
  AT_TOKENIZER = 56,
  AT_PROMPT = 64,
  AT_DESCRIPTION = 72,
  AT_TARGET = 104,
  AT_NAME = 136,
  AT_TEXTS = 400,
  AT_DATA = 408,
  AT_FOOTER = FOOTER - 8
};

static const char magic[MAGIC] = "attn2c embeddings\n";

/* The facts by which a text is known. is_kept: 0 if it has no embedding. */
typedef struct {
  uint64_t length, first, second, is_kept;
} key;

struct attn2c_cache {
  const char *path;
  int64_t width;
  unsigned char footer[FOOTER]; /* without the fields from AT_TEXTS on */
  /* The file's texts. */
  unsigned char *bytes;
  const float *values;
  key *keys;
  size_t count, next; /* next: the text that is expected, in the order of the file */
  uint32_t *table;    /* places of keys, plus 1, by their hash; 0: empty */
  char *is_found;     /* 1 for each text that was found */
  size_t slots;       /* a power of two */
  /* The texts that were added. */
  key *made;
  float *made_values;
  size_t made_count;
  size_t new_count, unwritten; /* those that the file did not have; those that no file has yet */
  double next_write;           /* time from which they are written though the run goes on; 0: not known */
};

/* FNV-1a. It is unlike the checksum: both are equal for different texts in one case of 2^128. */
static uint64_t second_hash(const char *text, size_t length) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
  return hash;
}

static key key_of(const char *text, size_t length) {
  return (key){length, attn2c_checksum(0, text, length), second_hash(text, length), 1};
}

static int is_same(const key *a, const key *b) { return memcmp(a, b, sizeof *a) == 0; }

static void make_footer(attn2c_cache *cache, const attn2c_model *model, const attn2c_reader *reader) {
  const attn2c_descriptor *of = model->descriptor;
  const attn2c_prompt *prompt = &reader->prompt;
  unsigned char *footer = cache->footer;
  memcpy(footer, magic, MAGIC);
  attn2c_put_word(footer, AT_VERSION, VERSION);
  attn2c_put_number(footer, AT_WIDTH, (uint64_t)cache->width);
  attn2c_put_number(
      footer, AT_LAYOUT,
      attn2c_checksum(attn2c_layout(of) + (uint64_t)reader->adapter, of->generator, strlen(of->generator)));
  attn2c_put_number(footer, AT_WEIGHTS, attn2c_weights_checksum(model));
  attn2c_put_number(footer, AT_TOKENIZER, attn2c_checksum(0, reader->facts->tables, reader->facts->size));
  attn2c_put_number(footer, AT_PROMPT, prompt->text ? attn2c_checksum(1, prompt->text, prompt->length) : 0);
  attn2c_put_text(footer, AT_DESCRIPTION, AT_TARGET, of->description_hash);
  attn2c_put_text(footer, AT_TARGET, AT_NAME, of->target);
  attn2c_put_text(footer, AT_NAME, AT_TEXTS, of->name);
}

/* Returns why a file's embeddings are not those that this run would compute, or NULL. */
static const char *differs(const unsigned char *theirs, const unsigned char *ours) {
  static const struct {
    int at, end;
    const char *what;
  } fields[] = {
      {AT_NAME, AT_TEXTS, "it is of another model"},
      {AT_TARGET, AT_NAME, "it is of another target"},
      {AT_DESCRIPTION, AT_TARGET, "it is of another description of the model"},
      {AT_LAYOUT, AT_WEIGHTS, "it is of another build"},
      {AT_WEIGHTS, AT_TOKENIZER, "it is of other weights"},
      {AT_TOKENIZER, AT_PROMPT, "it is of another tokenizer"},
      {AT_PROMPT, AT_DESCRIPTION, "it is of another prompt"},
      {AT_WIDTH, AT_LAYOUT, "its embeddings have another number of dimensions"},
  };
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (memcmp(theirs + fields[i].at, ours + fields[i].at, (size_t)(fields[i].end - fields[i].at)) != 0)
      return fields[i].what;
  return NULL;
}

/* Returns the checksum of an array's header, its elements, and the keys. */
static uint64_t sum_of(const attn2c_file_part parts[3]) {
  uint64_t sum = 0;
  for (int i = 0; i < 3; i++) sum = attn2c_checksum(sum, parts[i].bytes, parts[i].size);
  return sum;
}

/* Enters the file's keys into the table. Returns 0 without memory. */
static int index_keys(attn2c_cache *cache) {
  cache->slots = 64;
  while (cache->slots < 2 * cache->count) cache->slots *= 2;
  cache->table = calloc(cache->slots, sizeof *cache->table);
  cache->is_found = calloc(cache->count + 1, 1);
  if (!cache->table || !cache->is_found) return 0;
  for (size_t i = 0; i < cache->count; i++) {
    size_t slot = cache->keys[i].first & (cache->slots - 1);
    while (cache->table[slot]) slot = (slot + 1) & (cache->slots - 1);
    cache->table[slot] = (uint32_t)i + 1;
  }
  return 1;
}

/* Takes the arrays of a file whose bytes were read. Returns NULL, or why it is not used. */
static const char *take(attn2c_cache *cache, size_t size) {
  const unsigned char *footer = cache->bytes + size - FOOTER;
  if (attn2c_word_at(footer, AT_VERSION) != VERSION) return "it was made by another version of attn2c";
  if (attn2c_number_at(footer, AT_FOOTER) != attn2c_checksum(0, footer, AT_FOOTER))
    return "it is damaged: its footer's checksum is wrong";
  const char *why = differs(footer, cache->footer);
  if (why) return why;
  const uint64_t count = attn2c_number_at(footer, AT_TEXTS), width = (uint64_t)cache->width;
  const size_t start = 10 + (size_t)cache->bytes[8] + ((size_t)cache->bytes[9] << 8);
  if (count >= UINT32_MAX || start % 64 != 0 || start + count * (4 * width + sizeof(key)) + FOOTER != size)
    return "it is damaged: its size is wrong";
  const attn2c_file_part parts[] = {{cache->bytes, start},
                                    {cache->bytes + start, count * 4 * width},
                                    {cache->bytes + start + count * 4 * width, count * sizeof(key)}};
  if (attn2c_number_at(footer, AT_DATA) != sum_of(parts)) return "it is damaged: its checksum is wrong";
  cache->values = (const float *)(const void *)(cache->bytes + start);
  cache->keys = malloc((size_t)count * sizeof *cache->keys + 1);
  if (!cache->keys) return "there is no memory for it";
  memcpy(cache->keys, cache->bytes + start + count * 4 * width, (size_t)count * sizeof *cache->keys);
  cache->count = (size_t)count;
  return index_keys(cache) ? NULL : "there is no memory for it";
}

static void forget_file(attn2c_cache *cache) {
  ATTN2C_FREE(cache->bytes, cache->keys, cache->table, cache->is_found);
  cache->bytes = NULL, cache->keys = NULL, cache->table = NULL, cache->is_found = NULL, cache->count = 0;
}

/* Reads all bytes of an open file. Returns ATTN2C_OK; _FORMAT: this program did not make it. */
static int read_file(attn2c_cache *cache, const attn2c_file *file, attn2c_message *message) {
  unsigned char start[8] = {0}, end[MAGIC] = {0};
  const int is_long = file->size >= FOOTER + 64;
  ATTN2C_TRY(is_long ? attn2c_file_read(file, 0, start, sizeof start, message) : ATTN2C_OK);
  if (is_long) ATTN2C_TRY(attn2c_file_read(file, file->size - FOOTER, end, sizeof end, message));
  if (memcmp(start, "\x93NUMPY\1", 7) != 0 || memcmp(end, magic, MAGIC) != 0)
    return attn2c_fail(
        message, ATTN2C_FORMAT,
        "--cache %s: is no file that --cache made, or was cut; remove it, or give another name", file->name);
  cache->bytes = malloc((size_t)file->size);
  if (!cache->bytes)
    return attn2c_fail(message, ATTN2C_MEMORY, "--cache %s: no memory for %" PRId64 " bytes", file->name,
                       file->size);
  return attn2c_file_read(file, 0, cache->bytes, (size_t)file->size, message);
}

int attn2c_cache_open(const char *path, const attn2c_model *model, const attn2c_reader *reader, int64_t width,
                      attn2c_cache **cache, const char **why, attn2c_message *message) {
  attn2c_about found;
  ATTN2C_ENDS_BY(attn2c_file_close) attn2c_file file = {.descriptor = -1};
  *why = NULL;
  *cache = calloc(1, sizeof **cache);
  if (!*cache) return ATTN2C_MEMORY;
  (*cache)->path = path, (*cache)->width = width;
  make_footer(*cache, model, reader);
  int status = attn2c_file_check(path, message);
  if (status != ATTN2C_OK || attn2c_system_about(path, 0, &found) != 0) return status;
  status = attn2c_file_open(path, &file, message);
  if (status != ATTN2C_OK) return status;
  status = read_file(*cache, &file, message);
  if (status == ATTN2C_OK && (*why = take(*cache, (size_t)file.size)) != NULL) forget_file(*cache);
  return status;
}

void attn2c_cache_close(attn2c_cache *cache) {
  if (!cache) return;
  forget_file(cache);
  ATTN2C_FREE(cache->made, cache->made_values, cache);
}

const float *attn2c_cache_find(attn2c_cache *cache, const char *text, size_t length) {
  if (cache->count == 0) return NULL;
  const key wanted = key_of(text, length);
  size_t at = cache->next;
  if (at >= cache->count || !is_same(&cache->keys[at], &wanted)) {
    size_t slot = wanted.first & (cache->slots - 1);
    while (cache->table[slot] && !is_same(&cache->keys[cache->table[slot] - 1], &wanted))
      slot = (slot + 1) & (cache->slots - 1);
    if (!cache->table[slot]) return NULL;
    at = cache->table[slot] - 1;
  }
  cache->next = at + 1;
  cache->is_found[at] = 1;
  return cache->values + at * (size_t)cache->width;
}

int attn2c_cache_add(attn2c_cache *cache, const char *text, size_t length, const float *values) {
  const size_t width = (size_t)cache->width;
  ATTN2C_TRY(ATTN2C_MORE(cache->made, cache->made_count));
  ATTN2C_TRY(attn2c_more(&cache->made_values, cache->made_count, width * sizeof *cache->made_values));
  const size_t at = cache->made_count++;
  const int is_old =
      values && cache->count > 0 && values >= cache->values && values < cache->values + cache->count * width;
  cache->new_count += !is_old, cache->unwritten += !is_old;
  cache->made[at] = key_of(text, length);
  cache->made[at].is_kept = values != NULL;
  if (values)
    memcpy(cache->made_values + at * width, values, width * sizeof *values);
  else
    memset(cache->made_values + at * width, 0, width * sizeof *values);
  return ATTN2C_OK;
}

/* Copies the texts of the file that were not found after those that were added. Returns their number; -1:
 * there is no memory. */
static int64_t add_rest(attn2c_cache *cache) {
  const size_t width = (size_t)cache->width, before = cache->made_count;
  int64_t rest = 0;
  for (size_t i = 0; i < cache->count; i++) {
    if (cache->is_found[i] || !cache->keys[i].is_kept) continue;
    if (attn2c_cache_add(cache, "", 0, cache->values + i * width) != ATTN2C_OK) rest = INT64_MIN;
    if (rest < 0) break;
    cache->made[before + (size_t)rest++] = cache->keys[i];
  }
  cache->made_count = before;
  return rest < 0 ? -1 : rest;
}

static int write_all(const attn2c_cache *cache, size_t count, attn2c_message *message) {
  const size_t bytes = count * sizeof(key), floats = count * (size_t)cache->width * sizeof(float);
  unsigned char footer[FOOTER];
  char header[ATTN2C_NPY_HEADER];
  const int64_t shape[2] = {(int64_t)count, cache->width};
  const size_t start = attn2c_npy_begin(header, ATTN2C_F32, 2, shape);
  memcpy(footer, cache->footer, FOOTER);
  attn2c_put_number(footer, AT_TEXTS, (uint64_t)count);
  const attn2c_file_part parts[] = {
      {header, start}, {cache->made_values, floats}, {cache->made, bytes}, {footer, FOOTER}};
  attn2c_put_number(footer, AT_DATA, sum_of(parts));
  attn2c_put_number(footer, AT_FOOTER, attn2c_checksum(0, footer, AT_FOOTER));
  return attn2c_file_write(cache->path, parts, 4, message);
}

/* Writes what there is if the run may end before its last text. */
static int write_part(attn2c_cache *cache, attn2c_message *message) {
  if (cache->unwritten == 0) return ATTN2C_OK;
  const int64_t rest = add_rest(cache);
  const int status = rest < 0 ? ATTN2C_MEMORY : write_all(cache, cache->made_count + (size_t)rest, message);
  if (status == ATTN2C_OK) cache->unwritten = 0;
  return status;
}

int attn2c_cache_write(attn2c_cache *cache, int is_all, attn2c_message *message) {
  const size_t bytes = cache->made_count * sizeof(key);
  if (!is_all) {
    const int status = write_part(cache, message);
    if (status == ATTN2C_OK && cache->new_count > 0)
      attn2c_say(message, "--cache %s: %zu new embeddings are kept, and the next run goes on with them",
                 cache->path, cache->new_count);
    return status;
  }
  const int is_same_file = cache->unwritten == cache->new_count && cache->count > 0 &&
                           cache->count == cache->made_count && memcmp(cache->keys, cache->made, bytes) == 0;
  return is_same_file ? ATTN2C_OK : write_all(cache, cache->made_count, message);
}

int attn2c_cache_keep(attn2c_cache *cache, attn2c_message *message) {
  const double start = attn2c_now();
  if (cache->next_write > 0 && start < cache->next_write) return ATTN2C_OK;
  const int status = cache->next_write > 0 ? write_part(cache, message) : ATTN2C_OK;
  const double end = attn2c_now(), pause = WRITE_SHARE * (end - start);
  cache->next_write = end + (pause > WRITE_EVERY ? pause : WRITE_EVERY);
  return status;
}
