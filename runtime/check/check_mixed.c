/* check_mixed.c - checks calls of several sequences of a model of any length. Lengths are drawn. Each
 * sequence is checked tensor by tensor, and must have the same bits with some of the outputs, alone, in
 * another order, beside other sequences and in calls that are divided. */
#include "check/check_job.h"
#include "check/check_sequence.h"
#include "check/reference.h"
#include "model/sequences.h"
#include "weights/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A call: its sequences, and its arrays. */
typedef struct {
  attn2c_check_job *job;
  attn2c_sequences n;
  int32_t *first, *lengths; /* [count + 1], [count] */
  int32_t *past,
      *slot; /* [count], all new, in places of their own; after `past`, what is forgotten: nothing */
  void **in, **out;
} mixed;

static const attn2c_descriptor *model_of(const mixed *call) { return call->job->descriptor; }

static size_t elements_of(const mixed *call, int tensor) {
  const attn2c_descriptor *model = model_of(call);
  if (model->growth[tensor].is_shared) return (size_t)attn2c_elements(&model->tensors[tensor]);
  return (size_t)attn2c_check_sequence_elements(model, tensor, &call->n, call->n.count);
}

static void free_arrays(void **arrays, int count) {
  for (int i = 0; arrays && i < count; i++) attn2c_free(arrays[i]);
  free(arrays);
}

static void end(mixed *call) {
  free_arrays(call->in, call->job->entry->input_count);
  free_arrays(call->out, call->job->entry->output_count);
  free(call->first);
  free(call->lengths);
  free(call->past);
  free(call->slot);
}

static void **allocate_arrays(const mixed *call, const int *tensors, int count) {
  void **arrays = calloc((size_t)count + 1, sizeof *arrays);
  for (int i = 0; arrays && i < count; i++) {
    arrays[i] = attn2c_allocate((elements_of(call, tensors[i]) + 1) * sizeof(uint32_t));
    if (!arrays[i]) return free_arrays(arrays, i), NULL;
  }
  return arrays;
}

static void fill_outputs(const mixed *call) {
  const attn2c_entry *entry = call->job->entry;
  for (int i = 0; i < entry->output_count; i++)
    attn2c_check_fill(call->out[i], (int64_t)elements_of(call, entry->outputs[i]));
}

/* Makes a call of sequences with these lengths, without inputs; ended by `end`, also on failure. */
static int begin(mixed *call, attn2c_check_job *job, const int32_t *lengths, ptrdiff_t count) {
  *call = (mixed){.job = job, .n = {.count = count}};
  call->first = calloc((size_t)count + 1, sizeof *call->first);
  call->lengths = calloc((size_t)count + 1, sizeof *call->lengths);
  call->past = calloc((size_t)count * (1 + ATTN2C_MOST_WINDOWS) + 1, sizeof *call->past);
  call->slot = calloc((size_t)count + 1, sizeof *call->slot);
  if (!call->first || !call->lengths || !call->past || !call->slot)
    return attn2c_check_no_memory(job, "sequences");
  for (ptrdiff_t i = 0; i < count; i++) {
    call->slot[i] = (int32_t)i;
    call->lengths[i] = lengths[i];
    call->first[i + 1] = call->first[i] + lengths[i];
  }
  call->n.rows = call->first[count];
  call->n.first = call->first, call->n.past = call->past, call->n.slot = call->slot;
  call->n.forgotten = call->past + count;
  call->in = allocate_arrays(call, job->entry->inputs, job->entry->input_count);
  call->out = allocate_arrays(call, job->entry->outputs, job->entry->output_count);
  if (!call->in || !call->out) return attn2c_check_no_memory(job, "arrays of sequences");
  fill_outputs(call);
  return ATTN2C_OK;
}

/* Copies the inputs of one sequence. */
static void copy_inputs(const mixed *to, ptrdiff_t at, const mixed *from, ptrdiff_t number) {
  const attn2c_descriptor *model = model_of(to);
  for (int i = 0; i < to->job->entry->input_count; i++) {
    const int tensor = to->job->entry->inputs[i];
    const attn2c_tensor shape = attn2c_check_sequence_tensor(model, tensor, from->lengths[number]);
    memcpy((uint32_t *)to->in[i] + attn2c_check_sequence_elements(model, tensor, &to->n, at),
           (const uint32_t *)from->in[i] + attn2c_check_sequence_elements(model, tensor, &from->n, number),
           (size_t)attn2c_elements(&shape) * sizeof(uint32_t));
  }
}

/* Takes the inputs from those of one sequence of the greatest length, from the first on. */
static void take_inputs(const mixed *call) {
  for (int i = 0; i < call->job->entry->input_count; i++) {
    const int tensor = call->job->entry->inputs[i];
    const size_t known = (size_t)attn2c_elements(&model_of(call)->tensors[tensor]);
    for (size_t k = 0; k < elements_of(call, tensor); k++)
      ((uint32_t *)call->in[i])[k] = ((const uint32_t *)call->job->inputs[i])[k % known];
  }
}

/* Runs a variant on a call. */
static int run(const mixed *call, attn2c_run variant, float *arena, const char *name) {
  attn2c_check_job *job = call->job;
  const void *const *inputs = job->inputs;
  job->inputs = (const void *const *)call->in;
  job->sequences = &call->n;
  const int status = attn2c_check_run(job, variant, arena, call->out, name);
  job->inputs = inputs;
  job->sequences = NULL;
  return status;
}

/* Collects rows for the outputs of a sequence, whose bits must be the same in two calls. */
static int same(const mixed *want, ptrdiff_t number, const mixed *got, ptrdiff_t at, const char *what) {
  attn2c_check_job *job = want->job;
  const attn2c_descriptor *model = job->descriptor;
  int status = ATTN2C_OK;
  attn2c_check_report_collect(&job->report, (int)number, (int)want->n.count);
  for (int i = 0; i < job->entry->output_count && status == ATTN2C_OK; i++) {
    const int tensor = job->entry->outputs[i];
    const attn2c_tensor shape = attn2c_check_sequence_tensor(model, tensor, want->lengths[number]);
    attn2c_comparison comparison;
    if (!got->out[i]) continue; /* is not wanted */
    attn2c_compare_bits(
        &shape,
        (const uint32_t *)want->out[i] + attn2c_check_sequence_elements(model, tensor, &want->n, number),
        (const uint32_t *)got->out[i] + attn2c_check_sequence_elements(model, tensor, &got->n, at),
        &comparison);
    char name[128];
    snprintf(name, sizeof name, "output %s, %s", shape.name, what);
    status = attn2c_check_report_row(&job->report, name, &shape, &comparison);
  }
  return status;
}

/* Runs the trace on the call, and checks every tensor of each sequence, and the outputs end to end. */
static int check_trace(const mixed *call, attn2c_run trace) {
  attn2c_check_job *job = call->job;
  attn2c_check_trace_fill(&job->trace);
  int status = run(call, trace, job->trace.arena, "trace");
  for (ptrdiff_t i = 0; i < call->n.count && status == ATTN2C_OK; i++) {
    attn2c_check_sequence view;
    attn2c_check_report_collect(&job->report, (int)i, (int)call->n.count);
    status = attn2c_check_sequence_begin(&view, job, &call->n, i, (const void *const *)call->in, call->out);
    for (int number = 0; number < job->entry->op_count && status == ATTN2C_OK; number++)
      status = attn2c_check_op(job, &job->entry->ops[number]);
    if (status == ATTN2C_OK) status = attn2c_check_end_to_end(job);
    attn2c_check_sequence_end(&view);
  }
  return status == ATTN2C_OK ? attn2c_check_report_release(&job->report) : status;
}

/* The shipped variant on the same call. */
static int check_shipped(const mixed *call, const mixed *traced, float *arena) {
  int status = run(call, call->job->entry->run, arena, "shipped");
  for (ptrdiff_t i = 0; i < call->n.count && status == ATTN2C_OK; i++)
    status = same(traced, i, call, i, "shipped = trace");
  return status == ATTN2C_OK ? attn2c_check_report_release(&call->job->report) : status;
}

/* The same call for some of the outputs. The others are then in the arena, where they overlap other data. */
static int check_some(const mixed *call, float *arena) {
  attn2c_check_job *job = call->job;
  const size_t count = (size_t)job->entry->output_count;
  void **all = calloc(count + 1, sizeof *all);
  mixed some;
  int status = begin(&some, job, call->lengths, call->n.count);
  if (status == ATTN2C_OK && !all) status = attn2c_check_no_memory(job, "outputs");
  for (ptrdiff_t i = 0; i < call->n.count && status == ATTN2C_OK; i++) copy_inputs(&some, i, call, i);
  if (status == ATTN2C_OK) memcpy(all, some.out, count * sizeof *all);
  for (int number = 0; status == ATTN2C_OK; number++) {
    fill_outputs(&some);
    const char *what = attn2c_check_some_outputs(job, number, all, some.out);
    if (!what) break;
    attn2c_check_fill(arena, job->descriptor->arena_floats);
    status = run(&some, job->entry->run, arena, "shipped");
    for (ptrdiff_t i = 0; i < call->n.count && status == ATTN2C_OK; i++)
      status = same(call, i, &some, i, what);
    memcpy(some.out, all, count * sizeof *all);
  }
  free(all);
  end(&some);
  return status == ATTN2C_OK ? attn2c_check_report_release(&job->report) : status;
}

/* Each sequence as a call of its own. */
static int check_alone(const mixed *call, float *arena) {
  int status = ATTN2C_OK;
  for (ptrdiff_t i = 0; i < call->n.count && status == ATTN2C_OK; i++) {
    mixed alone;
    status = begin(&alone, call->job, &call->lengths[i], 1);
    if (status == ATTN2C_OK) {
      copy_inputs(&alone, 0, call, i);
      status = run(&alone, call->job->entry->run, arena, "shipped");
    }
    if (status == ATTN2C_OK) status = same(call, i, &alone, 0, "by itself");
    end(&alone);
  }
  return status == ATTN2C_OK ? attn2c_check_report_release(&call->job->report) : status;
}

/* All sequences in the reverse order. */
static int check_order(const mixed *call, float *arena) {
  const ptrdiff_t count = call->n.count;
  int32_t lengths[ATTN2C_CHECK_SEQUENCES] = {0};
  for (ptrdiff_t i = 0; i < count; i++) lengths[i] = call->lengths[count - 1 - i];
  mixed reverse;
  int status = begin(&reverse, call->job, lengths, count);
  for (ptrdiff_t i = 0; i < count && status == ATTN2C_OK; i++) copy_inputs(&reverse, count - 1 - i, call, i);
  if (status == ATTN2C_OK) status = run(&reverse, call->job->entry->run, arena, "shipped");
  for (ptrdiff_t i = 0; i < count && status == ATTN2C_OK; i++)
    status = same(call, i, &reverse, count - 1 - i, "in another order");
  end(&reverse);
  return status == ATTN2C_OK ? attn2c_check_report_release(&call->job->report) : status;
}

/* Gives a sequence other inputs: NaN, or other integers of the range. */
static void spoil(const mixed *call, ptrdiff_t number) {
  const attn2c_descriptor *model = model_of(call);
  for (int i = 0; i < call->job->entry->input_count; i++) {
    const int tensor = call->job->entry->inputs[i];
    const attn2c_tensor shape = attn2c_check_sequence_tensor(model, tensor, call->lengths[number]);
    if (model->growth[tensor].is_shared) continue;
    uint32_t *values =
        (uint32_t *)call->in[i] + attn2c_check_sequence_elements(model, tensor, &call->n, number);
    if (shape.type == ATTN2C_I32)
      attn2c_random_integers(call->job->seed + 1, shape.name, (int32_t *)values, attn2c_elements(&shape),
                             shape.minimum, shape.limit);
    else
      attn2c_check_fill(values, attn2c_elements(&shape));
  }
}

/* Every other sequence beside others: first those with an even number, then those with an odd one. */
static int check_neighbours(const mixed *call, float *arena) {
  int status = ATTN2C_OK;
  for (int odd = 0; odd < 2 && call->n.count > 1 && status == ATTN2C_OK; odd++) {
    mixed other;
    status = begin(&other, call->job, call->lengths, call->n.count);
    for (ptrdiff_t i = 0; i < call->n.count && status == ATTN2C_OK; i++) {
      copy_inputs(&other, i, call, i);
      if (i % 2 != odd) spoil(&other, i);
    }
    if (status == ATTN2C_OK) status = run(&other, call->job->entry->run, arena, "shipped");
    for (ptrdiff_t i = odd; i < call->n.count && status == ATTN2C_OK; i += 2)
      status = same(call, i, &other, i, "beside others");
    end(&other);
  }
  return status == ATTN2C_OK ? attn2c_check_report_release(&call->job->report) : status;
}

/* Makes a call of the sequences, `times` times one after the other, as callers do; it is divided if its rows
 * are more than one call takes. */
static int call_through(const mixed *call, attn2c_context *context, int times, const char *what) {
  const ptrdiff_t count = call->n.count;
  int32_t *lengths = calloc((size_t)(times * count) + 1, sizeof *lengths);
  if (!lengths) return attn2c_check_no_memory(call->job, "lengths");
  for (ptrdiff_t i = 0; i < times * count; i++) lengths[i] = call->lengths[i % count];
  mixed all;
  int status = begin(&all, call->job, lengths, times * count);
  for (ptrdiff_t i = 0; i < times * count && status == ATTN2C_OK; i++) copy_inputs(&all, i, call, i % count);
  if (status == ATTN2C_OK) {
    status = attn2c_sequences_run(context, times * count, lengths, 0, (const void *const *)all.in, all.out);
    if (status != ATTN2C_OK)
      attn2c_say(call->job->message, "entry %s, %s: %s", call->job->entry->name, what,
                 attn2c_strerror(status));
  }
  for (ptrdiff_t i = 0; i < times * count && status == ATTN2C_OK; i++)
    status = same(call, i % count, &all, i, what);
  end(&all);
  free(lengths);
  return status == ATTN2C_OK ? attn2c_check_report_release(&call->job->report) : status;
}

/* Calls of several sizes on one context, in order. */
static int check_calls(const mixed *call) {
  attn2c_context *context;
  attn2c_check_job *job = call->job;
  if (attn2c_context_create(job->model, &context) != ATTN2C_OK) return attn2c_check_no_memory(job, "context");
  int status = attn2c_sequences_prepare(context);
  if (status != ATTN2C_OK) status = attn2c_check_no_memory(job, "context");
  if (status == ATTN2C_OK) status = call_through(call, context, 1, "call 1 of 3");
  const int times =
      (int)(job->descriptor->lengths->sizes[0].seq / call->n.rows) + 2; /* more than one takes */
  if (status == ATTN2C_OK) status = call_through(call, context, times, "call 2 of 3, divided");
  if (status == ATTN2C_OK) status = call_through(call, context, 1, "call 3 of 3");
  attn2c_context_destroy(context);
  return status;
}

/* Draws lengths of at most `most` rows in all: the least, one around a multiple of 16, others of any size; at
 * most `sequences` of them. */
static ptrdiff_t draw(uint64_t seed, int64_t least, int64_t most, int64_t sequences, int32_t *lengths) {
  int32_t drawn[2 * ATTN2C_CHECK_SEQUENCES];
  attn2c_random_integers(seed, "lengths of sequences", drawn, 2 * ATTN2C_CHECK_SEQUENCES, 0, 1 << 20);
  ptrdiff_t count = 0;
  int64_t rest = most;
  while (count < ATTN2C_CHECK_SEQUENCES && count < sequences && rest >= least) {
    const int32_t a = drawn[2 * count], b = drawn[2 * count + 1];
    const int64_t room = count == ATTN2C_CHECK_SEQUENCES - 1 ? rest : (rest + 1) / 2;
    int64_t length = 1 + a % (room > 0 ? room : 1);
    if (count == 0) length = least;
    if (count % 3 == 1) length = (1 + b % 5) * 16 + a % 3 - 1;
    if (length > rest) length = 1 + a % rest;
    if (length < least) length = least;
    lengths[count++] = (int32_t)length;
    rest -= length;
  }
  const ptrdiff_t at = drawn[0] % count;
  const int32_t swapped = lengths[at];
  lengths[at] = lengths[0], lengths[0] = swapped;
  return count;
}

int attn2c_check_mixed(attn2c_check_job *job, attn2c_run trace) {
  const attn2c_lengths *sizes = job->descriptor->lengths;
  int32_t lengths[ATTN2C_CHECK_SEQUENCES] = {0};
  const attn2c_continued *continued = job->descriptor->continued;
  const ptrdiff_t count = draw(job->seed, sizes->least, sizes->sizes[0].seq,
                               continued ? continued->sequences : ATTN2C_CHECK_SEQUENCES, lengths);
  float *arena = attn2c_allocate((size_t)(job->descriptor->arena_floats + 1) * sizeof(float));
  if (!arena) return attn2c_check_no_memory(job, "arena");
  attn2c_check_fill(arena, job->descriptor->arena_floats);
  mixed traced, call = {.job = job};
  int status = begin(&traced, job, lengths, count);
  if (status == ATTN2C_OK) status = begin(&call, job, lengths, count);
  if (status == ATTN2C_OK) {
    take_inputs(&traced);
    take_inputs(&call);
    status = check_trace(&traced, trace);
  }
  if (status == ATTN2C_OK) status = check_shipped(&call, &traced, arena);
  if (status == ATTN2C_OK) status = check_some(&call, arena);
  if (status == ATTN2C_OK) status = check_alone(&call, arena);
  if (status == ATTN2C_OK) status = check_order(&call, arena);
  if (status == ATTN2C_OK) status = check_neighbours(&call, arena);
  if (status == ATTN2C_OK) status = check_calls(&call);
  end(&call);
  end(&traced);
  attn2c_free(arena);
  return status;
}
