/* bytes.c - ByteLevel of GPT-2: adds a space before the piece, cuts by its pattern, and writes each byte
 * as a letter. So any text consists of 256 letters. */
#include "text/stages.h"
#include "text/unicode.h"

/* The letter of each byte and its width, made once for each call: 256 small steps. */
typedef struct letters {
  uint8_t bytes[256][2], width[256];
} letters;

static void make_letters(letters *table) {
  for (unsigned byte = 0; byte < 256; byte++)
    table->width[byte] = (uint8_t)text_write(table->bytes[byte], text_byte_letter((uint8_t)byte));
}

/* Appends bytes [begin, end) of `in` to `out`: unchanged for an added token, otherwise as letters. */
static int write_piece(const letters *table, const text_buffer *in, size_t begin, size_t end,
                       text_buffer *out) {
  ATTN2C_TRY(text_reserve(out, 2 * (end - begin)));
  size_t made = out->length;
  for (size_t at = begin; at < end; at++) {
    uint8_t byte = in->bytes[at];
    out->bytes[made] = table->bytes[byte][0];
    out->origins[made++] = in->origins[at];
    if (table->width[byte] == 1) continue;
    out->bytes[made] = table->bytes[byte][1];
    out->origins[made++] = in->origins[at];
  }
  out->length = made;
  return ATTN2C_OK;
}

/* Adds a space before each piece that has none, and moves the pieces. */
static int prefix_spaces(attn2c_text_work *work) {
  static const uint8_t space = ' ';
  text_buffer *in = &work->normalized, *out = &work->scratch[0];
  out->length = 0;
  for (size_t i = 0; i < work->pieces.count; i++) {
    text_piece *piece = &work->pieces.list[i];
    size_t begin = out->length;
    ATTN2C_TRY(text_reserve(out, 1));
    if (piece->token == TEXT_NONE && in->bytes[piece->begin] != ' ')
      text_put(out, &space, 1, in->origins[piece->begin]);
    ATTN2C_TRY(text_copy(out, in, piece->begin, piece->end));
    *piece = (text_piece){(uint32_t)begin, (uint32_t)out->length, piece->token};
  }
  text_buffer made = *out;
  *out = *in;
  *in = made;
  return ATTN2C_OK;
}

/* Appends the letters of a piece's parts to `out`, and the parts to next_pieces. If the piece is open and
 * there is a pattern, only the parts that a match ends are added. */
static int cut_piece(attn2c_text_work *work, const text_regex *regex, const letters *table, text_piece piece,
                     int is_open, text_buffer *out) {
  text_search search = {0};
  size_t at = piece.begin;
  if (regex)
    search = text_search_start(regex, work->matcher, work->normalized.bytes + piece.begin,
                               piece.end - piece.begin);
  search.open = is_open;
  while (at < piece.end && !(regex && text_has_enough(work, work->next_pieces.count))) {
    size_t from = piece.end, to = piece.end, begin;
    int found = 0, status = ATTN2C_OK;
    if (regex) status = text_search_next(&search, &found, &from, &to);
    if (status == ATTN2C_FORMAT) return text_fail(work, "a pattern fails or takes too many steps");
    if (status != ATTN2C_OK) return status;
    if (found) from += piece.begin, to += piece.begin;
    if (!found && regex && is_open) return ATTN2C_OK;
    if (!found) from = to = piece.end;
    for (int match = 0; match < 2; match++) {
      size_t end = match ? to : from;
      begin = out->length;
      status = write_piece(table, &work->normalized, at, end, out);
      if (status == ATTN2C_OK) status = text_piece_add(&work->next_pieces, begin, out->length, TEXT_NONE);
      if (status != ATTN2C_OK) return status;
      at = end;
    }
  }
  return ATTN2C_OK;
}

int text_cut_bytes(attn2c_text_work *work, const text_component *component) {
  letters table;
  text_buffer *out = &work->scratch[0];
  int status = component->flags & 1 ? prefix_spaces(work) : ATTN2C_OK;
  make_letters(&table);
  out->length = 0;
  for (size_t i = 0; i < work->pieces.count && status == ATTN2C_OK; i++) {
    text_piece piece = work->pieces.list[i];
    if (piece.token == TEXT_NONE) {
      const int is_open = text_is_open_piece(work, i);
      status = cut_piece(work, component->regex, &table, piece, is_open, out);
      if (is_open && component->regex) work->is_open = 0;
      continue;
    }
    size_t begin = out->length;
    status = text_copy(out, &work->normalized, piece.begin, piece.end);
    if (status == ATTN2C_OK) status = text_piece_add(&work->next_pieces, begin, out->length, piece.token);
  }
  text_buffer made = *out;
  *out = work->normalized;
  work->normalized = made;
  return status;
}
