/* check_command.h - the command `check`: compares every tensor with the reference (check.h), on given or
 * random inputs. */
#pragma once

#include "program/arguments.h"

/* Writes the table to `out`. Returns ATTN2C_MISMATCH if a tensor fails; otherwise any attn2c_status, with one
 * line a fault. */
int attn2c_check_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *out,
                         attn2c_message *message);
