/* check_trace.c - finds, fills and reads the tensors of a trace variant's run. Inputs, outputs and weights
 * are contiguous and the caller's. Others are in the arena where the descriptor says, in padded rows. */
#include "check/check_trace.h"
#include "check/check_parts.h"
#include "reference/ops.h"

#include <math.h>

static int position(const int *tensors, int count, int tensor) {
  for (int i = 0; i < count; i++)
    if (tensors[i] == tensor) return i;
  return -1;
}

void *attn2c_check_trace_find(const attn2c_check_trace *trace, int tensor, int64_t *leading_dimension) {
  const attn2c_entry *entry = trace->entry;
  const attn2c_tensor *shape = &trace->model->tensors[tensor];
  *leading_dimension = attn2c_reference_width(shape);
  int output = position(entry->outputs, entry->output_count, tensor);
  if (output >= 0) return trace->outputs[output];
  int input = position(entry->inputs, entry->input_count, tensor);
  if (input >= 0) return (void *)trace->inputs[input];
  if (trace->weights[tensor]) return trace->weights[tensor];
  if (shape->trace_offset < 0) return NULL;
  *leading_dimension = shape->trace_leading_dimension;
  return trace->arena + shape->trace_offset;
}

/* True if the tensor is not in the arena, or is entirely inside of it. */
static int is_inside(const attn2c_check_trace *trace, int tensor) {
  const attn2c_tensor *shape = &trace->model->tensors[tensor];
  int64_t width = attn2c_reference_width(shape), rows = attn2c_reference_rows(shape), leading_dimension, last,
          end;
  void *found = attn2c_check_trace_find(trace, tensor, &leading_dimension);
  if (!found) return 0;
  if (shape->trace_offset < 0 || found != trace->arena + shape->trace_offset) return 1;
  return leading_dimension >= width && !__builtin_mul_overflow(rows - 1, leading_dimension, &last) &&
         !__builtin_add_overflow(last, width, &end) &&
         !__builtin_add_overflow(end, shape->trace_offset, &end) && end <= trace->floats;
}

static int verify_tensor(const attn2c_check_trace *trace, int tensor, attn2c_message *message) {
  if (tensor < 0 || tensor >= trace->model->tensor_count)
    return attn2c_fail(message, ATTN2C_USAGE, "entry %s: tensor %d is not one of the model's %d",
                       trace->entry->name, tensor, trace->model->tensor_count);
  if (trace->model->tensors[tensor].kind == ATTN2C_STATE) return ATTN2C_OK; /* each sequence has its own */
  if (is_inside(trace, tensor)) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_USAGE,
                     "entry %s: the trace variant does not keep %s, or not inside its arena",
                     trace->entry->name, trace->model->tensors[tensor].name);
}

int attn2c_check_trace_verify(const attn2c_check_trace *trace, attn2c_message *message) {
  const attn2c_entry *entry = trace->entry;
  for (int number = 0; number < entry->op_count; number++) {
    const attn2c_op *op = &entry->ops[number];
    int status = verify_tensor(trace, op->result, message);
    for (int operand = 0; operand < ATTN2C_MAX_OPERANDS && status == ATTN2C_OK; operand++)
      if (op->operands[operand] != -1) status = verify_tensor(trace, op->operands[operand], message);
    if (status != ATTN2C_OK) return status;
  }
  for (int output = 0; output < entry->output_count; output++) {
    int made = 0;
    for (int number = 0; number < entry->op_count; number++)
      made = made || entry->ops[number].result == entry->outputs[output];
    if (made) continue;
    return attn2c_fail(message, ATTN2C_USAGE, "entry %s: no op makes output %d", entry->name, output);
  }
  return ATTN2C_OK;
}

void attn2c_check_fill(void *values, int64_t floats) {
  const uint32_t nan = 0x7fc00a72;
  for (int64_t i = 0; i < floats; i++) memcpy((char *)values + i * 4, &nan, 4);
}

static void fill_rows(const attn2c_check_trace *trace, int tensor, float value) {
  const attn2c_tensor *shape = &trace->model->tensors[tensor];
  int64_t width = attn2c_reference_width(shape), rows = attn2c_reference_rows(shape);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t i = 0; i < width; i++)
      trace->arena[shape->trace_offset + r * shape->trace_leading_dimension + i] = value;
}

static int in_arena(const attn2c_check_trace *trace, int tensor) {
  return position(trace->entry->outputs, trace->entry->output_count, tensor) < 0 &&
         trace->model->tensors[tensor].trace_offset >= 0;
}

/* Outputs stay NaN even if they are scores or weights: a caller's memory must be written in full. */
void attn2c_check_trace_fill(const attn2c_check_trace *trace) {
  const attn2c_entry *entry = trace->entry;
  for (int output = 0; output < entry->output_count; output++)
    attn2c_check_fill(trace->outputs[output],
                      attn2c_elements(&trace->model->tensors[entry->outputs[output]]));
  attn2c_check_trace_fill_arena(trace);
}

void attn2c_check_trace_fill_arena(const attn2c_check_trace *trace) {
  const attn2c_entry *entry = trace->entry;
  attn2c_check_fill(trace->arena, trace->floats);
  for (int number = 0; number < entry->op_count; number++) {
    const attn2c_op *scores;
    attn2c_masked masked = attn2c_check_masked(entry, number, &scores);
    if (masked == ATTN2C_UNMASKED || !in_arena(trace, entry->ops[number].result)) continue;
    fill_rows(trace, entry->ops[number].result, masked == ATTN2C_MASKED_SCORES ? -INFINITY : 0);
  }
}

void *attn2c_check_trace_view(const attn2c_check_trace *trace, int tensor, void **copy) {
  const attn2c_tensor *shape = &trace->model->tensors[tensor];
  int64_t width = attn2c_reference_width(shape), rows = attn2c_reference_rows(shape), leading_dimension;
  char *from = attn2c_check_trace_find(trace, tensor, &leading_dimension);
  *copy = NULL;
  if (leading_dimension == width) return from;
  /* This cannot overflow size_t: the padded tensor is in memory already, and is not smaller. */
  char *to = attn2c_allocate((size_t)(rows * width) * sizeof(float));
  for (int64_t r = 0; to && r < rows; r++)
    memcpy(to + r * width * 4, from + r * leading_dimension * 4, (size_t)width * 4);
  return *copy = to;
}
