/* output.c - writes the rest of a stream's buffer. errno is 0 where an earlier write failed. */
#include "program/output.h"

#include <errno.h>
#include <string.h>

int attn2c_output_flush(FILE *out, attn2c_message *message) {
  errno = 0;
  if (fflush(out) == 0 && !ferror(out)) return ATTN2C_OK;
  attn2c_say(message, "standard output: %s", errno ? strerror(errno) : "a write failed");
  return ATTN2C_IO;
}
