/* command.h - `run --image`: pictures are decoded, prepared, computed and answered in their order. */
#pragma once

#include "base/picture_facts.h"
#include "program/arguments.h"

struct attn2c_picture_commands {
  int (*run)(const attn2c_descriptor *model, const attn2c_picture_facts *facts,
             const attn2c_arguments *arguments, FILE *out, FILE *notes, attn2c_message *message);
};
