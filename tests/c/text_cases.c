/* text_cases.c - checks a tokenizer against what the real library gave: text_cases TABLES TEXTS CASES. Each
 * case is tokenized, ids, types and places compared, and its ids decoded; tests/text/cases.py has the format.
 */
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
  const uint8_t *at, *end;
} reader;

typedef struct text {
  const char *bytes;
  size_t length;
} text;

static uint8_t *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "cannot open %s\n", path);
    exit(4);
  }
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  uint8_t *bytes = malloc(*size ? *size : 1);
  if (!bytes || fread(bytes, 1, *size, file) != *size) exit(4);
  fclose(file);
  return bytes;
}

static uint32_t varint(reader *r) {
  uint32_t value = 0;
  for (int shift = 0; r->at < r->end && shift < 32; shift += 7) {
    value |= (uint32_t)(*r->at & 0x7f) << shift;
    if (*r->at++ < 0x80) return value;
  }
  fprintf(stderr, "the cases are cut\n");
  exit(3);
}

static uint32_t word(reader *r) {
  if (r->end - r->at < 4) exit(3);
  uint32_t value = r->at[0] | (uint32_t)r->at[1] << 8 | (uint32_t)r->at[2] << 16 | (uint32_t)r->at[3] << 24;
  r->at += 4;
  return value;
}

static uint32_t hash_of(uint32_t hash, const void *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x01000193u;
  return hash;
}

static uint32_t hash_places(const attn2c_text_tokens *tokens) {
  uint32_t hash = 0x811c9dc5u;
  for (size_t i = 0; i < tokens->length; i++) {
    uint32_t numbers[3] = {(uint32_t)tokens->types[i], tokens->places[i].begin, tokens->places[i].end};
    for (int n = 0; n < 3; n++) {
      uint8_t bytes[4] = {(uint8_t)numbers[n], (uint8_t)(numbers[n] >> 8), (uint8_t)(numbers[n] >> 16),
                          (uint8_t)(numbers[n] >> 24)};
      hash = hash_of(hash, bytes, 4);
    }
  }
  return hash;
}

/* Characters before a byte, counted anew: those that begin there or are a maximal part of one. */
static uint32_t characters_before(text t, uint32_t byte) {
  uint32_t count = 0;
  for (size_t at = 0; at < byte;) {
    const uint8_t *b = (const uint8_t *)t.bytes + at;
    size_t rest = t.length - at,
           want = *b < 0x80   ? 1
                  : *b < 0xc2 ? 0
                  : *b < 0xe0 ? 2
                  : *b < 0xf0 ? 3
                  : *b < 0xf5 ? 4
                              : 0,
           got = 1;
    uint8_t low = *b == 0xe0   ? 0xa0
                  : *b == 0xf0 ? 0x90
                               : 0x80,
            high = *b == 0xed   ? 0x9f
                   : *b == 0xf4 ? 0x8f
                                : 0xbf;
    for (; got < want && got < rest && b[got] >= low && b[got] <= high; got++) low = 0x80, high = 0xbf;
    at += got;
    count++;
  }
  return count;
}

static const char *compare(attn2c_text_work *work, const attn2c_text_input *input, reader *r) {
  attn2c_text_tokens tokens;
  int status = attn2c_text_encode(work, input, &tokens), same = status == ATTN2C_OK;
  uint32_t count = varint(r);
  same = same && tokens.length == count;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t id = varint(r);
    same = same && (uint32_t)tokens.ids[i] == id;
  }
  uint32_t places = word(r), whole = word(r), plain = word(r);
  if (status != ATTN2C_OK) return attn2c_text_fault(work);
  if (!same) return "other ids";
  if (hash_places(&tokens) != places) return "other types or places";
  for (size_t i = 0; i < tokens.length; i++) {
    text t = {tokens.sources[i] == 1 ? input->pair : input->text,
              tokens.sources[i] == 1 ? input->pair_length : input->length};
    attn2c_text_place place = tokens.places[i];
    if (tokens.sources[i] < 2 && (characters_before(t, place.byte_begin) != place.begin ||
                                  characters_before(t, place.byte_end) != place.end))
      return "bytes and characters of a place differ";
  }
  int32_t *ids = malloc((tokens.length + 1) * sizeof *ids);
  if (!ids) return "no memory";
  if (tokens.length) memcpy(ids, tokens.ids, tokens.length * sizeof *ids);
  const char *fault = NULL;
  for (int skip = 0; skip < 2; skip++) {
    const char *bytes;
    size_t length;
    if (attn2c_text_decode(work, ids, count, skip, &bytes, &length) != ATTN2C_OK) fault = "decoding fails";
    if (!fault && hash_of(0x811c9dc5u, bytes, length) != (skip ? plain : whole))
      fault = "another text from the ids";
  }
  free(ids);
  return fault;
}

static size_t read_texts(reader r, text **list) {
  size_t count = 0;
  *list = malloc(sizeof **list * 65536);
  while (*list && r.at < r.end && count < 65536) {
    size_t length = varint(&r);
    (*list)[count++] = (text){(const char *)r.at, length};
    r.at += length;
  }
  return count;
}

static int check(attn2c_text_work *work, const text *texts, size_t count, reader r) {
  int failed = 0, cases = 0;
  for (; r.at < r.end; cases++) {
    attn2c_text_input input = {.limit = {ATTN2C_TEXT_ANY_LENGTH, ATTN2C_TEXT_LONGEST_FIRST, 0}};
    uint32_t first = varint(&r), second = varint(&r);
    input.plain = (int)varint(&r);
    uint32_t limit = varint(&r), strategy = varint(&r);
    if (first >= count || second > count) exit(3);
    input.text = texts[first].bytes, input.length = texts[first].length;
    if (second) input.pair = texts[second - 1].bytes, input.pair_length = texts[second - 1].length;
    if (limit)
      input.limit = (attn2c_text_limit){limit - 1, (attn2c_text_strategy)(strategy & 3), strategy >> 2 & 1};
    const char *fault = compare(work, &input, &r);
    if (fault && failed++ < 5) printf("case %d, text %u: %s\n", cases, first, fault);
  }
  printf("%d cases, %d failed\n", cases, failed);
  return failed || !cases;
}

int main(int count, char **words) {
  size_t size, texts_size, cases_size;
  if (count != 4) return 2;
  uint8_t *tables = read_file(words[1], &size), *bytes = read_file(words[2], &texts_size),
          *cases = read_file(words[3], &cases_size);
  char note[256];
  attn2c_message message = attn2c_message_make(note, sizeof note);
  attn2c_tokenizer *opened = NULL;
  attn2c_text_work *work = NULL;
  text *texts = NULL;
  int status = attn2c_text_open(tables, size, ATTN2C_TEXT_VERIFY, &opened, &message);
  if (status == ATTN2C_OK) status = attn2c_text_work_create(opened, &work);
  if (status != ATTN2C_OK) printf("%s\n", note);
  size_t known = read_texts((reader){bytes, bytes + texts_size}, &texts);
  if (status == ATTN2C_OK) status = check(work, texts, known, (reader){cases, cases + cases_size});
  attn2c_text_work_destroy(work);
  attn2c_text_close(opened);
  free(texts);
  free(tables);
  free(bytes);
  free(cases);
  return status;
}
