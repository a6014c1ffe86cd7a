#include "base/descriptor.h"

int attn2c_is_optional(const attn2c_tensor *tensor) { return tensor->kind == ATTN2C_ZEROS_INPUT; }

int attn2c_primary(const attn2c_descriptor *model) { return model->entry_count - 1; }

const attn2c_entry *attn2c_primary_entry(const attn2c_descriptor *model) {
  return &model->entries[attn2c_primary(model)];
}

const attn2c_entry *attn2c_encode_entry(const attn2c_descriptor *model) {
  return model->continued && model->continued->source ? model->entries + (model->adapters ? 1 : 0) : NULL;
}

const attn2c_entry *attn2c_adapted_entry(const attn2c_descriptor *model, const attn2c_entry *entry) {
  const int has_one = entry == attn2c_primary_entry(model) || entry == attn2c_encode_entry(model);
  return model->adapters && has_one ? entry - 1 : NULL;
}

const attn2c_entry *attn2c_plain_entry(const attn2c_descriptor *model, const attn2c_entry *entry) {
  const attn2c_entry *primary = attn2c_primary_entry(model), *encode = attn2c_encode_entry(model);
  if (!model->adapters) return entry;
  return entry == primary - 1 || (encode && entry == encode - 1) ? entry + 1 : entry;
}

int attn2c_adapters_input(const attn2c_descriptor *model) {
  return model->adapters ? attn2c_primary_entry(model)->input_count - 1 : -1;
}

const attn2c_entry *attn2c_entry_of_call(const attn2c_descriptor *model, const attn2c_entry *entry,
                                         const void *const *inputs, int64_t count) {
  const attn2c_entry *adapted = attn2c_adapted_entry(model, entry);
  const int32_t *adapters = adapted ? inputs[entry->input_count - 1] : NULL;
  for (int64_t i = 0; adapters && i < count; i++)
    if (adapters[i] != 0) return adapted;
  return entry;
}

int attn2c_adapter_number(const attn2c_descriptor *model, const char *name) {
  if (strcmp(name, "none") == 0) return 0;
  for (int i = 0; model->adapters && model->adapters[i]; i++)
    if (strcmp(model->adapters[i], name) == 0) return i + 1;
  return -1;
}

const attn2c_lengths *attn2c_lengths_of(const attn2c_descriptor *model, const attn2c_entry *entry) {
  entry = attn2c_plain_entry(model, entry);
  if (entry == attn2c_encode_entry(model)) return model->continued->source_lengths;
  return model->is_open && entry == attn2c_primary_entry(model) ? model->lengths : NULL;
}

int64_t attn2c_call_rows(const attn2c_descriptor *model) {
  return model->continued ? model->continued->call_rows : model->lengths->sizes[0].seq;
}

int64_t attn2c_logits_width(const attn2c_descriptor *model) {
  if (!model->continued) return 0;
  const int output = attn2c_primary_entry(model)->outputs[model->continued->logits];
  const attn2c_tensor *logits = &model->tensors[output];
  return logits->shape[logits->rank - 1];
}

int64_t attn2c_elements(const attn2c_tensor *tensor) {
  int64_t elements = 1;
  for (int i = 0; i < tensor->rank; i++) elements *= tensor->shape[i];
  return elements;
}

static const attn2c_attribute *find_attribute(const attn2c_op *op, const char *name) {
  const attn2c_attribute *attribute = op->attributes;
  if (!attribute) return NULL;
  for (; attribute->name; attribute++)
    if (strcmp(attribute->name, name) == 0) return attribute;
  return NULL;
}

double attn2c_number(const attn2c_op *op, const char *name, double otherwise) {
  const attn2c_attribute *attribute = find_attribute(op, name);
  return attribute ? attribute->number : otherwise;
}

const char *attn2c_text(const attn2c_op *op, const char *name) {
  const attn2c_attribute *attribute = find_attribute(op, name);
  return attribute ? attribute->text : NULL;
}

const char *attn2c_precision(const attn2c_descriptor *model) {
  return model->precision ? model->precision : "f32";
}

int attn2c_scaled_by(const attn2c_descriptor *model, int weight) {
  for (int i = 0; model->packings && i < model->weight_count; i++)
    if (model->packings[i].scales == weight) return i;
  return -1;
}

int64_t attn2c_entry_arena(const attn2c_descriptor *model, const attn2c_entry *entry) {
  return model->entry_arenas != NULL ? model->entry_arenas[entry - model->entries] : model->arena_floats;
}

int attn2c_is_embedded(const attn2c_descriptor *model) {
  return model->embedded != NULL && model->embedded->begin != NULL;
}

int attn2c_needs_checkpoint(const attn2c_descriptor *model) {
  if (attn2c_is_embedded(model)) return 0;
  for (int i = 0; i < model->weight_count; i++)
    if (model->weights[i].view_count > 0) return 1;
  return 0;
}

int attn2c_ordered_by(const attn2c_descriptor *model, int weight) {
  return model->orders ? model->orders[weight].of : -1;
}

int attn2c_is_order(const attn2c_descriptor *model, int weight) {
  return model->weights[weight].view_count == 0 && attn2c_ordered_by(model, weight) >= 0;
}

int64_t attn2c_inputs_of_all(const attn2c_descriptor *model, int weight) {
  return model->slices ? model->slices[weight].columns
                       : model->tensors[model->weights[weight].tensor].shape[1];
}
