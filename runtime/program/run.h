/* run.h - the command `run`: computes output arrays from input arrays with one opened model. It takes any
 * number of sequences, of any length that the model can mask. */
#ifndef ATTN2C_RUN_H
#define ATTN2C_RUN_H

#include "model/model.h"
#include "program/arguments.h"

/* Reads the inputs and the weights, computes, and writes the outputs that are asked for. Nothing is written
 * before all is computed. With -v, names of unused tensors go to `notes`. Returns any attn2c_status, with one
 * line a fault. */
int attn2c_run_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *notes,
                       attn2c_message *message);

/* Opens the model with the weights that the arguments name. With -v, prints the tensors of the checkpoint
 * that the model does not use, mostly heads of another task. Returns any attn2c_status, with one line a
 * fault. */
int attn2c_run_open(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *notes,
                    attn2c_model **opened, attn2c_message *message);

#endif
