/* program.h - the program of a model that is divided among ranks. Rank 0 runs the command: it reads and
 * writes. It tells the others each call of the model, with its inputs, and they make the same call. */
#pragma once

#include "base/rank_facts.h"
#include "model/model.h"
#include "program/arguments.h"
#include "ranks/ranks.h"

struct attn2c_rank_commands {
  /* Begins MPI, before anything is read or written. Returns the number of this rank; the standard output of
   * others than 0 goes nowhere. */
  int (*begin)(void);
  /* Opens the ranks; all get the same status and message. */
  int (*open)(const attn2c_program *program, const attn2c_arguments *arguments, attn2c_message *message);
  /* Makes the calls that rank 0 makes, until it ends. Returns the status of its command. */
  int (*follow)(attn2c_message *message);
  /* Opens the model on all ranks; for rank 0. */
  int (*open_model)(const attn2c_arguments *arguments, attn2c_model **model, attn2c_message *message);
  /* Opens the part of one rank by itself, for bench --part. */
  int (*open_part)(const attn2c_descriptor *own, attn2c_source *source, attn2c_model **model,
                   attn2c_message *message);
  /* Forgets the meetings of a model whose ranks do not meet, and returns those since then. */
  void (*count_anew)(const attn2c_model *model);
  int (*counted)(const attn2c_model *model, const attn2c_rank_meeting **list);
  /* Ends the ranks and MPI. Rank 0 gives the status of its command to the others. */
  void (*end)(int status);
};
