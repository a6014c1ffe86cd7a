/* dispatch.c - implements calls of any size. Arrays that do not fill an entry go through buffers of the
 * context. */
#include "model/dispatch.h"
#include "model/resize.h"
#include "model/sequences.h"

#include <string.h>

/* Cost of reading one weight from memory, in floating-point operations. */
#define FLOPS_A_WEIGHT 16.0

/* Alignment in bytes of the buffers, which are in one block. */
#define LINE ((size_t)64)

typedef struct attn2c_buffers {
  const attn2c_lengths *lengths;
  double weights_cost;      /* fixed cost of a call, in operations */
  uint32_t **in, **out;     /* buffers; NULL for an array that all calls fill */
  const void **in_of_entry; /* the arguments of an entry's call */
  void **out_of_entry;
} buffers;

/* One call of an entry. */
typedef struct {
  const buffers *buffers;
  const attn2c_descriptor *model;
  const attn2c_entry *entry;
  attn2c_entry_call part;
} call;

static attn2c_resize resize_of(const call *c, const attn2c_axes *axes, const attn2c_tensor *tensor) {
  return attn2c_resize_of(c->buffers->lengths, axes, tensor, &c->part);
}

/* Writes the rows of each sequence; `from` NULL: all rows. */
static int count_rows(const call *c, const int32_t *from, uint32_t *to) {
  for (int64_t i = 0; i < c->part.entry.batch; i++) {
    const int64_t rows = i >= c->part.count ? 1 : from ? from[c->part.first + i] : c->part.seq;
    if (rows < 1 || rows > c->part.seq) return ATTN2C_FORMAT;
    to[i] = (uint32_t)rows;
  }
  return ATTN2C_OK;
}

static int give_inputs(const call *c, const void *const *inputs) {
  int status = ATTN2C_OK;
  for (int i = 0; i < c->entry->input_count && status == ATTN2C_OK; i++) {
    const attn2c_tensor *tensor = &c->model->tensors[c->entry->inputs[i]];
    const attn2c_axes *axes = &c->buffers->lengths->inputs[i];
    const uint32_t *from = inputs[i];
    const attn2c_resize a = resize_of(c, axes, tensor);
    c->buffers->in_of_entry[i] = c->buffers->in[i];
    if (axes->filling == ATTN2C_FILL_COUNT) {
      status = count_rows(c, inputs[i], c->buffers->in[i]);
    } else if (!from) {
      memset(c->buffers->in[i], 0, (size_t)attn2c_elements(tensor) * sizeof *c->buffers->in[i]);
    } else if (attn2c_resize_is_same(&a)) {
      c->buffers->in_of_entry[i] = from + attn2c_resize_offset(&a);
    } else {
      attn2c_resize_pad(&a, from, c->buffers->in[i]);
    }
  }
  return status;
}

static int call_entry(const attn2c_context *context, const call *c, const void *const *inputs,
                      void *const *outputs) {
  int status = give_inputs(c, inputs);
  for (int i = 0; i < c->entry->output_count; i++) {
    const attn2c_tensor *tensor = &c->model->tensors[c->entry->outputs[i]];
    const attn2c_resize a = resize_of(c, &c->buffers->lengths->outputs[i], tensor);
    uint32_t *to = outputs[i];
    if (to) to = attn2c_resize_is_same(&a) ? to + attn2c_resize_offset(&a) : c->buffers->out[i];
    c->buffers->out_of_entry[i] = to;
  }
  if (status == ATTN2C_OK)
    status = attn2c_context_run(context, c->entry, c->buffers->in_of_entry, c->buffers->out_of_entry);
  for (int i = 0; i < c->entry->output_count && status == ATTN2C_OK; i++) {
    const attn2c_tensor *tensor = &c->model->tensors[c->entry->outputs[i]];
    const attn2c_resize a = resize_of(c, &c->buffers->lengths->outputs[i], tensor);
    if (outputs[i] && c->buffers->out_of_entry[i] == c->buffers->out[i])
      attn2c_resize_take(&a, c->buffers->out[i], outputs[i]);
  }
  return status;
}

/* True if sequences of `seq` tokens may go through an entry. */
static int fits(const attn2c_lengths *lengths, int number, int64_t seq) {
  const int64_t longest = lengths->sizes[number].seq;
  return seq == longest || (seq < longest && !lengths->exact && seq >= lengths->least);
}

/* Returns the entry for the next of `rest` sequences: the one with the least cost per sequence. */
static int choose(const attn2c_descriptor *model, const buffers *r, int64_t rest, int64_t seq) {
  int best = -1;
  double least = 0;
  for (int i = 0; i < model->entry_count; i++) {
    if (!fits(r->lengths, i, seq)) continue;
    const int64_t batch = r->lengths->sizes[i].batch;
    const double cost = (model->entries[i].flops + r->weights_cost) / (double)(rest < batch ? rest : batch);
    if (best < 0 || cost < least) best = i, least = cost;
  }
  return best;
}

static int has_inputs(const attn2c_descriptor *model, const void *const *inputs) {
  const attn2c_entry *primary = attn2c_primary_entry(model);
  for (int i = 0; i < primary->input_count; i++)
    if (!inputs[i] && !attn2c_is_optional(&model->tensors[primary->inputs[i]])) return 0;
  return 1;
}

int attn2c_dispatch_through(attn2c_context *context, int number, int64_t batch, int64_t seq,
                            const void *const *inputs, void *const *outputs) {
  const attn2c_descriptor *model = context->model->descriptor;
  if (model->is_open) return attn2c_sequences_run(context, batch, NULL, seq, inputs, outputs);
  const buffers *r = context->buffers;
  if (!r || batch < 1 || number >= model->entry_count || !has_inputs(model, inputs)) return ATTN2C_USAGE;
  if (number >= 0 && !fits(r->lengths, number, seq)) return ATTN2C_USAGE;
  int status = ATTN2C_OK;
  for (int64_t first = 0; first < batch && status == ATTN2C_OK;) {
    const int64_t rest = batch - first;
    const int chosen = number >= 0 ? number : choose(model, r, rest, seq);
    if (chosen < 0) return ATTN2C_USAGE;
    const attn2c_size size = r->lengths->sizes[chosen];
    const attn2c_entry_call part = {size, batch, seq, first, rest < size.batch ? rest : size.batch};
    const call c = {r, model, &model->entries[chosen], part};
    if (context->watch) context->watch(first, batch);
    status = call_entry(context, &c, inputs, outputs);
    first += part.count;
  }
  return status;
}

int attn2c_dispatch(attn2c_context *context, int64_t batch, int64_t seq, const void *const *inputs,
                    void *const *outputs) {
  return attn2c_dispatch_through(context, -1, batch, seq, inputs, outputs);
}

int attn2c_dispatch_entry(const attn2c_context *context, int64_t batch, int64_t seq) {
  if (context->model->descriptor->is_open) return attn2c_primary(context->model->descriptor);
  if (!context->buffers || batch < 1) return -1;
  return choose(context->model->descriptor, context->buffers, batch, seq);
}

/* Returns the bytes of the largest entry's array if some call may not fill it; otherwise 0. */
static size_t buffer_bytes(const attn2c_descriptor *model, const attn2c_lengths *lengths, int is_input,
                           int index) {
  const attn2c_axes *axes = is_input ? &lengths->inputs[index] : &lengths->outputs[index];
  const int grows = !lengths->exact && (axes->rows >= 0 || axes->keys >= 0);
  size_t most = 0;
  for (int e = 0; e < model->entry_count; e++) {
    const attn2c_entry *entry = &model->entries[e];
    const attn2c_tensor *tensor = &model->tensors[is_input ? entry->inputs[index] : entry->outputs[index]];
    const int part = axes->batch >= 0 && (lengths->sizes[e].batch > 1 || axes->batch > 0);
    const int counts = is_input && (axes->filling == ATTN2C_FILL_COUNT || tensor->kind == ATTN2C_ZEROS_INPUT);
    const size_t bytes = (size_t)attn2c_elements(tensor) * sizeof(uint32_t);
    if ((grows || part || counts) && bytes > most) most = bytes;
  }
  return (most + LINE - 1) / LINE * LINE;
}

/* Returns the fixed cost of a call: reading the weights of products from memory. */
static double cost_of_weights(const attn2c_descriptor *model) {
  double elements = 0;
  for (int i = 0; i < model->weight_count; i++)
    if (model->weights[i].panel > 0)
      elements += (double)attn2c_elements(&model->tensors[model->weights[i].tensor]);
  return FLOPS_A_WEIGHT * elements;
}

int attn2c_dispatch_prepare(attn2c_context *context, const attn2c_lengths *lengths) {
  const attn2c_descriptor *model = context->model->descriptor;
  if (model->is_open) return attn2c_sequences_prepare(context);
  const attn2c_entry *primary = attn2c_primary_entry(model);
  const int inputs = primary->input_count, outputs = primary->output_count;
  size_t bytes = (sizeof(buffers) + 2 * (size_t)(inputs + outputs) * sizeof(void *) + LINE - 1) / LINE * LINE;
  const size_t head = bytes;
  for (int i = 0; i < inputs; i++) bytes += buffer_bytes(model, lengths, 1, i);
  for (int i = 0; i < outputs; i++) bytes += buffer_bytes(model, lengths, 0, i);
  unsigned char *block = attn2c_allocate(bytes);
  if (!block) return ATTN2C_MEMORY;
  unsigned char *at = block + head;
  buffers *r = (buffers *)(void *)block;
  *r = (buffers){.lengths = lengths, .weights_cost = cost_of_weights(model)};
  r->in = (uint32_t **)(void *)(r + 1), r->out = r->in + inputs;
  r->in_of_entry = (const void **)(r->out + outputs), r->out_of_entry = (void **)(r->in_of_entry + inputs);
  for (int i = 0; i < inputs; i++) {
    const size_t own = buffer_bytes(model, lengths, 1, i);
    r->in[i] = own ? (uint32_t *)(void *)at : NULL, at += own;
  }
  for (int i = 0; i < outputs; i++) {
    const size_t own = buffer_bytes(model, lengths, 0, i);
    r->out[i] = own ? (uint32_t *)(void *)at : NULL, at += own;
  }
  context->buffers = r;
  return ATTN2C_OK;
}

int attn2c_dispatch_create(const attn2c_model *model, const attn2c_lengths *lengths,
                           attn2c_context **context) {
  int status = attn2c_context_create(model, context);
  if (status == ATTN2C_OK) status = attn2c_dispatch_prepare(*context, lengths);
  if (status == ATTN2C_OK || !context) return status;
  attn2c_context_destroy(*context);
  *context = NULL;
  return status;
}

int64_t attn2c_longest(const attn2c_descriptor *model, const attn2c_lengths *lengths) {
  return lengths->sizes[model->is_open ? 0 : attn2c_primary(model)].seq;
}

int64_t attn2c_shortest(const attn2c_lengths *lengths) {
  return lengths->exact ? lengths->sizes[0].seq : lengths->least;
}
