#include "model/text/page.h"

#include "text/unicode.h"

/* The tokenizer refuses longer texts. */
#define MOST_BYTES ((size_t)1 << 30)

static int is_blank(char c) { return c && strchr(" \t\r\n\f\v", c); }

static int place(attn2c_page *page, attn2c_text_tokens *tokens) {
  const size_t length = tokens->length;
  if (attn2c_grow((void **)&page->boxes, &page->boxes_capacity, 4 * length, sizeof *page->boxes) ||
      attn2c_grow((void **)&page->places, &page->places_capacity, length, sizeof *page->places))
    return ATTN2C_MEMORY;
  memset(page->boxes, 0, 4 * length * sizeof *page->boxes);
  if (length) memcpy(page->places, tokens->places, length * sizeof *page->places);
  page->tokens = length;
  size_t next[2] = {0, 0}; /* words */
  for (size_t i = 0; i < length; i++) {
    const uint8_t source = tokens->sources[i];
    int32_t *box = page->boxes + 4 * i;
    attn2c_text_place *at = &page->places[i];
    if (source == 2) {
      for (int side = 0; side < 4 && tokens->ids[i] == page->separator; side++)
        box[side] = page->separator_place;
      continue;
    }
    const attn2c_page_text *text = &page->texts[source];
    const attn2c_page_word *word = text->words + next[source], *end = text->words + text->count;
    /* a place may be empty, also at the end of its word */
    while (word < end && word->joined.byte_end < at->byte_end) word++;
    next[source] = (size_t)(word - text->words);
    if (word == end) continue;
    if (source == page->of_pair) {
      memcpy(box, word->box, sizeof word->box);
      *at = word->place;
    } else {
      const uint32_t bytes = word->place.byte_begin - word->joined.byte_begin,
                     characters = word->place.begin - word->joined.begin;
      at->byte_begin += bytes, at->byte_end += bytes, at->begin += characters, at->end += characters;
    }
  }
  tokens->places = page->places;
  return ATTN2C_OK;
}

static void close_page(attn2c_page *page) {
  for (int i = 0; i < 2; i++) {
    ATTN2C_FREE(page->texts[i].joined, page->texts[i].words);
  }
  ATTN2C_FREE(page->boxes, page->places, page);
}

/* Finds the words of a text, or of a question. Returns ATTN2C_OK or _MEMORY. */
static int read_words(attn2c_page_text *to, const char *text, size_t length, int is_question) {
  uint32_t character = 0, joined = 0;
  int is_in_word = 0;
  to->count = to->length = 0;
  ATTN2C_TRY(attn2c_grow((void **)&to->joined, &to->joined_size, length + 1, 1));
  for (size_t at = 0, width; at < length; at += width, character++) {
    int is_valid;
    width = attn2c_utf8_part(text + at, length - at, &is_valid);
    if (is_question ? is_valid && text_is_space(attn2c_utf8_point(text + at, width)) : is_blank(text[at])) {
      is_in_word = 0;
      continue;
    }
    if (!is_in_word) {
      ATTN2C_TRY(attn2c_grow((void **)&to->words, &to->words_capacity, to->count + 1, sizeof *to->words));
      if (to->length) to->joined[to->length++] = ' ', joined++;
      to->words[to->count++] =
          (attn2c_page_word){.place = {.byte_begin = (uint32_t)at, .begin = character},
                             .joined = {.byte_begin = (uint32_t)to->length, .begin = joined}};
      is_in_word = 1;
    }
    attn2c_page_word *word = &to->words[to->count - 1];
    memcpy(to->joined + to->length, text + at, width);
    to->length += width, joined++;
    word->place.byte_end = (uint32_t)(at + width), word->place.end = character + 1;
    word->joined.byte_end = (uint32_t)to->length, word->joined.end = joined;
  }
  return ATTN2C_OK;
}

int32_t attn2c_reader_most_side(const attn2c_reader *reader) {
  const int input = attn2c_primary_entry(reader->model)->inputs[reader->facts->boxes];
  return (int32_t)reader->model->tensors[input].limit - 1;
}

/* Gives the words their boxes. */
static int set_boxes(attn2c_reader *reader, const int32_t *boxes, size_t count) {
  attn2c_page_text *page = &reader->page->texts[reader->page->of_pair];
  const int32_t most = attn2c_reader_most_side(reader);
  for (size_t i = 0; i < count; i++) {
    if (boxes[i] >= 0 && boxes[i] <= most) continue;
    return attn2c_reader_fail(reader, ATTN2C_FORMAT,
                              "number %zu of its boxes is %d, but whole numbers from 0 to %d are allowed",
                              i + 1, (int)boxes[i], (int)most);
  }
  if (count != 4 * page->count)
    return attn2c_reader_fail(
        reader, ATTN2C_FORMAT,
        "has %zu words and %zu numbers of boxes, but four numbers for each word are expected", page->count,
        count);
  for (size_t i = 0; i < page->count; i++)
    memcpy(page->words[i].box, boxes + 4 * i, sizeof page->words[i].box);
  return ATTN2C_OK;
}

int attn2c_reader_page(attn2c_reader *reader, const char *text, size_t length, const char *pair,
                       size_t pair_length, const int32_t *boxes, size_t count) {
  const attn2c_text_facts *facts = reader->facts;
  reader->has_words = 0;
  if (!boxes || length >= MOST_BYTES || pair_length >= MOST_BYTES) return ATTN2C_OK;
  if (!reader->page) reader->page = calloc(1, sizeof *reader->page);
  attn2c_page *page = reader->page;
  if (page) page->place = place, page->close = close_page, page->of_pair = pair != NULL;
  if (!page || read_words(&page->texts[0], text, text ? length : 0, pair != NULL) != ATTN2C_OK ||
      (pair && read_words(&page->texts[1], pair, pair_length, 0) != ATTN2C_OK))
    return attn2c_reader_fail(reader, ATTN2C_MEMORY, "no memory for its boxes");
  const int32_t most = attn2c_reader_most_side(reader);
  page->separator = facts->separator;
  page->separator_place = facts->separator_place < most ? facts->separator_place : most;
  ATTN2C_TRY(set_boxes(reader, boxes, count));
  reader->has_words = 1;
  return ATTN2C_OK;
}

int attn2c_reader_blame(attn2c_reader *reader, size_t text, int status) {
  char fault[sizeof reader->fault];
  memcpy(fault, reader->fault, sizeof fault);
  return attn2c_reader_fail(reader, status, "text %zu: %.220s", text, fault);
}
