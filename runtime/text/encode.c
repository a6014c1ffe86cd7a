/* encode.c - runs a text through the stages: read, split at added tokens, normalize, cut, tokenize. Then it
 * computes the place of each token in the caller's text. */
#include "text/stages.h"
#include "text/unicode.h"

/* Positions have 32 bits, and components may make a text several times as long. */
#define LONGEST_TEXT ((size_t)1 << 30)

/* Reads the text as well-formed UTF-8, each byte with its character's place. It also sets the index of the
 * character that each of the caller's bytes belongs to. */
static int read_text(attn2c_text_work *work, const uint8_t *bytes, size_t length, text_encoding *encoding) {
  text_buffer *whole = &work->whole;
  uint32_t character = 0;
  whole->length = 0;
  whole->shift = 0;
  ATTN2C_TRY(text_reserve(whole, length + 4));
  ATTN2C_TRY(attn2c_grow((void **)&encoding->characters, &encoding->characters_capacity, length + 1,
                         sizeof *encoding->characters));
  uint32_t *characters = encoding->characters;
  for (size_t at = 0; at < length; character++) {
    uint32_t begin = (uint32_t)at;
    if (bytes[at] < 0x80) {
      if (whole->length == whole->capacity) ATTN2C_TRY(text_reserve(whole, length - at));
      whole->bytes[whole->length] = bytes[at];
      whole->origins[whole->length++] = (text_origin){begin, begin + 1};
      characters[at++] = character;
      continue;
    }
    int valid;
    size_t width = text_part(bytes + at, length - at, &valid);
    text_origin origin = {begin, begin + (uint32_t)width};
    for (size_t i = 0; i < width; i++) characters[at + i] = character;
    if (valid) {
      ATTN2C_TRY(text_reserve(whole, width));
      text_put(whole, bytes + at, width, origin);
    } else {
      ATTN2C_TRY(text_put_point(whole, TEXT_REPLACEMENT, origin));
    }
    at += width;
  }
  characters[length] = character;
  return ATTN2C_OK;
}

/* Splits the text at added tokens, normalizes the parts between them, and splits the results again. The last
 * part is open if the text is. */
static int normalize(attn2c_text_work *work) {
  const attn2c_tokenizer *text = work->text;
  text_buffer *to = &work->normalized;
  work->pieces.count = work->next_pieces.count = 0;
  to->length = 0;
  work->is_open = work->is_part;
  ATTN2C_TRY(text_split_added(work, &work->whole, 0, work->whole.length, &text->raw, &work->next_pieces));
  for (size_t i = 0; i < work->next_pieces.count; i++) {
    text_piece piece = work->next_pieces.list[i];
    size_t begin = to->length;
    work->is_open = work->is_part && i + 1 == work->next_pieces.count;
    if (piece.token != TEXT_NONE) {
      ATTN2C_TRY(text_copy(to, &work->whole, piece.begin, piece.end));
      ATTN2C_TRY(text_piece_add(&work->pieces, begin, to->length, piece.token));
      continue;
    }
    ATTN2C_TRY(text_normalize(work, &work->whole, piece.begin, piece.end, to));
    ATTN2C_TRY(text_split_added(work, to, begin, to->length, &text->normalized, &work->pieces));
  }
  return ATTN2C_OK;
}

/* Returns the place of bytes [begin, end) of a piece. A token that extends beyond its piece (a letter of a
 * suffix that became bytes) keeps its own numbers, as in the library. */
static attn2c_text_place place_of(const attn2c_text_work *work, text_piece piece, text_token token,
                                  const text_encoding *encoding) {
  const text_origin *origins = work->normalized.origins + piece.begin;
  uint32_t begin = token.begin, end = token.end, length = (uint32_t)encoding->text_length;
  if (token.begin == token.end) {
    begin += origins[0].from, end += origins[0].from;
  } else if (token.end <= piece.end - piece.begin) {
    begin = origins[token.begin].from;
    end = origins[token.end - 1].to;
  }
  if (begin > length) begin = length;
  if (end > length) end = length;
  return (attn2c_text_place){begin, end, encoding->characters[begin], encoding->characters[end]};
}

static int reserve_results(text_encoding *encoding, size_t need) {
  if (need <= encoding->capacity && encoding->ids) return ATTN2C_OK;
  size_t capacity = encoding->capacity;
  ATTN2C_TRY(attn2c_grow((void **)&encoding->ids, &capacity, need, sizeof *encoding->ids));
  capacity = encoding->capacity;
  ATTN2C_TRY(attn2c_grow((void **)&encoding->places, &capacity, need, sizeof *encoding->places));
  capacity = encoding->capacity;
  ATTN2C_TRY(attn2c_grow((void **)&encoding->blanks, &capacity, need, sizeof *encoding->blanks));
  encoding->capacity = capacity;
  return ATTN2C_OK;
}

/* Appends the tokens of a piece. The text of an added token includes the blanks that it stripped. */
static int add_tokens(attn2c_text_work *work, text_piece piece, text_encoding *encoding) {
  int trims = work->text->stages[STAGE_TRIM].count != 0;
  ATTN2C_TRY(reserve_results(encoding, encoding->count + work->tokens.count));
  for (size_t i = 0; i < work->tokens.count; i++) {
    text_token token = work->tokens.list[i];
    if (trims) {
      text_span written = text_token_text(&work->text->tables, token.id);
      if (piece.token != TEXT_NONE) written = (text_span){work->normalized.bytes + piece.begin, token.end};
      encoding->blanks[encoding->count] = text_count_blanks(written);
    }
    encoding->ids[encoding->count] = (int32_t)token.id;
    encoding->places[encoding->count++] = place_of(work, piece, token, encoding);
  }
  return ATTN2C_OK;
}

static int tokenize_piece(attn2c_text_work *work, text_piece piece) {
  work->tokens.count = 0;
  if (piece.token != TEXT_NONE) return text_token_add(work, piece.token, 0, piece.end - piece.begin);
  return text_tokenize(work, work->normalized.bytes + piece.begin, piece.end - piece.begin);
}

/* Bytes of a text that are read first, for each needed token. They grow by a factor if they give fewer. */
#define FIRST_BYTES 256
#define TOKEN_BYTES 8
#define PART_GROWTH 4

/* True if places depend on the whole text: byte tokens of a suffix get places outside of their part.
 * SentencePiece's own library sums scores over the whole text, and looks for the end of a code in all of
 * it. */
static int needs_whole(const attn2c_tokenizer *text) {
  const uint32_t options = text->tables.settings[SETTING_OPTIONS];
  return (options & OPTION_LIBRARY) || (text->suffix.length && (options & OPTION_BYTE_FALLBACK));
}

/* Returns at most `most`, so that no character, and no malformed part that counts as one, is cut. */
static size_t whole_characters(const uint8_t *bytes, size_t most) {
  for (size_t back = 1; back <= 3 && back < most; back++) {
    if (bytes[most - back] >= 0xc2) return most - back;
    if (bytes[most - back] < 0x80) break;
  }
  return most;
}

/* Leaves out the end of the last piece that more text could change. */
static int close_last(attn2c_text_work *work) {
  if (!work->is_open || work->pieces.count == 0) return ATTN2C_OK;
  text_piece *last = &work->pieces.list[work->pieces.count - 1];
  size_t border = 0;
  int status = ATTN2C_OK;
  if (last->token == TEXT_NONE)
    status = text_last_border(work, work->normalized.bytes + last->begin, last->end - last->begin, &border);
  last->end = last->begin + (uint32_t)border;
  if (border == 0) work->pieces.count--;
  return status;
}

/* Encodes the first bytes of a text, and keeps the tokens that do not depend on the bytes after them. */
static int encode_part(attn2c_text_work *work, const uint8_t *bytes, size_t length, size_t most,
                       text_encoding *encoding) {
  encoding->count = 0;
  encoding->text_length = length;
  int status = text_spend(&work->budget, length);
  if (status == ATTN2C_OK) status = read_text(work, bytes, length, encoding);
  if (status == ATTN2C_OK) status = normalize(work);
  if (status == ATTN2C_OK) status = text_cut(work);
  if (status == ATTN2C_OK) status = close_last(work);
  size_t i = 0;
  for (; i < work->pieces.count && status == ATTN2C_OK && encoding->count < most; i++) {
    status = tokenize_piece(work, work->pieces.list[i]);
    if (status == ATTN2C_OK) status = add_tokens(work, work->pieces.list[i], encoding);
  }
  encoding->is_whole = !work->is_part && i == work->pieces.count;
  encoding->first = 0;
  encoding->length = encoding->count;
  return status;
}

int text_encode_one(attn2c_text_work *work, const char *bytes, size_t length, size_t most,
                    text_encoding *encoding) {
  size_t part = length;
  int status;
  if (length >= LONGEST_TEXT) return text_fail(work, "the text has 1 GB or more");
  work->enough = SIZE_MAX;
  if (most < length / TOKEN_BYTES && !needs_whole(work->text)) {
    part = FIRST_BYTES + most * TOKEN_BYTES;
    work->enough = most;
  }
  for (;;) {
    if (part < length) part = whole_characters((const uint8_t *)bytes, part);
    if (part > length) part = length;
    work->is_part = part < length;
    status = encode_part(work, (const uint8_t *)bytes, part, most, encoding);
    if (status != ATTN2C_OK || encoding->count >= most || !work->is_part) return status;
    if (part == length || work->pieces.count >= work->enough)
      work->enough = work->enough > SIZE_MAX / PART_GROWTH ? SIZE_MAX : work->enough * PART_GROWTH;
    else
      part = part > length / PART_GROWTH ? length : part * PART_GROWTH;
  }
}

/* Returns the number of tokens of one text after which a limit needs no more. */
static size_t needed(const attn2c_text_work *work, const attn2c_text_input *input) {
  attn2c_text_limit limit = input->limit;
  size_t added =
      input->plain ? 0 : text_special_tokens(&work->text->tables, input->language, input->pair != NULL);
  int all = limit.from_left || limit.strategy != ATTN2C_TEXT_LONGEST_FIRST || limit.tokens < added;
  return all || limit.tokens == ATTN2C_TEXT_ANY_LENGTH ? ATTN2C_TEXT_ANY_LENGTH : limit.tokens + 1;
}

/* True if the limit of a pair does not depend on tokens that were not read. If it halves an odd number, it
 * depends on which text has more tokens, so that the shorter one must be whole. */
static int is_limit_known(const attn2c_text_work *work, const attn2c_text_input *input) {
  const text_encoding *a = &work->encodings[0], *b = &work->encodings[1];
  size_t added = input->plain ? 0 : text_special_tokens(&work->text->tables, input->language, 1);
  if ((input->limit.tokens - added) % 2 == 0) return 1;
  return a->count > b->count ? b->is_whole : a->is_whole;
}

/* Encodes the second text, and more of both as long as the limit depends on which one is longer. */
static int encode_pair(attn2c_text_work *work, const attn2c_text_input *input, size_t most) {
  text_encoding *a = &work->encodings[0], *b = &work->encodings[1];
  ATTN2C_TRY(text_encode_one(work, input->pair, input->pair_length, most, b));
  while (most != ATTN2C_TEXT_ANY_LENGTH && !is_limit_known(work, input)) {
    most = most > SIZE_MAX / PART_GROWTH ? ATTN2C_TEXT_ANY_LENGTH : most * PART_GROWTH;
    if (!a->is_whole) ATTN2C_TRY(text_encode_one(work, input->text, input->length, most, a));
    if (!b->is_whole) ATTN2C_TRY(text_encode_one(work, input->pair, input->pair_length, most, b));
  }
  return ATTN2C_OK;
}

/* Writes the tokens that the limit leaves, with special tokens around them. */
static int assemble(attn2c_text_work *work, const attn2c_text_input *input, attn2c_text_tokens *tokens) {
  ATTN2C_TRY(text_assemble(work, input, input->pair != NULL));
  work->fault = "";
  tokens->length = work->results;
  tokens->ids = work->ids;
  tokens->types = work->types;
  tokens->places = work->places;
  tokens->sources = work->sources;
  return ATTN2C_OK;
}

static int encode_texts(attn2c_text_work *work, const attn2c_text_input *input, attn2c_text_tokens *tokens) {
  const int has_pair = input->pair != NULL;
  const size_t most = needed(work, input);
  ATTN2C_TRY(text_encode_one(work, input->text, input->length, most, &work->encodings[0]));
  if (has_pair) ATTN2C_TRY(encode_pair(work, input, most));
  ATTN2C_TRY(text_limit(work, input, has_pair, &tokens->removed));
  return assemble(work, input, tokens);
}

int attn2c_text_encode(attn2c_text_work *work, const attn2c_text_input *input, attn2c_text_tokens *tokens) {
  memset(tokens, 0, sizeof *tokens);
  text_begin(work, input->length + (input->pair ? input->pair_length : 0));
  work->are_words = input->has_words;
  return text_end(work, encode_texts(work, input, tokens));
}

int attn2c_text_encode_next(attn2c_text_work *work, const attn2c_text_input *input, size_t stride,
                            attn2c_text_tokens *tokens) {
  text_encoding *cut = &work->encodings[input->limit.strategy == ATTN2C_TEXT_ONLY_SECOND];
  memset(tokens, 0, sizeof *tokens);
  if (cut->length == cut->count) return ATTN2C_OK;
  if (stride >= cut->length) return text_fail(work, "the stride is not less than the tokens of a window");
  if (!text_slide(cut, stride, input->limit.from_left)) return ATTN2C_OK;
  tokens->removed = input->limit.from_left ? cut->first : cut->count - cut->first - cut->length;
  return assemble(work, input, tokens);
}
