/* check_parts.h - the parts of an entry's check, each in a file of its name. */
#pragma once

#include "check/check_job.h"

/* Adds rows for weights whose inputs the model has in another order than the file. */
int attn2c_check_orders(attn2c_check_job *job);
/* Checks calls that continue sequences. */
int attn2c_check_continued(attn2c_check_job *job);
/* Checks an entry with NaN and infinity in its inputs. */
int attn2c_check_nan(attn2c_check_job *job, attn2c_run trace);

/* Runs an entry or its reference, and judges the results. */

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

/* Finds the elements of scores, and of tensors made from them, that a static mask removes. Emitted steps need
 * not compute these elements, since nothing reads them; the reference has -inf in scores and 0 in weights. */

typedef enum {
  ATTN2C_UNMASKED,
  ATTN2C_MASKED_SCORES, /* -inf where masked */
  ATTN2C_MASKED_WEIGHTS /* 0 where masked */
} attn2c_masked;

/* Tells whether the result of op number `number` has a static mask. Such a result is scores with a mask, or
 * made from them by a chain of ops. *scores is then the op that has the mask, else NULL. */
attn2c_masked attn2c_check_masked(const attn2c_entry *entry, int number, const attn2c_op **scores);

/* Returns the op whose static mask applies to the result of op number `number`, or NULL. The result must be
 * weights or their mean over the heads. */
const attn2c_op *attn2c_check_mask_of_weights(const attn2c_entry *entry, int number);

/* Returns the scores, of the same shape, that an op's weights are made from; -1: its result is no weights. */
int attn2c_check_scores_of(const attn2c_entry *entry, const attn2c_op *op);

/* Returns the number of the entry's op whose result is the tensor; -1: none. */
int attn2c_check_maker(const attn2c_entry *entry, int tensor);

/* Finds by trial how far a correct run of an entry may be from the reference. */

/* Widens the tolerances of the entry's outputs to the effect of errors within the rules of the ops. It raises
 * allowed[output], an error per element, and the relative L2 of tolerances[output]; indices have neither. The
 * reference's outputs are in job->tensors; guide: the one that it was run with. If there is one,
 * spread[tensor] is raised, too: an error of all elements of the first operand of ops that is_settled tells,
 * whose results are rounded or chosen. */
int attn2c_check_spread(const attn2c_check_job *job, const attn2c_reference_guide *guide,
                        int (*is_settled)(const attn2c_op *op), float *const *allowed,
                        attn2c_tolerance *tolerances, double *spread);
