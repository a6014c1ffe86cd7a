/* encode.c - reads sources into a context's sequences, for a model with an encoder. */
#include "model/sequence_calls.h"
#include "model/sequences.h"
#include "model/state.h"

/* Checks that integers of all rows are those that the input takes, so that a call that fails changes nothing.
 */
static int verify_integers(const attn2c_sequence_calls *d) {
  const attn2c_descriptor *model = d->context->model->descriptor;
  attn2c_call_place all = {0, d->count};
  for (int64_t i = 0; i < d->count; i++) all.rows += attn2c_rows_of(d, i);
  for (int i = 0; i < d->entry->input_count; i++) {
    const attn2c_tensor *tensor = &model->tensors[d->entry->inputs[i]];
    if (tensor->type != ATTN2C_I32 || !attn2c_input_of(d, i)) continue;
    const int32_t *values = attn2c_input_of(d, i);
    const int64_t count = attn2c_elements_before(d, &d->lengths->inputs[i], d->entry->inputs[i], all);
    for (int64_t k = 0; k < count; k++)
      if (values[k] < tensor->minimum || values[k] >= tensor->limit) return ATTN2C_FORMAT;
  }
  return ATTN2C_OK;
}

int attn2c_encode(attn2c_context *context, int64_t count, const int32_t *sequences, const int32_t *each,
                  const void *const *inputs) {
  return attn2c_encode_outputs(context, count, sequences, each, inputs, NULL);
}

int attn2c_encode_outputs(attn2c_context *context, int64_t count, const int32_t *sequences,
                          const int32_t *each, const void *const *inputs, void *const *outputs) {
  const attn2c_descriptor *model = context->model->descriptor;
  const attn2c_entry *entry = attn2c_encode_entry(model);
  const attn2c_lengths *lengths = entry ? attn2c_lengths_of(model, entry) : NULL;
  const int of_adapter = entry ? model->continued->adapter : 0;
  int32_t origins[ATTN2C_MOST_SEQUENCES], adapters[ATTN2C_MOST_SEQUENCES];
  attn2c_sequence_calls d = {.context = context,
                             .entry = entry,
                             .lengths = lengths,
                             .count = count,
                             .each = each,
                             .seq = lengths ? lengths->least : 0,
                             .slots = origins,
                             .inputs = inputs,
                             .outputs = outputs};
  if (!entry || !sequences || (!each && lengths->least < lengths->sizes->seq)) return ATTN2C_USAGE;
  uint8_t seen[ATTN2C_MOST_SEQUENCES] = {0};
  for (int64_t i = 0; i < count; i++) {
    const int64_t sequence = sequences[i];
    if (sequence < 0 || sequence >= model->continued->sequences || seen[sequence]++) return ATTN2C_USAGE;
  }
  if (of_adapter) {
    const int32_t *given = inputs[entry->input_count - 1];
    for (int64_t i = 0; i < count; i++)
      adapters[i] = given ? given[i] : *attn2c_state_grown(context, of_adapter, sequences[i]);
    d.adapters = adapters;
  }
  attn2c_state_origins(context, count, sequences, origins);
  int status = attn2c_sequence_calls_verify(&d);
  if (status == ATTN2C_OK) status = verify_integers(&d);
  if (status == ATTN2C_OK) status = attn2c_sequence_calls_run(&d);
  attn2c_model_settle(context->model);
  for (int64_t i = 0; i < count && status == ATTN2C_OK; i++) {
    attn2c_state_begin(context, sequences[i], origins[i], attn2c_rows_of(&d, i));
    if (of_adapter) *attn2c_state_grown(context, of_adapter, sequences[i]) = adapters[i];
  }
  return status;
}
