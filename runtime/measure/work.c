/* work.c - scales the operations of ops to a sequence's length: products of attention by the pairs of query
 * and key that their mask leaves, other ops by rows. */
#include "measure/work.h"

/* Returns the pairs of query and key that an op's static mask leaves; gen/data/ops.lua counts them so, too.
 */
static double visible_pairs(const attn2c_op *op, int64_t length) {
  const int64_t left = (int64_t)attn2c_number(op, "left", -1),
                right = (int64_t)attn2c_number(op, "right", -1);
  const int is_causal = attn2c_number(op, "causal", 0) != 0;
  double count = 0;
  for (int64_t i = 0; i < length; i++) {
    const int64_t first = left >= 0 && i > left ? i - left : 0;
    int64_t last = right >= 0 && i + right < length ? i + right : length - 1;
    if (is_causal && last > i) last = i;
    count += (double)(last - first + 1);
  }
  return count;
}

double attn2c_op_work(const attn2c_descriptor *model, const attn2c_op *op, int64_t length) {
  if (length == 0 || op->flops == 0.0) return op->flops;
  const int64_t most = model->lengths->sizes[0].seq;
  if (op->role == ATTN2C_MAKES_SCORES || op->role == ATTN2C_READS_WEIGHTS)
    return op->flops / visible_pairs(op, most) * visible_pairs(op, length);
  /* After a pool there is one row for each sequence, without an axis of rows. */
  if (model->tensors[op->result].rank < 3) return op->flops;
  return op->flops / (double)most * (double)length;
}

double attn2c_entry_work(const attn2c_descriptor *model, const attn2c_entry *entry, int64_t length) {
  if (length == 0) return entry->flops;
  double sum = 0;
  for (int i = 0; i < entry->op_count; i++) sum += attn2c_op_work(model, &entry->ops[i], length);
  return sum;
}
