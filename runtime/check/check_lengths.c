/* check_lengths.c - checks calls that do not fill an entry. The reference computes the whole entry, with the
 * same masks, but with other values in the padding than the call has: the caller's results must not depend on
 * them. */
#include "check/check_judge.h"
#include "check/check_parts.h"
#include "check/check_script.h"
#include "check/reference.h"
#include "model/dispatch.h"
#include "model/resize.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The arrays of such a call: the caller's, and the reference's whole inputs. */
typedef struct {
  attn2c_check_job *job;
  const attn2c_lengths *lengths;
  attn2c_entry_call part;
  void **in, **out, **whole;
} shorter;

static const attn2c_lengths *lengths_of(const attn2c_check_job *job) {
  return job->descriptor->lengths ? job->descriptor->lengths : job->program->lengths;
}

/* Returns a call for this entry: its length is halfway to the next shorter entry's, and it has one sequence
 * less. */
static attn2c_entry_call part_of(const attn2c_check_job *job, const attn2c_lengths *lengths) {
  const attn2c_size *size = &lengths->sizes[job->entry - job->descriptor->entries];
  int64_t before = 0;
  for (int i = 0; i < job->descriptor->entry_count; i++) {
    const int64_t seq = lengths->sizes[i].seq;
    if (seq < size->seq && seq > before) before = seq;
  }
  int64_t seq = (before + size->seq + 1) / 2;
  if (seq < lengths->least) seq = lengths->least;
  const int64_t batch = size->batch > 1 ? size->batch - 1 : 1;
  return (attn2c_entry_call){*size, batch, seq, 0, batch};
}

static attn2c_resize resize_of(const shorter *s, int is_input, int index) {
  const attn2c_entry *entry = s->job->entry;
  const int tensor = is_input ? entry->inputs[index] : entry->outputs[index];
  const attn2c_axes *axes = is_input ? &s->lengths->inputs[index] : &s->lengths->outputs[index];
  return attn2c_resize_of(s->lengths, axes, &s->job->descriptor->tensors[tensor], &s->part);
}

/* Makes counts of rows that fit the shorter sequences. */
static void make_counts(const shorter *s, int32_t *whole, int32_t *in) {
  for (int64_t i = 0; i < s->part.entry.batch; i++) {
    whole[i] = (int32_t)((whole[i] - 1) % s->part.seq + 1);
    if (i < s->part.batch) in[i] = whole[i];
  }
}

/* Makes the caller's inputs from a part of the entry's, which keep their other values as padding. */
static int make_inputs(const shorter *s) {
  for (int i = 0; i < s->job->entry->input_count; i++) {
    const attn2c_tensor *tensor = &s->job->descriptor->tensors[s->job->entry->inputs[i]];
    const attn2c_resize resize = resize_of(s, 1, i);
    s->in[i] = attn2c_reference_allocate(tensor); /* as large as the entry's, which is more than it needs */
    s->whole[i] = attn2c_reference_allocate(tensor);
    if (!s->in[i] || !s->whole[i]) return attn2c_check_no_memory(s->job, tensor->name);
    memcpy(s->whole[i], s->job->inputs[i], (size_t)attn2c_elements(tensor) * sizeof(float));
    if (s->lengths->inputs[i].filling == ATTN2C_FILL_COUNT) {
      make_counts(s, s->whole[i], s->in[i]);
    } else {
      attn2c_resize_take(&resize, s->whole[i], s->in[i]);
      if (s->lengths->inputs[i].filling != ATTN2C_FILL_LEAST) attn2c_resize_mask(&resize, s->whole[i]);
    }
  }
  return ATTN2C_OK;
}

static int call(const shorter *s) {
  attn2c_context *context;
  attn2c_check_job *job = s->job;
  int status = attn2c_dispatch_create(job->model, s->lengths, &context);
  if (status != ATTN2C_OK) return attn2c_check_no_memory(job, "context");
  for (int i = 0; i < job->entry->output_count && status == ATTN2C_OK; i++) {
    const attn2c_tensor *tensor = &job->descriptor->tensors[job->entry->outputs[i]];
    s->out[i] = attn2c_reference_allocate(tensor);
    if (!s->out[i]) status = attn2c_check_no_memory(job, tensor->name);
  }
  if (status == ATTN2C_OK)
    status = attn2c_dispatch_through(context, (int)(job->entry - job->descriptor->entries), s->part.batch,
                                     s->part.seq, (const void *const *)s->in, s->out);
  if (status != ATTN2C_OK && status != ATTN2C_MEMORY)
    attn2c_say(job->message, "entry %s, %" PRId64 " of %" PRId64 " tokens: %s", job->entry->name, s->part.seq,
               s->part.entry.seq, attn2c_strerror(status));
  attn2c_context_destroy(context);
  return status;
}

/* Runs the trace on the same inputs if tensors are rounded, as the reference then follows it. */
static int run_trace(const shorter *s, attn2c_run trace) {
  attn2c_check_job *job = s->job;
  if (!job->descriptor->packings) return ATTN2C_OK;
  job->trace.inputs = job->inputs;
  attn2c_check_trace_fill(&job->trace);
  return attn2c_check_run(job, trace, job->trace.arena, job->traced, "trace");
}

/* Compares the reference's outputs with the call's, copied to their places. */
static int compare(const shorter *s, attn2c_run trace) {
  attn2c_check_job *job = s->job;
  const void *const *inputs = job->inputs;
  char what[96];
  snprintf(what, sizeof what, "%" PRId64 "x%" PRId64 " of %" PRId64 "x%" PRId64, s->part.batch, s->part.seq,
           s->part.entry.batch, s->part.entry.seq);
  job->inputs = (const void *const *)s->whole;
  int status = run_trace(s, trace);
  if (status == ATTN2C_OK) status = attn2c_check_run_reference(job, job->descriptor->packings != NULL);
  for (int i = 0; i < job->entry->output_count && status == ATTN2C_OK; i++) {
    const attn2c_resize resize = resize_of(s, 0, i);
    const int tensor = job->entry->outputs[i];
    memcpy(job->traced[i], job->tensors[tensor],
           (size_t)attn2c_elements(&job->descriptor->tensors[tensor]) * sizeof(float));
    attn2c_resize_put(&resize, s->out[i], job->traced[i]);
  }
  if (status == ATTN2C_OK) status = attn2c_check_outputs(job, what);
  attn2c_reference_release(job->entry, job->tensors);
  job->inputs = job->trace.inputs = inputs;
  return status;
}

/* Gives the call to the script. */
static int add_to_script(shorter *s) {
  const attn2c_check_call call = {s->job->entry, s->part.batch, s->part.seq, s->in, s->out, 1};
  s->in = s->out = NULL;
  if (attn2c_check_script_add(s->job->script, &call) == ATTN2C_OK) return ATTN2C_OK;
  return attn2c_check_no_memory(s->job, "the script");
}

int attn2c_check_lengths(attn2c_check_job *job, attn2c_run trace) {
  const attn2c_lengths *lengths = lengths_of(job);
  const int number = (int)(job->entry - job->descriptor->entries);
  if (!lengths || lengths->exact || job->descriptor->is_open ||
      (number > 0 && number + 1 < job->descriptor->entry_count))
    return ATTN2C_OK;
  shorter s = {.job = job, .lengths = lengths, .part = part_of(job, lengths)};
  if (s.part.seq == s.part.entry.seq && s.part.batch == s.part.entry.batch) return ATTN2C_OK;
  s.in = calloc((size_t)job->entry->input_count + 1, sizeof *s.in);
  s.whole = calloc((size_t)job->entry->input_count + 1, sizeof *s.whole);
  s.out = calloc((size_t)job->entry->output_count + 1, sizeof *s.out);
  int status = s.in && s.whole && s.out ? make_inputs(&s) : attn2c_check_no_memory(job, "inputs");
  if (status == ATTN2C_OK) status = call(&s);
  if (status == ATTN2C_OK) status = compare(&s, trace);
  if (status == ATTN2C_OK && job->descriptor->lengths) status = add_to_script(&s);
  attn2c_check_free_arrays(s.in, job->entry->input_count);
  attn2c_check_free_arrays(s.whole, job->entry->input_count);
  attn2c_check_free_arrays(s.out, job->entry->output_count);
  return status;
}
