/* long.h - tells `make test-long`, in which long loops take every case, from `make test`. */
#ifndef ATTN2C_TEST_LONG_H
#define ATTN2C_TEST_LONG_H

#include <stdlib.h>

static inline int is_long(void) {
  const char *word = getenv("ATTN2C_TEST_LONG");
  return word && *word;
}

#endif
