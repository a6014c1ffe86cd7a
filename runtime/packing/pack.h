/* pack.h - packs a model's weights into its packed block, in pieces that fit into a cache. Every value is
 * moved once, and no second copy of a weight is ever held. */
#pragma once

#include "base/readers.h"
#include "packing/scale_blocks.h"

/* Some rows of one weight, all within one panel if the weight has panels. */
typedef struct {
  int weight;           /* index into descriptor->weights */
  int64_t first, count; /* rows of the unpacked weight (its first axis) */
  int64_t columns;      /* elements of a row */
  int64_t offset;   /* of the first row, in floats from the start of the packed block; in scale blocks with
                       panels, of the panel */
  int64_t column;   /* the first row's output of its panel; 0 without panels */
  int64_t leading;  /* the panel's leading dimension; 0: rows, in their order */
  attn2c_type type; /* number type */
  int64_t scales;   /* for a type with scales: place of the first row's scale, in floats from the start of the
                       packed block */
  int is_last;      /* 1: the weight's last piece */
  int is_made;      /* 1: scales, which packing another weight makes; nothing is read or packed */
} attn2c_piece;

/* A walk over all pieces of all weights, in the descriptor's order. Begins as {descriptor}. */
typedef struct {
  const attn2c_descriptor *descriptor;
  int weight;
  int64_t row;          /* the weight's next row */
  int64_t panel, begin; /* its panel; the first row of the panel */
  int64_t offset;       /* of the panel, in floats from the weight's offset */
} attn2c_pieces;

/* Returns the floats of a row of `columns` numbers in a weight that is kept as rows: whole groups. */
int64_t attn2c_row_floats(attn2c_type type, int64_t columns);
/* Returns the floats that a weight takes in the packed block, in whole cache lines. */
int64_t attn2c_packed_floats(const attn2c_descriptor *descriptor, int weight);
/* True if a piece must be packed; the rows of other pieces are read in place. */
static inline int attn2c_piece_is_packed(const attn2c_piece *piece) {
  return piece->leading > 0 || piece->type != ATTN2C_F32;
}
/* True if the piece's numbers are in scale blocks. */
static inline int attn2c_piece_has_blocks(const attn2c_piece *piece) {
  return attn2c_facts_of(piece->type)->bits > 0;
}
/* Returns 0 after the last piece. */
int attn2c_pieces_next(attn2c_pieces *pieces, attn2c_piece *piece);
/* Returns the piece of a weight that has a row of it. */
attn2c_piece attn2c_piece_of(const attn2c_descriptor *descriptor, int weight, int64_t row);
/* Returns the place of the first group of a row of a piece, in floats from the start of the packed block, for
 * a type without scale blocks. *next: floats from one group to the next. */
int64_t attn2c_piece_row(const attn2c_piece *piece, int64_t row, int64_t *next);
/* Returns the place of a row of a piece in scale blocks. */
attn2c_block_place attn2c_piece_blocks(const attn2c_piece *piece, float *packed, int64_t row);
/* Returns the floats of the largest piece that must be packed, as rows or as scale blocks. */
int64_t attn2c_pieces_largest(const attn2c_descriptor *descriptor);

/* Returns the floats of a panel of `leading` outputs. */
int64_t attn2c_panel_floats(attn2c_type type, int64_t columns, int64_t leading);
/* Writes zeros from x + count to the end of its cache line. x is `offset` floats after the start of a
 * line. */
void attn2c_fill_line(float *x, int64_t count, int64_t offset);
/* Packs a piece from its rows, [count][columns] row-major, into the packed block. It also writes the scales
 * if there are any; values may be overwritten. Once all pieces of a weight are written, so are the zeros
 * between a panel's width and its leading dimension, and after the scales. */
void attn2c_pack(const attn2c_piece *piece, float *values, float *packed);

/* Returns the scale of a row of a weight, for a type with scales. */
float attn2c_pack_scale(attn2c_type type, const float *row, int64_t columns);

/* Writes rows [first, first + count) of weight number `weight` from the packed block, row-major. They are the
 * packed values, rounded to the type of the panels, times their scales if the type has scales. */
void attn2c_unpack(const attn2c_descriptor *descriptor, int weight, const float *packed, int64_t first,
                   int64_t count, float *values);

struct attn2c_source; /* weights.h */

/* Reads and packs weights in scale blocks. */
typedef struct attn2c_block_reader {
  /* Writes rows of a weight whose packed type has scale blocks as blocks of that type. Stored blocks that fit
   * the type stay as they are; other numbers are rounded to it. */
  int (*read)(struct attn2c_source *source, int index, int64_t first, int64_t count,
              attn2c_scale_block *blocks, attn2c_message *message);
  /* Packs a piece in scale blocks, from the blocks of its rows, [count][blocks of a row], which must fit the
   * type (scale_blocks.h). */
  void (*pack)(const attn2c_piece *piece, const attn2c_scale_block *blocks, float *packed);
  /* Reads rows [begin, end) of the weight, which are in the piece. */
  void (*unpack)(const attn2c_piece *piece, const float *packed, int64_t begin, int64_t end, float *values);
} attn2c_block_reader;
