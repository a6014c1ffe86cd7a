/* layout.c - computes the checksum of everything that decides a packed block, field by field. It contains no
 * padding of a struct and no pointer. */
#include "packing/packed_header.h"
#include "base/checksum.h"

typedef attn2c_checksum_parts parts;

static void add_number(parts *sum, int64_t number) { attn2c_checksum_add(sum, &number, sizeof number); }

static void add_numbers(parts *sum, const int64_t *numbers, size_t count) {
  for (size_t i = 0; i < count; i++) add_number(sum, numbers[i]);
}

/* Hashes the terminating NUL too, so that ("ab", "c") differs from ("a", "bc"). NULL differs from "". */
static void add_text(parts *sum, const char *text) {
  if (text)
    attn2c_checksum_add(sum, text, strlen(text) + 1);
  else
    add_number(sum, -1);
}

static void add_shape(parts *sum, int rank, const int64_t *shape) {
  add_number(sum, rank);
  add_numbers(sum, shape, (size_t)rank);
}

static void add_view(parts *sum, const attn2c_descriptor *model, const attn2c_view *view) {
  const attn2c_stored *stored = &model->stored[view->stored];
  const int64_t numbers[] = {view->flags,   view->row,   view->rows,     view->column,
                             view->columns, view->first, view->row_step, view->column_step};
  add_numbers(sum, numbers, sizeof numbers / sizeof *numbers);
  attn2c_checksum_add(sum, &view->factor, sizeof view->factor);
  for (int i = 0; stored->names[i]; i++) add_text(sum, stored->names[i]);
  add_text(sum, NULL);
  add_shape(sum, stored->rank, stored->shape);
}

static void add_weight(parts *sum, const attn2c_descriptor *model, const attn2c_weight *weight) {
  const attn2c_tensor *tensor = &model->tensors[weight->tensor];
  const int64_t numbers[] = {weight->view_count,  weight->offset,  weight->panel,
                             weight->panel_count, weight->tail[0], weight->tail[1]};
  add_text(sum, tensor->name);
  add_text(sum, weight->formula);
  add_shape(sum, tensor->rank, tensor->shape);
  add_numbers(sum, numbers, sizeof numbers / sizeof *numbers);
  for (int v = 0; v < weight->view_count; v++) add_view(sum, model, &model->views[weight->first_view + v]);
}

/* Factors are one per column of a matrix, one per element of a vector. */
static void add_factors(parts *sum, const attn2c_factors *factors, const attn2c_tensor *tensor) {
  const int64_t count = tensor->shape[tensor->rank - 1];
  add_number(sum, factors->powers ? factors->sign : 0);
  add_number(sum, (int64_t)factors->checksum);
  if (factors->powers) attn2c_checksum_add(sum, factors->powers, (size_t)count);
}

uint64_t attn2c_layout(const attn2c_descriptor *model) {
  parts sum = attn2c_checksum_begin(0);
  add_number(&sum, model->weight_count);
  add_number(&sum, model->weight_floats);
  for (int i = 0; i < model->weight_count; i++) add_weight(&sum, model, &model->weights[i]);
  if (model->coding) add_number(&sum, model->coding);
  if (model->adapter) add_number(&sum, (int64_t)model->adapter);
  if (model->slices) {
    add_number(&sum, model->rank);
    add_number(&sum, model->divided->count);
  }
  for (int i = 0; model->packings && i < model->weight_count; i++) {
    add_number(&sum, model->packings[i].type);
    add_number(&sum, model->packings[i].scales);
  }
  for (int i = 0; model->orders && i < model->weight_count; i++) {
    add_number(&sum, model->orders[i].of);
    add_number(&sum, model->orders[i].like);
  }
  for (int i = 0; model->factors && i < model->weight_count; i++)
    add_factors(&sum, &model->factors[i], &model->tensors[model->weights[i].tensor]);
  return attn2c_checksum_end(&sum);
}
