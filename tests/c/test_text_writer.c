/* test_text_writer.c - the text of an answer: the prompt's text is left out, stop strings that begin in one
 * token and end in another end it, and what is shown is never taken back. */
#include "golden_text.h"

#include "generate/draw.h"
#include "generate/text_writer.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char note[1024];
static attn2c_message message;

static attn2c_writer *create(const tokenizer *t, const char *const *stops, int count) {
  attn2c_writer *writer;
  message = attn2c_message_make(note, sizeof note);
  cr_assert_eq(attn2c_writer_create(t->text, 1, stops, count, &writer, &message), ATTN2C_OK, "%s", note);
  return writer;
}

/* Encodes a text; the caller frees the ids. */
static int32_t *encode(const tokenizer *t, const char *text, size_t *count) {
  const attn2c_text_input input = input_of(text, strlen(text));
  attn2c_text_tokens tokens;
  cr_assert_eq(attn2c_text_encode(t->work, &input, &tokens), ATTN2C_OK);
  int32_t *ids = malloc((tokens.length + 1) * sizeof *ids);
  memcpy(ids, tokens.ids, tokens.length * sizeof *ids);
  *count = tokens.length;
  return ids;
}

/* Writes the tokens of `text` after the prompt's, and returns what came. */
static const char *answer(const tokenizer *t, attn2c_writer *writer, const char *prompt, const char *text) {
  static char shown[1024];
  size_t count, more, length = 0;
  int32_t *before = encode(t, prompt, &count), *ids = encode(t, text, &more);
  cr_assert_eq(attn2c_writer_begin(writer, t->work, before, count), ATTN2C_OK);
  for (size_t i = 0; i <= more; i++) {
    cr_assert_eq(i < more ? attn2c_writer_add(writer, t->work, ids[i]) : attn2c_writer_end(writer, t->work),
                 ATTN2C_OK);
    cr_assert(writer->shown >= length && writer->shown <= writer->length && writer->shown < sizeof shown);
    memcpy(shown + length, writer->text + length, writer->shown - length);
    length = writer->shown;
    cr_assert(length == 0 || memcmp(shown, writer->text, length) == 0);
  }
  cr_assert_eq(length, writer->length);
  shown[length] = '\0';
  free(before);
  free(ids);
  return shown;
}

Test(writer, text_and_stop_strings) {
  static const char *const stops[] = {"ne two", "\n\n"};
  tokenizer t = open_golden("gpt2");
  attn2c_writer *writer = create(&t, stops, 2);
  cr_assert_str_eq(answer(&t, writer, "Count:", " one t"), " one t");
  cr_assert_eq(writer->stopped_by, -1);
  cr_assert_str_eq(answer(&t, writer, "Count:", " one two three"), " o");
  cr_assert_eq(writer->stopped_by, 0);
  cr_assert_str_eq(answer(&t, writer, "\n", "\n\nx"), "");
  cr_assert_eq(writer->stopped_by, 1);
  cr_assert_str_eq(answer(&t, writer, "a", "\xe2\x82\xac\n"), "\xe2\x82\xac\n");
  attn2c_writer_free(writer);
  close_golden(&t);
}

/* The text of a special token is not shown, but may be a stop string. The beginning of another one is text.
 */
Test(writer, special_token_that_stops) {
  static const char *const stops[] = {" b!", "<|endoftext|>"};
  tokenizer t = open_golden("gpt2");
  attn2c_writer *writer = create(&t, stops, 2);
  cr_assert_str_eq(answer(&t, writer, "a", " b<|endoftext|> c"), " b");
  cr_assert_eq(writer->stopped_by, 1);
  attn2c_writer_free(writer);
  close_golden(&t);
}

/* A blank between prompt and answer is the answer's. */
Test(writer, blanks) {
  tokenizer t = open_golden("llama_new");
  attn2c_writer *writer = create(&t, NULL, 0);
  size_t count;
  int32_t *ids = encode(&t, "one two", &count);
  cr_assert_gt(count, 2);
  cr_assert_eq(attn2c_writer_begin(writer, t.work, ids, count / 2), ATTN2C_OK);
  for (size_t i = count / 2; i < count; i++)
    cr_assert_eq(attn2c_writer_add(writer, t.work, ids[i]), ATTN2C_OK);
  cr_assert_eq(attn2c_writer_end(writer, t.work), ATTN2C_OK);
  const char *text;
  size_t length, whole;
  cr_assert_eq(attn2c_text_decode(t.work, ids, count / 2, 1, &text, &length), ATTN2C_OK);
  cr_assert_eq(attn2c_text_decode(t.work, ids, count, 1, &text, &whole), ATTN2C_OK);
  cr_assert_eq(writer->length, whole - length);
  cr_assert_arr_eq(writer->text, text + length, writer->length);
  free(ids);
  attn2c_writer_free(writer);
  close_golden(&t);
}

Test(writer, refused_stop_strings) {
  static const char *const empty[] = {""};
  tokenizer t = open_golden("gpt2");
  attn2c_writer *writer;
  message = attn2c_message_make(note, sizeof note);
  cr_assert_eq(attn2c_writer_create(t.text, 1, empty, 1, &writer, &message), ATTN2C_USAGE);
  cr_assert_null(writer);
  cr_assert_neq(message.used, 0);
  close_golden(&t);
}
