/* words.c - tokens become parts that end with a whole character, and parts become words. */
#include "speech/words.h"

#include "text/unicode.h"

static const char unknown[] = "\xef\xbf\xbd"; /* stands for bytes that are no character */

typedef struct {
  const char *text;
  size_t length;
} piece;

/* Returns where a text is in another one; the other's length: nowhere. */
static size_t find(piece in, piece wanted) {
  for (size_t at = 0; at + wanted.length <= in.length; at++)
    if (memcmp(in.text + at, wanted.text, wanted.length) == 0) return at;
  return in.length;
}

static piece of(const char *text) { return (piece){text, strlen(text)}; }

static piece trimmed(piece in) {
  text_trim(&in.text, &in.length);
  return in;
}

/* True if a text is part of a list of punctuation; so is an empty one. */
static int is_of(piece in, const char *list) { return in.length == 0 || find(of(list), in) < strlen(list); }

int attn2c_speech_is_dense(const char *code) {
  static const char *const codes[] = {"ja", "lo", "my", "th", "yue", "zh"};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (strcmp(code, codes[i]) == 0) return 1;
  return 0;
}

static piece text_of(const attn2c_spoken_words *words, const attn2c_spoken *word) {
  return (piece){words->text + word->begin, word->end - word->begin};
}

static int begins_with_space(piece in) { return in.length > 0 && in.text[0] == ' '; }

/* Makes room for `count` words, and for `length` bytes of text. */
static int reserve(attn2c_spoken_words *words, int32_t count, size_t length) {
  if (count > words->room) {
    attn2c_spoken *moved = realloc(words->list, (size_t)count * sizeof *moved);
    if (!moved) return ATTN2C_MEMORY;
    words->list = moved, words->room = count;
  }
  if (length > words->capacity) {
    char *moved = realloc(words->text, length);
    if (!moved) return ATTN2C_MEMORY;
    words->text = moved, words->capacity = length;
  }
  return ATTN2C_OK;
}

/* Finds the parts of a text. A part ends where its text, by itself, is the whole's, with no character that
 * later tokens complete. room: bytes for the text of the parts. */
static int find_parts(attn2c_text_work *work, const int32_t *ids, int32_t count, piece whole, size_t room,
                      attn2c_spoken_words *words) {
  attn2c_spoken part = {0, 0, 0, 0};
  for (int32_t i = 0; i < count; i++) {
    piece read;
    ATTN2C_TRY(attn2c_text_decode(work, ids + part.first, (size_t)++part.count, 1, &read.text, &read.length));
    const size_t at = part.begin + find(read, of(unknown));
    const int is_open = at < part.begin + read.length && at < whole.length &&
                        memcmp(whole.text + at, unknown, whole.length - at < 3 ? whole.length - at : 3) != 0;
    if (is_open) continue;
    if (part.begin + read.length > room) read.length = room - part.begin;
    memcpy(words->text + part.begin, read.text, read.length);
    words->length = part.end = part.begin + read.length;
    words->list[words->count++] = part;
    part = (attn2c_spoken){i + 1, 0, part.end, part.end};
  }
  return ATTN2C_OK;
}

/* Joins the parts that continue a word. */
static void join_parts(attn2c_spoken_words *words) {
  int32_t kept = 0;
  for (int32_t i = 0; i < words->count; i++) {
    const attn2c_spoken *part = &words->list[i];
    const piece text = text_of(words, part);
    const int is_word =
        kept == 0 || begins_with_space(text) || is_of(trimmed(text), "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~");
    if (is_word) words->list[kept++] = *part;
    if (is_word) continue;
    words->list[kept - 1].count += part->count, words->list[kept - 1].end = part->end;
  }
  words->count = kept;
}

/* Makes a word empty, and lets another one, beside it, have its tokens and text. */
static void give(attn2c_spoken *from, attn2c_spoken *to) {
  if (from < to) to->first = from->first, to->begin = from->begin;
  if (from > to && from->count > 0) to->end = from->end;
  to->count += from->count;
  from->count = 0, from->begin = from->end;
}

/* Joins punctuation and the words beside it. */
static void join_punctuation(attn2c_spoken_words *words) {
  attn2c_spoken *list = words->list;
  for (int32_t to = words->count - 1, i = to - 1; i >= 0; i--) {
    const piece text = text_of(words, &list[i]);
    if (begins_with_space(text) && is_of(trimmed(text), "\"'\u201c\u00bf([{-"))
      give(&list[i], &list[to]);
    else
      to = i;
  }
  for (int32_t to = 0, i = 1; i < words->count; i++) {
    const piece text = text_of(words, &list[i]), before = text_of(words, &list[to]);
    const int ends_with_space = before.length > 0 && before.text[before.length - 1] == ' ';
    if (!ends_with_space && is_of(text, "\"'.\u3002,\uff0c!\uff01?\uff1f:\uff1a\u201d)]}\u3001"))
      give(&list[i], &list[to]);
    else
      to = i;
  }
  int32_t kept = 0;
  for (int32_t i = 0; i < words->count; i++)
    if (list[i].count > 0) list[kept++] = list[i];
  words->count = kept;
}

int attn2c_speech_words(attn2c_text_work *work, const int32_t *ids, int32_t count, int is_dense,
                        attn2c_spoken_words *words) {
  piece whole;
  words->count = 0, words->length = 0;
  int status = attn2c_text_decode(work, ids, (size_t)count, 1, &whole.text, &whole.length);
  const size_t room = whole.length + 3 * (size_t)count; /* parts may have characters that are unknown */
  if (status == ATTN2C_OK) status = reserve(words, count, room + whole.length);
  if (status != ATTN2C_OK || count == 0) return status;
  whole.text = memcpy(words->text + room, whole.text, whole.length);
  status = find_parts(work, ids, count, whole, room, words);
  if (status != ATTN2C_OK) return status;
  if (!is_dense) join_parts(words);
  join_punctuation(words);
  return ATTN2C_OK;
}

void attn2c_spoken_words_free(attn2c_spoken_words *words) {
  ATTN2C_FREE(words->list, words->text);
  *words = (attn2c_spoken_words){0};
}
