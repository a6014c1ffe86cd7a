/* batches.c - divides sequences among calls of an entry, and copies what does not fill a call. */
#include "model/sequences.h"

/* The sequences of one call, of `count` in all. */
typedef struct {
  int64_t count, first, taken, batch;
} share;

/* An array of the entry: `outer` boxes of a batch with `inner` elements each; outer 0: shared. */
typedef struct {
  int64_t outer, inner;
} boxes;

static boxes boxes_of(const attn2c_axes *axes, const attn2c_tensor *tensor) {
  boxes a = {axes->batch >= 0, 1};
  for (int i = 0; i < axes->batch; i++) a.outer *= tensor->shape[i];
  for (int i = axes->batch + 1; i < tensor->rank; i++) a.inner *= tensor->shape[i];
  return a;
}

/* Returns where a call's sequences are in the caller's array; NULL: they have to be copied. */
static uint32_t *in_place(boxes a, const share *p, uint32_t *array) {
  if (a.outer == 0 || p->count == p->batch) return array;
  return a.outer == 1 && p->taken == p->batch ? array + p->first * a.inner : NULL;
}

/* Copies a call's sequences out of the caller's array. The others get a value that every input may have. */
static void give(boxes a, const share *p, const attn2c_tensor *tensor, const uint32_t *from, uint32_t *to) {
  const uint32_t filling = tensor->type == ATTN2C_I32 ? (uint32_t)tensor->minimum : 0;
  for (int64_t i = 0; i < a.outer; i++, to += p->batch * a.inner) {
    memcpy(to, from + (i * p->count + p->first) * a.inner, (size_t)(p->taken * a.inner) * sizeof *to);
    for (int64_t e = p->taken * a.inner; e < p->batch * a.inner; e++) to[e] = filling;
  }
}

static void take(boxes a, const share *p, const uint32_t *from, uint32_t *to) {
  for (int64_t i = 0; i < a.outer; i++)
    memcpy(to + (i * p->count + p->first) * a.inner, from + i * p->batch * a.inner,
           (size_t)(p->taken * a.inner) * sizeof *to);
}

/* Makes one call. arrays: buffers for inputs, then for outputs; NULL: none yet. */
static int call(const attn2c_context *context, const attn2c_lengths *lengths, const share *p,
                const void *const *inputs, void *const *outputs, uint32_t **arrays, const void **in,
                void **out) {
  const attn2c_descriptor *model = context->model->descriptor;
  const attn2c_entry *entry = attn2c_primary_entry(model);
  for (int i = 0; i < entry->input_count + entry->output_count; i++) {
    const int is_input = i < entry->input_count, o = i - entry->input_count;
    const attn2c_tensor *tensor = &model->tensors[is_input ? entry->inputs[i] : entry->outputs[o]];
    const boxes a = boxes_of(is_input ? &lengths->inputs[i] : &lengths->outputs[o], tensor);
    uint32_t *given = is_input ? (uint32_t *)(uintptr_t)inputs[i] : outputs[o];
    uint32_t *used = given ? in_place(a, p, given) : NULL;
    if (!used && (given || is_input)) { /* an input that is left out is all 0, as the buffer is */
      const size_t bytes = (size_t)attn2c_elements(tensor) * sizeof *used;
      if (!arrays[i]) arrays[i] = attn2c_allocate(bytes);
      used = arrays[i];
      if (!used) return ATTN2C_MEMORY;
      if (given && is_input) give(a, p, tensor, given, used);
    }
    if (is_input)
      in[i] = used;
    else
      out[o] = used;
  }
  const int status = attn2c_context_run(context, attn2c_entry_of_call(model, entry, in, p->batch), in, out);
  for (int o = 0; o < entry->output_count && status == ATTN2C_OK; o++) {
    const uint32_t *buffer = arrays[entry->input_count + o];
    if (buffer && out[o] == buffer)
      take(boxes_of(&lengths->outputs[o], &model->tensors[entry->outputs[o]]), p, buffer, outputs[o]);
  }
  return status;
}

int attn2c_batches_run(attn2c_context *context, const attn2c_lengths *lengths, int64_t count,
                       const void *const *inputs, void *const *outputs) {
  const attn2c_entry *entry = attn2c_primary_entry(context->model->descriptor);
  const size_t arrays = (size_t)(entry->input_count + entry->output_count);
  ATTN2C_OWN void **made = calloc(2 * arrays, sizeof *made);
  int status = made ? ATTN2C_OK : ATTN2C_MEMORY;
  share p = {count, 0, 0, lengths->sizes->batch};
  for (; p.first < count && status == ATTN2C_OK; p.first += p.taken) {
    p.taken = count - p.first < p.batch ? count - p.first : p.batch;
    if (context->watch) context->watch(p.first, count);
    status = call(context, lengths, &p, inputs, outputs, (uint32_t **)made, (const void **)(made + arrays),
                  made + arrays + entry->input_count);
  }
  for (size_t i = 0; made && i < arrays; i++) attn2c_free(made[i]);
  return status;
}
