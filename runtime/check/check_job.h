/* check_job.h - what parts of a check share: the program, the entry, its arrays, trace and report. */
#pragma once

#include "check/check_report.h"
#include "check/check_trace.h"
#include "reference/reference.h"
#include "check/tolerance.h"
#include "model/model.h"

typedef struct {
  const attn2c_program *program;
  const attn2c_model *model;
  const attn2c_descriptor *descriptor;
  const attn2c_entry *entry;
  attn2c_source *source;            /* of the weights */
  const void *const *inputs;        /* the entry's */
  const void *const *source_inputs; /* of the entry `encode`, the first, if the model has an encoder */
  void **weights;                   /* unpacked, by tensor index */
  void **tensors;                   /* by tensor index: the current operands and result */
  const double *spread;             /* by tensor index: errors of what is rounded (check_spread.c), or NULL */
  void **traced;                    /* outputs of the trace variant */
  void **shipped;                   /* outputs of the shipped variant, where NaN are planted */
  attn2c_check_trace trace;
  attn2c_check_report report;
  const attn2c_sequences *sequences; /* of the next runs; NULL: one of the greatest length */
  /* which sequences have in the state, for the entry after `encode`; NULL: the model has no encoder */
  struct attn2c_check_sources *sources;
  uint64_t seed;
  float *state;      /* of a model that continues; NULL: another */
  attn2c_team *team; /* of the shipped variant; NULL: for one worker */
  attn2c_message *message;
  int kept_outputs; /* the number of keys and values that a state keeps: the last outputs of the entry */
  int nan;          /* 1: NaN and infinity are planted */
} attn2c_check_job;

static inline const attn2c_tensor *attn2c_check_tensor(const attn2c_check_job *job, int tensor) {
  return &job->descriptor->tensors[tensor];
}

/* Says that there is no memory for `what`, and returns ATTN2C_MEMORY. */
static inline int attn2c_check_no_memory(const attn2c_check_job *job, const char *what) {
  return attn2c_fail(job->message, ATTN2C_MEMORY, "%s: no memory for the check", what);
}

static inline void attn2c_check_free_arrays(void **arrays, int count) {
  for (int i = 0; arrays && i < count; i++) attn2c_free(arrays[i]);
  free(arrays);
}
