/* text_languages.c - ids of texts in the languages of a tokenizer: text_languages TABLES. Reads lines: a
 * language's code or nothing, a tab, the text's bytes as hexadecimal digits, or ids after a second tab.
 * Writes lines: the ids, a tab, the text that they give without special tokens, a tab, and with them, as
 * digits. The text without special tokens must also come in pieces of one id. The first line has the target's
 * number and all codes. */
#include "text/stream.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 65536

static char line[MOST], text[MOST / 2];

static size_t read_digits(const char *digits) {
  size_t length = 0;
  unsigned byte;
  for (; sscanf(digits, "%2x", &byte) == 1; digits += 2) text[length++] = (char)byte;
  return length;
}

static void write_digits(const char *bytes, size_t length) {
  putchar('\t');
  for (size_t i = 0; i < length; i++) printf("%02x", (unsigned char)bytes[i]);
}

/* Returns 1 if ids that come one by one give a text. */
static int comes_in_pieces(const attn2c_tokenizer *opened, attn2c_text_work *work, const int32_t *ids,
                           size_t count) {
  static char whole[MOST];
  attn2c_text_stream *stream;
  const char *bytes;
  size_t length, at = 0, pieces = 0;
  if (attn2c_text_stream_create(opened, 1, &stream) != ATTN2C_OK) return 0;
  for (size_t i = 0; i <= count; i++) {
    const int status = i < count ? attn2c_text_stream_add(stream, work, ids + i, 1, &bytes, &length)
                                 : attn2c_text_stream_end(stream, work, &bytes, &length);
    if (status != ATTN2C_OK || length > MOST - at) return 0;
    memcpy(whole + at, bytes, length);
    at += length;
    pieces += length != 0;
  }
  attn2c_text_stream_destroy(stream);
  if (attn2c_text_decode(work, ids, count, 1, &bytes, &length) != ATTN2C_OK) return 0;
  return length == at && memcmp(bytes, whole, at) == 0 && (length < 40 || pieces > 3);
}

/* Returns ids of a list in text, of which there are at most `most`. */
static size_t read_ids(const char *list, int32_t *ids, size_t most) {
  size_t count = 0;
  for (char *end; count < most && *list && *list != '\n'; list = end) {
    const long id = strtol(list, &end, 10);
    if (end == list) break;
    ids[count++] = (int32_t)id;
  }
  return count;
}

static int answer(const attn2c_tokenizer *opened, attn2c_text_work *work) {
  static int32_t given[MOST];
  const size_t code = strcspn(line, "\t");
  const char *list = strchr(line + code + 1, '\t');
  char note[300] = "";
  attn2c_message message = attn2c_message_make(note, sizeof note);
  int32_t language = 0;
  line[code] = '\0';
  if (code && attn2c_text_find_language(opened, line, &language, &message) != ATTN2C_OK) {
    puts(note);
    return ATTN2C_OK;
  }
  attn2c_text_input input = {.text = text,
                             .length = read_digits(line + code + 1),
                             .language = language,
                             .limit = {ATTN2C_TEXT_ANY_LENGTH, ATTN2C_TEXT_LONGEST_FIRST, 0}};
  attn2c_text_tokens tokens;
  const char *bytes;
  size_t length;
  if (attn2c_text_encode(work, &input, &tokens) != ATTN2C_OK) return ATTN2C_FORMAT;
  size_t made = tokens.length < MOST ? tokens.length : MOST;
  memcpy(given, tokens.ids, made * sizeof *given);
  if (list) made = read_ids(list + 1, given, MOST);
  for (size_t i = 0; i < made; i++) printf("%s%d", i ? " " : "", (int)given[i]);
  for (int skips = 1; skips >= 0; skips--)
    if (attn2c_text_decode(work, given, made, skips, &bytes, &length) == ATTN2C_OK)
      write_digits(bytes, length);
  puts(comes_in_pieces(opened, work, given, made) ? "" : "\tother pieces");
  return ATTN2C_OK;
}

int main(int count, char **words) {
  char note[256] = "";
  attn2c_message message = attn2c_message_make(note, sizeof note);
  attn2c_tokenizer *opened = NULL;
  attn2c_text_work *work = NULL;
  FILE *file = count == 2 ? fopen(words[1], "rb") : NULL;
  if (!file) return ATTN2C_USAGE;
  fseek(file, 0, SEEK_END);
  const size_t size = (size_t)ftell(file);
  rewind(file);
  char *tables = malloc(size + 1);
  int status = tables && fread(tables, 1, size, file) == size ? ATTN2C_OK : ATTN2C_IO;
  fclose(file);
  if (status == ATTN2C_OK) status = attn2c_text_open(tables, size, ATTN2C_TEXT_VERIFY, &opened, &message);
  if (status == ATTN2C_OK) status = attn2c_text_work_create(opened, &work);
  if (status == ATTN2C_OK) {
    const char *code;
    size_t length;
    int32_t id;
    printf("%d", (int)attn2c_text_target_of(opened));
    for (size_t i = 0; (code = attn2c_text_language(opened, i, &length, &id)); i++)
      printf(" %.*s=%d", (int)length, code, (int)id);
    putchar('\n');
  }
  while (status == ATTN2C_OK && fgets(line, sizeof line, stdin)) status = answer(opened, work);
  if (status != ATTN2C_OK) printf("%s%s\n", note, work ? attn2c_text_fault(work) : "");
  attn2c_text_work_destroy(work);
  attn2c_text_close(opened);
  free(tables);
  return status;
}
