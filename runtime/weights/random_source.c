/* random_source.c - opens sources of random weights, for checks and measurements without a checkpoint. */
#include "weights/random.h"
#include "weights/source.h"

/* Makes rows of a random weight: rows of the whole model's weight, of which a rank has a part. */
static void read_random(const attn2c_source *source, int index, int64_t first, int64_t count, int64_t columns,
                        float *values) {
  const attn2c_weight *weight = &source->model->weights[index];
  const char *name = source->model->tensors[weight->tensor].name;
  const attn2c_slice whole = {0, 0, columns, first + count, 0, 0};
  const attn2c_slice *of = source->model->slices ? &source->model->slices[index] : &whole;
  for (int64_t row = 0, together = 1; row < count; row += together) {
    const int64_t left = of->rows - (first + row) % of->rows;
    if (of->columns == columns) together = left < count - row ? left : count - row; /* that are adjacent */
    attn2c_random_part(
        source->seed, name, attn2c_source_row_of_all(source, index, first + row) * of->columns + of->column,
        values + row * columns, together * columns, weight->random_mean, weight->random_deviation);
  }
}

int attn2c_source_random(uint64_t seed, const attn2c_descriptor *model, attn2c_source **source,
                         attn2c_message *message) {
  *source = NULL;
  return attn2c_source_make(&(attn2c_source){.model = model, .seed = seed, .draw = read_random}, source,
                            message);
}
