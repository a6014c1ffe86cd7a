/* command.h - the command `run --text`: answers texts in their order, as their lines come. Arrays of all
 * texts are written at the end. */
#pragma once

#include "base/text_facts.h"
#include "program/arguments.h"

struct attn2c_text_commands {
  /* Writes answers to `out` and notes to `notes`. Returns any attn2c_status, with one line a fault, or 128
   * and the number of a signal that ended the run. */
  int (*run)(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *out, FILE *notes,
             attn2c_message *message);
};
