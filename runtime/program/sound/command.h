/* command.h - `run --audio`: sounds are read, resampled, turned into features, computed and answered in their
 * order. */
#pragma once

#include "base/sound_facts.h"
#include "program/arguments.h"

struct attn2c_sound_commands {
  int (*run)(const attn2c_descriptor *model, const attn2c_sound_facts *facts,
             const attn2c_arguments *arguments, FILE *out, FILE *notes, attn2c_message *message);
};
