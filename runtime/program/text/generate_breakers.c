/* generate_breakers.c - the option --dry-breaker. */
#include "generate/breakers.h"
#include "program/generate/options.h"
#include "program/text/generate.h"

int attn2c_generate_breakers(attn2c_text_work *work, const attn2c_generate_arguments *given,
                             int64_t vocabulary, attn2c_generate_options *options, attn2c_message *message) {
  static const char *const usual[] = {"\n", ":", "\"", "*"};
  const char *const *texts = given->dry_breaker_count > 0 ? given->dry_breakers : usual;
  int count = given->dry_breaker_count > 0 ? given->dry_breaker_count : 4;
  if (options->sampling.dry_multiplier <= 0) return ATTN2C_OK;
  if (count == 1 && strcmp(texts[0], "none") == 0) count = 0;
  const int status = attn2c_dry_breakers(work, (int32_t)vocabulary, texts, count, &options->breakers,
                                         &options->sampling.dry_breaker_count);
  options->sampling.dry_breakers = options->breakers;
  if (status == ATTN2C_OK) return status;
  return attn2c_fail(message, status, "--dry-breaker: %s",
                     status == ATTN2C_USAGE    ? "an empty text, but one with bytes is allowed"
                     : status == ATTN2C_MEMORY ? "no memory for the breakers"
                                               : attn2c_text_fault(work));
}
