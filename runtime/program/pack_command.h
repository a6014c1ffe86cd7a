/* pack_command.h - the command `pack`: writes a model's weights in their layout in memory, or verifies such a
 * file. */
#pragma once

#include "program/arguments.h"

/* Returns ATTN2C_OK, _USAGE, or a status of reading or writing, with one line a fault. The result of --verify
 * is written to `out`. */
int attn2c_pack_command(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *out,
                        attn2c_message *message);
