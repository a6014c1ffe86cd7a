/* text_fuzz.c - damaged tables and random texts: text_fuzz TABLES SEED ROUNDS. Nothing may crash, read
 * outside or run on; the sanitizers watch. Every third round leaves the tables whole, and then tokens must
 * come out with places inside of the text. */
#include "text/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint32_t draw(uint32_t below) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return below ? (uint32_t)(state >> 16) % below : 0;
}

static const char *const parts[] = {"the quick",
                                    " ",
                                    "\n",
                                    "é",
                                    "e\xcc\x81",
                                    "\xf0\x9f\x91\xa8\xe2\x80\x8d",
                                    "中文",
                                    "\xff",
                                    "\xe2\x82",
                                    "[MASK]",
                                    "<s>",
                                    "<mask>",
                                    "▁",
                                    "Ġ",
                                    "12345",
                                    "...",
                                    "\xef\xac\x81",
                                    "\r\n",
                                    "한",
                                    "<|endoftext|>",
                                    "don't",
                                    "\xf0\x9f\x91"};

static size_t draw_text(char *text, size_t room) {
  size_t length = 0, wanted = draw(room > 200 ? 200 : (uint32_t)room);
  while (length < wanted) {
    if (draw(4) == 0) {
      text[length++] = (char)draw(256);
      continue;
    }
    const char *part = parts[draw(sizeof parts / sizeof parts[0])];
    size_t size = strlen(part);
    if (length + size > room) break;
    memcpy(text + length, part, size);
    length += size;
  }
  return length;
}

/* A few bytes, words of 32 bits or stretches changed; headers and settings, which are small, more often. */
static void damage(uint8_t *bytes, size_t size) {
  for (uint32_t n = 1 + draw(6); n; n--) {
    size_t at = draw(2) ? draw((uint32_t)size) : draw(size < 600 ? (uint32_t)size : 600);
    static const uint32_t words[] = {0, 1, 0x7fffffff, 0xffffffff, 0x80000000, 256, 65536};
    uint32_t word = draw(2) ? words[draw(7)] : draw(0xffffffff);
    if (draw(3) == 0)
      bytes[at] = (uint8_t)draw(256);
    else
      memcpy(bytes + (at & ~(size_t)3), &word, size - (at & ~(size_t)3) < 4 ? size - (at & ~(size_t)3) : 4);
    if (draw(12) == 0) memset(bytes + at, (int)draw(256), size - at < 64 ? size - at : 64);
  }
}

/* The windows that follow a call: of whole tables each brings tokens that none before had, until all have
 * come. */
static int slide(attn2c_text_work *work, const attn2c_text_input *input, attn2c_text_tokens tokens,
                 int whole) {
  const size_t stride = draw(6);
  for (size_t left = tokens.removed; left > 0; left = tokens.removed) {
    const int status = attn2c_text_encode_next(work, input, stride, &tokens);
    if (status != ATTN2C_OK) return 0; /* the windows are no longer than what they are to share */
    if (whole && (tokens.removed >= left || tokens.length > input->limit.tokens || tokens.length <= stride))
      return printf("a window of %zu tokens, %zu after it, %zu before it\n", tokens.length, tokens.removed,
                    left);
    if (!whole && tokens.removed >= left) return 0;
  }
  return 0;
}

static int use(const attn2c_tokenizer *text, int whole) {
  char first[512], second[256];
  attn2c_text_work *work;
  int status = attn2c_text_work_create(text, &work);
  for (int i = 0; i < 3 && status == ATTN2C_OK; i++) {
    attn2c_text_input input = {
        .text = first, .length = draw_text(first, sizeof first), .plain = (int)draw(2)};
    if (draw(3) == 0) input.pair = second, input.pair_length = draw_text(second, sizeof second);
    input.limit = (attn2c_text_limit){draw(2) ? ATTN2C_TEXT_ANY_LENGTH : draw(40),
                                      (attn2c_text_strategy)draw(3), (int)draw(2)};
    attn2c_text_tokens tokens;
    int result = attn2c_text_encode(work, &input, &tokens);
    if (whole && result == ATTN2C_OK)
      for (size_t t = 0; t < tokens.length; t++)
        if (tokens.ids[t] < 0 || (size_t)tokens.ids[t] >= text->tables.vocabulary ||
            tokens.places[t].byte_begin > tokens.places[t].byte_end ||
            tokens.places[t].byte_end > sizeof first)
          return printf("a token or its place is out of range\n"), 1;
    if (result == ATTN2C_OK &&
        input.limit.strategy == (input.pair ? ATTN2C_TEXT_ONLY_SECOND : ATTN2C_TEXT_ONLY_FIRST) &&
        slide(work, &input, tokens, whole))
      return 1;
    int32_t ids[64];
    const char *bytes;
    size_t length, count = draw(64);
    for (size_t t = 0; t < count; t++) ids[t] = (int32_t)draw((uint32_t)text->tables.vocabulary + 5) - 2;
    attn2c_text_decode(work, ids, count, (int)draw(2), &bytes, &length);
  }
  attn2c_text_work_destroy(work);
  return status;
}

int main(int count, char **words) {
  FILE *file = count == 4 ? fopen(words[1], "rb") : NULL;
  if (!file) return 2;
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  uint8_t *whole = malloc(size);
  if (!whole || fread(whole, 1, size, file) != size) return 4;
  fclose(file);
  state = 0x9e3779b97f4a7c15u ^ strtoull(words[2], NULL, 10) * 0x2545f4914f6cdd1du;
  long rounds = atol(words[3]), opened = 0;
  for (long round = 0; round < rounds; round++) {
    /* Memory of exactly this size, so that a read after it is seen. */
    size_t kept = round % 7 == 3 ? draw((uint32_t)size) : size;
    uint8_t *bytes = malloc(kept ? kept : 1);
    if (!bytes) return 5;
    memcpy(bytes, whole, kept);
    if (round % 3) damage(bytes, kept);
    char note[200];
    attn2c_message message = attn2c_message_make(note, sizeof note);
    attn2c_tokenizer *text;
    int intact = round % 3 == 0 && kept == size;
    int status = attn2c_text_open(bytes, kept, 0, &text, &message);
    if (intact && status != ATTN2C_OK) return printf("good tables are refused: %s\n", note), 1;
    if (status != ATTN2C_OK && status != ATTN2C_FORMAT) return printf("status %d\n", status), 1;
    if (status == ATTN2C_OK) {
      opened++;
      if (use(text, intact)) return 1;
    }
    attn2c_text_close(text);
    free(bytes);
  }
  printf("%ld rounds, %ld opened\n", rounds, opened);
  free(whole);
  return 0;
}
