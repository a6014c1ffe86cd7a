/* commands.h - the commands that need only a program, its arguments and streams. Each returns any
 * attn2c_status, with one line a fault. */
#pragma once

#include "program/arguments.h"

/* Prints what a model is, from nothing but its descriptor: --licenses, --json or the table. The caller checks
 * the stream for errors. */
int attn2c_info_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *out,
                        attn2c_message *message);

/* Prints the notices that the licences of the linked libraries require. */
void attn2c_licenses(FILE *out);

/* Compares every tensor with the reference (check.h), on given or random inputs. Returns ATTN2C_MISMATCH if a
 * tensor fails. */
int attn2c_check_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *out,
                         attn2c_message *message);

/* Computes the outputs of the arguments' inputs, as `run` does, and compares each with the array that is
 * expected. Integers must be equal. A float may differ by the tolerance of the arguments or the model's,
 * times the root mean square of its array plus its own size. Rows that the inputs declare to be padding are
 * left out. Writes a report to `out`, and advice to `notes`. Returns ATTN2C_MISMATCH if an output differs. */
int attn2c_expect_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *out,
                          FILE *notes, attn2c_message *message);

/* Writes a model's weights in their layout in memory, or verifies such a file. */
int attn2c_pack_command(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *out,
                        attn2c_message *message);
