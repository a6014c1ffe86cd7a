/* check_job.h - declares what the parts of a check share: the program, the entry, its arrays, the trace, the
 * report. */
#ifndef ATTN2C_CHECK_JOB_H
#define ATTN2C_CHECK_JOB_H

#include "check/check_report.h"
#include "check/check_trace.h"
#include "check/reference.h"
#include "check/tolerance.h"
#include "model/model.h"

/* The most sequences of a call that is checked tensor by tensor. */
enum { ATTN2C_CHECK_SEQUENCES = 6 };

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
  void **shipped, **again;   /* outputs of the shipped variant's two runs */
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
int attn2c_check_no_memory(const attn2c_check_job *job, const char *what);
/* Runs a variant of the entry; says a line if it fails. */
int attn2c_check_run(const attn2c_check_job *job, attn2c_run run, float *arena, void *const *outputs,
                     const char *variant);
/* Add the row of an op's result, checked with the trace's own operands, and those of the outputs against the
 * reference. The trace has been run. */
int attn2c_check_op(attn2c_check_job *job, const attn2c_op *op);
int attn2c_check_end_to_end(attn2c_check_job *job);
/* Runs the reference from the inputs; its results are in job->tensors until attn2c_reference_release.
 * is_traced: the trace has been run on the same inputs, and the reference follows its roundings. */
int attn2c_check_run_reference(attn2c_check_job *job, int is_traced);
/* Does the same with a guide, which sees each op's result; NULL: none. */
int attn2c_check_run_guided(attn2c_check_job *job, const attn2c_reference_guide *guide);
/* Set elements of `want`, an op's result, from NaN to 0 if their key is masked and `got` is 0. A step may
 * skip masked keys. The first function uses the trace's scores, the second the static mask. */
int attn2c_check_settle_masked(const attn2c_check_job *job, const attn2c_op *op, const float *got,
                               int64_t leading_dimension, float *want);
void attn2c_check_settle_hidden(const attn2c_check_job *job, const attn2c_op *op, const float *got,
                                int64_t leading_dimension, float *want);

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
