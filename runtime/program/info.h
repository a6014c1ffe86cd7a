/* info.h - the command `info`: prints what a model is, from nothing but its descriptor, as text or as JSON.
 */
#pragma once

#include "program/arguments.h"

/* Prints what the arguments ask for: --licenses, --json or the table. Returns ATTN2C_OK or _MEMORY; the
 * caller checks the stream for errors. */
int attn2c_info_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *out,
                        attn2c_message *message);

/* Prints the notices that the licences of the linked libraries require. */
void attn2c_licenses(FILE *out);
