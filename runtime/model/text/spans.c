#include "model/text/spans.h"

#include <math.h>

#include "text/unicode.h"

enum { OF_TEXT = 0, SPECIAL = 2 }; /* sources of tokens */
enum { OTHER, WORD, LABEL }; /* types of tokens: the first of a word has WORD, the one before a label LABEL */

/* The partial sums of a score: enough for the vectors of any target. */
#define SUMS 16

/* Most bytes of a text, as in text.h. */
#define MOST_BYTES ((size_t)1 << 30)

/* A score of a span for a label. */
typedef struct {
  int64_t first, last; /* words */
  int32_t label;
  float score;
  size_t order; /* in which it was found */
} candidate;

typedef struct attn2c_span_work {
  char **labels;    /* without those that were there before */
  int32_t *numbers; /* of the labels, among all that were given */
  size_t count;
  size_t before, after; /* special tokens around a text, which `special` has */
  int32_t *special;     /* [before + after] */
  size_t prompt;        /* tokens up to the separator, the first of a text's */
  int32_t *ids, *types; /* of the last text */
  attn2c_text_place *places;
  uint8_t *sources;
  size_t used;
  candidate *candidates, *chosen; /* of the last text */
  size_t candidate_capacity, chosen_capacity;
  attn2c_found_span *found;
  size_t found_capacity;
} attn2c_span_work;

static void forget_labels(attn2c_span_work *work) {
  for (size_t i = 0; i < work->count; i++) free(work->labels[i]);
  ATTN2C_FREE(work->labels, work->numbers);
  work->labels = NULL, work->numbers = NULL, work->count = 0;
}

void attn2c_spans_close(attn2c_span_work *work) {
  if (!work) return;
  forget_labels(work);
  ATTN2C_FREE(work->special, work->ids, work->types, work->places, work->sources, work->candidates,
              work->chosen, work->found, work);
}

const char *attn2c_spans_label(const attn2c_reader *reader, int32_t number) {
  const attn2c_span_work *work = reader->spans;
  for (size_t i = 0; i < work->count; i++)
    if (work->numbers[i] == number) return work->labels[i];
  return "";
}

/* Adds a token. */
static int add(attn2c_span_work *work, int32_t id, int32_t type, uint8_t source, attn2c_text_place place) {
  ATTN2C_TRY(ATTN2C_MORE(work->ids, work->used));
  ATTN2C_TRY(ATTN2C_MORE(work->types, work->used));
  ATTN2C_TRY(ATTN2C_MORE(work->places, work->used));
  ATTN2C_TRY(ATTN2C_MORE(work->sources, work->used));
  const size_t at = work->used++;
  work->ids[at] = id, work->types[at] = type, work->places[at] = place, work->sources[at] = source;
  return ATTN2C_OK;
}

static int add_special(attn2c_span_work *work, int32_t id, int32_t type) {
  return add(work, id, type, SPECIAL, (attn2c_text_place){0});
}

/* Encodes a word or a label by itself, as the tokenizers library does with texts that are split into words.
 */
static int encode_part(attn2c_reader *reader, const char *text, size_t length, attn2c_text_tokens *tokens) {
  const attn2c_text_input input = {
      .text = text, .length = length, .plain = 1, .limit = {.tokens = reader->longest + 1}};
  const int status = attn2c_text_encode(reader->work, &input, tokens);
  return status == ATTN2C_OK ? status
                             : attn2c_reader_fail(reader, status, "%s", attn2c_text_fault(reader->work));
}

/* Finds the special tokens around a text. */
static int find_specials(attn2c_reader *reader) {
  attn2c_span_work *work = reader->spans;
  const attn2c_text_input input = {.text = "a", .length = 1, .limit = {.tokens = ATTN2C_TEXT_ANY_LENGTH}};
  attn2c_text_tokens tokens;
  const int status = attn2c_text_encode(reader->work, &input, &tokens);
  if (status != ATTN2C_OK) return attn2c_reader_fail(reader, status, "%s", attn2c_text_fault(reader->work));
  work->special = malloc(tokens.length * sizeof *work->special + 1);
  if (!work->special) return attn2c_reader_fail(reader, ATTN2C_MEMORY, "%s", attn2c_strerror(ATTN2C_MEMORY));
  for (size_t i = 0; i < tokens.length; i++)
    if (tokens.sources[i] == SPECIAL)
      work->special[work->before + work->after++] = tokens.ids[i];
    else
      work->before += work->after, work->after = 0;
  return ATTN2C_OK;
}

/* Says what is wrong with a label. */
static int fail_label(attn2c_reader *reader, size_t number, size_t count, const char *what) {
  return attn2c_reader_fail(reader, ATTN2C_USAGE, "label %zu of %zu %s", number + 1, count, what);
}

/* Adds the tokens of a label. */
static int add_label(attn2c_reader *reader, const char *label, size_t number, size_t count) {
  attn2c_span_work *work = reader->spans;
  const attn2c_spans *facts = reader->facts->spans;
  attn2c_text_tokens tokens;
  ATTN2C_TRY(label[strspn(label, " \t\r\n")] ? encode_part(reader, label, strlen(label), &tokens)
                                             : ATTN2C_OK);
  if (!label[strspn(label, " \t\r\n")] || tokens.length == 0)
    return fail_label(reader, number, count, "is empty");
  int status = add_special(work, facts->label, LABEL);
  for (size_t i = 0; i < tokens.length && status == ATTN2C_OK; i++) {
    if (tokens.ids[i] == facts->label || tokens.ids[i] == facts->separator)
      return fail_label(reader, number, count, "has a token that stands between labels");
    status = add_special(work, tokens.ids[i], OTHER);
  }
  return status;
}

/* True if the reader has these labels already. With a label twice in its list, numbers differ. */
static int has_labels(const attn2c_span_work *work, const char *const *labels, size_t count) {
  if (!work || work->count != count) return 0;
  for (size_t i = 0; i < count; i++)
    if (!labels[i] || (size_t)work->numbers[i] != i || strcmp(labels[i], work->labels[i]) != 0) return 0;
  return 1;
}

/* Keeps the text of a label that is not there yet, and adds its tokens. */
static int take_label(attn2c_reader *reader, const char *label, size_t number, size_t count) {
  attn2c_span_work *work = reader->spans;
  for (size_t i = 0; i < work->count; i++)
    if (strcmp(work->labels[i], label) == 0) return ATTN2C_OK;
  ATTN2C_TRY(add_label(reader, label, number, count));
  work->labels[work->count] = attn2c_copied(label, strlen(label) + 1);
  if (!work->labels[work->count]) return ATTN2C_MEMORY;
  work->numbers[work->count++] = (int32_t)number;
  return ATTN2C_OK;
}

static int take_labels(attn2c_reader *reader, const char *const *labels, size_t count) {
  attn2c_span_work *work = reader->spans;
  const int most = reader->facts->spans->most;
  work->labels = calloc(count, sizeof *work->labels);
  work->numbers = calloc(count, sizeof *work->numbers);
  if (!work->labels || !work->numbers) return ATTN2C_MEMORY;
  work->used = 0;
  ATTN2C_TRY(work->special ? ATTN2C_OK : find_specials(reader));
  for (size_t i = 0; i < work->before; i++) ATTN2C_TRY(add_special(work, work->special[i], OTHER));
  for (size_t i = 0; i < count; i++) {
    if (!labels[i]) return fail_label(reader, i, count, "is missing");
    ATTN2C_TRY(take_label(reader, labels[i], i, count));
    if (most && work->count > (size_t)most)
      return attn2c_reader_fail(reader, ATTN2C_USAGE, "%zu of %zu labels: the model takes at most %d", i + 1,
                                count, most);
    if (work->used + work->after + 1 >= reader->longest) {
      return attn2c_reader_fail(
          reader, ATTN2C_USAGE,
          "%zu of %zu labels take %zu tokens or more, and a call takes %zu: no text fits next to them", i + 1,
          count, work->used + work->after + 1, reader->longest);
    }
  }
  ATTN2C_TRY(add_special(work, reader->facts->spans->separator, OTHER));
  work->prompt = work->used;
  return ATTN2C_OK;
}

int attn2c_reader_labels(attn2c_reader *reader, const char *const *labels, size_t count) {
  if (!reader->facts->spans)
    return attn2c_reader_fail(reader, ATTN2C_USAGE, "the model finds no spans of labels");
  if (count == 0) return attn2c_reader_fail(reader, ATTN2C_USAGE, "no label; at least one is needed");
  if (count > INT32_MAX) return attn2c_reader_fail(reader, ATTN2C_USAGE, "too many labels");
  if (has_labels(reader->spans, labels, count)) return ATTN2C_OK;
  if (!reader->spans) reader->spans = calloc(1, sizeof *reader->spans);
  if (!reader->spans) return attn2c_reader_fail(reader, ATTN2C_MEMORY, "%s", attn2c_strerror(ATTN2C_MEMORY));
  forget_labels(reader->spans);
  reader->fault[0] = 0;
  const int status = take_labels(reader, labels, count);
  if (status == ATTN2C_OK) return status;
  forget_labels(reader->spans);
  return reader->fault[0] ? status : attn2c_reader_fail(reader, status, "%s", attn2c_strerror(status));
}

/* Where a text is read. */
typedef struct {
  const char *text;
  size_t length, at; /* bytes */
  uint32_t character;
} cursor;

/* Returns the code point at the cursor, and moves it on. */
static uint32_t next_point(cursor *c) {
  int valid = 1;
  const size_t width = attn2c_utf8_part(c->text + c->at, c->length - c->at, &valid);
  const uint32_t point = valid ? attn2c_utf8_point(c->text + c->at, width) : TEXT_REPLACEMENT;
  c->at += width, c->character++;
  return point;
}

/* Moves the cursor past characters of a word. */
static void pass_word(cursor *c) {
  for (cursor next = *c; next.at < next.length && text_is_word(next_point(&next));) *c = next;
}

/* Finds the next word: letters, numbers and _, also after a hyphen, or another character that is no space
 * (GLiNER's \w+(?:[-_]\w+)*|\S). Returns 0 if there is none. */
static int next_word(cursor *c, attn2c_text_place *place) {
  cursor begin = *c;
  uint32_t point = ' ';
  while (text_is_space(point)) {
    begin = *c;
    if (c->at >= c->length) return 0;
    point = next_point(c);
  }
  if (text_is_word(point)) {
    pass_word(c);
    for (cursor next = *c; next.at < next.length && next_point(&next) == '-';) {
      const size_t hyphen = next.at;
      pass_word(&next);
      if (next.at == hyphen) break;
      *c = next;
    }
  }
  *place = (attn2c_text_place){.byte_begin = (uint32_t)begin.at,
                               .byte_end = (uint32_t)c->at,
                               .begin = begin.character,
                               .end = c->character};
  return 1;
}

int attn2c_spans_encode(attn2c_reader *reader, const char *text, size_t length, const char *pair,
                        attn2c_text_tokens *tokens) {
  attn2c_span_work *work = reader->spans;
  const size_t most = reader->longest;
  attn2c_text_place place;
  cursor c = {.text = text, .length = length};
  int status = ATTN2C_OK;
  if (pair)
    return attn2c_reader_fail(reader, ATTN2C_USAGE, "the model finds spans in one text, and takes no pair");
  if (!work || work->count == 0)
    return attn2c_reader_fail(reader, ATTN2C_USAGE, "the model finds spans of labels, and none were given");
  if (length >= MOST_BYTES) return attn2c_reader_fail(reader, ATTN2C_FORMAT, "a text of 1 GB or more");
  *tokens = (attn2c_text_tokens){0};
  work->used = work->prompt;
  for (int words = 0; status == ATTN2C_OK && tokens->removed == 0 && next_word(&c, &place); words++) {
    attn2c_text_tokens part;
    status = encode_part(reader, text + place.byte_begin, place.byte_end - place.byte_begin, &part);
    if (words == reader->facts->spans->words) tokens->removed = 1;
    for (size_t i = 0; i < part.length && status == ATTN2C_OK && tokens->removed == 0; i++) {
      if (work->used + work->after == most)
        tokens->removed = part.length - i;
      else
        status = add(work, part.ids[i], i == 0 ? WORD : OTHER, OF_TEXT, place);
    }
  }
  for (size_t i = 0; i < work->after && status == ATTN2C_OK; i++)
    status = add_special(work, work->special[work->before + i], OTHER);
  if (status != ATTN2C_OK)
    return status == ATTN2C_MEMORY ? attn2c_reader_fail(reader, status, "%s", attn2c_strerror(status))
                                   : status;
  tokens->length = work->used;
  tokens->ids = work->ids, tokens->types = work->types;
  tokens->places = work->places, tokens->sources = work->sources;
  return ATTN2C_OK;
}

/* Returns the sum over j of hidden[j] label[j], and label's last number. */
static float score_of(const float *hidden, const float *label, int64_t width) {
  float sums[SUMS] = {0};
  int64_t j = 0;
  for (; j + SUMS <= width; j += SUMS)
    for (int l = 0; l < SUMS; l++) sums[l] += hidden[j + l] * label[j + l];
  for (int half = SUMS / 2; half > 0; half /= 2)
    for (int l = 0; l < half; l++) sums[l] += sums[l + half];
  for (; j < width; j++) sums[0] += hidden[j] * label[j];
  return sums[0] + label[width];
}

/* True if row i is the first of a word. */
static int begins_word(const attn2c_span_rows *rows, int64_t i) {
  return rows->sources[i] == OF_TEXT && (i == 0 || rows->sources[i - 1] != OF_TEXT ||
                                         rows->places[i - 1].byte_begin != rows->places[i].byte_begin);
}

/* The rows of words and labels, and a span's row before it is multiplied by a label's. */
typedef struct {
  int64_t *words, *labels;
  int64_t word_count, label_count;
  float *hidden;
} table;

static int make_table(const attn2c_reader *reader, const attn2c_span_rows *rows, table *t) {
  *t = (table){.words = calloc((size_t)rows->length + 1, sizeof *t->words),
               .labels = calloc((size_t)rows->length + 1, sizeof *t->labels),
               .hidden = malloc((size_t)rows->width * sizeof *t->hidden + 1)};
  if (!t->words || !t->labels || !t->hidden) return ATTN2C_MEMORY;
  for (int64_t i = 0; i < rows->length; i++) {
    if (begins_word(rows, i)) t->words[t->word_count++] = i;
    if (rows->sources[i] == SPECIAL && rows->ids[i] == reader->facts->spans->label)
      t->labels[t->label_count++] = i;
  }
  if (t->label_count > (int64_t)reader->spans->count) t->label_count = (int64_t)reader->spans->count;
  return ATTN2C_OK;
}

static float sigmoid(float x) { return 1 / (1 + expf(-x)); }

/* Adds a span that is above the threshold. */
static int add_candidate(attn2c_span_work *work, int64_t first, int64_t last, int64_t label, float score,
                         size_t *count) {
  if (attn2c_grow((void **)&work->candidates, &work->candidate_capacity, *count + 1, sizeof(candidate)) !=
      ATTN2C_OK)
    return ATTN2C_MEMORY;
  work->candidates[*count] = (candidate){first, last, work->numbers[label], score, *count};
  (*count)++;
  return ATTN2C_OK;
}

/* Finds the labels of a span that are above the threshold. */
static int score_span(attn2c_reader *reader, const attn2c_span_rows *rows, table *t, int64_t first,
                      int64_t last, size_t *count) {
  const float *start = rows->starts + t->words[first] * rows->width,
              *end = rows->ends + t->words[last] * rows->width;
  for (int64_t j = 0; j < rows->width; j++) {
    const float sum = start[j] + end[j];
    t->hidden[j] = sum < 0 ? 0 : sum;
  }
  for (int64_t c = 0; c < t->label_count; c++) {
    const float *label = rows->labels + t->labels[c] * (rows->width + 1);
    const float score = sigmoid(score_of(t->hidden, label, rows->width));
    if (score > reader->span_options.threshold &&
        add_candidate(reader->spans, first, last, c, score, count) != ATTN2C_OK)
      return ATTN2C_MEMORY;
  }
  return ATTN2C_OK;
}

/* Finds the spans that begin with a word. A span has the least score of its words. */
static int score_words(attn2c_reader *reader, const attn2c_span_rows *rows, const table *t, int64_t first,
                       size_t *count) {
  const float threshold = reader->span_options.threshold;
  for (int64_t c = 0; c < t->label_count; c++) {
    float least = sigmoid(rows->starts[t->words[first] * rows->width + 3 * c]);
    if (!(least > threshold)) continue;
    for (int64_t last = first; last < t->word_count; last++) {
      const float *of_word = rows->starts + t->words[last] * rows->width + 3 * c;
      const float end = sigmoid(of_word[1]), inside = sigmoid(of_word[2]);
      if (inside < threshold) break;
      least = fminf(least, inside);
      if (end > threshold &&
          add_candidate(reader->spans, first, last, c, fminf(least, end), count) != ATTN2C_OK)
        return ATTN2C_MEMORY;
    }
  }
  return ATTN2C_OK;
}

static int by_score(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  if (x->score != y->score) return x->score > y->score ? -1 : 1;
  return (x->order > y->order) - (x->order < y->order);
}

static int by_place(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return (x->order > y->order) - (x->order < y->order);
}

/* True if two different spans exclude each other. */
static int excludes(const candidate *a, const candidate *b, int nested) {
  if (a->first > b->last || b->first > a->last) return 0;
  return !nested ||
         !((a->first <= b->first && a->last >= b->last) || (b->first <= a->first && b->last >= a->last));
}

/* Keeps the best spans, and returns their number; -1 without memory. `chosen` has the places of those that
 * stay, each once. */
static int64_t choose(attn2c_span_work *work, size_t count, const attn2c_span_options *options) {
  size_t kept = 0, chosen = 0;
  if (count == 0) return 0;
  qsort(work->candidates, count, sizeof *work->candidates, by_score);
  for (size_t i = 0; i < count; i++) {
    const candidate each = work->candidates[i];
    int excluded = 0, is_there = 0;
    for (size_t k = 0; k < chosen && !excluded; k++) {
      const candidate *other = &work->chosen[k];
      const int same = other->first == each.first && other->last == each.last;
      is_there |= same;
      excluded = same ? !options->several : excludes(&each, other, options->nested);
    }
    if (excluded) continue;
    if (!is_there) {
      if (attn2c_grow((void **)&work->chosen, &work->chosen_capacity, chosen + 1, sizeof each) != ATTN2C_OK)
        return -1;
      work->chosen[chosen++] = each;
    }
    work->candidates[kept] = each;
    work->candidates[kept].order = kept;
    kept++;
  }
  qsort(work->candidates, kept, sizeof *work->candidates, by_place);
  return (int64_t)kept;
}

int attn2c_spans_find(attn2c_reader *reader, const attn2c_span_rows *rows, const attn2c_found_span **spans,
                      size_t *count) {
  attn2c_span_work *work = reader->spans;
  const int width = reader->facts->spans->width;
  size_t candidates = 0;
  table t;
  int status = make_table(reader, rows, &t);
  for (int64_t first = 0; status == ATTN2C_OK && first < t.word_count; first++)
    if (reader->facts->spans->most)
      status = score_words(reader, rows, &t, first, &candidates);
    else
      for (int64_t last = first; status == ATTN2C_OK && last < t.word_count && last < first + width; last++)
        status = score_span(reader, rows, &t, first, last, &candidates);
  const int64_t kept = status == ATTN2C_OK ? choose(work, candidates, &reader->span_options) : 0;
  if (kept < 0 || (status == ATTN2C_OK && attn2c_grow((void **)&work->found, &work->found_capacity,
                                                      (size_t)kept + 1, sizeof *work->found) != ATTN2C_OK))
    status = ATTN2C_MEMORY;
  for (int64_t i = 0; status == ATTN2C_OK && i < kept; i++) {
    const candidate *each = &work->candidates[i];
    attn2c_text_place place = rows->places[t.words[each->first]], end = rows->places[t.words[each->last]];
    place.byte_end = end.byte_end, place.end = end.end;
    work->found[i] = (attn2c_found_span){place, each->label, each->score};
  }
  ATTN2C_FREE(t.words, t.labels, t.hidden);
  *spans = work->found, *count = status == ATTN2C_OK ? (size_t)kept : 0;
  return status;
}
