/* pack.h - a model's weights as the packed block has them, in pieces that are small enough to
 * be read into a cache and packed from there: so that every value is moved once, and no second
 * copy of a weight is ever held. */
#ifndef ATTN2C_PACK_H
#define ATTN2C_PACK_H

#include "base/descriptor.h"

/* Some rows of one weight: all of them within one panel, or of a weight that has none. */
typedef struct {
  int weight;           /* index into descriptor->weights */
  int64_t first, count; /* rows of the unpacked weight: of its first axis */
  int64_t columns;      /* elements of a row */
  int64_t offset;       /* floats from the start of the packed block, of the first row */
  int64_t leading;      /* of the panel; 0: rows, in their order */
  attn2c_type type;     /* of the numbers */
  int64_t scales; /* of ATTN2C_I8: floats from the start of the packed block, of the first row's scale */
  int is_last;    /* of the weight's pieces */
  int is_made;    /* scales, which packing another weight makes: nothing is read or packed */
} attn2c_piece;

/* A walk through all pieces of all weights, in the descriptor's order. Begins as {descriptor}. */
typedef struct {
  const attn2c_descriptor *descriptor;
  int weight;
  int64_t row;          /* of the weight, the next */
  int64_t panel, begin; /* its panel; the first row of that */
  int64_t offset;       /* floats from the weight's offset on, of that panel */
} attn2c_pieces;

/* Floats that a row of `columns` numbers takes where a weight is kept as rows: whole groups. */
int64_t attn2c_row_floats(attn2c_type type, int64_t columns);
/* 1 if a piece must be packed; the rows of any other are read to where they stay. */
static inline int attn2c_piece_is_packed(const attn2c_piece *piece) {
  return piece->leading > 0 || piece->type != ATTN2C_F32;
}
/* 0 behind the last piece. */
int attn2c_pieces_next(attn2c_pieces *pieces, attn2c_piece *piece);
/* Floats of the largest piece that must be packed. */
int64_t attn2c_pieces_largest(const attn2c_descriptor *descriptor);

/* Writes a piece that must be packed from its rows, [count][columns] row-major, to the packed block, and its
 * scales where it has them; values may be overwritten. Once all pieces of a weight are written, so are the
 * zeros between a panel's width and its leading dimension, and behind the scales. */
void attn2c_pack(const attn2c_piece *piece, float *values, float *packed);

/* Rows [first, first + count) of weight number `weight` out of the packed block, row-major: what was packed,
 * rounded to the type of its panels; of ATTN2C_I8 times their scales. */
void attn2c_unpack(const attn2c_descriptor *descriptor, int weight, const float *packed, int64_t first,
                   int64_t count, float *values);

#endif
