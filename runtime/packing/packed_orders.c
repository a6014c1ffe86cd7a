/* packed_orders.c - checks the orders of inputs in packed weights, by which a model gathers numbers. */
#include "base/readers.h"

/* Returns the place of the first element of an order that is not the number of an input, or is there twice;
 * the order's length if it is right; -1 if there is no memory. */
static int64_t first_wrong(const float *order, int64_t count, int64_t inputs) {
  ATTN2C_OWN char *has = calloc((size_t)inputs, 1);
  int64_t right = 0;
  if (!has) return -1;
  while (right < count && order[right] >= 0 && order[right] < (float)inputs && !has[(int64_t)order[right]])
    has[(int64_t)order[right++]] = 1;
  return right;
}

int attn2c_packed_orders_check(const attn2c_descriptor *model, const float *block, attn2c_message *message) {
  for (int i = 0; i < model->weight_count; i++) {
    if (!attn2c_is_order(model, i)) continue;
    const attn2c_tensor *tensor = &model->tensors[model->weights[i].tensor];
    const int64_t count = attn2c_elements(tensor), inputs = attn2c_inputs_of_all(model, model->orders[i].of);
    const int64_t right = first_wrong(block + model->weights[i].offset, count, inputs);
    if (right == count) continue;
    if (right < 0)
      attn2c_say(message, "no memory for checking the weights");
    else
      attn2c_say(message, "%s: element %lld is not the number of an input, or is there twice", tensor->name,
                 (long long)right);
    return right < 0 ? ATTN2C_MEMORY : ATTN2C_FORMAT;
  }
  return ATTN2C_OK;
}
