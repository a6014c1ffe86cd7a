/* drawing.h - samplers of tests: options that draw from all tokens, and what a call says. */
#ifndef ATTN2C_TEST_DRAWING_H
#define ATTN2C_TEST_DRAWING_H

#include "generate/sample.h"

#include <criterion/criterion.h>

static char text[1024];
static attn2c_message message;

static attn2c_sampling drawn(void) {
  attn2c_sampling options = attn2c_sampling_defaults();
  options.greedy = 0;
  options.top_k = 0;
  return options;
}

static attn2c_sampler *create(const attn2c_sampling *options, int64_t vocabulary) {
  attn2c_sampler *sampler;
  message = attn2c_message_make(text, sizeof text);
  const int status = attn2c_sampler_create(&sampler, options, vocabulary, &message);
  cr_assert_eq(status, ATTN2C_OK, "%s", text);
  return sampler;
}

#endif
