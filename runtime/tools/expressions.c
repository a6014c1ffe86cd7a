/* expressions.c - a program that tells which texts a regular expression fits as a whole:
 *
 *   expressions EXPRESSION TEXT...
 *
 * Prints 1 or 0 for each text. If the expression is wrong, or takes too many steps, standard error has the
 * reason, and the status is that of a wrong format. Texts are UTF-8. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "base/attn2c.h"

#include <pcre2.h>

static int refuse(int code) {
  PCRE2_UCHAR reason[256] = {0};
  (void)pcre2_get_error_message(code, reason, sizeof reason);
  fprintf(stderr, "%s\n", (const char *)reason);
  return ATTN2C_FORMAT;
}

int main(int argc, char **argv) {
  if (argc < 2) return ATTN2C_USAGE;
  int fault;
  PCRE2_SIZE at;
  pcre2_code *expression =
      pcre2_compile((PCRE2_SPTR)argv[1], PCRE2_ZERO_TERMINATED,
                    PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED | PCRE2_ENDANCHORED, &fault, &at, NULL);
  if (!expression) return refuse(fault);
  pcre2_match_data *found = pcre2_match_data_create_from_pattern(expression, NULL);
  if (!found) return refuse(PCRE2_ERROR_NOMEMORY);
  for (int i = 2; i < argc; i++) {
    const int count = pcre2_match(expression, (PCRE2_SPTR)argv[i], PCRE2_ZERO_TERMINATED, 0, 0, found, NULL);
    if (count < 0 && count != PCRE2_ERROR_NOMATCH) return refuse(count);
    putchar(count < 0 ? '0' : '1');
  }
  pcre2_match_data_free(found);
  pcre2_code_free(expression);
  return 0;
}
