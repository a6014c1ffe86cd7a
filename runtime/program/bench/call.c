/* call.c - makes and verifies a call that `bench` times. */
#include "program/bench/bench.h"

#include <math.h>

#include "model/state.h"
#include "program/inputs.h"

/* Returns a call of the entry's code. */
attn2c_call attn2c_bench_call_whole(const attn2c_bench_call *s, void *const *out) {
  attn2c_call made = attn2c_context_call(s->context, (const void *const *)s->in, out);
  if (s->sequence && s->tokens) s->sequence->forgotten = attn2c_state_room(s->context, s->sequence);
  if (s->sequence) made.sequences = s->sequence;
  return made;
}

int attn2c_bench_call_make(const attn2c_bench_call *s, void *const *out) {
  if (s->tokens)
    return attn2c_bench_tokens_call(s->context, s->tokens, out[s->model->descriptor->continued->logits]);
  if (s->sequence) {
    const attn2c_call made = attn2c_bench_call_whole(s, out);
    return attn2c_model_run(s->model, s->entry->run, &made);
  }
  return attn2c_context_run(s->context, s->entry, (const void *const *)s->in, out);
}

int attn2c_bench_call_failed(const attn2c_bench_call *s, int status, attn2c_message *message) {
  return attn2c_fail(message, status, "bench: %s: %s", s->entry->name, attn2c_strerror(status));
}

static attn2c_tensor output_of(const attn2c_bench_call *s, int index) {
  if (s->sizes) return attn2c_sizes_tensor(s->sizes, 0, index);
  attn2c_tensor tensor = s->program->model->tensors[s->entry->outputs[index]];
  if (s->tokens) tensor.shape[0] = s->tokens->sequences, tensor.shape[1] = 1;
  return tensor;
}

/* Allocates outputs for the tokens of a call: the logits are compared; a trace writes all. */
static int allocate_of_tokens(attn2c_bench_call *s, attn2c_message *message) {
  const int logits = s->model->descriptor->continued->logits;
  int is_full = 1;
  for (int i = 0; i < s->entry->output_count; i++) {
    const attn2c_tensor tensor = output_of(s, i);
    const size_t bytes = sizeof(float) * (size_t)attn2c_elements(&tensor);
    s->again[i] = attn2c_allocate(bytes);
    if (i == logits) s->out[i] = attn2c_allocate(bytes);
    is_full = is_full && s->again[i] != NULL;
  }
  if (is_full && s->out[logits] != NULL) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_MEMORY, "bench: no memory for logits");
}

int attn2c_bench_call_allocate(attn2c_bench_call *s, attn2c_message *message) {
  const attn2c_descriptor *model = s->program->model;
  const attn2c_entry *entry = s->entry;
  s->out = calloc((size_t)entry->output_count + 1, sizeof *s->out);
  s->again = calloc((size_t)entry->output_count + 1, sizeof *s->again);
  if (s->out == NULL || s->again == NULL) return attn2c_fail(message, ATTN2C_MEMORY, "bench: no memory");
  if (s->tokens) return allocate_of_tokens(s, message);
  ATTN2C_TRY(attn2c_arrays_allocate(model, entry->outputs, entry->output_count, s->out, message));
  return attn2c_arrays_allocate(model, entry->outputs, entry->output_count, s->again, message);
}

void attn2c_bench_call_free(attn2c_bench_call *s) {
  attn2c_arrays_free(s->out, s->entry->output_count);
  attn2c_arrays_free(s->again, s->entry->output_count);
}

/* Fills the outputs with one byte, a different one for each call, so that elements not written differ. */
static void spoil(const attn2c_bench_call *s, void **arrays, int byte) {
  for (int i = 0; i < s->entry->output_count; i++) {
    if (arrays[i] == NULL) continue;
    const attn2c_tensor tensor =
        s->tokens ? output_of(s, i) : s->program->model->tensors[s->entry->outputs[i]];
    memset(arrays[i], byte, attn2c_tensor_bytes(&tensor, tensor.shape[0]));
  }
}

/* Compares `again` with `out` bit for bit, and names the first element that differs. */
int attn2c_bench_call_same(const attn2c_bench_call *s, const char *between, attn2c_message *message) {
  for (int i = 0; i < s->entry->output_count; i++) {
    const attn2c_tensor tensor = output_of(s, i);
    const int32_t *first = s->out[i], *second = s->again[i]; /* the bits, for both types */
    const int64_t count = first != NULL ? attn2c_elements(&tensor) : 0;
    for (int64_t e = 0; e < count; e++) {
      if (first[e] == second[e]) continue;
      char index[ATTN2C_INDEX_TEXT];
      attn2c_index_text(&tensor, e, index, sizeof index);
      return attn2c_fail(message, ATTN2C_MISMATCH, "bench: %s%s differs between %s; not timed", tensor.name,
                         index, between);
    }
  }
  return ATTN2C_OK;
}

static int all_finite(const attn2c_bench_call *s, attn2c_message *message) {
  for (int i = 0; i < s->entry->output_count; i++) {
    const attn2c_tensor tensor = output_of(s, i);
    const float *values = s->out[i];
    const int64_t count = values != NULL && tensor.type == ATTN2C_F32 ? attn2c_elements(&tensor) : 0;
    for (int64_t e = 0; e < count; e++) {
      if (isfinite(values[e])) continue;
      char index[ATTN2C_INDEX_TEXT];
      attn2c_index_text(&tensor, e, index, sizeof index);
      return attn2c_fail(message, ATTN2C_MISMATCH, "bench: %s%s is %g, but finite is expected; not timed",
                         tensor.name, index, (double)values[e]);
    }
  }
  return ATTN2C_OK;
}

/* Compares the logits with the logits of calls that are divided otherwise. */
static int verify_tokens(const attn2c_bench_call *s, attn2c_message *message) {
  spoil(s, s->again, 0x33);
  const int status =
      attn2c_bench_tokens_otherwise(s->context, s->tokens, s->again[s->model->descriptor->continued->logits]);
  if (status != ATTN2C_OK) return attn2c_bench_call_failed(s, status, message);
  return attn2c_bench_call_same(s, "calls with other numbers of tokens", message);
}

int attn2c_bench_call_verify(const attn2c_bench_call *s, double *first_ms, attn2c_message *message) {
  spoil(s, s->out, 0xff); /* a NaN */
  spoil(s, s->again, 0x55);
  const double start = attn2c_now();
  int status = attn2c_bench_call_make(s, s->out);
  *first_ms = (attn2c_now() - start) / ATTN2C_NS_IN_MS;
  if (status == ATTN2C_OK) status = attn2c_bench_call_make(s, s->again);
  if (status != ATTN2C_OK) return attn2c_bench_call_failed(s, status, message);
  if (attn2c_bench_call_same(s, "two calls", message) != ATTN2C_OK) return ATTN2C_MISMATCH;
  if (all_finite(s, message) != ATTN2C_OK) return ATTN2C_MISMATCH;
  if (s->tokens && verify_tokens(s, message) != ATTN2C_OK) return ATTN2C_MISMATCH;
  if (s->tokens && !s->sequence) return ATTN2C_OK; /* several calls */
  if (s->sizes && !s->sequence) return ATTN2C_OK;  /* such calls are compared by the command check */
  float *arena = attn2c_allocate(sizeof(float) * (size_t)s->program->trace_floats);
  if (arena == NULL)
    return attn2c_fail(message, ATTN2C_MEMORY, "bench: no memory for the arena of the trace variant");
  spoil(s, s->again, 0xaa);
  attn2c_call traced = attn2c_bench_call_whole(s, s->again);
  traced.arena = arena;
  status = attn2c_model_run(s->model, s->program->trace[s->number], &traced);
  attn2c_free(arena);
  if (status != ATTN2C_OK) return attn2c_bench_call_failed(s, status, message);
  return attn2c_bench_call_same(s, "the model and its trace variant", message);
}
