/* check_sources.c - reads the sources of a decoder's check, and keeps what the encoder's trace makes of them.
 */
#include "check/check_sources.h"
#include "check/check_parts.h"
#include "check/check_sequence.h"
#include "model/sequences.h"

/* Returns the first tensor from number `from` on of a decoder's state that has the name of an encoder's
 * tensor, or -1. A decoder with adapters next to it has tensors of its own. */
static int kept_as(const attn2c_descriptor *model, int tensor, int from) {
  for (int i = from; i < model->tensor_count; i++)
    if (model->tensors[i].kind == ATTN2C_STATE &&
        strcmp(model->tensors[i].name, model->tensors[tensor].name) == 0)
      return i;
  return -1;
}

/* Copies a tensor of the trace of a sequence, of which the job is. */
static int take_tensor(attn2c_check_sources *sources, ptrdiff_t sequence, int tensor) {
  const attn2c_check_job *job = &sources->job;
  const attn2c_descriptor *model = job->descriptor;
  for (int kept = -1; (kept = kept_as(model, tensor, kept + 1)) >= 0;) {
    void *copy;
    const void *values = attn2c_check_trace_view(&job->trace, tensor, &copy);
    const size_t bytes = (size_t)attn2c_elements(&job->descriptor->tensors[tensor]) * sizeof(float);
    float *to = values ? attn2c_allocate(bytes) : NULL;
    if (to) memcpy(to, values, bytes);
    attn2c_free(copy);
    if (!to) return attn2c_check_no_memory(job, "sources");
    sources->values[sequence * sources->tensors + kept] = to;
  }
  return ATTN2C_OK;
}

static int take(attn2c_check_sources *sources, ptrdiff_t sequence) {
  for (int i = 0; i < sources->job.entry->op_count; i++)
    ATTN2C_TRY(take_tensor(sources, sequence, sources->job.entry->ops[i].result));
  return ATTN2C_OK;
}

/* Returns a sequence's inputs by n, which divides the sources' rows, or NULL. The caller frees them. */
static const void **inputs_of(const attn2c_check_sources *sources, const attn2c_sequences *n,
                              ptrdiff_t number) {
  const attn2c_check_job *job = &sources->job;
  const void **in = calloc((size_t)job->entry->input_count + 1, sizeof *in);
  for (int i = 0; in && i < job->entry->input_count; i++)
    in[i] = (uint32_t *)sources->call.in[i] +
            attn2c_check_sequence_elements(job, job->entry->inputs[i], n, number);
  if (!in) attn2c_check_no_memory(job, "sources");
  return in;
}

/* Runs the trace on one source, which may be as long as a call, and copies what it keeps. */
static int read_source(attn2c_check_sources *sources, ptrdiff_t number) {
  attn2c_check_job *job = &sources->job;
  const attn2c_checked_call *call = &sources->call;
  const int32_t first[] = {0, call->lengths[number]};
  const attn2c_sequences n = {.rows = first[1], .count = 1, .first = first, .slot = &call->slot[number]};
  const void **in = inputs_of(sources, &call->n, number);
  if (!in) return ATTN2C_MEMORY;
  job->inputs = in;
  job->sequences = &n;
  const ptrdiff_t entry = job->entry - job->descriptor->entries;
  int status = attn2c_check_run(job, job->program->trace[entry], job->trace.arena, call->out, "trace");
  attn2c_check_sequence view;
  if (status == ATTN2C_OK) {
    status = attn2c_check_sequence_begin(&view, job, &n, 0, in, call->out);
    if (status == ATTN2C_OK) status = take(sources, number);
    attn2c_check_sequence_end(&view);
  }
  free(in);
  return status;
}

static int read_sources(attn2c_check_sources *sources, const int32_t *lengths, ptrdiff_t count) {
  int status = attn2c_checked_call_begin(&sources->call, &sources->job, lengths, count);
  sources->lengths = sources->call.lengths;
  for (ptrdiff_t i = 0; i < count && status == ATTN2C_OK; i++) status = read_source(sources, i);
  return status;
}

int attn2c_check_sources_begin(attn2c_check_sources *sources, attn2c_check_job *job) {
  const attn2c_descriptor *model =
      job->program->model; /* the job's has tensors as large as a decoder's call */
  const attn2c_entry *encode = attn2c_encode_entry(model);
  const int is_adapted = job->entry != attn2c_plain_entry(model, job->entry);
  const attn2c_lengths *of = model->continued->source_lengths;
  const int64_t most = of->sizes[0].seq, sequences = model->continued->sequences;
  int32_t lengths[ATTN2C_CHECK_SEQUENCES];
  const ptrdiff_t room = sequences < ATTN2C_CHECK_SEQUENCES ? sequences : ATTN2C_CHECK_SEQUENCES;
  *sources = (attn2c_check_sources){.job = *job, .tensors = model->tensor_count};
  sources->call.job = &sources->job;
  sources->job.descriptor = sources->job.trace.model = model;
  sources->job.entry = sources->job.trace.entry = is_adapted ? attn2c_adapted_entry(model, encode) : encode;
  sources->inputs = calloc((size_t)encode->input_count, sizeof *sources->inputs);
  if (!sources->inputs) return attn2c_check_no_memory(job, "sources");
  for (int i = 0; i < encode->input_count; i++) sources->inputs[i] = job->source_inputs[i];
  if (model->adapters) /* the decoder's */
    sources->inputs[encode->input_count - 1] = job->inputs[job->entry->input_count - 1];
  sources->job.inputs = sources->job.trace.inputs = sources->inputs;
  sources->values = calloc((size_t)(room * sources->tensors), sizeof *sources->values);
  if (!sources->values) return attn2c_check_no_memory(job, "sources");
  lengths[0] = (int32_t)most;
  for (ptrdiff_t i = 1; i < room; i++)
    attn2c_check_draw_lengths(job->seed + (uint64_t)i, of->least, most, 1, &lengths[i]);
  ATTN2C_TRY(read_sources(sources, lengths, room));
  /* A call that is no view of one sequence (check_sequence.h) is of the first. */
  for (int tensor = 0; tensor < model->tensor_count; tensor++)
    if (model->tensors[tensor].kind == ATTN2C_STATE)
      job->weights[tensor] = attn2c_check_source_values(sources, 0, tensor);
  job->sources = sources;
  return ATTN2C_OK;
}

void attn2c_check_sources_end(attn2c_check_sources *sources, attn2c_check_job *job) {
  for (int64_t i = 0; sources->values && i < sources->call.n.count * sources->tensors; i++)
    attn2c_free(sources->values[i]);
  for (int tensor = 0; tensor < job->program->model->tensor_count; tensor++)
    if (job->program->model->tensors[tensor].kind == ATTN2C_STATE) job->weights[tensor] = NULL;
  free(sources->values);
  free(sources->inputs);
  attn2c_checked_call_end(&sources->call);
  job->sources = NULL;
}

int attn2c_check_sources_read(const attn2c_check_sources *sources, attn2c_context *context, int64_t sequence,
                              int is_other) {
  const attn2c_lengths *of = sources->job.program->model->continued->source_lengths;
  const int is_of_one_length = of->least == of->sizes[0].seq, has_other = sources->call.n.count > 1;
  const int32_t all = sources->lengths[0], left = all - all / 2, slot = (int32_t)sequence;
  const int32_t skipped = is_other && left >= of->least ? all - left : 0, rows = all - skipped;
  const int32_t first[] = {0, skipped, all};
  const attn2c_sequences n = {.rows = all, .count = 2, .first = first};
  ATTN2C_OWN const void **in = is_of_one_length ? inputs_of(sources, &sources->call.n, is_other && has_other)
                                                : inputs_of(sources, &n, 1);
  if (!in) return ATTN2C_MEMORY;
  if (sources->job.descriptor->adapters) in[sources->job.entry->input_count - 1] = NULL; /* it has its own */
  int status = attn2c_encode(context, 1, &slot, &rows, in);
  if (status != ATTN2C_OK)
    return attn2c_fail(sources->job.message, status, "entry encode: %s", attn2c_strerror(status));
  return ATTN2C_OK;
}
