/* text_command.h - texts on the command line: `run --text`. Lines come in, answers go out in their order, as
 * they come; arrays of all of them are written at the end. */
#ifndef ATTN2C_TEXT_COMMAND_H
#define ATTN2C_TEXT_COMMAND_H

#include "base/text_facts.h"
#include "program/arguments.h"

struct attn2c_text_commands {
  /* What is said goes to `out`, notes to `notes`. Any attn2c_status, with a line a fault, or 128 and the
   * number of a signal that ended it. */
  int (*run)(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *out, FILE *notes,
             attn2c_message *message);
};

#endif
