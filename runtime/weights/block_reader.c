/* block_reader.c - reads weights in scale blocks from a source, packs them and unpacks them. Blocks that are
 * stored stay as they are if they fit the type; other numbers are rounded to it. */
#include "weights/source.h"

static void pack_blocks(const attn2c_piece *piece, const attn2c_scale_block *blocks, float *packed) {
  const attn2c_type_facts *facts = attn2c_facts_of(piece->type);
  const int64_t each = attn2c_blocks_of(piece->columns), row = attn2c_row_floats(piece->type, piece->columns);
  if (piece->leading && piece->column == 0)
    memset(packed + piece->offset, 0,
           (size_t)attn2c_panel_floats(piece->type, piece->columns, piece->leading) * sizeof *packed);
  if (!piece->leading) /* the bytes after a row's last block */
    for (int64_t j = 0; j < piece->count; j++) packed[piece->offset + (j + 1) * row - 1] = 0;
  for (int64_t j = 0; j < piece->count; j++) {
    const attn2c_block_place place = attn2c_piece_blocks(piece, packed, piece->first + j);
    for (int64_t i = 0; i < each; i++) attn2c_block_put(facts, &place, i, &blocks[j * each + i]);
  }
  if (!piece->leading && piece->is_last)
    attn2c_fill_line(packed + piece->offset, piece->count * row, piece->offset);
}

/* Reads rows [begin, end) of the weight, which are in a piece of scale blocks, as blocks. */
static void get_blocks(const attn2c_piece *piece, const float *packed, int64_t begin, int64_t end,
                       attn2c_scale_block *blocks) {
  const int64_t each = attn2c_blocks_of(piece->columns);
  for (int64_t row = begin; row < end; row++) {
    const attn2c_block_place place = attn2c_piece_blocks(piece, (float *)packed, row);
    for (int64_t i = 0; i < each; i++)
      attn2c_block_get(attn2c_facts_of(piece->type), &place, i, blocks + (row - begin) * each + i);
  }
}

/* Does the same as floats. */
static void unpack_blocks(const attn2c_piece *piece, const float *packed, int64_t begin, int64_t end,
                          float *values) {
  attn2c_scale_block block;
  for (int64_t row = begin; row < end; row++) {
    const attn2c_block_place place = attn2c_piece_blocks(piece, (float *)packed, row);
    for (int64_t j = 0; j < piece->columns; j++) {
      const int within = (int)(j % ATTN2C_BLOCK_NUMBERS);
      if (within == 0)
        attn2c_block_get(attn2c_facts_of(piece->type), &place, j / ATTN2C_BLOCK_NUMBERS, &block);
      values[(row - begin) * piece->columns + j] = attn2c_block_number(&block, within);
    }
  }
}

/* Reads rows of the packed block as scale blocks, [count][blocks of a row]. Returns 0 if the weight is not in
 * blocks. */
static int read_packed(const attn2c_descriptor *descriptor, int weight, const float *packed, int64_t first,
                       int64_t count, attn2c_scale_block *blocks) {
  attn2c_pieces pieces = {.descriptor = descriptor, .weight = weight};
  attn2c_piece piece;
  while (attn2c_pieces_next(&pieces, &piece) && piece.weight == weight) {
    if (!attn2c_piece_has_blocks(&piece)) return 0;
    const int64_t begin = first > piece.first ? first : piece.first;
    const int64_t end = attn2c_lesser(first + count, piece.first + piece.count);
    if (begin < end)
      get_blocks(&piece, packed, begin, end, blocks + (begin - first) * attn2c_blocks_of(piece.columns));
  }
  return 1;
}

/* Reads rows from the views of a weight as blocks; *found is 0 if one of the views has none. */
static int read_view_blocks(const attn2c_source *source, int index, int64_t first, int64_t count,
                            int64_t columns, attn2c_scale_block *blocks, int *found,
                            attn2c_message *message) {
  const attn2c_weight *weight = &source->model->weights[index];
  int64_t covered = 0;
  for (int v = 0; v < weight->view_count; v++) {
    const attn2c_view *view = &source->model->views[weight->first_view + v];
    int64_t rows;
    ATTN2C_TRY(attn2c_view_read_blocks(source->file, attn2c_source_of_view(source, view), view, first, count,
                                       columns, blocks, &rows, message));
    covered += rows;
  }
  *found = covered == count;
  return ATTN2C_OK;
}

int attn2c_source_stored_blocks(attn2c_source *source, int index, int64_t first, int64_t count,
                                attn2c_scale_block *blocks, int *found, attn2c_message *message) {
  const attn2c_tensor *tensor = attn2c_source_tensor(source, index);
  const int64_t columns = attn2c_elements(tensor) / tensor->shape[0];
  *found = 0;
  if (source->packed) {
    *found = read_packed(attn2c_packed_model(source->packed), index, attn2c_packed_block(source->packed),
                         first, count, blocks);
    return ATTN2C_OK;
  }
  if (!source->file) return ATTN2C_OK;
  const int of = attn2c_ordered_by(source->model, index);
  if (of < 0) return read_view_blocks(source, index, first, count, columns, blocks, found, message);
  ATTN2C_TRY(source->model->readers->orders->read(&source->orders, of, message));
  *found = 1;
  for (int64_t r = 0; r < count && *found; r++)
    ATTN2C_TRY(read_view_blocks(source, index, attn2c_source_ordered_row(source, index, first + r), 1,
                                columns, blocks + r * attn2c_blocks_of(columns), found, message));
  return ATTN2C_OK;
}

/* Returns the powers that weigh the errors of a weight's inputs; NULL: all alike. */
static const signed char *importance_of(const attn2c_descriptor *model, int index) {
  const attn2c_factors *factors = model->factors ? &model->factors[index] : NULL;
  return factors && factors->sign == 0 ? factors->powers : NULL;
}

/* Rounds the blocks of a row, or only blocks that do not fit the type. x: the row's numbers, or NULL: the
 * numbers of the blocks. */
static void round_row(const attn2c_type_facts *facts, const float *x, const signed char *powers,
                      int64_t columns, attn2c_scale_block *blocks) {
  const int64_t together = attn2c_blocks_together(facts) * ATTN2C_BLOCK_NUMBERS;
  for (int64_t at = 0; at < columns; at += together) {
    attn2c_scale_block *to = blocks + at / ATTN2C_BLOCK_NUMBERS;
    const int count = (int)attn2c_lesser(together, columns - at);
    float numbers[ATTN2C_UNIT_NUMBERS];
    if (!x && attn2c_blocks_fit(facts, to, (int)attn2c_blocks_of(count))) continue;
    for (int i = 0; i < count; i++)
      numbers[i] =
          x ? x[at + i] : attn2c_block_number(&to[i / ATTN2C_BLOCK_NUMBERS], i % ATTN2C_BLOCK_NUMBERS);
    attn2c_blocks_round(facts, numbers, powers ? powers + at : NULL, count, to);
  }
}

/* Reads rows as floats and rounds them to blocks. */
static int round_rows(attn2c_source *source, int index, int64_t first, int64_t count, int64_t columns,
                      attn2c_scale_block *blocks, attn2c_message *message) {
  const attn2c_type_facts *facts = attn2c_facts_of(source->model->packings[index].type);
  const signed char *powers = importance_of(source->model, index);
  ATTN2C_OWN_ALIGNED float *values = attn2c_reserve((size_t)(count * columns) * sizeof *values);
  if (!values) return attn2c_say_no_memory(message);
  ATTN2C_TRY(attn2c_source_read_rows(source, index, first, count, values, message));
  for (int64_t r = 0; r < count; r++)
    round_row(facts, values + r * columns, powers, columns, blocks + r * attn2c_blocks_of(columns));
  return ATTN2C_OK;
}

static int read_blocks(attn2c_source *source, int index, int64_t first, int64_t count,
                       attn2c_scale_block *blocks, attn2c_message *message) {
  const attn2c_tensor *tensor = &source->model->tensors[source->model->weights[index].tensor];
  const int64_t columns = attn2c_elements(tensor) / tensor->shape[0];
  int found;
  attn2c_source_tell(source, index);
  ATTN2C_TRY(attn2c_source_stored_blocks(source, index, first, count, blocks, &found, message));
  if (!found) return round_rows(source, index, first, count, columns, blocks, message);
  for (int64_t r = 0; r < count; r++)
    round_row(attn2c_facts_of(source->model->packings[index].type), NULL, importance_of(source->model, index),
              columns, blocks + r * attn2c_blocks_of(columns));
  return ATTN2C_OK;
}

const attn2c_block_reader attn2c_scale_block_reader = {read_blocks, pack_blocks, unpack_blocks};
