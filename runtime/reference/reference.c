/* reference.c - finds the function of an op by its name, and runs all ops of an entry. It checks once for all
 * ops that operands are given, have the right type and have values, before an op reads a pointer. */
#include "reference/reference.h"
#include "reference/ops.h"

/* operands: their types, in their order: f float, i int32; capital: required. */
#define ROW(op, operands, result, reference, tolerance, shapes)                                              \
  {#op, operands, ATTN2C_##result, attn2c_reference_##reference, shapes},
static const struct {
  const char *name, *operands;
  attn2c_type result;
  attn2c_reference_function *function;
  const char *shapes;
} table[] = {ATTN2C_OPS(ROW)};

enum { TABLE_SIZE = sizeof table / sizeof table[0] };

static int find(const char *op) {
  for (int row = 0; row < TABLE_SIZE; row++)
    if (strcmp(table[row].name, op) == 0) return row;
  return -1;
}

int attn2c_reference_knows(const char *op) { return find(op) >= 0; }

int attn2c_reference_lengths(const attn2c_reference_call *call, int position, int64_t batch, int64_t minimum,
                             int64_t limit) {
  const attn2c_tensor *tensor = attn2c_reference_operand(call, position);
  const int32_t *lengths = call->in[position];
  for (int64_t b = 0; tensor && b < batch; b++)
    if (lengths[b] < minimum || lengths[b] > limit) {
      attn2c_say(call->message, "%s[%lld]: %ld is not a length from %lld to %lld", tensor->name, (long long)b,
                 (long)lengths[b], (long long)minimum, (long long)limit);
      return 0;
    }
  return 1;
}

static int has_tensor(const attn2c_reference_call *call, int index, attn2c_type type) {
  return index >= 0 && index < call->model->tensor_count && call->model->tensors[index].type == type &&
         call->tensors[index] != NULL;
}

attn2c_reference_call attn2c_reference_call_of(const attn2c_descriptor *model, const attn2c_op *op,
                                               void *const *tensors, float *magnitude,
                                               attn2c_message *message) {
  attn2c_reference_call call = {model, op, tensors, magnitude, message, .out = tensors[op->result]};
  for (int position = 0; position < ATTN2C_MAX_OPERANDS; position++) {
    const int tensor = op->operands[position];
    if (tensor >= 0 && tensor < model->tensor_count) call.in[position] = tensors[tensor];
  }
  return call;
}

int attn2c_reference_op(const attn2c_descriptor *model, const attn2c_op *op, void *const *tensors,
                        float *magnitude, attn2c_message *message) {
  if (op->result < 0 || op->result >= model->tensor_count)
    return attn2c_fail(message, ATTN2C_USAGE, "%s: its result is not a tensor of the model", op->op);
  attn2c_reference_call call = attn2c_reference_call_of(model, op, tensors, magnitude, message);
  const int row = find(op->op);
  if (row < 0) return attn2c_reference_fault(&call, "the reference has no op of this name");
  if (!has_tensor(&call, op->result, table[row].result))
    return attn2c_reference_fault(&call, "the result has the wrong type or no storage");
  const char *operands = table[row].operands;
  for (int position = 0; operands[position]; position++) {
    char letter = operands[position];
    int required = letter == 'F' || letter == 'I';
    attn2c_type type = letter == 'F' || letter == 'f' ? ATTN2C_F32 : ATTN2C_I32;
    if (op->operands[position] == -1 && !required) continue;
    if (!has_tensor(&call, op->operands[position], type))
      return attn2c_reference_fault(&call, "an operand is missing, has the wrong type or has no values");
  }
  if (*table[row].shapes && !attn2c_reference_fits(&call, table[row].shapes, call.n)) return ATTN2C_USAGE;
  return table[row].function(&call);
}

void *attn2c_reference_allocate(const attn2c_tensor *tensor) {
  size_t bytes;
  if (__builtin_mul_overflow((size_t)attn2c_elements(tensor), sizeof(float), &bytes)) return NULL;
  return attn2c_allocate(bytes ? bytes : 1);
}

static int reads(const attn2c_op *op, int tensor) {
  for (int position = 0; position < ATTN2C_MAX_OPERANDS; position++)
    if (op->operands[position] == tensor) return 1;
  return 0;
}

static int is_output(const attn2c_entry *entry, int tensor) {
  for (int output = 0; output < entry->output_count; output++)
    if (entry->outputs[output] == tensor) return 1;
  return 0;
}

int64_t attn2c_reference_picks(const attn2c_op *op) {
  if (strcmp(op->op, "argmax") == 0) return 1;
  return strcmp(op->op, "topk_indices") == 0 ? (int64_t)attn2c_number(op, "k", 0) : 0;
}

/* True if the tensor is needed after op number `done`, by a later op or by the caller. The operand of an op
 * whose indices are an output is also needed, to compare the two largest values. */
static int is_needed(const attn2c_entry *entry, int tensor, int done) {
  if (is_output(entry, tensor)) return 1;
  for (int later = 0; later < entry->op_count; later++) {
    const attn2c_op *op = &entry->ops[later];
    if (!reads(op, tensor)) continue;
    if (later > done || (attn2c_reference_picks(op) > 0 && is_output(entry, op->result))) return 1;
  }
  return 0;
}

static int is_result(const attn2c_entry *entry, int tensor) {
  for (int number = 0; number < entry->op_count; number++)
    if (entry->ops[number].result == tensor) return 1;
  return 0;
}

int attn2c_reference_run(const attn2c_descriptor *model, const attn2c_entry *entry, void **tensors,
                         const attn2c_reference_guide *guide, attn2c_message *message) {
  for (int number = 0; number < entry->op_count; number++) {
    const attn2c_op *op = &entry->ops[number];
    if (op->result >= 0 && op->result < model->tensor_count) {
      tensors[op->result] = attn2c_reference_allocate(&model->tensors[op->result]);
      if (!tensors[op->result])
        return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory for the reference",
                           model->tensors[op->result].name);
    }
    ATTN2C_TRY(attn2c_reference_op(model, op, tensors, NULL, message));
    if (guide) ATTN2C_TRY(guide->settle(guide->of, op, tensors));
    for (int position = 0; position < ATTN2C_MAX_OPERANDS; position++) {
      int operand = op->operands[position];
      if (operand < 0 || !is_result(entry, operand) || is_needed(entry, operand, number)) continue;
      attn2c_free(tensors[operand]);
      tensors[operand] = NULL;
    }
  }
  return ATTN2C_OK;
}

void attn2c_reference_release(const attn2c_entry *entry, void **tensors) {
  for (int number = 0; number < entry->op_count; number++) {
    int result = entry->ops[number].result;
    if (result < 0) continue;
    attn2c_free(tensors[result]);
    tensors[result] = NULL;
  }
}
