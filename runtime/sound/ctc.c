#include "sound/ctc.h"

#include "text/unicode.h"

int64_t attn2c_ctc_bytes(const attn2c_ctc *ctc, int64_t rows) { return rows * ctc->longest + 1; }

static int32_t best_of(const float *scores, int32_t count) {
  int32_t best = 0;
  for (int32_t i = 1; i < count; i++)
    if (scores[i] > scores[best]) best = i;
  return best;
}

/* True if two tokens have the same text. Tokens that the folder does not name have one. */
static int are_alike(const attn2c_ctc *ctc, int32_t a, int32_t b) {
  return a == b || (a >= 0 && b >= 0 && strcmp(ctc->tokens[a], ctc->tokens[b]) == 0);
}

/* The text so far, and its words; the last one may not have ended. */
typedef struct {
  char *text;
  int64_t length;
  attn2c_ctc_word *words;
  int64_t count;
  int is_word; /* 1: the last token is of the last word */
} writer;

static void add(writer *w, const attn2c_ctc *ctc, int32_t token, int64_t first, int64_t last) {
  const int is_delimiter = ctc->delimiter && strcmp(ctc->tokens[token], ctc->delimiter) == 0;
  const char *text = is_delimiter ? ctc->space : ctc->tokens[token];
  const int64_t length = (int64_t)strlen(text);
  const int is_space = strcmp(text, ctc->space) == 0;
  memcpy(w->text + w->length, text, (size_t)length);
  if (w->words && !is_space) {
    if (!w->is_word) w->words[w->count++] = (attn2c_ctc_word){.begin = w->length, .first = first};
    w->words[w->count - 1].end = w->length + length;
    w->words[w->count - 1].last = last;
  }
  w->is_word = !is_space;
  w->length += length;
}

/* Takes bytes out of the text. */
static void cut(writer *w, int64_t at, int64_t bytes) {
  memmove(w->text + at, w->text + at + bytes, (size_t)(w->length - at - bytes));
  w->length -= bytes;
  for (int64_t i = 0; i < w->count; i++) {
    int64_t *const ends[] = {&w->words[i].begin, &w->words[i].end};
    for (int e = 0; e < 2; e++)
      *ends[e] -= *ends[e] <= at ? 0 : *ends[e] < at + bytes ? *ends[e] - at : bytes;
  }
}

/* Takes the spaces out of each place of the text that is like a pattern; one pattern after the other. */
static void clean(writer *w) {
  static const char *const patterns[] = {" .", " ?", " !", " ,", " ' ", " n't", " 'm", " 's", " 've", " 're"};
  for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
    const int64_t length = (int64_t)strlen(patterns[p]);
    for (int64_t at = 0; at + length <= w->length; at++) {
      if (memcmp(w->text + at, patterns[p], (size_t)length) != 0) continue;
      cut(w, at, 1);
      if (patterns[p][length - 1] == ' ') cut(w, at + length - 2, 1);
    }
  }
}

int64_t attn2c_ctc_text(const attn2c_ctc *ctc, const float *logits, int64_t rows, char *text,
                        attn2c_ctc_word *words, int64_t *word_count) {
  writer w = {.text = text, .words = words};
  int64_t first = 0; /* row of the tokens that are equal */
  int32_t token = -1;
  for (int64_t row = 0; row <= rows; row++) {
    const int32_t next = row < rows ? best_of(logits + row * ctc->count, ctc->count) : -1;
    if (are_alike(ctc, token, next)) continue;
    if (token >= 0 && !are_alike(ctc, token, ctc->blank)) add(&w, ctc, token, first, row);
    token = next, first = row;
  }
  const char *begin = text;
  size_t kept = (size_t)w.length;
  text_trim(&begin, &kept);
  const int64_t before = begin - text, end = before + (int64_t)kept;
  cut(&w, end, w.length - end);
  cut(&w, 0, before);
  for (int64_t i = 0; i < w.length && ctc->lowers; i++)
    if (text[i] >= 'A' && text[i] <= 'Z') text[i] += 'a' - 'A';
  if (ctc->cleans) clean(&w);
  text[w.length] = '\0';
  if (words) *word_count = w.count;
  return w.length;
}
