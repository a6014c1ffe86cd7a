/* process.c - the fourth stage: cuts the tokens to a limit, and adds the special tokens around them. */
#include "text/stages.h"
#include "text/unicode.h"

/* Sets *id to the token that a piece of a template adds for a caller's language. 0: it adds none. */
static int added_token(const text_template *piece, int32_t language, int32_t *id) {
  *id = piece->kind == TEMPLATE_LANGUAGE && language ? language : (int32_t)piece->id;
  return piece->kind == TEMPLATE_TOKEN || (piece->kind == TEMPLATE_LANGUAGE && *id >= 0);
}

size_t text_special_tokens(const text_tables *tables, int32_t language, int has_pair) {
  text_template piece;
  size_t count = 0;
  int32_t id;
  for (size_t i = 0; text_template_at(tables, i, &piece); i++)
    count += added_token(&piece, language, &id) && piece.pair == (uint32_t)has_pair;
  return count;
}

static size_t shorten(text_encoding *encoding, size_t length, int from_left) {
  if (length >= encoding->length) return 0;
  size_t removed = encoding->length - length;
  if (from_left) encoding->first += removed;
  encoding->length = length;
  return removed;
}

/* Cuts both texts to half of the tokens, or only the longer one if the other has at most half. */
static size_t longest_first(text_encoding *a, text_encoding *b, size_t most, int from_left) {
  size_t n1 = a->length, n2 = b->length;
  int swapped = n1 > n2;
  if (swapped) n1 = b->length, n2 = a->length;
  if (n1 > most)
    n2 = n1;
  else
    n2 = n1 > most - n1 ? n1 : most - n1;
  if (n1 + n2 > most) n1 = most / 2, n2 = n1 + most % 2;
  return shorten(a, swapped ? n2 : n1, from_left) + shorten(b, swapped ? n1 : n2, from_left);
}

/* Applies the limit. If special tokens are more than that, nothing is removed, as in the library. */
int text_limit(attn2c_text_work *work, const attn2c_text_input *input, int has_pair, size_t *removed) {
  attn2c_text_limit limit = input->limit;
  text_encoding *a = &work->encodings[0], *b = &work->encodings[1];
  size_t added = input->plain ? 0 : text_special_tokens(&work->text->tables, input->language, has_pair);
  size_t total = a->length + (has_pair ? b->length : 0);
  *removed = 0;
  if (limit.tokens == ATTN2C_TEXT_ANY_LENGTH || added > limit.tokens) return ATTN2C_OK;
  size_t most = limit.tokens - added;
  if (total <= most) return ATTN2C_OK;
  if (most == 0) {
    *removed = shorten(a, 0, limit.from_left) + (has_pair ? shorten(b, 0, limit.from_left) : 0);
  } else if (limit.strategy == ATTN2C_TEXT_LONGEST_FIRST) {
    *removed = has_pair ? longest_first(a, b, most, limit.from_left) : shorten(a, most, limit.from_left);
  } else {
    text_encoding *cut = limit.strategy == ATTN2C_TEXT_ONLY_FIRST ? a : b;
    if (cut == b && !has_pair) return text_fail(work, "the limit cuts the second text, but there is none");
    if (cut->length <= total - most)
      return text_fail(work, "the limit leaves nothing of the text that it cuts");
    *removed = shorten(cut, cut->length - (total - most), limit.from_left);
  }
  return ATTN2C_OK;
}

/* Each window but the last is full, so that the length of the one before is the capacity of all. */
int text_slide(text_encoding *cut, size_t stride, int from_left) {
  const size_t full = cut->length, end = cut->first + full;
  if (from_left ? cut->first == 0 : end == cut->count) return 0;
  if (from_left) {
    const size_t last = cut->first + stride;
    cut->first = last > full ? last - full : 0;
    cut->length = last - cut->first;
  } else {
    cut->first = end - stride;
    cut->length = cut->count - cut->first < full ? cut->count - cut->first : full;
  }
  return 1;
}

static int reserve_results(attn2c_text_work *work, size_t need) {
  ATTN2C_TRY(attn2c_grow((void **)&work->ids, &work->results_capacity[0], need, sizeof *work->ids));
  ATTN2C_TRY(attn2c_grow((void **)&work->types, &work->results_capacity[1], need, sizeof *work->types));
  ATTN2C_TRY(attn2c_grow((void **)&work->places, &work->results_capacity[2], need, sizeof *work->places));
  return attn2c_grow((void **)&work->sources, &work->results_capacity[3], need, 1);
}

static int is_blank(uint32_t point) { return point == 0x120 || text_is_white(point); }

text_blanks text_count_blanks(text_span token) {
  text_blanks blanks = {0, 0};
  size_t width;
  if (!text_is_valid(token.bytes, token.length)) return blanks;
  for (size_t at = 0; at < token.length && is_blank(text_read(token.bytes + at, &width)); at += width)
    blanks.leading++;
  for (size_t end = token.length; end; blanks.trailing++) {
    end = text_before(token.bytes, end);
    if (!is_blank(text_read(token.bytes + end, &width))) break;
  }
  return blanks;
}

/* Returns the byte at which a character begins, searching from one whose byte is known. */
static uint32_t byte_of(const text_encoding *encoding, uint32_t byte, uint32_t from, uint32_t to) {
  const uint32_t *characters = encoding->characters;
  for (; from < to && byte < encoding->text_length; from++) {
    uint32_t now = characters[byte];
    while (byte < encoding->text_length && characters[byte] == now) byte++;
  }
  for (; from > to && byte > 0; from--) {
    byte--;
    while (byte > 0 && characters[byte - 1] == characters[byte]) byte--;
  }
  return byte;
}

/* Takes blanks out of a place. The space that add_prefix_space put before the first word has no place. */
static void trim(const text_encoding *encoding, text_blanks blanks, int keeps_one, attn2c_text_place *place) {
  attn2c_text_place old = *place;
  if (blanks.leading == 1 && keeps_one) blanks.leading = 0;
  if (blanks.leading)
    place->begin = blanks.leading < old.end - old.begin ? old.begin + blanks.leading : old.end;
  if (blanks.trailing && old.end >= blanks.trailing) {
    place->end = old.end - blanks.trailing;
    if (place->end < place->begin) place->end = place->begin;
  }
  if (place->begin != old.begin)
    place->byte_begin = byte_of(encoding, old.byte_begin, old.begin, place->begin);
  if (place->end != old.end) place->byte_end = byte_of(encoding, old.byte_end, old.end, place->end);
}

/* Trims the places of one window by itself, as the library does. */
static void trim_all(const attn2c_tokenizer *text, const text_encoding *encoding, attn2c_text_place *places) {
  const text_list *list = &text->stages[STAGE_TRIM];
  for (size_t t = 0; t < list->count; t++)
    for (size_t i = 0; i < encoding->length; i++) {
      int is_first = i == 0 || places[i].begin == 0;
      trim(encoding, encoding->blanks[encoding->first + i], is_first && (list->list[t].flags & 1),
           &places[i]);
    }
}

static int add_encoding(attn2c_text_work *work, int which, uint32_t type) {
  const text_encoding *encoding = &work->encodings[which];
  size_t at = work->results, length = encoding->length;
  int status = reserve_results(work, at + length);
  if (status != ATTN2C_OK || length == 0) return status;
  memcpy(work->ids + at, encoding->ids + encoding->first, length * sizeof *work->ids);
  memcpy(work->places + at, encoding->places + encoding->first, length * sizeof *work->places);
  trim_all(work->text, encoding, work->places + at);
  memset(work->sources + at, which, length);
  for (size_t i = 0; i < length; i++) work->types[at + i] = (int32_t)type;
  work->results += length;
  return ATTN2C_OK;
}

static int add_special(attn2c_text_work *work, int32_t id, uint32_t type) {
  size_t at = work->results;
  ATTN2C_TRY(reserve_results(work, at + 1));
  work->ids[at] = id;
  work->types[at] = (int32_t)type;
  work->places[at] = (attn2c_text_place){0, 0, 0, 0};
  work->sources[at] = 2;
  work->results++;
  return ATTN2C_OK;
}

int text_assemble(attn2c_text_work *work, const attn2c_text_input *input, int has_pair) {
  text_template piece;
  int32_t id;
  int status = reserve_results(work, 1);
  work->results = 0;
  for (size_t i = 0; text_template_at(&work->text->tables, i, &piece) && status == ATTN2C_OK; i++) {
    if (piece.pair != (uint32_t)has_pair) continue;
    if (added_token(&piece, input->language, &id))
      status = input->plain ? ATTN2C_OK : add_special(work, id, piece.type);
    else if (piece.kind == TEMPLATE_FIRST || (piece.kind == TEMPLATE_SECOND && has_pair))
      status = add_encoding(work, piece.kind == TEMPLATE_SECOND, piece.type);
  }
  return status;
}
