#include "weights/orders.h"
#include "weights/random.h"

static const attn2c_tensor *tensor_of(const attn2c_descriptor *model, int weight) {
  return &model->tensors[model->weights[weight].tensor];
}

static void draw(const attn2c_orders *orders, int64_t count, int32_t *inputs) {
  attn2c_random_integers(orders->seed, tensor_of(orders->model, orders->weight)->name, inputs, count, 0,
                         INT32_MAX);
  for (int64_t i = 0; i < count; i++) { /* puts input i before a random one of those before it */
    const int64_t place = inputs[i] % (i + 1);
    inputs[i] = inputs[place], inputs[place] = (int32_t)i;
  }
}

static int read_order(attn2c_orders *orders, int weight, attn2c_message *message) {
  if (orders->inputs && orders->weight == weight) return ATTN2C_OK;
  const attn2c_descriptor *model = orders->model;
  const int64_t count = attn2c_inputs_of_all(model, weight);
  attn2c_orders_end(orders);
  orders->inputs = attn2c_reserve((size_t)count * sizeof *orders->inputs);
  orders->weight = weight;
  if (!orders->inputs) return attn2c_say_no_memory(message);
  if (!orders->file) {
    draw(orders, count, orders->inputs);
    return ATTN2C_OK;
  }
  const attn2c_view *view = &model->views[model->weights[weight].first_view];
  const int status =
      attn2c_checkpoint_order(orders->file, orders->found[view->stored], count, orders->inputs, message);
  if (status) attn2c_orders_end(orders);
  return status;
}

/* Checks that two weights have their inputs in the same order. */
static int check_order(attn2c_orders *orders, int weight, int like, attn2c_message *message) {
  const attn2c_descriptor *model = orders->model;
  ATTN2C_TRY(read_order(orders, weight, message));
  int32_t *own = orders->inputs;
  const int64_t count = attn2c_inputs_of_all(model, weight);
  orders->inputs = NULL;
  int status = read_order(orders, like, message);
  const int is_same = !status && attn2c_inputs_of_all(model, like) == count &&
                      memcmp(own, orders->inputs, (size_t)count * sizeof *own) == 0;
  attn2c_free(own);
  if (status || is_same) return status;
  return attn2c_fail(message, ATTN2C_FORMAT,
                     "%s: its inputs are in other groups (g_idx) than %s has, but the model was built for "
                     "one order of both; build with input_order own for this layer",
                     tensor_of(model, weight)->name, tensor_of(model, like)->name);
}

static int check(attn2c_orders *orders, attn2c_message *message) {
  const attn2c_descriptor *model = orders->model;
  for (int i = 0; model->orders && i < model->weight_count; i++)
    if (orders->file && model->orders[i].like >= 0)
      ATTN2C_TRY(check_order(orders, i, model->orders[i].like, message));
  return ATTN2C_OK;
}

const attn2c_order_reader attn2c_group_order_reader = {read_order, check};
