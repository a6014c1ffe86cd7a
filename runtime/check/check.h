/* check.h - the check of a whole program against the reference: every graph op on the trace variant's own
 * operands, the outputs end to end, and the bits of the shipped variant. */
#ifndef ATTN2C_CHECK_H
#define ATTN2C_CHECK_H

#include "model/model.h"

#include <stdio.h>

/* For each entry, printed to `out` as a row a comparison, as a table or (json not 0) as one JSON object a
 * line:
 * - each graph op in order: the trace variant's result against the reference fed with the trace's own
 * operands, under the op's tolerance, so that errors do not add up and the first op that is wrong is named;
 * - each output end to end: against the reference run freely from the inputs, under the model's tolerance;
 * - each output of the shipped variant: the trace variant's bits, in a second run the first run's, and of
 * several the same as the only one that is wanted.
 * Then `N passed, N failed`, and the first row that failed with index, expected, got, seed and
 * repeat_command.
 *
 * With `nan` instead, for each place at which a NaN or an infinity is planted: each output, the reference's
 * classes (NaN, either infinity, finite) in the trace variant and in the shipped one (check_nan.c); the
 * model's weights must then be its own (model->own).
 *
 * `model` is opened from `source`, whose weights are read once more, unpacked. `inputs` are pointers to the
 * whole batch (float or int32), in the order of the entry's inputs; of several entries, one list behind the
 * other. `seed` is only printed: that of random weights and inputs. ATTN2C_OK; _MISMATCH: a row failed;
 * _MEMORY; _USAGE: the reference does not know an op, or the descriptor is not consistent; _FORMAT: an input
 * out of range; _IO: out could not be written; or what the source says. */
int attn2c_check(const attn2c_program *program, const attn2c_model *model, attn2c_source *source,
                 const void *const *inputs, uint64_t seed, int nan, FILE *out, int json,
                 const char *repeat_command, attn2c_message *message);

#endif
