/* pack_command.h - the command `pack`: writes a model's weights as they lie in memory, or
 * verifies such a file. */
#ifndef ATTN2C_PACK_COMMAND_H
#define ATTN2C_PACK_COMMAND_H

#include "program/arguments.h"

/* ATTN2C_OK, _USAGE, or what reading and writing say, with a line a fault. `out` is told what was verified.
 */
int attn2c_pack_command(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *out,
                        attn2c_message *message);

#endif
