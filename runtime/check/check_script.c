/* check_script.c - runs calls of several sizes on one context, in order. No call may depend on what an
 * earlier one left in the arena, in buffers or in the threads. */
#include "check/check_script.h"
#include "check/check_parts.h"
#include "model/dispatch.h"
#include "model/resize.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void free_call(const attn2c_check_call *call) {
  if (call->owns_in) attn2c_check_free_arrays(call->in, call->entry->input_count);
  attn2c_check_free_arrays(call->want, call->entry->output_count);
}

int attn2c_check_script_add(attn2c_check_script *script, const attn2c_check_call *call) {
  attn2c_check_call *more = realloc(script->calls, ((size_t)script->count + 1) * sizeof *more);
  if (!more) {
    free_call(call);
    return ATTN2C_MEMORY;
  }
  script->calls = more;
  more[script->count++] = *call;
  return ATTN2C_OK;
}

void attn2c_check_script_free(attn2c_check_script *script) {
  for (int i = 0; i < script->count; i++) free_call(&script->calls[i]);
  free(script->calls);
  *script = (attn2c_check_script){0};
}

/* Returns an output's shape in a call. */
static attn2c_tensor shape_of(const attn2c_check_job *job, const attn2c_check_call *call, int output) {
  const attn2c_lengths *lengths = job->descriptor->lengths;
  const int64_t seq = attn2c_size_of(job->descriptor, call->entry)->seq;
  return attn2c_resize_tensor(&job->descriptor->tensors[call->entry->outputs[output]],
                              &lengths->outputs[output], call->batch, seq - call->seq);
}

/* Adds a row for each output of a call, whose bits must be the known ones. */
static int report_call(attn2c_check_job *job, const attn2c_check_call *call, void *const *got,
                       const char *place) {
  int status = ATTN2C_OK;
  for (int i = 0; i < call->entry->output_count && status == ATTN2C_OK; i++) {
    const attn2c_tensor shape = shape_of(job, call, i);
    attn2c_comparison comparison;
    attn2c_compare_bits(&shape, call->want[i], got[i], &comparison);
    char name[160];
    snprintf(name, sizeof name, "output %s, %s, %" PRId64 "x%" PRId64, shape.name, place, call->batch,
             call->seq);
    status = attn2c_check_report_row(&job->report, name, &shape, &comparison);
  }
  return status;
}

/* Makes a call, with outputs that are not written before. */
static int make_call(attn2c_check_job *job, attn2c_context *context, const attn2c_check_call *call,
                     const char *place) {
  void **got = calloc((size_t)call->entry->output_count + 1, sizeof *got);
  int status = got ? ATTN2C_OK : attn2c_check_no_memory(job, "outputs");
  for (int i = 0; i < call->entry->output_count && status == ATTN2C_OK; i++) {
    const attn2c_tensor *tensor = &job->descriptor->tensors[call->entry->outputs[i]];
    got[i] = attn2c_reference_allocate(tensor);
    if (!got[i]) return attn2c_check_free_arrays(got, i), attn2c_check_no_memory(job, tensor->name);
    attn2c_check_fill(got[i], attn2c_elements(tensor));
  }
  if (status == ATTN2C_OK) {
    const int number = (int)(call->entry - job->descriptor->entries);
    status =
        attn2c_dispatch_through(context, number, call->batch, call->seq, (const void *const *)call->in, got);
    if (status != ATTN2C_OK)
      attn2c_say(job->message, "entry %s, %s: %s", call->entry->name, place, attn2c_strerror(status));
  }
  if (status == ATTN2C_OK) status = report_call(job, call, got, place);
  attn2c_check_free_arrays(got, call->entry->output_count);
  return status;
}

/* Returns the number of the longest call; of two, that with more sequences. */
static int longest_of(const attn2c_check_script *script) {
  int best = 0;
  for (int i = 1; i < script->count; i++) {
    const attn2c_check_call *a = &script->calls[best], *b = &script->calls[i];
    if (b->seq > a->seq || (b->seq == a->seq && b->batch > a->batch)) best = i;
  }
  return best;
}

/* The order is: the longest, the others as they were added, the longest again. */
int attn2c_check_run_script(attn2c_check_job *job) {
  const attn2c_check_script *script = job->script;
  if (script->count == 0) return ATTN2C_OK;
  attn2c_context *context;
  int status = attn2c_dispatch_create(job->model, job->descriptor->lengths, &context);
  if (status != ATTN2C_OK) return attn2c_check_no_memory(job, "context");
  const int longest = longest_of(script);
  for (int i = 0; i <= script->count && status == ATTN2C_OK; i++) {
    const int before = i - 1 < longest ? i - 1 : i; /* the others, without the longest */
    const int next = i == 0 || i == script->count ? longest : before;
    char place[48];
    snprintf(place, sizeof place, "call %d of %d", i + 1, script->count + 1);
    status = make_call(job, context, &script->calls[next], place);
  }
  attn2c_context_destroy(context);
  return status;
}
