/* check_job.h - what the parts of a check share: the program, the entry at hand with its
 * arrays, the memory of its trace and the report. */
#ifndef ATTN2C_CHECK_JOB_H
#define ATTN2C_CHECK_JOB_H

#include "check/check_report.h"
#include "check/check_trace.h"
#include "check/reference.h"
#include "check/tolerance.h"
#include "model/model.h"

typedef struct {
  const attn2c_program *program;
  const attn2c_model *model;
  const attn2c_descriptor *descriptor;
  const attn2c_entry *entry;
  const void *const *inputs; /* the entry's */
  void **weights;            /* unpacked, by tensor index */
  void **tensors;            /* by tensor index: the operands and the result at hand */
  void **traced;             /* outputs of the trace variant */
  void **shipped, **again;   /* and of the shipped one's two runs */
  attn2c_check_trace trace;
  attn2c_check_report report;
  attn2c_team *team; /* of the shipped variant; NULL: for one worker */
  attn2c_message *message;
  int nan; /* NaN and infinity are planted */
} attn2c_check_job;

/* Says that there is no memory for `what`; ATTN2C_MEMORY. */
int attn2c_check_no_memory(const attn2c_check_job *job, const char *what);
/* Runs a variant of the entry; a line where it fails. */
int attn2c_check_run(const attn2c_check_job *job, attn2c_run run, float *arena, void *const *outputs,
                     const char *variant);
/* Runs the reference from the inputs; its results are in job->tensors until attn2c_reference_release.
 * is_traced: the trace has been run on the same inputs, and the reference follows its roundings. */
int attn2c_check_run_reference(attn2c_check_job *job, int is_traced);
/* Where `want`, an op's result, is NaN for a key that is masked, and `got` is 0, it becomes 0: a step may
 * leave out what a mask removes. By the trace's scores, and by the static mask. */
int attn2c_check_settle_masked(const attn2c_check_job *job, const attn2c_op *op, const float *got,
                               int64_t leading_dimension, float *want);
void attn2c_check_settle_hidden(const attn2c_check_job *job, const attn2c_op *op, const float *got,
                                int64_t leading_dimension, float *want);

/* Raises allowed[output], an error an element, and the relative L2 of tolerances[output] to what errors
 * within the rules of the ops make of the entry's outputs; indices have neither. The reference's outputs are
 * in job->tensors; guide: what it was run with. */
int attn2c_check_spread(const attn2c_check_job *job, const attn2c_reference_guide *guide,
                        float *const *allowed, attn2c_tolerance *tolerances);

/* Rows for the outputs in job->traced against the reference's, which are in job->tensors. */
int attn2c_check_outputs(attn2c_check_job *job, const char *what);

/* The check of a call that does not fill the entry: check_lengths.c. Of several entries, of the first and
 * last. */
int attn2c_check_lengths(attn2c_check_job *job, attn2c_run trace);

/* The check of an entry with NaN and infinity in its inputs: check_nan.c. */
int attn2c_check_nan(attn2c_check_job *job, attn2c_run trace);

#endif
