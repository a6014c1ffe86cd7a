/* info.h - the command `info`: what a model is, read off its descriptor alone, for people
 * or as JSON; and the licences of what is linked in. */
#ifndef ATTN2C_INFO_H
#define ATTN2C_INFO_H

#include "program/arguments.h"

/* Prints what the arguments ask for: --licenses, --json or the table. ATTN2C_OK or _MEMORY; the stream's
 * errors are the caller's to look at. */
int attn2c_info_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *out,
                        attn2c_message *message);

/* The notices that the licences ask for. */
void attn2c_licenses(FILE *out);

#endif
