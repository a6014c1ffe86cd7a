/* run.h - the command `run`: computes output arrays from input arrays with one opened model. It takes any
 * number of sequences, of any length that the model can mask. */
#pragma once

#include "model/model.h"
#include "program/arguments.h"
#include "program/sizes.h"

/* One input or output array of a call. */
typedef struct {
  attn2c_tensor tensor; /* with the caller's size */
  const char *path;     /* NULL: not given or not wanted */
  void *values;
} attn2c_run_array;

typedef struct {
  const attn2c_descriptor *model;
  const attn2c_entry *entry;
  attn2c_sizes sizes;
  const char *command, *option; /* of this call and its outputs, for messages: "run", "--output" */
  const char **paths;           /* of inputs, then of `lengths`, then of outputs */
  attn2c_run_array *inputs, *outputs;
  const void **in;
  void **out;
} attn2c_run_job;

/* Takes the outputs that have a path, after all are computed. Returns any attn2c_status. */
typedef int attn2c_run_taker(const attn2c_run_job *job, const attn2c_arguments *arguments, FILE *out,
                             attn2c_message *message);

/* Reads the inputs and the weights, and computes the outputs that are asked for. `take` gets them with `out`.
 * With -v, names of unused tensors go to `notes`. Returns any attn2c_status, with one line a fault. */
int attn2c_run_arrays(const attn2c_program *program, const attn2c_arguments *arguments,
                      attn2c_run_taker *take, FILE *out, FILE *notes, attn2c_message *message);

/* Reads the inputs and the weights, computes, and writes the outputs that are asked for. Nothing is written
 * before all is computed. With -v, names of unused tensors go to `notes`. Returns any attn2c_status, with one
 * line a fault. */
int attn2c_run_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *notes,
                       attn2c_message *message);

/* Opens the model with the weights that the arguments name. With -v, prints the tensors of the checkpoint
 * that the model does not use, mostly heads of another task. Returns any status, with one line a fault. */
int attn2c_run_open(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *notes,
                    attn2c_model **opened, attn2c_message *message);
