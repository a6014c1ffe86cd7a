/* check_command.h - the command `check`: opens the model, reads or makes its inputs and
 * has every tensor compared with the reference (check.h). */
#ifndef ATTN2C_CHECK_COMMAND_H
#define ATTN2C_CHECK_COMMAND_H

#include "program/arguments.h"

/* The table goes to `out`. ATTN2C_MISMATCH where a tensor fails; else any attn2c_status, with a line a fault.
 */
int attn2c_check_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *out,
                         attn2c_message *message);

#endif
