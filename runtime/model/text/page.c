/* page.c - joins the words of a text that have boxes, and gives the boxes to the words' tokens. */
#include "model/text/page.h"

#include "base/utf8.h"

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
  size_t word = 0;
  for (size_t i = 0; i < length; i++) {
    int32_t *box = page->boxes + 4 * i;
    attn2c_text_place *at = &page->places[i];
    if (tokens->sources[i] == 2 && tokens->ids[i] == page->separator)
      for (int side = 0; side < 4; side++) box[side] = page->separator_place;
    if (tokens->sources[i] != page->of_pair) continue;
    const size_t last = at->byte_end > at->byte_begin ? at->byte_end - 1 : at->byte_begin;
    while (word < page->count && page->words[word].end <= last) word++;
    if (word == page->count) continue;
    memcpy(box, page->words[word].box, sizeof page->words[word].box);
    *at = page->words[word].place;
  }
  tokens->places = page->places;
  return ATTN2C_OK;
}

static void close_page(attn2c_page *page) {
  free(page->joined);
  free(page->words);
  free(page->boxes);
  free(page->places);
  free(page);
}

/* Finds the words of a text. Returns ATTN2C_OK or _MEMORY. */
static int read_words(attn2c_page *page, const char *text, size_t length) {
  uint32_t character = 0;
  int is_in_word = 0;
  page->count = page->length = 0;
  ATTN2C_TRY(attn2c_grow((void **)&page->joined, &page->joined_size, length + 1, 1));
  for (size_t at = 0, width; at < length; at += width, character++) {
    int is_valid;
    width = attn2c_utf8_part(text + at, length - at, &is_valid);
    if (is_blank(text[at])) {
      is_in_word = 0;
      continue;
    }
    if (!is_in_word) {
      ATTN2C_TRY(attn2c_grow((void **)&page->words, &page->words_capacity, page->count + 1,
                             sizeof *page->words));
      if (page->length) page->joined[page->length++] = ' ';
      page->words[page->count++].place =
          (attn2c_text_place){.byte_begin = (uint32_t)at, .begin = character};
      is_in_word = 1;
    }
    attn2c_page_word *word = &page->words[page->count - 1];
    memcpy(page->joined + page->length, text + at, width);
    page->length += width;
    word->end = page->length;
    word->place.byte_end = (uint32_t)(at + width), word->place.end = character + 1;
  }
  return ATTN2C_OK;
}

int32_t attn2c_reader_most_side(const attn2c_reader *reader) {
  const int input = attn2c_primary_entry(reader->model)->inputs[reader->facts->boxes];
  return (int32_t)reader->model->tensors[input].limit - 1;
}

/* Gives the words their boxes. */
static int set_boxes(attn2c_reader *reader, const int32_t *boxes, size_t count) {
  attn2c_page *page = reader->page;
  const int32_t most = attn2c_reader_most_side(reader);
  for (size_t i = 0; i < count; i++) {
    if (boxes[i] >= 0 && boxes[i] <= most) continue;
    snprintf(reader->fault, sizeof reader->fault,
             "number %zu of its boxes is %d, but whole numbers from 0 to %d are allowed", i + 1,
             (int)boxes[i], (int)most);
    return ATTN2C_FORMAT;
  }
  if (count != 4 * page->count) {
    snprintf(reader->fault, sizeof reader->fault,
             "has %zu words and %zu numbers of boxes, but four numbers for each word are expected",
             page->count, count);
    return ATTN2C_FORMAT;
  }
  for (size_t i = 0; i < page->count; i++)
    memcpy(page->words[i].box, boxes + 4 * i, sizeof page->words[i].box);
  return ATTN2C_OK;
}

int attn2c_reader_page(attn2c_reader *reader, const char *words, size_t length, int is_pair,
                       const int32_t *boxes, size_t count) {
  reader->has_words = 0;
  if (!boxes || length >= MOST_BYTES) return ATTN2C_OK;
  if (!reader->page) reader->page = calloc(1, sizeof *reader->page);
  attn2c_page *page = reader->page;
  if (page) page->place = place, page->close = close_page;
  if (!page || read_words(page, words, words ? length : 0) != ATTN2C_OK) {
    snprintf(reader->fault, sizeof reader->fault, "no memory for its boxes");
    return ATTN2C_MEMORY;
  }
  const attn2c_text_facts *facts = reader->facts;
  const int32_t most = attn2c_reader_most_side(reader);
  page->of_pair = is_pair;
  page->separator = facts->separator;
  page->separator_place = facts->separator_place < most ? facts->separator_place : most;
  ATTN2C_TRY(set_boxes(reader, boxes, count));
  reader->has_words = 1;
  return ATTN2C_OK;
}

int attn2c_reader_blame(attn2c_reader *reader, size_t text, int status) {
  char fault[sizeof reader->fault];
  memcpy(fault, reader->fault, sizeof fault);
  snprintf(reader->fault, sizeof reader->fault, "text %zu: %.220s", text, fault);
  return status;
}
