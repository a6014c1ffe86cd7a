/* output.h - the end of a stream of answers: what is left in its buffer is written, or a line says why not.
 */
#pragma once

#include "base/attn2c.h"

/* Writes what is left in the buffer of `out`. Returns ATTN2C_IO, and a line, if this or an earlier write
 * failed. */
int attn2c_output_flush(FILE *out, attn2c_message *message);
