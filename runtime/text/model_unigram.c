/* model_unigram.c - Unigram: cuts the piece into the tokens with the largest sum of scores (Viterbi). A
 * character that is no token may be unknown, with a score of ten below the least. Unknown neighbours become
 * one token. */
#include "text/stages.h"
#include "text/unicode.h"

/* The best path to a place of the piece: its score, the last token's id and its beginning. `next` is the end
 * of the next token on the best path to the piece's end. */
struct text_path {
  double score;
  uint32_t begin, id, next;
};

#define NO_PATH UINT32_MAX

static void offer(struct text_path *path, double score, size_t begin, uint32_t id) {
  if (path->begin == NO_PATH || score > path->score)
    *path = (struct text_path){.score = score, .begin = (uint32_t)begin, .id = id};
}

/* Adds a score. SentencePiece's own library adds floats. */
static double sum_of(double score, double till_here, int is_library) {
  return is_library ? (float)score + (float)till_here : score + till_here;
}

/* Tries every token that begins at a place. Returns 1 if one of them is one character. */
static int offer_tokens(attn2c_text_work *work, const uint8_t *bytes, size_t length, size_t begin,
                        size_t width) {
  const text_tables *tables = &work->text->tables;
  uint32_t node = tables->settings[SETTING_ROOT];
  const double till_here = work->paths[begin].score;
  const int is_library = (tables->settings[SETTING_OPTIONS] & OPTION_LIBRARY) != 0;
  int has_single = 0;
  size_t end = begin;
  while (end < length) {
    node = text_step(tables, node, bytes[end++]);
    if (node == TEXT_NONE) break;
    if (node >= tables->vocabulary || (end < length && (bytes[end] & 0xc0) == 0x80)) continue;
    offer(&work->paths[end], sum_of(text_score(tables, node), till_here, is_library), begin, node);
    has_single |= end - begin == width;
  }
  work->budget.steps += end - begin;
  return has_single;
}

static int find_paths(attn2c_text_work *work, const uint8_t *bytes, size_t length) {
  const attn2c_tokenizer *text = work->text;
  const uint32_t unknown = text->tables.settings[SETTING_UNKNOWN];
  const int is_library = (text->tables.settings[SETTING_OPTIONS] & OPTION_LIBRARY) != 0;
  ATTN2C_TRY(attn2c_grow((void **)&work->paths, &work->paths_capacity, length + 1, sizeof *work->paths));
  for (size_t i = 0; i <= length; i++) work->paths[i] = (struct text_path){.begin = NO_PATH};
  size_t width;
  for (size_t begin = 0; begin < length; begin += width) {
    text_read(bytes + begin, &width);
    ATTN2C_TRY(text_spend(&work->budget, width));
    if (offer_tokens(work, bytes, length, begin, width)) continue;
    const double score = sum_of(text->unknown_score, work->paths[begin].score, is_library);
    struct text_path *path = &work->paths[begin + width];
    if (path->begin != NO_PATH && !(score > path->score)) continue;
    if (unknown >= text->tables.vocabulary)
      return text_fail(work, "a character is not in the vocabulary, and there is no unknown token");
    offer(path, score, begin, unknown);
  }
  return ATTN2C_OK;
}

/* Adds the token of a stretch: its own if the vocabulary has it, else its bytes, else the unknown one. */
static int add_stretch(attn2c_text_work *work, const uint8_t *bytes, size_t begin, size_t end) {
  const text_tables *tables = &work->text->tables;
  text_span text = {bytes + begin, end - begin};
  uint32_t id =
      text_find(tables, (text_span){bytes, 0}, text, text_hash(tables->seed, text.bytes, text.length));
  if (id != TEXT_NONE) return text_token_add(work, id, begin, end);
  int has_bytes = (tables->settings[SETTING_OPTIONS] & OPTION_BYTE_FALLBACK) != 0, status = ATTN2C_OK;
  for (size_t i = begin; i < end && has_bytes; i++)
    has_bytes = text_entry(tables, SECTION_BYTES, bytes[i]) != TEXT_NONE;
  if (!has_bytes) return text_token_add(work, tables->settings[SETTING_UNKNOWN], begin, end);
  for (size_t i = begin; i < end && status == ATTN2C_OK; i++)
    status = text_token_add(work, text_entry(tables, SECTION_BYTES, bytes[i]), begin, end);
  return status;
}

int text_unigram(attn2c_text_work *work, const uint8_t *bytes, size_t length) {
  uint32_t unknown = work->text->tables.settings[SETTING_UNKNOWN];
  ATTN2C_TRY(find_paths(work, bytes, length));
  struct text_path *paths = work->paths;
  for (size_t end = length; end; end = paths[end].begin) paths[paths[end].begin].next = (uint32_t)end;
  for (size_t begin = 0, end; begin < length; begin = end) {
    end = paths[begin].next;
    if (paths[end].id != unknown) {
      ATTN2C_TRY(text_token_add(work, paths[end].id, begin, end));
      continue;
    }
    while (end < length && paths[paths[end].next].id == unknown) end = paths[end].next;
    ATTN2C_TRY(add_stretch(work, bytes, begin, end));
  }
  return ATTN2C_OK;
}
