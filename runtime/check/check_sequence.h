/* check_sequence.h - gives one sequence of a call of any length as a job of its own: shapes, inputs, outputs,
 * trace and weights are as in a model of exactly that length. */
#pragma once

#include "check/check_job.h"

/* Returns a tensor of the job's entry with the shape that it has for a sequence of a call. */
attn2c_tensor attn2c_check_sequence_tensor(const attn2c_check_job *job, int tensor, const attn2c_sequences *n,
                                           ptrdiff_t sequence);
/* Returns the elements of an input or output that the sequences before number `sequence` of a call have. */
int64_t attn2c_check_sequence_elements(const attn2c_check_job *job, int tensor, const attn2c_sequences *n,
                                       ptrdiff_t sequence);

/* The state of a job before it became one of a sequence, and the memory that is freed after it. */
typedef struct {
  attn2c_check_job *job;
  attn2c_check_trace trace;
  const attn2c_descriptor *descriptor;
  const void *const *inputs;
  void **weights, **traced;
  attn2c_descriptor of_sequence;
  attn2c_tensor *tensors;
  const void **in;
  void **out, **own_weights;
  attn2c_lengths lengths; /* of a model that continues: one call's */
  attn2c_size size;
} attn2c_check_sequence;

/* Makes the job one of a sequence of a call of which the trace has been run, with the call's inputs and
 * outputs. Returns ATTN2C_OK or _MEMORY. In every case the caller ends with attn2c_check_sequence_end. */
int attn2c_check_sequence_begin(attn2c_check_sequence *self, attn2c_check_job *job, const attn2c_sequences *n,
                                ptrdiff_t sequence, const void *const *in, void *const *out);
void attn2c_check_sequence_end(attn2c_check_sequence *self);

/* Makes the job of a model that continues one of a model whose longest sequence is as long as a call, which a
 * trace of one call can show. The job has no outputs yet. Ended by attn2c_check_sequence_end, in every case.
 */
int attn2c_check_call_begin(attn2c_check_sequence *self, attn2c_check_job *job);
