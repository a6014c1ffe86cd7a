/* added.c - added tokens: texts that become one token wherever they occur, before the other stages. Added
 * tokens that are not normalized are searched in the caller's text. The others are searched in the normalized
 * text, by their own normalized text. The leftmost match is taken, the longest of several at one place. */
#include "text/stages.h"
#include "text/unicode.h"

/* Records the text of the token, for decoding. */
static int remember(attn2c_tokenizer *text, uint32_t id, const uint8_t *bytes, size_t length) {
  size_t at = text->letters_length;
  ATTN2C_TRY(attn2c_grow((void **)&text->letters, &text->letters_capacity, at + length, 1));
  ATTN2C_TRY(attn2c_grow((void **)&text->spellings, &text->spellings_capacity, text->spelled + 1,
                         sizeof *text->spellings));
  memcpy(text->letters + at, bytes, length);
  text->letters_length += length;
  text->spellings[text->spelled++] = (text_spelling){id, (uint32_t)at, (uint32_t)length, 0};
  return ATTN2C_OK;
}

static int by_text(const void *a, const void *b) {
  const text_span *first = a, *second = b;
  if (first->length != second->length) return first->length < second->length ? -1 : 1;
  return memcmp(first->bytes, second->bytes, first->length);
}

/* Marks spellings as special. The library looks the text up to see if it is a special token's. */
static int mark_special(attn2c_tokenizer *text) {
  text_span *special = malloc((text->added + 1) * sizeof *special);
  size_t count = 0;
  text_added added;
  if (!special) return ATTN2C_MEMORY;
  for (size_t i = 0; i < text->added && text_added_at(&text->tables, i, &added); i++)
    if (added.flags & ADDED_SPECIAL) special[count++] = added.text;
  qsort(special, count, sizeof *special, by_text);
  for (size_t i = 0; i < text->spelled; i++) {
    text_spelling *spelling = &text->spellings[i];
    text_span written = {text->letters + spelling->offset, spelling->length};
    spelling->special = bsearch(&written, special, count, sizeof *special, by_text) != NULL;
  }
  free(special);
  return ATTN2C_OK;
}

static int by_id(const void *a, const void *b) {
  uint32_t first = ((const text_spelling *)a)->id, second = ((const text_spelling *)b)->id;
  return first < second ? -1 : first > second;
}

int text_spelled(const attn2c_tokenizer *text, uint32_t id, text_span *span, int *special) {
  text_spelling key = {.id = id};
  const text_spelling *found =
      text->spelled ? bsearch(&key, text->spellings, text->spelled, sizeof key, by_id) : NULL;
  if (!found) return 0;
  *span = (text_span){text->letters + found->offset, found->length};
  *special = (int)found->special;
  return 1;
}

/* Normalizes a token that is searched in normalized text, in the same way as the text. */
static int open_normalized(attn2c_tokenizer *text, attn2c_text_work *work, const text_added *added,
                           uint32_t index) {
  text_buffer *whole = &work->whole, *made = &work->normalized;
  whole->length = made->length = 0;
  ATTN2C_TRY(text_reserve(whole, added->text.length));
  text_put(whole, added->text.bytes, added->text.length, (text_origin){0, 0});
  ATTN2C_TRY(text_normalize(work, whole, 0, whole->length, made));
  /* The library finds such a token between all bytes, and fails between the bytes of one character. */
  if (made->length == 0) return text_fail(work, "it is empty after normalizing");
  if (made->length != added->text.length || memcmp(made->bytes, added->text.bytes, made->length) != 0)
    ATTN2C_TRY(remember(text, added->id, made->bytes, made->length));
  return text_trie_insert(&text->normalized, made->bytes, made->length, index);
}

int text_open_added(attn2c_tokenizer *text, attn2c_message *message) {
  attn2c_text_work *work = NULL;
  text_added added;
  int status = attn2c_text_work_create(text, &work);
  for (uint32_t i = 0; status == ATTN2C_OK && text_added_at(&text->tables, i, &added); i++) {
    if (added.id >= text->tables.vocabulary || added.text.length == 0 ||
        !text_is_valid(added.text.bytes, added.text.length))
      status = ATTN2C_FORMAT;
    else if (added.flags & ADDED_NORMALIZED)
      status = open_normalized(text, work, &added, i);
    else
      status = text_trie_insert(&text->raw, added.text.bytes, added.text.length, i);
    if (status == ATTN2C_FORMAT)
      attn2c_say(message, "tokenizer tables: added token %u: %s", i,
                 *work->fault ? work->fault : "it is damaged");
    text->added = i + 1;
  }
  if (status == ATTN2C_OK) status = text_trie_close(&text->raw);
  if (status == ATTN2C_OK) status = text_trie_close(&text->normalized);
  if (status == ATTN2C_OK && text->spelled) status = mark_special(text);
  if (text->spelled) qsort(text->spellings, text->spelled, sizeof *text->spellings, by_id);
  attn2c_text_work_destroy(work);
  return status;
}

/* Sets *alone to 0 if a letter of a word is directly before or after a token of `single_word`. */
static int stands_alone(attn2c_text_work *work, const uint8_t *bytes, size_t begin, size_t from, size_t to,
                        size_t end, int *alone) {
  int before = 0, after = 0, status = ATTN2C_OK;
  size_t width;
  if (!work->text->word) return *alone = 1, ATTN2C_OK;
  if (from > begin) {
    size_t at = text_before(bytes, from);
    status = text_regex_starts(work->text->word, work->matcher, bytes + at, from - at, &before);
  }
  if (status == ATTN2C_OK && to < end) {
    text_read(bytes + to, &width);
    status = text_regex_starts(work->text->word, work->matcher, bytes + to, width, &after);
  }
  *alone = !before && !after;
  return status;
}

/* True for a character that a token may have beside it: not the space between two words. */
static int is_for_token(const attn2c_text_work *work, const uint8_t *at, size_t *width) {
  return text_is_white(text_read(at, width)) && !(work->are_words && *at == ' ');
}

/* Adds the white characters around a token, where the token asks for them. Characters in front of it begin
 * after the last token. `white` is the end of those that an earlier token has: they are read once. */
static int widen(attn2c_text_work *work, const uint8_t *bytes, uint32_t flags, size_t last, size_t end,
                 size_t *white, size_t *from, size_t *to) {
  const size_t begin = *from, known = *to < *white ? *white : *to;
  size_t width, steps = 0;
  while ((flags & ADDED_LSTRIP) && *from > last) {
    size_t before = text_before(bytes, *from);
    if (!is_for_token(work, bytes + before, &width)) break;
    *from = before;
  }
  if ((flags & ADDED_LSTRIP) && *from < last) *from = last;
  if (*from < begin) steps = begin - *from;
  if (flags & ADDED_RSTRIP) {
    *to = known;
    while (*to < end && is_for_token(work, bytes + *to, &width)) *to += width;
    *white = *to;
  }
  return text_spend(&work->budget, steps + (*to > known ? *to - known : 0));
}

/* Leaves out bytes at the end that more text could change. They may belong to an added token, or to white
 * characters around one. Pieces end before them, and a token that reaches them is left out. */
static void leave_out_end(const uint8_t *bytes, size_t begin, size_t end, size_t longest, size_t first,
                          text_pieces *pieces) {
  size_t settled = end - begin > longest + 4 ? end - longest - 4 : begin, width;
  while (settled > begin && (bytes[settled] & 0xc0) == 0x80) settled--;
  while (settled > begin) {
    size_t before = text_before(bytes, settled);
    if (!text_is_white(text_read(bytes + before, &width))) break;
    settled = before;
  }
  while (pieces->count > first) {
    text_piece *last = &pieces->list[pieces->count - 1];
    if (last->end <= settled) return;
    if (last->token == TEXT_NONE && last->begin < settled) {
      last->end = (uint32_t)settled;
      return;
    }
    pieces->count--;
  }
}

/* Adds a part of the caller's text that has no added token. A code at its beginning, >>xxx<<, may be one. */
static int add_part(attn2c_text_work *work, const uint8_t *bytes, size_t begin, size_t end, int is_raw,
                    text_pieces *pieces) {
  const text_tables *tables = &work->text->tables;
  if (is_raw && (tables->settings[SETTING_OPTIONS] & OPTION_CODES) && end - begin >= 4 &&
      memcmp(bytes + begin, ">>", 2) == 0) {
    size_t last = begin + 4;
    while (last < end && memcmp(bytes + last - 2, "<<", 2) != 0) last++;
    if (memcmp(bytes + last - 2, "<<", 2) == 0) {
      const text_span code = {bytes + begin, last - begin};
      uint32_t id =
          text_find(tables, (text_span){bytes, 0}, code, text_hash(tables->seed, code.bytes, code.length));
      if (id == TEXT_NONE) id = tables->settings[SETTING_UNKNOWN];
      int status = text_piece_add(pieces, begin, last, id);
      if (status != ATTN2C_OK || last == end) return status;
      begin = last;
    }
  }
  return text_piece_add(pieces, begin, end, TEXT_NONE);
}

static int split(attn2c_text_work *work, const text_buffer *buffer, size_t begin, size_t end,
                 const text_added_trie *trie, text_pieces *pieces) {
  const uint8_t *bytes = buffer->bytes;
  const int is_raw = trie == &work->text->raw;
  const int keeps_special = !(work->text->tables.settings[SETTING_OPTIONS] & OPTION_SPLIT_SPECIAL);
  size_t last = begin, at = begin, white = begin;
  ATTN2C_TRY(text_trie_find(trie, bytes, begin, end, &work->spans, &work->budget));
  for (size_t i = work->spans.count; i > 0; i--) {
    const text_piece match = work->spans.list[i - 1];
    size_t from = match.begin, to = match.end;
    if (from < at) continue;
    text_added added;
    int alone = 1;
    at = to;
    if (!text_added_at(&work->text->tables, match.token, &added)) return ATTN2C_FORMAT;
    if (!keeps_special && (added.flags & ADDED_SPECIAL)) continue;
    if (added.flags & ADDED_SINGLE_WORD) ATTN2C_TRY(stands_alone(work, bytes, begin, from, to, end, &alone));
    if (!alone) continue;
    ATTN2C_TRY(widen(work, bytes, added.flags, last, end, &white, &from, &to));
    /* No token is of the space between two words. */
    if (work->are_words && from > last && bytes[from - 1] == ' ') from--;
    if (from >= to) continue; /* the token in front of it has all of it */
    if (from > last) ATTN2C_TRY(add_part(work, bytes, last, from, is_raw, pieces));
    ATTN2C_TRY(text_piece_add(pieces, from, to, added.id));
    last = to;
  }
  return last < end ? add_part(work, bytes, last, end, is_raw, pieces) : ATTN2C_OK;
}

int text_split_added(attn2c_text_work *work, const text_buffer *buffer, size_t begin, size_t end,
                     const text_added_trie *trie, text_pieces *pieces) {
  const size_t first = pieces->count;
  ATTN2C_TRY(split(work, buffer, begin, end, trie, pieces));
  if (work->is_open && trie->count) leave_out_end(buffer->bytes, begin, end, trie->longest, first, pieces);
  return ATTN2C_OK;
}
