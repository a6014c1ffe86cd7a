/* orders.h - the orders of inputs of weights in groups that are apart (act-order): what they are in a file,
 * and whether those that the model has as one are one. */
#pragma once

#include "reading/checkpoint.h"

/* Reads orders of a model from a file, or draws them if there is none. The owner sets all but the last two to
 * what they are, and the last two to zero. */
typedef struct {
  const attn2c_descriptor *model;
  attn2c_checkpoint *file; /* NULL: orders are random */
  const int *found;        /* for each stored tensor of the model its number in the file */
  uint64_t seed;           /* of random ones */
  int32_t *inputs;         /* the order that was read last: numbers of inputs in the file; NULL: none */
  int weight;              /* whose it is */
} attn2c_orders;

typedef struct attn2c_order_reader {
  /* Reads the order of a weight's inputs on all ranks into `inputs`. Returns a status, with a line. */
  int (*read)(attn2c_orders *orders, int weight, attn2c_message *message);
  /* Checks that weights that the model has in one order have it in the file. Does the same. */
  int (*check)(attn2c_orders *orders, attn2c_message *message);
} attn2c_order_reader;

/* Frees what was read. */
static inline void attn2c_orders_end(attn2c_orders *orders) {
  attn2c_free(orders->inputs);
  orders->inputs = NULL;
}
