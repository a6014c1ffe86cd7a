/* pack.c - which rows lie where in the packed block, and their transposition into panels
 * and back: see attn2c_weight in descriptor.h. */
#include "weights/pack.h"
#include "ops/transpose.h"

#include <string.h>

enum { LINE = 16 /* floats of a cache line */ };

/* Of rows that are read at a time: they and the panel's lines fit into a second-level cache together. */
#define PIECE_FLOATS ((int64_t)1 << 16)

/* Rows of a piece: as many as fit, at least a cache line's worth of a panel's width, and whole lines. */
static int64_t rows_of_piece(int64_t columns) {
  const int64_t rows = PIECE_FLOATS / columns / LINE * LINE;
  return rows < LINE ? LINE : rows;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

int attn2c_pieces_next(attn2c_pieces *pieces, attn2c_piece *piece) {
  if (pieces->weight == pieces->descriptor->weight_count) return 0;
  const attn2c_weight *weight = &pieces->descriptor->weights[pieces->weight];
  const attn2c_tensor *tensor = &pieces->descriptor->tensors[weight->tensor];
  const int64_t rows = tensor->shape[0], columns = attn2c_elements(tensor) / rows, first = pieces->row;
  *piece = (attn2c_piece){.weight = pieces->weight, .first = first, .columns = columns};
  int64_t end = rows; /* of the panel, or of the weight */
  if (weight->panel == 0) {
    piece->offset = weight->offset + first * columns;
  } else {
    const int64_t tail = pieces->panel - weight->panel_count;
    const int64_t width = tail < 0 ? weight->panel : weight->tail[tail];
    end = pieces->begin + width;
    piece->leading = (width + LINE - 1) / LINE * LINE;
    piece->offset = weight->offset + pieces->offset + (first - pieces->begin);
  }
  /* A formula makes the whole of a constant. */
  piece->count = weight->formula ? end - first : least(rows_of_piece(columns), end - first);
  pieces->row += piece->count;
  if (pieces->row == end) {
    pieces->panel++, pieces->begin = end;
    pieces->offset += columns * piece->leading;
  }
  if (pieces->row == rows)
    *pieces = (attn2c_pieces){.descriptor = pieces->descriptor, .weight = pieces->weight + 1};
  return 1;
}

int64_t attn2c_pieces_largest(const attn2c_descriptor *descriptor) {
  int64_t largest = 0;
  attn2c_pieces pieces = {.descriptor = descriptor};
  attn2c_piece piece;
  while (attn2c_pieces_next(&pieces, &piece))
    if (piece.leading && piece.count * piece.columns > largest) largest = piece.count * piece.columns;
  return largest;
}

/* lines[i][j] = values[j][i] of 16 rows and at most 16 columns: a cache line of each, read and written whole
 * before the next are needed, as rows are often so far apart that few of them fit into a cache together. */
static void pack_block(const float *values, int64_t columns, int64_t count, float *lines, int64_t leading) {
  for (int64_t j = 0; j < LINE; j += 4) {
    const float *from = values + j * columns;
    int64_t i = 0;
    for (; i + 4 <= count; i += 4)
      attn2c_transpose_block4(lines + i * leading + j, from + i, columns, leading);
    for (; i < count; i++)
      for (int64_t k = 0; k < 4; k++) lines[i * leading + j + k] = from[k * columns + i];
  }
}

/* The same of all columns and of fewer rows, with zeros behind them. */
static void pack_last_line(const float *values, int64_t rows, int64_t columns, float *lines,
                           int64_t leading) {
  for (int64_t i = 0; i < columns; i++)
    for (int64_t j = 0; j < LINE; j++) lines[i * leading + j] = j < rows ? values[j * columns + i] : 0.0f;
}

void attn2c_pack(const attn2c_piece *piece, const float *values, float *packed) {
  float *to = packed + piece->offset;
  const int64_t columns = piece->columns, rest = piece->count % LINE, whole = piece->count - rest;
  for (int64_t i = 0; i < columns; i += LINE)
    for (int64_t j = 0; j < whole; j += LINE)
      pack_block(values + j * columns + i, columns, least(LINE, columns - i), to + i * piece->leading + j,
                 piece->leading);
  if (rest) pack_last_line(values + whole * columns, rest, columns, to + whole, piece->leading);
}

/* Rows [begin, end) of the weight, which the piece has. */
static void unpack_rows(const attn2c_piece *piece, const float *packed, int64_t begin, int64_t end,
                        float *values) {
  const int64_t columns = piece->columns, leading = piece->leading, rows = end - begin;
  if (leading == 0) {
    const float *from = packed + piece->offset + (begin - piece->first) * columns;
    memcpy(values, from, (size_t)(rows * columns) * sizeof *values);
    return;
  }
  const float *from = packed + piece->offset + (begin - piece->first);
  for (int64_t i = 0; i < columns; i++)
    for (int64_t j = 0; j < rows; j++) values[j * columns + i] = from[i * leading + j];
}

void attn2c_unpack(const attn2c_descriptor *descriptor, int weight, const float *packed, int64_t first,
                   int64_t count, float *values) {
  attn2c_pieces pieces = {.descriptor = descriptor, .weight = weight};
  attn2c_piece piece;
  while (attn2c_pieces_next(&pieces, &piece) && piece.weight == weight) {
    const int64_t begin = first > piece.first ? first : piece.first;
    const int64_t end = least(first + count, piece.first + piece.count);
    if (begin < end) unpack_rows(&piece, packed, begin, end, values + (begin - first) * piece.columns);
  }
}
