/* check.h - checks a whole program against the reference. It checks every graph op on the trace variant's own
 * operands, the outputs end to end, and the bits of the shipped variant. */
#pragma once

#include "model/model.h"

/* Checks each entry and prints to `out` a row per comparison, as a table or (json not 0) as one JSON object
 * per line:
 * - each graph op in order: the trace variant's result against the reference with the trace's own operands,
 *   under the op's tolerance, so that errors do not add up and the first wrong op is named;
 * - each output end to end: against the reference run freely from the inputs, under the model's tolerance;
 * - each output of the shipped variant: the same bits as the trace variant, in a second run the same as in
 * the first, and with several outputs the same if only that one is wanted, or if one of the others is not;
 * - for a model of any length: a call of several sequences of lengths that the seed draws. Each op and output
 * of each sequence is checked as above, of which the worst is a row. Each sequence must have the same bits
 * with some of the outputs, by itself, in another order, beside other sequences, and in later calls of other
 * sizes on one context.
 * Then it prints `N passed, N failed`, and the first failed row with index, expected, got, seed and
 * repeat_command.
 *
 * With `nan` it instead plants NaN and infinities. For each planted place and each output, the trace variant
 * and the shipped one must have the reference's classes (NaN, either infinity, finite) (check_nan.c). The
 * model must then own its weights (model->own).
 *
 * `model` is opened from `source`, whose weights are read once more, unpacked. `inputs` are pointers to the
 * whole batch (float or int32), in the order of the entry's inputs; with several entries, one list after the
 * other. `seed`, that of random weights and inputs, also draws lengths. Returns ATTN2C_OK; _MISMATCH: a row
 * failed; _MEMORY; _USAGE: the reference does not know an op, or the descriptor is not consistent; _FORMAT:
 * an input out of range; _IO: out could not be written; or the source's status. */
int attn2c_check(const attn2c_program *program, const attn2c_model *model, attn2c_source *source,
                 const void *const *inputs, uint64_t seed, int nan, FILE *out, int json,
                 const char *repeat_command, attn2c_message *message);
