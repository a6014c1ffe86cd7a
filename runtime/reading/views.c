/* views.c - reads boxes: adjacent rows at once, other rows one by one, columns by bands. */
#include "reading/views.h"

/* Floats of a band: enough for long reads, and few compared with all weights. */
#define LEAST_BAND ((int64_t)1 << 16)
#define MOST_BAND  ((int64_t)1 << 20)

/* True if a view changes the result of those before it. */
static int is_added(const attn2c_view *view) {
  return (view->flags & (ATTN2C_VIEW_ADDED | ATTN2C_VIEW_TIMES)) != 0;
}

/* True if a reader of its own reads a view. */
static int is_own(const attn2c_view *view) {
  return (view->flags & (ATTN2C_VIEW_RESIZED | ATTN2C_VIEW_TAPS)) != 0;
}

static const attn2c_view_reader *own_reader(const attn2c_readers *readers, const attn2c_view *view) {
  return view->flags & ATTN2C_VIEW_RESIZED ? readers->resized : readers->taps;
}

/* True if a row's elements are not adjacent: the tensor is [in][out]. */
static int is_transposed(const attn2c_view *view) {
  return view->column_step != 1 && view->columns > 1 && !is_own(view);
}

int64_t attn2c_view_last(const attn2c_readers *readers, const attn2c_view *view) {
  if (is_own(view)) return view->first + own_reader(readers, view)->elements(view) - 1;
  return view->first + (view->rows - 1) * view->row_step + (view->columns - 1) * view->column_step;
}

int attn2c_band_make(const attn2c_descriptor *model, attn2c_band *band) {
  int64_t capacity = 0, all = 0;
  *band = (attn2c_band){0};
  for (int w = 0; w < model->weight_count; w++) {
    const attn2c_weight *weight = &model->weights[w];
    for (int v = 0; v < weight->view_count; v++) {
      const attn2c_view *view = &model->views[weight->first_view + v];
      all += view->rows * view->columns;
      const int64_t whole = view->columns * ((view->rows - 1) * view->row_step + 1);
      const int64_t needed = is_transposed(view) ? whole : is_added(view) || is_own(view) ? view->columns : 0;
      if (needed > capacity) capacity = needed;
    }
  }
  int64_t limit = all / 32 > LEAST_BAND ? attn2c_lesser(all / 32, MOST_BAND) : LEAST_BAND;
  for (int v = 0; v < model->weight_count; v++) { /* at least one row */
    const attn2c_weight *weight = &model->weights[v];
    for (int i = 0; i < weight->view_count; i++)
      if (model->views[weight->first_view + i].columns > limit)
        limit = model->views[weight->first_view + i].columns;
  }
  if (capacity == 0) return ATTN2C_OK;
  band->capacity = attn2c_lesser(capacity, limit);
  band->values = malloc((size_t)band->capacity * sizeof *band->values);
  return band->values ? ATTN2C_OK : ATTN2C_MEMORY;
}

void attn2c_band_free(attn2c_band *band) { ATTN2C_FREE(band->values, band->taps); }

/* Computes to[j] =, += or *= factor from[j step], or factor (from[j step] + 1). */
static void put(const attn2c_view *view, const float *from, int64_t step, int64_t count, float *to) {
  const float factor = (float)view->factor, more = view->flags & ATTN2C_VIEW_PLUS_ONE ? 1.0f : 0.0f;
  if (view->flags & ATTN2C_VIEW_TIMES) {
    for (int64_t j = 0; j < count; j++) to[j] *= factor * from[j * step];
    return;
  }
  for (int64_t j = 0; j < count; j++)
    to[j] = (is_added(view) ? to[j] : 0.0f) + factor * (from[j * step] + more);
}

/* Reads rows [row, row + count) of a view whose rows are adjacent elements, like the weight's. */
static int read_rows(const attn2c_checkpoint *checkpoint, int tensor, const attn2c_view *view, int64_t row,
                     int64_t count, int64_t columns, float *to, attn2c_band *band, attn2c_message *message) {
  const int together = !is_added(view) && view->row_step == view->columns && columns == view->columns;
  const int64_t at_once = together ? count : 1, floats = at_once * view->columns;
  if (is_added(view)) band->view = NULL; /* the band's buffer is used */
  for (int64_t i = 0; i < count; i += at_once) {
    float *place = to + i * columns, *values = is_added(view) ? band->values : place;
    const int64_t first = view->first + (row + i) * view->row_step;
    ATTN2C_TRY(attn2c_checkpoint_read(checkpoint, tensor, first, floats, values, message));
    if (view->flags || view->factor != 1.0) put(view, values, 1, floats, place);
  }
  return ATTN2C_OK;
}

/* Fills the band with the view's rows from `row` on, as far as they fit. */
static int fill_band(const attn2c_checkpoint *checkpoint, int tensor, const attn2c_view *view, int64_t row,
                     attn2c_band *band, attn2c_message *message) {
  if (band->view == view && row >= band->row && row < band->row + band->rows) return ATTN2C_OK;
  const int64_t step = view->row_step ? view->row_step : 1;
  const int64_t length = attn2c_lesser(band->capacity / view->columns, (view->rows - 1 - row) * step + 1);
  band->view = NULL;
  for (int64_t j = 0; j < view->columns; j++) {
    const int64_t first = view->first + row * view->row_step + j * view->column_step;
    ATTN2C_TRY(attn2c_checkpoint_read(checkpoint, tensor, first, length, band->values + j * length, message));
  }
  band->view = view, band->row = row, band->rows = (length - 1) / step + 1, band->length = length;
  return ATTN2C_OK;
}

/* Does the same for a view whose columns are adjacent elements. */
static int read_columns(const attn2c_checkpoint *checkpoint, int tensor, const attn2c_view *view, int64_t row,
                        int64_t count, int64_t columns, float *to, attn2c_band *band,
                        attn2c_message *message) {
  for (int64_t i = 0; i < count; i++) {
    ATTN2C_TRY(fill_band(checkpoint, tensor, view, row + i, band, message));
    const float *from = band->values + (row + i - band->row) * view->row_step;
    put(view, from, band->length, view->columns, to + i * columns);
  }
  return ATTN2C_OK;
}

int attn2c_view_read(const attn2c_checkpoint *checkpoint, int tensor, const attn2c_view *view, int64_t first,
                     int64_t count, int64_t columns, float *values, attn2c_band *band,
                     attn2c_message *message) {
  const int64_t begin = first > view->row ? first : view->row;
  const int64_t end = attn2c_lesser(first + count, view->row + view->rows);
  if (begin >= end) return ATTN2C_OK;
  float *to = values + (begin - first) * columns + view->column;
  return (is_own(view)          ? own_reader(attn2c_checkpoint_readers(checkpoint), view)->read
          : is_transposed(view) ? read_columns
                                : read_rows)(checkpoint, tensor, view, begin - view->row, end - begin,
                                             columns, to, band, message);
}

int attn2c_view_read_blocks(const attn2c_checkpoint *checkpoint, int tensor, const attn2c_view *view,
                            int64_t first, int64_t count, int64_t columns, attn2c_scale_block *blocks,
                            int64_t *rows, attn2c_message *message) {
  const int64_t begin = first > view->row ? first : view->row;
  const int64_t end = attn2c_lesser(first + count, view->row + view->rows),
                each = columns / ATTN2C_BLOCK_NUMBERS;
  const int flags = view->flags & ~ATTN2C_VIEW_IN_GROUPS;
  const int is_whole = view->column == 0 && view->columns == columns && !is_transposed(view) && !flags;
  *rows = 0;
  if (begin >= end || !is_whole || columns % ATTN2C_BLOCK_NUMBERS ||
      !attn2c_checkpoint_has_blocks(checkpoint, tensor, view->first, view->row_step, columns))
    return ATTN2C_OK;
  for (int64_t row = begin; row < end; row++) {
    attn2c_scale_block *to = blocks + (row - first) * each;
    ATTN2C_TRY(attn2c_checkpoint_read_blocks(
        checkpoint, tensor, view->first + (row - view->row) * view->row_step, columns, to, message));
    for (int64_t i = 0; i < each && view->factor != 1.0; i++)
      for (int part = 0; part < ATTN2C_BLOCK_PARTS; part++)
        to[i].scale[part] *= (float)view->factor, to[i].least[part] *= (float)view->factor;
    for (int64_t i = 0; i < each && view->factor != 1.0; i++) to[i].unit = to[i].least_unit = 0;
  }
  *rows = end - begin;
  return ATTN2C_OK;
}
