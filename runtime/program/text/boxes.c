/* boxes.c - reads four sides for each word of a text, and gives them to its tokens. */
#include "program/text/boxes.h"

/* Numbers may be a list of JSON, too. */
#define BETWEEN_NUMBERS " \t\r,[]"
#define BETWEEN_WORDS   " \t\r\n\f\v"

typedef struct {
  const char *text;
  size_t length;
  size_t begin, end; /* the word that was read last */
} word_list;

static int is_blank(char c) { return c && strchr(BETWEEN_WORDS, c); }

/* Reads the next word. Returns 0 if there is none. */
static int next_word(word_list *list) {
  for (list->begin = list->end; list->begin < list->length && is_blank(list->text[list->begin]);)
    list->begin++;
  for (list->end = list->begin; list->end < list->length && !is_blank(list->text[list->end]);) list->end++;
  return list->end > list->begin;
}

/* Returns the list of the words that have boxes, before the first one. */
static word_list words_of(const attn2c_line *line) {
  return line->pair ? (word_list){.text = line->pair, .length = line->pair_length}
                    : (word_list){.text = line->text, .length = line->length};
}

char *attn2c_boxes_join(const attn2c_line *line, size_t *length) {
  word_list words = words_of(line);
  char *joined = malloc(words.length + 1);
  *length = 0;
  while (joined && next_word(&words)) {
    if (*length) joined[(*length)++] = ' ';
    memcpy(joined + *length, words.text + words.begin, words.end - words.begin);
    *length += words.end - words.begin;
  }
  return joined;
}

/* Reads the numbers of a line's boxes, at most `capacity` of them. Returns how many there are, or 0 with a
 * fault. */
static size_t read_sides(attn2c_reader *reader, const attn2c_line *line, int most, int32_t *sides,
                         size_t capacity) {
  const char *at = line->boxes + strspn(line->boxes, BETWEEN_NUMBERS);
  size_t count = 0;
  while (*at) {
    const size_t length = strcspn(at, BETWEEN_NUMBERS);
    const long value = length < 9 && strspn(at, "0123456789") == length ? strtol(at, NULL, 10) : -1;
    if (value < 0 || value > most) {
      snprintf(reader->fault, sizeof reader->fault,
               "number %zu of its boxes is %.*s, but whole numbers from 0 to %d are allowed", count + 1,
               length < 40 ? (int)length : 40, at, most);
      return 0;
    }
    if (count < capacity) sides[count] = (int32_t)value;
    count++;
    at += length;
    at += strspn(at, BETWEEN_NUMBERS);
  }
  if (count == capacity) return count;
  snprintf(reader->fault, sizeof reader->fault,
           "has %zu words and %zu numbers of boxes, but four numbers for each word are expected",
           capacity / 4, count);
  return 0;
}

static void give(attn2c_view_of_text *view, word_list words, const int32_t *sides, size_t count, int most) {
  const attn2c_text_facts *facts = view->reader->facts;
  const uint8_t source = view->line.pair != NULL;
  const int32_t separator = facts->separator_place < most ? facts->separator_place : most;
  int32_t *box = attn2c_reader_boxes(view->reader);
  size_t word = 0, ends = 0; /* of the word among the joined ones */
  if (next_word(&words)) ends = words.end - words.begin;
  for (int64_t i = 0; i < view->length; i++, box += 4) {
    attn2c_text_place *place = &view->places[i];
    if (view->sources[i] == 2 && view->ids[i] == facts->separator)
      for (int side = 0; side < 4; side++) box[side] = separator;
    if (view->sources[i] != source) continue;
    const size_t last = place->byte_end > place->byte_begin ? place->byte_end - 1 : place->byte_begin;
    for (; word < count && ends <= last; word++)
      if (next_word(&words)) ends += 1 + words.end - words.begin;
    if (word == count) continue;
    memcpy(box, sides + 4 * word, 4 * sizeof *box);
    place->byte_begin = (uint32_t)words.begin, place->byte_end = (uint32_t)words.end;
  }
}

int attn2c_boxes_give(attn2c_view_of_text *view) {
  attn2c_reader *reader = view->reader;
  const attn2c_line *line = &view->line;
  const int input = attn2c_primary_entry(reader->model)->inputs[reader->facts->boxes];
  const int most = (int)reader->model->tensors[input].limit - 1;
  const word_list all = words_of(line);
  word_list words = all;
  size_t count = 0;
  while (next_word(&words)) count++;
  int32_t *sides = malloc((4 * count + 1) * sizeof *sides);
  if (!sides) {
    snprintf(reader->fault, sizeof reader->fault, "no memory for its boxes");
    return ATTN2C_MEMORY;
  }
  const int is_read = read_sides(reader, line, most, sides, 4 * count) == 4 * count;
  const int is_right = is_read && (count > 0 || line->boxes[strspn(line->boxes, BETWEEN_NUMBERS)] == '\0');
  if (is_right) give(view, all, sides, count, most);
  free(sides);
  return is_right ? ATTN2C_OK : ATTN2C_FORMAT;
}
