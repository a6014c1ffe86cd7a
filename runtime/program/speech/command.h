/* command.h - `generate` of models that write down speech: windows of sound become segments of text. */
#pragma once

#include "base/speech_facts.h"
#include "program/arguments.h"

struct attn2c_speech_commands {
  /* As of attn2c_generation_commands. */
  int (*generate)(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *out, FILE *notes,
                  attn2c_message *message);
};
