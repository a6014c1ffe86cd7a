/* layout.c - computes the checksum of everything that decides a packed block, field by field. It contains no
 * padding of a struct and no pointer. */
#include "weights/layout.h"
#include "base/checksum.h"

#include <string.h>

static uint64_t add_number(uint64_t sum, int64_t number) {
  return attn2c_checksum(sum, &number, sizeof number);
}

/* Hashes the terminating NUL too, so that ("ab", "c") differs from ("a", "bc"). NULL differs from "". */
static uint64_t add_text(uint64_t sum, const char *text) {
  return text ? attn2c_checksum(sum, text, strlen(text) + 1) : add_number(sum, -1);
}

static uint64_t add_shape(uint64_t sum, int rank, const int64_t *shape) {
  sum = add_number(sum, rank);
  for (int i = 0; i < rank; i++) sum = add_number(sum, shape[i]);
  return sum;
}

static uint64_t add_view(uint64_t sum, const attn2c_descriptor *model, const attn2c_view *view) {
  const attn2c_stored *stored = &model->stored[view->stored];
  const int64_t numbers[] = {view->flags,   view->row,   view->rows,     view->column,
                             view->columns, view->first, view->row_step, view->column_step};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sum = add_number(sum, numbers[i]);
  sum = attn2c_checksum(sum, &view->factor, sizeof view->factor);
  for (int i = 0; stored->names[i]; i++) sum = add_text(sum, stored->names[i]);
  return add_shape(add_text(sum, NULL), stored->rank, stored->shape);
}

static uint64_t add_weight(uint64_t sum, const attn2c_descriptor *model, const attn2c_weight *weight) {
  const attn2c_tensor *tensor = &model->tensors[weight->tensor];
  const int64_t numbers[] = {weight->view_count,  weight->offset,  weight->panel,
                             weight->panel_count, weight->tail[0], weight->tail[1]};
  sum = add_text(add_text(sum, tensor->name), weight->formula);
  sum = add_shape(sum, tensor->rank, tensor->shape);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sum = add_number(sum, numbers[i]);
  for (int v = 0; v < weight->view_count; v++)
    sum = add_view(sum, model, &model->views[weight->first_view + v]);
  return sum;
}

/* Factors are one per column of a matrix, one per element of a vector. */
static uint64_t add_factors(uint64_t sum, const attn2c_factors *factors, const attn2c_tensor *tensor) {
  const int64_t count = tensor->shape[tensor->rank - 1];
  sum = add_number(add_number(sum, factors->powers ? factors->sign : 0), (int64_t)factors->checksum);
  return factors->powers ? attn2c_checksum(sum, factors->powers, (size_t)count) : sum;
}

uint64_t attn2c_layout(const attn2c_descriptor *model) {
  uint64_t sum = add_number(add_number(0, model->weight_count), model->weight_floats);
  for (int i = 0; i < model->weight_count; i++) sum = add_weight(sum, model, &model->weights[i]);
  if (model->coding) sum = add_number(sum, model->coding);
  if (model->slices) sum = add_number(add_number(sum, model->rank), model->divided->count);
  for (int i = 0; model->packings && i < model->weight_count; i++)
    sum = add_number(add_number(sum, model->packings[i].type), model->packings[i].scales);
  for (int i = 0; model->factors && i < model->weight_count; i++)
    sum = add_factors(sum, &model->factors[i], &model->tensors[model->weights[i].tensor]);
  return sum;
}
