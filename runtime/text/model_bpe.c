/* model_bpe.c - byte pair encoding: begins with characters, and joins the pair of the lowest rank until none
 * merges. The leftmost of equal pairs is joined. Short words compare all pairs each time. Long words keep
 * them in a heap, so that time grows as n log n. */
#include "text/stages.h"
#include "text/unicode.h"

#define SHORT_WORD 24
#define NO_SYMBOL  UINT32_MAX
/* Steps that are counted for each entry taken from the heap. */
#define HEAP_STEPS 8

/* A symbol of the word. The list is linked by index, in place. */
struct text_symbol {
  uint32_t id, length, previous, next;
  uint32_t rank, result; /* of the pair with the next symbol; TEXT_NONE: it does not merge */
};

struct text_merge_entry {
  uint32_t rank, position, result;
};

static int add_symbol(attn2c_text_work *work, size_t *count, uint32_t id, size_t length) {
  if (*count >= work->budget.longest) return ATTN2C_FORMAT;
  ATTN2C_TRY(
      attn2c_grow((void **)&work->symbols, &work->symbols_capacity, *count + 1, sizeof *work->symbols));
  work->symbols[(*count)++] = (struct text_symbol){.id = id, .length = (uint32_t)length};
  return ATTN2C_OK;
}

/* Returns the token of one character, with the prefix for all but the first and the suffix for the last. */
static uint32_t letter(const attn2c_tokenizer *text, const uint8_t *bytes, size_t width, int is_first,
                       int is_last) {
  size_t prefix = is_first ? 0 : text->prefix.length, suffix = is_last ? text->suffix.length : 0, read;
  if (prefix == 0 && suffix == 0) {
    uint32_t point = text_read(bytes, &read);
    if (point < 0x200) return text_entry(&text->tables, SECTION_LETTERS, point);
  }
  uint8_t tail[64];
  if (suffix > sizeof tail - 4) return TEXT_NONE;
  memcpy(tail, bytes, width);
  if (suffix) memcpy(tail + width, text->suffix.bytes, suffix);
  text_span head = {text->prefix.bytes, prefix}, rest = {tail, width + suffix};
  uint32_t hash = text_hash(text_hash(text->tables.seed, head.bytes, head.length), rest.bytes, rest.length);
  return text_find(&text->tables, head, rest, hash);
}

/* Adds an unknown character's bytes, with prefix and suffix, as tokens; none if one is missing. */
static int add_bytes(attn2c_text_work *work, size_t *count, const uint8_t *bytes, size_t width, int is_first,
                     int is_last, int *added) {
  const attn2c_tokenizer *text = work->text;
  text_span parts[3] = {{text->prefix.bytes, is_first ? 0 : text->prefix.length},
                        {bytes, width},
                        {text->suffix.bytes, is_last ? text->suffix.length : 0}};
  *added = 0;
  for (int part = 0; part < 3; part++)
    for (size_t i = 0; i < parts[part].length; i++)
      if (text_entry(&text->tables, SECTION_BYTES, parts[part].bytes[i]) == TEXT_NONE) return ATTN2C_OK;
  *added = 1;
  for (int part = 0; part < 3; part++)
    for (size_t i = 0; i < parts[part].length; i++) {
      uint32_t id = text_entry(&text->tables, SECTION_BYTES, parts[part].bytes[i]);
      ATTN2C_TRY(add_symbol(work, count, id, 1));
    }
  return ATTN2C_OK;
}

/* Reads the symbols of a word. A pending unknown one is written before the next known character, but after
 * bytes, as in the library. Without an unknown token, unknown characters add nothing. */
static int read_symbols(attn2c_text_work *work, const uint8_t *bytes, size_t length, size_t *count) {
  const uint32_t *settings = work->text->tables.settings;
  uint32_t options = settings[SETTING_OPTIONS], unknown = settings[SETTING_UNKNOWN];
  size_t pending = 0, width;
  int status = ATTN2C_OK, added = 0;
  for (size_t at = 0; at < length && status == ATTN2C_OK; at += width) {
    text_read(bytes + at, &width);
    uint32_t id = letter(work->text, bytes + at, width, at == 0, at + width == length);
    if (id != TEXT_NONE) {
      if (pending) status = add_symbol(work, count, unknown, pending);
      pending = 0;
      if (status == ATTN2C_OK) status = add_symbol(work, count, id, width);
      continue;
    }
    if (options & OPTION_BYTE_FALLBACK) {
      status = add_bytes(work, count, bytes + at, width, at == 0, at + width == length, &added);
      if (added) continue;
    }
    if (status != ATTN2C_OK) break;
    if (options & OPTION_NEEDS_UNKNOWN)
      return text_fail(work, "a character is not in the vocabulary, and the unknown token is not either");
    if (unknown >= work->text->tables.vocabulary) continue;
    if (pending && !(options & OPTION_FUSE_UNKNOWN)) {
      status = add_symbol(work, count, unknown, pending);
      pending = 0;
    }
    pending += width;
  }
  if (pending && status == ATTN2C_OK) status = add_symbol(work, count, unknown, pending);
  return status;
}

static void rank_pair(attn2c_text_work *work, uint32_t at) {
  struct text_symbol *symbol = &work->symbols[at];
  symbol->rank = symbol->result = TEXT_NONE;
  if (symbol->next != NO_SYMBOL)
    text_merge(&work->text->tables, symbol->id, work->symbols[symbol->next].id, &symbol->rank,
               &symbol->result);
  if (symbol->result >= work->text->tables.vocabulary) symbol->result = TEXT_NONE;
}

static void merge_with_next(struct text_symbol *symbols, uint32_t at) {
  struct text_symbol *left = &symbols[at], *right = &symbols[left->next];
  left->id = left->result;
  left->length += right->length;
  right->length = 0;
  left->next = right->next;
  if (left->next != NO_SYMBOL) symbols[left->next].previous = at;
}

static void merge_short(attn2c_text_work *work) {
  struct text_symbol *symbols = work->symbols;
  for (;;) {
    uint32_t best = NO_SYMBOL;
    for (uint32_t at = 0; at != NO_SYMBOL; at = symbols[at].next)
      if (symbols[at].result != TEXT_NONE && (best == NO_SYMBOL || symbols[at].rank < symbols[best].rank))
        best = at;
    if (best == NO_SYMBOL) return;
    merge_with_next(symbols, best);
    rank_pair(work, best);
    if (symbols[best].previous != NO_SYMBOL) rank_pair(work, symbols[best].previous);
  }
}

static int comes_before(struct text_merge_entry a, struct text_merge_entry b) {
  return a.rank != b.rank ? a.rank < b.rank : a.position < b.position;
}

static int push(attn2c_text_work *work, uint32_t position) {
  const struct text_symbol *symbol = &work->symbols[position];
  if (symbol->result == TEXT_NONE) return ATTN2C_OK;
  ATTN2C_TRY(
      attn2c_grow((void **)&work->heap, &work->heap_capacity, work->heap_count + 1, sizeof *work->heap));
  struct text_merge_entry entry = {symbol->rank, position, symbol->result};
  size_t at = work->heap_count++;
  for (; at && comes_before(entry, work->heap[(at - 1) / 2]); at = (at - 1) / 2)
    work->heap[at] = work->heap[(at - 1) / 2];
  work->heap[at] = entry;
  return ATTN2C_OK;
}

static struct text_merge_entry pop(attn2c_text_work *work) {
  struct text_merge_entry top = work->heap[0], last = work->heap[--work->heap_count];
  size_t at = 0, count = work->heap_count;
  for (size_t child = 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && comes_before(work->heap[child + 1], work->heap[child])) child++;
    if (!comes_before(work->heap[child], last)) break;
    work->heap[at] = work->heap[child];
    at = child;
  }
  if (count) work->heap[at] = last;
  return top;
}

/* Merges with a heap. An entry whose pair has changed since is skipped: the new pair has its own entry. */
static int merge_long(attn2c_text_work *work, size_t count) {
  struct text_symbol *symbols = work->symbols;
  int status = ATTN2C_OK;
  work->heap_count = 0;
  for (uint32_t at = 0; at < count && status == ATTN2C_OK; at++) status = push(work, at);
  while (work->heap_count && status == ATTN2C_OK) {
    struct text_merge_entry top = pop(work);
    struct text_symbol *left = &symbols[top.position];
    status = text_spend(&work->budget, HEAP_STEPS);
    if (status != ATTN2C_OK) return status;
    if (left->length == 0 || left->result != top.result || left->rank != top.rank) continue;
    merge_with_next(symbols, top.position);
    rank_pair(work, top.position);
    status = push(work, top.position);
    if (status != ATTN2C_OK || left->previous == NO_SYMBOL) continue;
    rank_pair(work, left->previous);
    status = push(work, left->previous);
  }
  return status;
}

int text_bpe(attn2c_text_work *work, const uint8_t *bytes, size_t length) {
  const text_tables *tables = &work->text->tables;
  size_t count = 0, begin = 0;
  if (tables->settings[SETTING_OPTIONS] & OPTION_IGNORE_MERGES) {
    uint32_t id = text_find(tables, (text_span){bytes, 0}, (text_span){bytes, length},
                            text_hash(tables->seed, bytes, length));
    if (id != TEXT_NONE) return text_token_add(work, id, 0, length);
  }
  int status = text_spend(&work->budget, length);
  if (status == ATTN2C_OK) status = read_symbols(work, bytes, length, &count);
  if (status != ATTN2C_OK || count == 0) return status;
  for (uint32_t i = 0; i < count; i++) {
    work->symbols[i].previous = i ? i - 1 : NO_SYMBOL;
    work->symbols[i].next = i + 1 < count ? i + 1 : NO_SYMBOL;
  }
  for (uint32_t i = 0; i < count; i++) rank_pair(work, i);
  if (count <= SHORT_WORD)
    merge_short(work);
  else
    status = merge_long(work, count);
  for (uint32_t at = 0; at != NO_SYMBOL && status == ATTN2C_OK; at = work->symbols[at].next) {
    status = text_token_add(work, work->symbols[at].id, begin, begin + work->symbols[at].length);
    begin += work->symbols[at].length;
  }
  return status;
}
