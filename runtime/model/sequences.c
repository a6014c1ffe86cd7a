/* sequences.c - divides sequences into calls of an entry of any length. */
#include "model/sequences.h"

#include <stdlib.h>

/* The place of a call among all sequences: the rows and sequences before it. */
typedef struct {
  int64_t rows, sequences;
} call_place;

struct attn2c_open {
  int64_t most;    /* rows of a call */
  const void **in; /* the arguments of a call of the entry */
  void **out;
  int32_t *first; /* [most + 1]; of a model that continues, the ids of a call */
  int32_t *zeros; /* [most], for an input that is left out */
};

int attn2c_sequences_prepare(attn2c_context *context) {
  const attn2c_descriptor *model = context->model->descriptor;
  const attn2c_entry *entry = attn2c_primary_entry(model);
  const int64_t most = model->lengths->sizes[0].seq;
  const size_t pointers = (size_t)(entry->input_count + entry->output_count);
  const size_t bytes =
      sizeof(struct attn2c_open) + pointers * sizeof(void *) + (size_t)(2 * most + 1) * sizeof(int32_t);
  if (context->open) return ATTN2C_OK;
  struct attn2c_open *open = calloc(1, bytes);
  if (!open) return ATTN2C_MEMORY;
  open->most = most;
  open->in = (const void **)(open + 1);
  open->out = (void **)(open->in + entry->input_count);
  open->first = (int32_t *)(void *)(open->out + entry->output_count);
  open->zeros = open->first + most + 1;
  context->open = open;
  return ATTN2C_OK;
}

int attn2c_sequences_create(const attn2c_model *model, attn2c_context **context) {
  int status = attn2c_context_create(model, context);
  if (status == ATTN2C_OK) status = attn2c_sequences_prepare(*context);
  if (status == ATTN2C_OK || !context) return status;
  attn2c_context_destroy(*context);
  *context = NULL;
  return status;
}

void **attn2c_sequences_outputs(const attn2c_context *context) { return context->open->out; }

int32_t *attn2c_sequences_ids(const attn2c_context *context) { return context->open->first; }

/* Returns the elements of an input or output before a call's. */
static int64_t elements_before(const attn2c_descriptor *model, const attn2c_axes *axes, int tensor,
                               call_place at) {
  if (axes->batch < 0) return 0;
  const int64_t elements = attn2c_elements(&model->tensors[tensor]);
  return axes->rows < 0 ? at.sequences * elements : at.rows * (elements / model->lengths->sizes[0].seq);
}

/* Makes one call of the entry, of the sequences n, for the inputs and outputs of all sequences. */
static int call_entry(const attn2c_context *context, call_place at, const attn2c_sequences *n,
                      const void *const *inputs, void *const *outputs) {
  const attn2c_descriptor *model = context->model->descriptor;
  const attn2c_entry *entry = attn2c_primary_entry(model);
  struct attn2c_open *open = context->open;
  for (int i = 0; i < entry->input_count; i++)
    open->in[i] = inputs[i] ? (const uint32_t *)inputs[i] +
                                  elements_before(model, &model->lengths->inputs[i], entry->inputs[i], at)
                            : (const void *)open->zeros;
  for (int i = 0; i < entry->output_count; i++)
    open->out[i] = outputs[i] ? (uint32_t *)outputs[i] +
                                    elements_before(model, &model->lengths->outputs[i], entry->outputs[i], at)
                              : NULL;
  attn2c_call call = attn2c_context_call(context, open->in, open->out);
  call.sequences = n;
  return attn2c_model_begin(context->model, entry, entry->run, &call);
}

static int run_all(attn2c_context *context, int64_t count, const int32_t *each, int64_t seq,
                   const void *const *inputs, void *const *outputs) {
  const attn2c_descriptor *model = context->model->descriptor;
  const attn2c_entry *entry = attn2c_primary_entry(model);
  struct attn2c_open *open = context->open;
  if (!open || count < 1) return ATTN2C_USAGE;
  for (int i = 0; i < entry->input_count; i++)
    if (!inputs[i] && !attn2c_is_optional(&model->tensors[entry->inputs[i]])) return ATTN2C_USAGE;
  for (int64_t i = 0; i < count; i++) {
    const int64_t rows = each ? each[i] : seq;
    if (rows < model->lengths->least || rows > open->most) return each ? ATTN2C_FORMAT : ATTN2C_USAGE;
  }
  if (model->continued) return model->continued->run_anew(context, count, each, seq, inputs, outputs);
  call_place at = {0, 0};
  while (at.sequences < count) {
    attn2c_sequences n = {.first = open->first};
    open->first[0] = 0;
    for (int64_t i = at.sequences; i < count; i++) {
      const int64_t rows = each ? each[i] : seq;
      if (n.rows + rows > open->most) break;
      n.rows += rows, n.count++;
      open->first[n.count] = (int32_t)n.rows;
    }
    if (context->watch) context->watch(at.sequences, count);
    const int status = call_entry(context, at, &n, inputs, outputs);
    if (status != ATTN2C_OK) return status;
    at.rows += n.rows, at.sequences += n.count;
  }
  return ATTN2C_OK;
}

int attn2c_sequences_run(attn2c_context *context, int64_t count, const int32_t *each, int64_t seq,
                         const void *const *inputs, void *const *outputs) {
  const int status = run_all(context, count, each, seq, inputs, outputs);
  attn2c_model_settle(context->model);
  return status;
}
