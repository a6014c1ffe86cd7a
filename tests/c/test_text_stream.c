/* test_text_stream.c - ids that become text piece by piece: for tokenizers of every decoder, the pieces of
 * random ids are the whole text, end between characters, and are not held back longer than needed. */
#include "golden_text.h"

#include "base/utf8.h"
#include "faults.h"
#include "generate/draw.h"
#include "text/stages.h"
#include "text/stream.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_IDS = 64, MOST_TEXT = 16384 };

/* A text in pieces. */
typedef struct {
  char bytes[MOST_TEXT];
  size_t length;
} joined;

static void join(joined *to, const char *text, size_t length) {
  cr_assert(to->length + length < MOST_TEXT);
  for (size_t at = 0; at < length;) {
    const size_t width = attn2c_utf8_width(text + at, length - at);
    cr_assert(width > 0, "a piece ends within a character");
    at += width;
  }
  memcpy(to->bytes + to->length, text, length);
  to->length += length;
}

/* Returns the text of the ids in pieces; the first `unwanted` are a prompt. */
static void stream_ids(const tokenizer *t, attn2c_text_stream *stream, const int32_t *ids, size_t unwanted,
                       size_t count, uint64_t seed, joined *to) {
  const char *text;
  size_t length, n = 0;
  to->length = 0;
  attn2c_text_stream_reset(stream);
  if (unwanted) cr_assert_eq(attn2c_text_stream_skip(stream, t->work, ids, unwanted), ATTN2C_OK);
  for (size_t at = unwanted; at < count;) {
    size_t some = attn2c_draw_below(attn2c_draw_bits(seed, n++), 3);
    if (some > count - at) some = count - at;
    cr_assert_eq(attn2c_text_stream_add(stream, t->work, ids + at, some, &text, &length), ATTN2C_OK);
    join(to, text, length);
    at += some;
  }
  cr_assert_eq(attn2c_text_stream_end(stream, t->work, &text, &length), ATTN2C_OK);
  join(to, text, length);
}

static size_t characters(const char *text, size_t length) {
  size_t count = 0;
  for (size_t i = 0; i < length; i++) count += ((unsigned char)text[i] & 0xc0) != 0x80;
  return count;
}

/* Returns the end of a text after its first characters. */
static size_t after_characters(const char *text, size_t length, size_t count) {
  size_t at = 0;
  while (at < length && (count > 0 || ((unsigned char)text[at] & 0xc0) == 0x80))
    count -= ((unsigned char)text[at++] & 0xc0) != 0x80;
  return at;
}

static void check(const char *name) {
  static joined whole, made;
  tokenizer t = open_golden(name);
  attn2c_text_stream *stream;
  const size_t vocabulary = t.text->tables.vocabulary;
  int32_t ids[MOST_IDS];
  for (uint64_t seed = 0; seed < 400; seed++) {
    uint64_t n = 1000;
    const size_t count = attn2c_draw_below(attn2c_draw_bits(seed, n++), MOST_IDS + 1);
    /* Half of the lists are of few ids, so that bytes of characters follow each other. */
    const size_t few = seed % 2 ? 40 : vocabulary,
                 first = attn2c_draw_below(attn2c_draw_bits(seed, n++), vocabulary);
    for (size_t i = 0; i < count; i++)
      ids[i] =
          (int32_t)((first + attn2c_draw_below(attn2c_draw_bits(seed, n++), few)) % (vocabulary + 2)) - 1;
    const int skips_special = seed % 3 == 0;
    const char *text;
    size_t length;
    cr_assert_eq(attn2c_text_decode(t.work, ids, count, skips_special, &text, &length), ATTN2C_OK);
    whole.length = length;
    memcpy(whole.bytes, text, length);
    cr_assert_eq(attn2c_text_stream_create(t.text, skips_special, &stream), ATTN2C_OK);
    stream_ids(&t, stream, ids, 0, count, seed, &made);
    cr_assert(made.length == length && memcmp(made.bytes, whole.bytes, length) == 0,
              "%s, seed %d: '%.*s', not '%.*s'", name, (int)seed, (int)made.length, made.bytes, (int)length,
              whole.bytes);
    const size_t prompt = count / 3;
    cr_assert_eq(attn2c_text_decode(t.work, ids, prompt, skips_special, &text, &length), ATTN2C_OK);
    const size_t left_out = after_characters(whole.bytes, whole.length, characters(text, length));
    stream_ids(&t, stream, ids, prompt, count, seed, &made);
    cr_assert(made.length == whole.length - left_out &&
                  memcmp(made.bytes, whole.bytes + left_out, made.length) == 0,
              "%s, seed %d, after %zu ids: '%.*s', not '%.*s'", name, (int)seed, prompt, (int)made.length,
              made.bytes, (int)(whole.length - left_out), whole.bytes + left_out);
    attn2c_text_stream_destroy(stream);
  }
  close_golden(&t);
}

Test(stream, bytes) { check("gpt2"); }
Test(stream, bytes_of_runs) { check("llama_old"); }
Test(stream, runs_without_a_strip) { check("unigram_bytes"); }
Test(stream, metaspace) { check("xlmr"); }
Test(stream, wordpiece) { check("bert_uncased"); }
Test(stream, suffixes) { check("suffix"); }
Test(stream, no_decoder) { check("plain"); }
Test(stream, fused) { check("partial_fused"); }

/* The id of a token, by its text. */
static int32_t id_of(const tokenizer *t, const char *token) {
  for (size_t i = 0; i < t->text->tables.vocabulary; i++) {
    size_t length;
    const char *text = attn2c_text_token(t->text, (int32_t)i, &length);
    if (text && length == strlen(token) && memcmp(text, token, length) == 0) return (int32_t)i;
  }
  cr_assert_fail("no token %s", token);
  return -1;
}

static void expect(const tokenizer *t, attn2c_text_stream *stream, const char *token, const char *piece) {
  const int32_t id = id_of(t, token);
  const char *text;
  size_t length;
  cr_assert_eq(attn2c_text_stream_add(stream, t->work, &id, 1, &text, &length), ATTN2C_OK);
  cr_assert(length == strlen(piece) && memcmp(text, piece, length) == 0, "%s gives '%.*s', not '%s'", token,
            (int)length, text, piece);
}

/* A piece comes with the id that decides it. */
Test(stream, comes_at_once) {
  tokenizer t = open_golden("gpt2");
  attn2c_text_stream *stream;
  cr_assert_eq(attn2c_text_stream_create(t.text, 1, &stream), ATTN2C_OK);
  expect(&t, stream, "a", "a");
  expect(&t, stream, "\xc3\xa2", ""); /* the letter of byte E2 */
  expect(&t, stream, "\xc4\xa4", ""); /* 82 */
  expect(&t, stream, "\xc2\xac", "\xe2\x82\xac");
  expect(&t, stream, "\xc3\xa2", "");
  expect(&t, stream, "b",
         "\xef\xbf\xbd"
         "b");
  attn2c_text_stream_destroy(stream);
  close_golden(&t);
  t = open_golden("llama_old"); /* whose byte tokens are special */
  cr_assert_eq(attn2c_text_stream_create(t.text, 0, &stream), ATTN2C_OK);
  expect(&t, stream, "\xe2\x96\x81", ""); /* the blank that the decoder removes */
  expect(&t, stream, "a", "a");
  expect(&t, stream, "\xe2\x96\x81", " ");
  expect(&t, stream, "<0xC3>", "");
  expect(&t, stream, "<0xA4>", "");
  expect(&t, stream, "b",
         "\xc3\xa4"
         "b");
  attn2c_text_stream_destroy(stream);
  close_golden(&t);
}

/* Ids are not lost where memory is. */
Test(stream, memory) {
  tokenizer t = open_golden("gpt2");
  attn2c_text_stream *stream;
  const char *text;
  size_t length;
  int32_t ids[2000];
  for (int i = 0; i < 2000; i++) ids[i] = id_of(&t, "a");
  faults_allocation(1, 0);
  cr_assert_eq(attn2c_text_stream_create(t.text, 1, &stream), ATTN2C_MEMORY);
  cr_assert_null(stream);
  faults_clear();
  cr_assert_eq(attn2c_text_stream_create(t.text, 1, &stream), ATTN2C_OK);
  int failures = 0;
  for (int n = 1; n < 8; n++) {
    attn2c_text_stream_reset(stream);
    faults_allocation(n, 0);
    const int status = attn2c_text_stream_add(stream, t.work, ids, 2000, &text, &length);
    faults_clear();
    if (status == ATTN2C_OK) {
      cr_assert_eq(length, 2000);
      continue;
    }
    failures++;
    cr_assert_eq(status, ATTN2C_MEMORY);
    cr_assert_eq(length, 0);
    cr_assert_eq(attn2c_text_stream_end(stream, t.work, &text, &length), ATTN2C_OK);
  }
  cr_assert(failures > 0);
  attn2c_text_stream_destroy(stream);
  close_golden(&t);
}
