#include "model/sequence_calls.h"
#include "model/sequences.h"

struct attn2c_open {
  const void **in; /* the arguments of a call of an entry */
  void **out;
  int32_t *first; /* [most rows of a call + 1]; of a model that continues, the ids of a call */
  int32_t *zeros; /* of an input that is left out, of a call */
};

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

int attn2c_sequences_prepare(attn2c_context *context) {
  const attn2c_descriptor *model = context->model->descriptor;
  int64_t most = ATTN2C_MOST_SEQUENCES, zeros = 0, inputs = 0, outputs = 0;
  if (context->open) return ATTN2C_OK;
  for (int i = 0; i < model->entry_count; i++) {
    const attn2c_entry *entry = &model->entries[i];
    const attn2c_lengths *lengths = attn2c_lengths_of(model, entry);
    most = larger(most, lengths ? lengths->sizes[0].seq : 0);
    for (int k = 0; k < entry->input_count; k++)
      if (attn2c_is_optional(&model->tensors[entry->inputs[k]]))
        zeros = larger(zeros, attn2c_elements(&model->tensors[entry->inputs[k]]));
    inputs = larger(inputs, entry->input_count), outputs = larger(outputs, entry->output_count);
  }
  const size_t bytes = sizeof(struct attn2c_open) + (size_t)(inputs + outputs) * sizeof(void *) +
                       (size_t)(most + 1 + larger(zeros, most)) * sizeof(int32_t);
  struct attn2c_open *open = calloc(1, bytes);
  if (!open) return ATTN2C_MEMORY;
  open->in = (const void **)(open + 1);
  open->out = (void **)(open->in + inputs);
  open->first = (int32_t *)(void *)(open->out + outputs);
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

int64_t attn2c_elements_before(const attn2c_sequence_calls *d, const attn2c_axes *axes, int tensor,
                               attn2c_call_place at) {
  if (axes->batch < 0) return 0;
  const int64_t elements = attn2c_elements(&d->context->model->descriptor->tensors[tensor]);
  return axes->rows < 0 ? at.sequences * elements : at.rows * (elements / d->lengths->sizes[0].seq);
}

/* Makes one call of the entry, of the sequences n, for the inputs and outputs of all sequences. */
static int call_entry(const attn2c_sequence_calls *d, attn2c_call_place at, const attn2c_sequences *n) {
  struct attn2c_open *open = d->context->open;
  const attn2c_entry *entry = d->entry;
  const attn2c_model *model = d->context->model;
  for (int i = 0; i < entry->input_count; i++)
    open->in[i] = attn2c_input_of(d, i)
                      ? (const uint32_t *)attn2c_input_of(d, i) +
                            attn2c_elements_before(d, &d->lengths->inputs[i], entry->inputs[i], at)
                      : (const void *)open->zeros;
  for (int i = 0; i < entry->output_count; i++)
    open->out[i] = d->outputs && d->outputs[i]
                       ? (uint32_t *)d->outputs[i] +
                             attn2c_elements_before(d, &d->lengths->outputs[i], entry->outputs[i], at)
                       : NULL;
  attn2c_call call = attn2c_context_call(d->context, open->in, open->out);
  call.sequences = n;
  entry = attn2c_entry_of_call(model->descriptor, entry, open->in, n->count);
  return attn2c_model_begin(model, entry, entry->run, &call);
}

int attn2c_sequence_calls_verify(const attn2c_sequence_calls *d) {
  const attn2c_descriptor *model = d->context->model->descriptor;
  if (!d->context->open || d->count < 1) return ATTN2C_USAGE;
  for (int i = 0; i < d->entry->input_count; i++)
    if (!attn2c_input_of(d, i) && !attn2c_is_optional(&model->tensors[d->entry->inputs[i]]))
      return ATTN2C_USAGE;
  for (int64_t i = 0; i < d->count; i++)
    if (attn2c_rows_of(d, i) < d->lengths->least || attn2c_rows_of(d, i) > d->lengths->sizes[0].seq)
      return d->each ? ATTN2C_FORMAT : ATTN2C_USAGE;
  return ATTN2C_OK;
}

int attn2c_sequence_calls_run(const attn2c_sequence_calls *d) {
  int32_t *first = d->context->open->first;
  attn2c_call_place at = {0, 0};
  while (at.sequences < d->count) {
    attn2c_sequences n = {.first = first};
    first[0] = 0;
    for (int64_t i = at.sequences; i < d->count; i++) {
      if (n.rows + attn2c_rows_of(d, i) > d->lengths->sizes[0].seq) break;
      n.rows += attn2c_rows_of(d, i), n.count++;
      first[n.count] = (int32_t)n.rows;
    }
    n.slot = d->slots ? d->slots + at.sequences : NULL;
    if (d->context->watch) d->context->watch(at.sequences, d->count);
    ATTN2C_TRY(call_entry(d, at, &n));
    at.rows += n.rows, at.sequences += n.count;
  }
  return ATTN2C_OK;
}

int attn2c_sequences_run(attn2c_context *context, int64_t count, const int32_t *each, int64_t seq,
                         const void *const *inputs, void *const *outputs) {
  const attn2c_descriptor *model = context->model->descriptor;
  const attn2c_sequence_calls d = {.context = context,
                                   .entry = attn2c_primary_entry(model),
                                   .lengths = model->lengths,
                                   .count = count,
                                   .each = each,
                                   .seq = seq,
                                   .inputs = inputs,
                                   .outputs = outputs};
  int status = attn2c_sequence_calls_verify(&d);
  if (status == ATTN2C_OK)
    status = model->continued ? model->continued->run_anew(context, count, each, seq, inputs, outputs)
                              : attn2c_sequence_calls_run(&d);
  attn2c_model_settle(context->model);
  return status;
}
