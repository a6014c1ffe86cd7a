#include "model/text/reader.h"

static const attn2c_tensor *output_tensor(const attn2c_reader *reader, int output) {
  const attn2c_entry *primary = attn2c_primary_entry(reader->model);
  return &reader->model->tensors[primary->outputs[output]];
}

int64_t attn2c_reader_extent(const attn2c_reader *reader, int output, int axis, int64_t texts, int64_t rows) {
  const attn2c_axes *axes = &reader->facts->calls->outputs[output];
  if (axis == axes->batch) return texts;
  if (axis == axes->rows || axis == axes->keys) return rows;
  const attn2c_tensor *tensor = output_tensor(reader, output);
  const size_t kept = axis == tensor->rank - 1 ? attn2c_text_kept(reader, output) : 0;
  return kept ? (int64_t)kept : tensor->shape[axis];
}

int64_t attn2c_reader_elements(const attn2c_reader *reader, int output, int64_t rows) {
  int64_t elements = 1;
  for (int i = 0; i < output_tensor(reader, output)->rank; i++)
    elements *= attn2c_reader_extent(reader, output, i, 1, rows);
  return elements;
}

/* One output's box of one text, copied from an array of `seq` rows to one of `rows`. */
typedef struct {
  int rank;
  int64_t from[ATTN2C_MAX_RANK], to[ATTN2C_MAX_RANK], taken[ATTN2C_MAX_RANK];
} box;

static void copy(const box *b, int axis, const int32_t *from, int32_t *to) {
  if (axis == b->rank) {
    *to = *from;
    return;
  }
  int64_t from_step = 1, to_step = 1;
  for (int i = axis + 1; i < b->rank; i++) from_step *= b->from[i], to_step *= b->to[i];
  if (axis == b->rank - 1) {
    memcpy(to, from, (size_t)b->taken[axis] * sizeof *to);
    return;
  }
  for (int64_t i = 0; i < b->taken[axis]; i++) copy(b, axis + 1, from + i * from_step, to + i * to_step);
}

void attn2c_reader_place(const attn2c_reader *reader, int output, const void *from, int64_t from_rows,
                         int64_t length, void *to, int64_t to_rows) {
  const attn2c_axes *axes = &reader->facts->calls->outputs[output];
  box b = {.rank = output_tensor(reader, output)->rank};
  for (int a = 0; a < b.rank; a++) {
    b.from[a] = attn2c_reader_extent(reader, output, a, 1, from_rows),
    b.to[a] = attn2c_reader_extent(reader, output, a, 1, to_rows);
    b.taken[a] = a == axes->rows || a == axes->keys ? length : b.to[a];
  }
  copy(&b, 0, from, to);
}
