#include "check/check_sequence.h"
#include "check/check_sources.h"
#include "reference/ops.h"

/* The rows of a sequence and of its source. */
typedef struct {
  int64_t tokens, source;
} sizes;

static sizes most_of(const attn2c_check_job *job) {
  const attn2c_continued *of = job->descriptor->continued;
  const attn2c_lengths *lengths = attn2c_lengths_of(job->descriptor, job->entry);
  return (sizes){lengths ? lengths->sizes[0].seq : 0,
                 of && of->source ? of->source_lengths->sizes[0].seq : 0};
}

static sizes sizes_of(const attn2c_check_job *job, const attn2c_sequences *n, ptrdiff_t sequence) {
  const int64_t source = n->source ? n->source[sequence] : most_of(job).source;
  return (sizes){n->first[sequence + 1] - n->first[sequence], source};
}

static attn2c_tensor tensor_of(const attn2c_check_job *job, int tensor, sizes of) {
  const attn2c_descriptor *model = job->descriptor;
  const sizes most = most_of(job);
  attn2c_tensor shape = model->tensors[tensor];
  for (int axis = 0; model->growth && axis < shape.rank; axis++) {
    const signed char grows = model->growth[tensor].axes[axis];
    shape.shape[axis] -=
        grows == ATTN2C_OF_SOURCE ? most.source - of.source : grows * (most.tokens - of.tokens);
  }
  return shape;
}

attn2c_tensor attn2c_check_sequence_tensor(const attn2c_check_job *job, int tensor, const attn2c_sequences *n,
                                           ptrdiff_t sequence) {
  return tensor_of(job, tensor, sizes_of(job, n, sequence));
}

int64_t attn2c_check_sequence_elements(const attn2c_check_job *job, int tensor, const attn2c_sequences *n,
                                       ptrdiff_t sequence) {
  int64_t before = 0;
  for (ptrdiff_t i = 0; i < sequence && !job->descriptor->growth[tensor].is_shared; i++) {
    const attn2c_tensor shape = attn2c_check_sequence_tensor(job, tensor, n, i);
    before += attn2c_elements(&shape);
  }
  return before;
}

/* Returns the first element of an axis that a shorter sequence has. */
static int64_t first_of(const attn2c_check_job *job, int tensor, int axis, sizes of) {
  const attn2c_growth *growth = job->descriptor->growth;
  return growth && growth[tensor].axes[axis] == 2 ? most_of(job).tokens - of.tokens : 0;
}

/* Moves a tensor's place in the trace to that of a sequence. */
static void move(const attn2c_check_job *job, int tensor, const attn2c_sequences *n, ptrdiff_t sequence,
                 attn2c_tensor *shape) {
  int64_t rows = 0;
  for (ptrdiff_t i = 0; i < sequence && !job->descriptor->growth[tensor].is_shared; i++) {
    const attn2c_tensor before = attn2c_check_sequence_tensor(job, tensor, n, i);
    rows += attn2c_reference_rows(&before);
  }
  shape->trace_offset += rows * shape->trace_leading_dimension;
  if (shape->rank > 0)
    shape->trace_offset += first_of(job, tensor, shape->rank - 1, sizes_of(job, n, sequence));
}

/* Copies the part of a weight that a sequence has, row-major, an axis and those after it at a time. */
static const uint32_t *take(const attn2c_check_job *job, int tensor, const attn2c_tensor *shape, int axis,
                            sizes of, const uint32_t *from, uint32_t **to) {
  const attn2c_tensor *whole = &job->descriptor->tensors[tensor];
  if (axis == shape->rank) {
    *(*to)++ = *from;
    return from + 1;
  }
  int64_t each = 1;
  for (int i = axis + 1; i < shape->rank; i++) each *= whole->shape[i];
  const int64_t first = first_of(job, tensor, axis, of);
  for (int64_t i = first; i < first + shape->shape[axis]; i++)
    take(job, tensor, shape, axis + 1, of, from + i * each, to);
  return from + whole->shape[axis] * each;
}

static int grows(const attn2c_descriptor *model, int tensor) {
  int does = 0;
  for (int axis = 0; model->growth && axis < model->tensors[tensor].rank; axis++)
    does = does || model->growth[tensor].axes[axis] != 0;
  return does;
}

static int is_read_by(const attn2c_entry *entry, int tensor) {
  for (int i = 0; i < entry->op_count; i++)
    for (int operand = 0; operand < ATTN2C_MAX_OPERANDS; operand++)
      if (entry->ops[i].operands[operand] == tensor) return 1;
  return 0;
}

/* Gives the job a sequence's weights: those that grow are copied; and what its state has of its source. */
static int take_weights(attn2c_check_sequence *self, const attn2c_sequences *n, ptrdiff_t sequence) {
  const attn2c_check_job *job = self->job;
  const attn2c_descriptor *model = self->descriptor;
  for (int number = 0; number < model->weight_count; number++) {
    const int tensor = model->weights[number].tensor;
    job->weights[tensor] = self->weights[tensor];
    if (!grows(model, tensor) || !is_read_by(job->entry, tensor)) continue;
    uint32_t *to = self->own_weights[tensor] = attn2c_reference_allocate(&self->tensors[tensor]);
    if (!to) return attn2c_check_no_memory(job, self->tensors[tensor].name);
    take(job, tensor, &self->tensors[tensor], 0, sizes_of(job, n, sequence), self->weights[tensor], &to);
    job->weights[tensor] = self->own_weights[tensor];
  }
  for (int tensor = 0; tensor < model->tensor_count && job->sources; tensor++)
    if (model->tensors[tensor].kind == ATTN2C_STATE)
      job->weights[tensor] =
          attn2c_check_source_values(job->sources, n->slot ? n->slot[sequence] : 0, tensor);
  return ATTN2C_OK;
}

static int allocate(attn2c_check_sequence *self) {
  const attn2c_entry *entry = self->job->entry;
  const size_t tensors = (size_t)self->descriptor->tensor_count + 1;
  self->tensors = calloc(tensors, sizeof *self->tensors);
  self->own_weights = calloc(tensors, sizeof *self->own_weights);
  self->in = calloc((size_t)entry->input_count + 1, sizeof *self->in);
  self->out = calloc((size_t)entry->output_count + 1, sizeof *self->out);
  self->job->weights = calloc(tensors, sizeof *self->job->weights);
  if (self->tensors && self->own_weights && self->in && self->out && self->job->weights) return ATTN2C_OK;
  return attn2c_check_no_memory(self->job, "a sequence");
}

int attn2c_check_sequence_begin(attn2c_check_sequence *self, attn2c_check_job *job, const attn2c_sequences *n,
                                ptrdiff_t sequence, const void *const *in, void *const *out) {
  const attn2c_descriptor *model = job->descriptor;
  const attn2c_entry *entry = job->entry;
  *self = (attn2c_check_sequence){.job = job,
                                  .trace = job->trace,
                                  .descriptor = model,
                                  .inputs = job->inputs,
                                  .weights = job->weights,
                                  .traced = job->traced,
                                  .of_sequence = *model};
  ATTN2C_TRY(allocate(self));
  for (int tensor = 0; tensor < model->tensor_count; tensor++) {
    self->tensors[tensor] = attn2c_check_sequence_tensor(job, tensor, n, sequence);
    if (self->tensors[tensor].trace_offset >= 0) move(job, tensor, n, sequence, &self->tensors[tensor]);
  }
  for (int i = 0; i < entry->input_count; i++)
    self->in[i] =
        (const uint32_t *)in[i] + attn2c_check_sequence_elements(job, entry->inputs[i], n, sequence);
  for (int i = 0; i < entry->output_count && out; i++)
    self->out[i] = (uint32_t *)out[i] + attn2c_check_sequence_elements(job, entry->outputs[i], n, sequence);
  int status = take_weights(self, n, sequence);
  self->of_sequence.tensors = self->tensors;
  job->descriptor = job->trace.model = &self->of_sequence;
  job->inputs = job->trace.inputs = self->in;
  job->traced = self->out;
  job->trace.outputs = self->out;
  job->trace.weights = job->weights;
  return status;
}

int attn2c_check_call_begin(attn2c_check_sequence *self, attn2c_check_job *job) {
  const int64_t rows = job->descriptor->continued->call_rows;
  const int32_t first[] = {0, (int32_t)rows};
  const attn2c_sequences n = {.rows = rows, .count = 1, .first = first};
  ATTN2C_TRY(attn2c_check_sequence_begin(self, job, &n, 0, job->inputs, NULL));
  self->lengths = *self->descriptor->lengths;
  self->size = (attn2c_size){1, rows};
  self->lengths.sizes = &self->size;
  self->of_sequence.lengths = &self->lengths;
  return ATTN2C_OK;
}

void attn2c_check_sequence_end(attn2c_check_sequence *self) {
  attn2c_check_job *job = self->job;
  for (int tensor = 0; self->own_weights && tensor < self->descriptor->tensor_count; tensor++)
    attn2c_free(self->own_weights[tensor]);
  ATTN2C_FREE(job->weights, self->own_weights, self->tensors, self->in, self->out);
  job->descriptor = self->descriptor;
  job->inputs = self->inputs;
  job->weights = self->weights;
  job->traced = self->traced;
  job->trace = self->trace;
}
