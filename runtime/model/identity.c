/* identity.c - computes the checksum of an opened model's packed block, once for each model. */
#include "model/model.h"
#include "base/checksum.h"

uint64_t attn2c_weights_checksum(const attn2c_model *model) {
  const size_t bytes = (size_t)model->descriptor->weight_floats * sizeof(float);
  if (model->packed && !model->own) return attn2c_packed_checksum(model->packed);
  uint64_t sum = atomic_load(model->checksum);
  if (sum != 0) return sum;
  sum = attn2c_checksum(0, model->weights, bytes);
  atomic_store(model->checksum, sum); /* another thread stores the same */
  return sum;
}
