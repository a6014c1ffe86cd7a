/* check_job.h - declares what the parts of a check share: the program, the entry, its arrays, the trace, the
 * report. */
#ifndef ATTN2C_CHECK_JOB_H
#define ATTN2C_CHECK_JOB_H

#include "check/check_report.h"
#include "check/check_trace.h"
#include "check/reference.h"
#include "check/tolerance.h"
#include "model/model.h"

#include <stdlib.h>

typedef struct {
  const attn2c_program *program;
  const attn2c_model *model;
  const attn2c_descriptor *descriptor;
  const attn2c_entry *entry;
  attn2c_source *source;     /* of the weights */
  const void *const *inputs; /* the entry's */
  void **weights;            /* unpacked, by tensor index */
  void **tensors;            /* by tensor index: the current operands and result */
  void **traced;             /* outputs of the trace variant */
  void **shipped;            /* outputs of the shipped variant, where NaN are planted */
  attn2c_check_trace trace;
  attn2c_check_report report;
  const attn2c_sequences *sequences; /* of the next runs; NULL: one of the greatest length */
  uint64_t seed;
  float *state;      /* of a model that continues; NULL: another */
  attn2c_team *team; /* of the shipped variant; NULL: for one worker */
  attn2c_message *message;
  int nan; /* 1: NaN and infinity are planted */
} attn2c_check_job;

/* Says that there is no memory for `what`, and returns ATTN2C_MEMORY. */
static inline int attn2c_check_no_memory(const attn2c_check_job *job, const char *what) {
  attn2c_say(job->message, "%s: no memory for the check", what);
  return ATTN2C_MEMORY;
}

/* Widens the tolerances of the entry's outputs to the effect of errors within the rules of the ops. It raises
 * allowed[output], an error per element, and the relative L2 of tolerances[output]; indices have neither. The
 * reference's outputs are in job->tensors; guide: the one that it was run with. */
int attn2c_check_spread(const attn2c_check_job *job, const attn2c_reference_guide *guide,
                        float *const *allowed, attn2c_tolerance *tolerances);

/* Adds rows for the outputs in job->traced against the reference's, which are in job->tensors. */
int attn2c_check_outputs(attn2c_check_job *job, const char *what);

/* Sets the pointers of the outputs that call number `number`, from 0, wants of `all`: each by itself, then
 * all but one. The others are NULL. Returns the words of the call's rows; NULL: there is no such call. */
const char *attn2c_check_some_outputs(const attn2c_check_job *job, int number, void *const *all, void **some);

/* Adds rows for weights whose inputs the model has in another order than the file (check_orders.c). */
int attn2c_check_orders(attn2c_check_job *job);

/* Checks calls of several sequences of a model of any length (check_mixed.c). */
int attn2c_check_mixed(attn2c_check_job *job, attn2c_run trace);

/* Checks calls that continue sequences (check_continued.c). */
int attn2c_check_continued(attn2c_check_job *job);

/* Checks an entry with NaN and infinity in its inputs (check_nan.c). */
int attn2c_check_nan(attn2c_check_job *job, attn2c_run trace);

#endif
