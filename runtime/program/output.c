/* output.c - writes the rest of a stream's buffer. errno is 0 where an earlier write failed. */
#include "program/output.h"

#include <errno.h>

int attn2c_output_flush(FILE *out, attn2c_message *message) {
  errno = 0;
  if (fflush(out) == 0 && !ferror(out)) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_IO, "standard output: %s", errno ? strerror(errno) : "a write failed");
}
