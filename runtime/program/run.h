/* run.h - the command `run`: arrays in, arrays out, through one opened model. Any number of sequences, of any
 * length that the model can mask, goes through its entries. */
#ifndef ATTN2C_RUN_H
#define ATTN2C_RUN_H

#include "program/arguments.h"
#include "weights/weights.h"

/* Reads the inputs and the weights, computes, and writes the outputs that are asked for; nothing is written
 * before all is computed. Names of unused tensors go to `notes` with -v. Any attn2c_status, with a line a
 * fault. */
int attn2c_run_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *notes,
                       attn2c_message *message);

/* With -v: the tensors of the checkpoint that the model has no use for, mostly heads of another task. */
void attn2c_note_unused(const attn2c_source *source, const attn2c_arguments *arguments, FILE *notes);

#endif
