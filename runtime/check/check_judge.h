/* check_judge.h - runs an entry or its reference, and judges the results. */
#pragma once

#include "check/check_job.h"

/* Runs a variant of the entry; says a line if it fails. */
int attn2c_check_run(const attn2c_check_job *job, attn2c_run run, float *arena, void *const *outputs,
                     const char *variant);
/* Add the row of an op's result, checked with the trace's own operands, and the outputs' rows against the
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

/* Adds rows for the outputs in job->traced against the reference's, which are in job->tensors. */
int attn2c_check_outputs(attn2c_check_job *job, const char *what);
