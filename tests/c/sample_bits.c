/* sample_bits.c - prints tokens that are drawn, and a hash of the bits of probabilities, for logits and
 * options of many kinds: compiled in any way, it must print the same. */
#include "generate/sample.h"

#include "probabilities.h"
#include "sampled.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 20000 };
static float logits[MOST], probabilities[MOST];

static uint64_t draw(uint64_t seed, int n, uint64_t limit) {
  return attn2c_draw_below(attn2c_draw_bits(seed, (uint64_t)n), limit);
}

/* Options and logits of one seed: chooses 6 tokens and feeds them; prints a line. */
static int one(uint64_t seed, int vocabulary) {
  static const int kinds[4] = {SAMPLED_PLAIN, SAMPLED_TIES, SAMPLED_PEAK, SAMPLED_FORBIDDEN};
  static const int32_t biased[2] = {0, 2};
  static const float biases[2] = {-1.7f, 0.3f};
  attn2c_sampling o = attn2c_sampling_defaults();
  attn2c_sampler *sampler;
  attn2c_message message = attn2c_message_make(NULL, 0);
  uint64_t hash = 0;
  o.greedy = 0, o.seed = seed;
  o.temperature = 0.1 + 0.01 * (double)draw(seed, 0, 200);
  o.top_k = draw(seed, 1, 2) ? 0 : (int64_t)draw(seed, 2, 500);
  o.top_p = draw(seed, 3, 2) ? 1 : 0.001 * (double)draw(seed, 4, 1000);
  o.min_p = draw(seed, 5, 2) ? 0 : 0.0001 * (double)draw(seed, 6, 1000);
  o.repetition_penalty = 0.7 + 0.01 * (double)draw(seed, 7, 100);
  o.presence_penalty = 0.01 * (double)draw(seed, 8, 100);
  o.frequency_penalty = 0.01 * (double)draw(seed, 9, 100);
  o.bias_count = 2, o.bias_tokens = biased, o.biases = biases;
  if (seed >= 60) {
    o.top_n_sigma = draw(seed, 12, 2) ? 0 : 0.01 * (double)draw(seed, 13, 300);
    o.typical_p = draw(seed, 14, 2) ? 1 : 0.001 * (double)draw(seed, 15, 1000);
    o.xtc_probability = draw(seed, 16, 2) ? 0 : 0.5;
    o.dynatemp_range = draw(seed, 17, 2) ? 0 : 0.01 * (double)draw(seed, 18, 100);
    o.dynatemp_exponent = 0.01 * (double)draw(seed, 19, 300);
    o.dry_multiplier = 0.01 * (double)draw(seed, 20, 100), o.dry_allowed_length = 0;
    o.sampler_order = draw(seed, 21, 2) ? "llama.cpp" : NULL;
    if (draw(seed, 22, 4) == 0) {
      o.top_n_sigma = o.xtc_probability = o.dynatemp_range = o.min_p = 0;
      o.typical_p = o.top_p = 1, o.sampler_order = NULL, o.mirostat = 2;
    }
  }
  if (attn2c_sampler_create(&sampler, &o, vocabulary, &message) != ATTN2C_OK) return 1;
  sampled_logits(logits, kinds[draw(seed, 10, 4)], seed, vocabulary, 1 + (double)draw(seed, 11, 10));
  printf("%d:", vocabulary);
  for (int i = 0; i < 6; i++) {
    int32_t token;
    if (probabilities_of(sampler, logits, probabilities, &message) != ATTN2C_OK) return 1;
    if (attn2c_sampler_sample(sampler, logits, &token, &message) != ATTN2C_OK) return 1;
    for (int j = 0; j < vocabulary; j++) {
      uint32_t bits;
      memcpy(&bits, &probabilities[j], sizeof bits);
      hash = attn2c_draw_mix(hash + bits);
    }
    attn2c_sampler_feed(sampler, &token, 1, ATTN2C_FED_GENERATED, &message);
    printf(" %d", (int)token);
  }
  printf(" %016llx\n", (unsigned long long)hash);
  attn2c_sampler_free(sampler);
  return 0;
}

int main(void) {
  static const int vocabularies[4] = {7, 64, 1001, MOST};
  int faults = 0;
  for (int i = 0; i < 100; i++) faults += one((uint64_t)i, vocabularies[i % 4]);
  return faults != 0;
}
