/* expect.h - `check --expect`: compares the outputs of a call with arrays that the user has, such as the
 * outputs of the model that a description was written for. */
#pragma once

#include "program/arguments.h"

/* Computes the outputs of the arguments' inputs, as `run` does, and compares each with the array that is
 * expected. Integers must be equal. A float may differ by the tolerance of the arguments or the model's,
 * times the root mean square of its array plus its own size. Rows that the inputs declare to be padding are
 * left out. Writes a report to `out`, and advice to `notes`. Returns ATTN2C_MISMATCH if an output differs;
 * otherwise any attn2c_status, with one line a fault. */
int attn2c_expect_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *out,
                          FILE *notes, attn2c_message *message);
