/* pack.c - finds the place of rows in the packed block, and transposes them into panels and back.
 * attn2c_weight in descriptor.h describes the layout. */
#include "packing/pack.h"
#include "ops/quantise.h"
#include "ops/round.h"
#include "ops/transpose.h"

enum { LINE = 16 /* floats of a cache line */ };

/* Numbers other than floats are kept in groups of 4 bytes, each of which takes the place of a float. */
int64_t attn2c_row_floats(attn2c_type type, int64_t columns) {
  const attn2c_type_facts *facts = attn2c_facts_of(type);
  if (facts->bits) return attn2c_blocks_floats(facts, attn2c_blocks_of(columns));
  return (columns + facts->group - 1) / facts->group;
}

/* Returns the number of rows before the groups of a panel. */
static int64_t rows_before(attn2c_type type) { return attn2c_facts_of(type)->start; }

int64_t attn2c_panel_floats(attn2c_type type, int64_t columns, int64_t leading) {
  const attn2c_type_facts *facts = attn2c_facts_of(type);
  if (facts->bits) return attn2c_blocks_floats(facts, (attn2c_blocks_of(columns) + 1) / 2 * 2) * leading;
  return (rows_before(type) + attn2c_row_floats(type, columns)) * leading;
}

/* Floats that are read at a time: with the panel's lines they fit into a second-level cache. */
#define PIECE_FLOATS ((int64_t)1 << 16)

/* Returns the rows of a piece: the most that fit, in whole cache lines of a panel's width, and at least one
 * line. */
static int64_t rows_of_piece(int64_t columns) {
  const int64_t rows = PIECE_FLOATS / columns / LINE * LINE;
  return rows < LINE ? LINE : rows;
}

int attn2c_pieces_next(attn2c_pieces *pieces, attn2c_piece *piece) {
  if (pieces->weight == pieces->descriptor->weight_count) return 0;
  const attn2c_weight *weight = &pieces->descriptor->weights[pieces->weight];
  const attn2c_tensor *tensor = &pieces->descriptor->tensors[weight->tensor];
  const int64_t rows = tensor->shape[0], columns = attn2c_elements(tensor) / rows, first = pieces->row;
  const attn2c_packing *packing =
      pieces->descriptor->packings ? &pieces->descriptor->packings[pieces->weight] : NULL;
  *piece = (attn2c_piece){.weight = pieces->weight, .first = first, .columns = columns};
  piece->is_made = attn2c_scaled_by(pieces->descriptor, pieces->weight) >= 0;
  int64_t end = rows; /* of the panel, or of the weight */
  if (packing) piece->type = packing->type;
  if (packing && packing->scales >= 0)
    piece->scales = pieces->descriptor->weights[packing->scales].offset + first;
  if (weight->panel == 0) {
    piece->offset = weight->offset + first * attn2c_row_floats(piece->type, columns);
  } else {
    const int64_t tail = pieces->panel - weight->panel_count;
    const int64_t width = tail < 0 ? weight->panel : weight->tail[tail];
    end = pieces->begin + width;
    piece->leading = (width + LINE - 1) / LINE * LINE;
    piece->column = first - pieces->begin;
    piece->offset = weight->offset + pieces->offset + (attn2c_piece_has_blocks(piece) ? 0 : piece->column);
  }
  /* A formula makes a whole constant. */
  piece->count = weight->formula ? end - first : attn2c_lesser(rows_of_piece(columns), end - first);
  pieces->row += piece->count;
  if (pieces->row == end) {
    pieces->panel++, pieces->begin = end;
    pieces->offset += attn2c_panel_floats(piece->type, columns, piece->leading);
  }
  piece->is_last = pieces->row == rows;
  if (piece->is_last)
    *pieces = (attn2c_pieces){.descriptor = pieces->descriptor, .weight = pieces->weight + 1};
  return 1;
}

static int64_t whole_lines(int64_t floats) { return (floats + LINE - 1) / LINE * LINE; }

int64_t attn2c_packed_floats(const attn2c_descriptor *descriptor, int weight) {
  const attn2c_weight *of = &descriptor->weights[weight];
  const attn2c_tensor *tensor = &descriptor->tensors[of->tensor];
  const attn2c_type type = descriptor->packings ? descriptor->packings[weight].type : ATTN2C_F32;
  const int64_t columns = attn2c_elements(tensor) / tensor->shape[0];
  if (of->panel == 0) return whole_lines(tensor->shape[0] * attn2c_row_floats(type, columns));
  return of->panel_count * attn2c_panel_floats(type, columns, whole_lines(of->panel)) +
         attn2c_panel_floats(type, columns, whole_lines(of->tail[0])) +
         attn2c_panel_floats(type, columns, whole_lines(of->tail[1]));
}

int64_t attn2c_pieces_largest(const attn2c_descriptor *descriptor) {
  int64_t largest = 0;
  attn2c_pieces pieces = {.descriptor = descriptor};
  attn2c_piece piece;
  while (attn2c_pieces_next(&pieces, &piece)) {
    const int64_t row = attn2c_piece_has_blocks(&piece)
                            ? attn2c_blocks_of(piece.columns) * (int64_t)sizeof(attn2c_scale_block) / 4
                            : piece.columns;
    if (attn2c_piece_is_packed(&piece) && piece.count * row > largest) largest = piece.count * row;
  }
  return largest;
}

/* lines[i][j] = values[j][i] of 16 rows and at most 16 columns. One cache line of each row is read and
 * written whole before the next, as rows are often so far apart that few of them fit into a cache
 * together. */
static void pack_block(const float *values, int64_t columns, int64_t count, float *lines, int64_t leading) {
  for (int64_t j = 0; j < LINE; j += 4) {
    const float *from = values + j * columns;
    int64_t i = 0;
    for (; i + 4 <= count; i += 4)
      attn2c_transpose_block4(lines + i * leading + j, from + i, columns, leading, 0);
    for (; i < count; i++)
      for (int64_t k = 0; k < 4; k++) lines[i * leading + j + k] = from[k * columns + i];
  }
}

/* Does the same for all columns and fewer rows, followed by zeros. */
static void pack_last_line(const float *values, int64_t rows, int64_t columns, float *lines,
                           int64_t leading) {
  for (int64_t i = 0; i < columns; i++)
    for (int64_t j = 0; j < LINE; j++) lines[i * leading + j] = j < rows ? values[j * columns + i] : 0.0f;
}

enum { CHUNK = 64 /* elements that are converted at a time */ };

/* Copies `count` elements of `bytes` bytes to groups. */
static void put(float *groups, const void *elements, int count, int bytes) {
  memcpy(groups, elements, (size_t)((count * bytes + 3) / 4) * sizeof *groups);
}

/* How rows of a number type are packed. */
typedef struct {
  /* Writes a row as groups, to a place that is no later than the row's own. If the type has scales, it also
   * writes the row's scale and, unless before is NULL, the numbers before the groups of a panel, `leading`
   * apart. */
  void (*row)(const float *row, int64_t columns, float *groups, float *scale, float *before, int64_t leading);
  float (*element)(uint32_t group, int64_t h); /* returns element h of a group */
  float (*scale)(const float *row, int64_t columns);
} packer;

static void bf16_row(const float *row, int64_t columns, float *groups, float *scale, float *before,
                     int64_t leading) {
  (void)scale, (void)before, (void)leading;
  for (int64_t i = 0; i < columns; i += CHUNK) {
    const int count = (int)attn2c_lesser(CHUNK, columns - i);
    uint16_t halves[CHUNK] = {0};
    for (int h = 0; h < count; h++) halves[h] = attn2c_to_bf16(row[i + h]);
    put(groups + i / 2, halves, count, sizeof *halves);
  }
}

static float bf16_element(uint32_t group, int64_t h) { return attn2c_from_bf16((uint16_t)(group >> 16 * h)); }

static void i8_row(const float *row, int64_t columns, float *groups, float *scale, float *before,
                   int64_t leading) {
  int32_t sum = 0, below = 0;
  float inverse;
  *scale = attn2c_row_scale(row, NULL, (int)columns, &inverse);
  for (int64_t i = 0; i < columns; i += CHUNK) {
    const int count = (int)attn2c_lesser(CHUNK, columns - i);
    int8_t bytes[CHUNK] = {0};
    attn2c_int8_row(bytes, row + i, NULL, count, inverse, 0);
    for (int h = 0; h < count; h++) sum += bytes[h], below -= bytes[h] < 0 ? bytes[h] : 0;
    put(groups + i / 4, bytes, count, sizeof *bytes);
  }
  if (!before) return;
  before[0] = attn2c_from_bits((uint32_t)(-128 * sum));
  before[leading] = attn2c_from_bits((uint32_t)below);
}

static float i8_element(uint32_t group, int64_t h) { return (float)(int8_t)(uint8_t)(group >> 8 * h); }

static float i8_scale(const float *row, int64_t columns) {
  float inverse;
  return attn2c_row_scale(row, NULL, (int)columns, &inverse);
}

static const packer packers[ATTN2C_TYPES] = {
    [ATTN2C_BF16] = {bf16_row, bf16_element, NULL},
    [ATTN2C_I8] = {i8_row, i8_element, i8_scale},
};

float attn2c_pack_scale(attn2c_type type, const float *row, int64_t columns) {
  return packers[type].scale(row, columns);
}

void attn2c_fill_line(float *x, int64_t count, int64_t offset) {
  const int64_t over = (offset + count) % LINE;
  if (over) memset(x + count, 0, (size_t)(LINE - over) * sizeof *x);
}

/* Copies rows that are groups already, with zeros up to the next weight. */
static void pack_rows(const attn2c_piece *piece, const float *values, float *to) {
  const int64_t floats = piece->count * attn2c_row_floats(piece->type, piece->columns);
  memcpy(to, values, (size_t)floats * sizeof *to);
  if (piece->is_last) attn2c_fill_line(to, floats, piece->offset);
}

void attn2c_pack(const attn2c_piece *piece, float *values, float *packed) {
  float *to = packed + piece->offset;
  const int64_t columns = attn2c_row_floats(piece->type, piece->columns), rest = piece->count % LINE,
                whole = piece->count - rest;
  for (int64_t j = 0; piece->type != ATTN2C_F32 && j < piece->count; j++)
    packers[piece->type].row(values + j * piece->columns, piece->columns, values + j * columns,
                             packed + piece->scales + j, piece->leading ? to + j : NULL, piece->leading);
  if (attn2c_facts_of(piece->type)->has_scales && piece->is_last)
    attn2c_fill_line(packed + piece->scales, piece->count, piece->scales);
  if (piece->leading == 0) {
    pack_rows(piece, values, to);
    return;
  }
  for (int64_t i = 0; i < rows_before(piece->type); i++)
    attn2c_fill_line(to + i * piece->leading, piece->count, 0);
  to += rows_before(piece->type) * piece->leading;
  for (int64_t i = 0; i < columns; i += LINE)
    for (int64_t j = 0; j < whole; j += LINE)
      pack_block(values + j * columns + i, columns, attn2c_lesser(LINE, columns - i),
                 to + i * piece->leading + j, piece->leading);
  if (rest) pack_last_line(values + whole * columns, rest, columns, to + whole, piece->leading);
}

attn2c_piece attn2c_piece_of(const attn2c_descriptor *descriptor, int weight, int64_t row) {
  attn2c_pieces pieces = {.descriptor = descriptor, .weight = weight};
  attn2c_piece piece;
  do attn2c_pieces_next(&pieces, &piece);
  while (row >= piece.first + piece.count);
  return piece;
}

int64_t attn2c_piece_row(const attn2c_piece *piece, int64_t row, int64_t *next) {
  const int64_t within = row - piece->first, leading = piece->leading;
  *next = leading ? leading : 1;
  if (!leading) return piece->offset + within * attn2c_row_floats(piece->type, piece->columns);
  return piece->offset + within + rows_before(piece->type) * leading;
}

attn2c_block_place attn2c_piece_blocks(const attn2c_piece *piece, float *packed, int64_t row) {
  const int64_t blocks = attn2c_blocks_of(piece->columns), within = row - piece->first;
  float *begin = packed + piece->offset;
  if (piece->leading)
    return (attn2c_block_place){(unsigned char *)begin, piece->leading, piece->column + within,
                                (blocks + 1) / 2 * 2};
  begin += within * attn2c_row_floats(piece->type, piece->columns);
  return (attn2c_block_place){(unsigned char *)begin, 1, 0, blocks};
}

/* Reads rows [begin, end) of the weight, which are in the piece. */
static void unpack_rows(const attn2c_piece *piece, const float *packed, int64_t begin, int64_t end,
                        float *values) {
  const int64_t columns = piece->columns, leading = piece->leading, rows = end - begin;
  if (!attn2c_piece_is_packed(piece)) {
    const float *from = packed + piece->offset + (begin - piece->first) * columns;
    memcpy(values, from, (size_t)(rows * columns) * sizeof *values);
    return;
  }
  /* Distances from one row's groups to the next row's, and from one group to the next. */
  const int64_t of_row = leading ? 1 : attn2c_row_floats(piece->type, columns);
  int64_t of_group;
  const float *from = packed + attn2c_piece_row(piece, begin, &of_group);
  if (piece->type == ATTN2C_F32) {
    for (int64_t i = 0; i < columns; i++)
      for (int64_t j = 0; j < rows; j++) values[j * columns + i] = from[i * leading + j];
    return;
  }
  const int64_t each = attn2c_facts_of(piece->type)->group;
  for (int64_t i = 0; i < columns; i++)
    for (int64_t j = 0; j < rows; j++) {
      const float scale = attn2c_facts_of(piece->type)->has_scales
                              ? packed[piece->scales + (begin - piece->first) + j]
                              : 1.0f;
      values[j * columns + i] =
          packers[piece->type].element(attn2c_bits(from[i / each * of_group + j * of_row]), i % each) * scale;
    }
}

void attn2c_unpack(const attn2c_descriptor *descriptor, int weight, const float *packed, int64_t first,
                   int64_t count, float *values) {
  attn2c_pieces pieces = {.descriptor = descriptor, .weight = weight};
  attn2c_piece piece;
  while (attn2c_pieces_next(&pieces, &piece) && piece.weight == weight) {
    const int64_t begin = first > piece.first ? first : piece.first;
    const int64_t end = attn2c_lesser(first + count, piece.first + piece.count);
    if (begin < end)
      (attn2c_piece_has_blocks(&piece) ? descriptor->readers->blocks->unpack : unpack_rows)(
          &piece, packed, begin, end, values + (begin - first) * piece.columns);
  }
}
