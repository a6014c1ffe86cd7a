/* check_sources.h - sources that the encoder of a model reads for the check of its decoder: a call of the
 * entry `encode`, and what its trace keeps of each sequence. The reference takes these values as weights. */
#pragma once

#include "check/check_calls.h"

typedef struct attn2c_check_sources {
  attn2c_checked_call call; /* of `encode`, or of it with adapters */
  const void **inputs;      /* of the entry */
  const int32_t *lengths;   /* of the sources, by sequence; the first is the longest that the model takes */
  float **values;           /* [sequences][tensors], of tensors of the state; else NULL */
  int64_t tensors;
  attn2c_check_job job; /* of the entry */
} attn2c_check_sources;

/* Reads sources of several lengths into the sequences of job->state, by the trace of `encode`, in the memory
 * of job->trace. job->sources becomes `sources`. Returns ATTN2C_OK or another status, with a message. In
 * every case the caller ends with attn2c_check_sources_end. */
int attn2c_check_sources_begin(attn2c_check_sources *sources, attn2c_check_job *job);
void attn2c_check_sources_end(attn2c_check_sources *sources, attn2c_check_job *job);

/* Returns the values of a tensor of the state that a sequence has. */
static inline float *attn2c_check_source_values(const attn2c_check_sources *sources, int64_t sequence,
                                                int tensor) {
  return sources->values[sequence * sources->tensors + tensor];
}

/* Reads one source into a sequence of a context: the first one, or another, which has its last rows; of
 * sources of one length the second. */
int attn2c_check_sources_read(const attn2c_check_sources *sources, attn2c_context *context, int64_t sequence,
                              int is_other);
