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

/* Returns the rows of the longest sequence of the entry that an op is in. */
static int64_t most_of(const attn2c_descriptor *model, const attn2c_op *op) {
  const attn2c_entry *encode = attn2c_encode_entry(model);
  int is_of_encoder = 0; /* which comes first, after the one with adapters */
  for (const attn2c_entry *e = model->entries; encode && e <= encode; e++)
    is_of_encoder |= op >= e->ops && op < e->ops + e->op_count;
  return (is_of_encoder ? model->continued->source_lengths : model->lengths)->sizes[0].seq;
}

double attn2c_op_work(const attn2c_descriptor *model, const attn2c_op *op, int64_t length) {
  if (length == 0 || op->flops == 0.0) return op->flops;
  const int64_t most = most_of(model, op);
  /* Queries with the keys of a source, or their weights with its values. */
  if (model->tensors[op->operands[1]].kind == ATTN2C_STATE) return 0.0;
  if (op->role == ATTN2C_MAKES_SCORES || op->role == ATTN2C_SCORES_TO_SCORES ||
      op->role == ATTN2C_READS_WEIGHTS)
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

double attn2c_op_tokens_work(const attn2c_descriptor *model, const attn2c_op *op, int64_t past,
                             int64_t count) {
  if (strcmp(op->section, "output") == 0) return attn2c_op_work(model, op, 1);
  return attn2c_op_work(model, op, past + count) - (past > 0 ? attn2c_op_work(model, op, past) : 0.0);
}

double attn2c_tokens_work(const attn2c_descriptor *model, const attn2c_entry *entry, int64_t past,
                          int64_t count) {
  double sum = 0;
  for (int i = 0; i < entry->op_count; i++) sum += attn2c_op_tokens_work(model, &entry->ops[i], past, count);
  return sum;
}

/* Returns the bytes of a packed weight, with what separates it from the next. */
static double bytes_of_weight(const attn2c_descriptor *model, int weight) {
  int64_t next = model->weight_floats;
  const int64_t from = model->weights[weight].offset;
  for (int i = 0; i < model->weight_count; i++)
    if (model->weights[i].offset > from && model->weights[i].offset < next) next = model->weights[i].offset;
  return (double)(next - from) * sizeof(float);
}

/* Returns the bytes that an op reads of a weight, if no two sequences choose the same expert. */
static double bytes_of_operand(const attn2c_descriptor *model, const attn2c_op *op, int weight,
                               int64_t sequences) {
  const attn2c_tensor *tensor = &model->tensors[model->weights[weight].tensor];
  const attn2c_tensor *made = &model->tensors[op->result];
  const int is_of_experts = strncmp(op->op, "linear_experts", strlen("linear_experts")) == 0;
  const double all = bytes_of_weight(model, weight);
  if (!is_of_experts && (tensor->rank < 2 || op->flops > 0.0)) return all;
  const double each = is_of_experts ? (double)made->shape[made->rank - 1] : 1.0; /* rows that a token reads */
  const double rows = all / (double)tensor->shape[0] * each * (double)sequences;
  return rows < all ? rows : all;
}

double attn2c_bytes_of_weights(const attn2c_descriptor *model, const attn2c_entry *entry, int64_t sequences) {
  double sum = 0;
  for (int i = 0; i < entry->op_count; i++)
    for (int j = 0; j < ATTN2C_MAX_OPERANDS; j++)
      for (int w = 0; w < model->weight_count; w++)
        if (entry->ops[i].operands[j] == model->weights[w].tensor)
          sum += bytes_of_operand(model, &entry->ops[i], w, sequences);
  return sum;
}

double attn2c_bytes_of_kept(const attn2c_descriptor *model, const attn2c_entry *entry, int64_t keys,
                            int64_t source) {
  const attn2c_continued *of = model->continued;
  double sum = 0;
  int64_t seen = keys;
  for (int i = 0; i < entry->op_count; i++) {
    const attn2c_op *op = &entry->ops[i];
    if (op->role == ATTN2C_MAKES_SCORES) {
      const int64_t left = (int64_t)attn2c_number(op, "left", -1);
      seen = left >= 0 && left + 1 < keys ? left + 1 : keys;
    }
    if (op->role != ATTN2C_MAKES_SCORES && op->role != ATTN2C_READS_WEIGHTS) continue;
    for (int j = 0; j < ATTN2C_MAX_OPERANDS; j++)
      for (int k = 0; k < of->kept_count; k++)
        if (op->operands[j] == of->kept[k].tensor)
          sum += (double)(of->kept[k].grows_with == 0 ? seen : source) * (double)of->kept[k].page_floats /
                 (double)of->page * sizeof(float);
  }
  return sum;
}
