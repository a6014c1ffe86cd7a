#include "generate/sample.h"

#include "generate/bits.h"
#include "generate/draw.h"
#include "generate/sampler.h"

/* Returns a copy of a list, or NULL if there is no memory or the list is empty. */
static void *copy_list(const void *list, int32_t count, size_t size) {
  void *copy = count > 0 ? attn2c_reserve((size_t)count * size) : NULL;
  if (copy) memcpy(copy, list, (size_t)count * size);
  return copy;
}

/* Takes memory; returns whether there was enough. */
static int take_memory(attn2c_sampler *s, const attn2c_sampling *options) {
  const size_t vocabulary = (size_t)s->vocabulary, blocks = (size_t)s->blocks;
  attn2c_sampling *o = &s->options;
  o->bias_tokens = copy_list(options->bias_tokens, o->bias_count, sizeof *o->bias_tokens);
  o->biases = copy_list(options->biases, o->bias_count, sizeof *o->biases);
  o->allowed = copy_list(options->allowed, o->allowed_count, sizeof *o->allowed);
  o->stop_tokens = copy_list(options->stop_tokens, o->stop_count, sizeof *o->stop_tokens);
  o->dry_breakers = copy_list(options->dry_breakers, o->dry_breaker_count, sizeof *o->dry_breakers);
  s->logits = attn2c_reserve(blocks * ATTN2C_SAMPLER_BLOCK * sizeof *s->logits);
  s->largest_of = attn2c_reserve(blocks * sizeof *s->largest_of);
  s->mass = attn2c_reserve(vocabulary * sizeof *s->mass);
  s->index = attn2c_reserve((vocabulary + 1) * sizeof *s->index); /* one is written after the last kept one */
  s->sums = attn2c_reserve(ATTN2C_SELECT_SUMS * sizeof *s->sums);
  if (s->is_penalised) {
    s->penalties.tokens = attn2c_reserve(vocabulary * sizeof *s->penalties.tokens);
    s->penalties.counts = attn2c_allocate(vocabulary * sizeof *s->penalties.counts);
    if (!s->penalties.tokens || !s->penalties.counts) return 0;
  }
  if (options->dry_multiplier > 0 && !attn2c_dry_create(&s->dry, o, s->vocabulary)) return 0;
  if (s->is_chained && !(s->keys = attn2c_reserve(vocabulary * sizeof *s->keys))) return 0;
  return (o->dry_breaker_count == 0 || o->dry_breakers) &&
         (o->bias_count == 0 || (o->bias_tokens && o->biases)) && (o->allowed_count == 0 || o->allowed) &&
         (o->stop_count == 0 || o->stop_tokens) && s->logits && s->largest_of && s->mass && s->index &&
         s->sums;
}

/* True if an option changes anything. */
static int has_effect(const attn2c_sampler *s, const attn2c_sampling *o, attn2c_sampling_step step) {
  switch (step) {
  case ATTN2C_STEP_PENALTIES:
    return s->is_penalised;
  case ATTN2C_STEP_DRY:
    return o->dry_multiplier > 0 && o->dry_last_n != 0;
  case ATTN2C_STEP_TEMPERATURE:
    return o->temperature != 1 || o->dynatemp_range > 0;
  case ATTN2C_STEP_TOP_N_SIGMA:
    return o->top_n_sigma > 0;
  case ATTN2C_STEP_TOP_K:
    return o->top_k > 0;
  case ATTN2C_STEP_TOP_P:
    return o->top_p < 1;
  case ATTN2C_STEP_MIN_P:
    return o->min_p > 0;
  case ATTN2C_STEP_TYPICAL:
    return o->typical_p < 1;
  case ATTN2C_STEP_XTC:
    return o->xtc_probability > 0;
  default:
    return 1;
  }
}

/* Sets the steps of the chain, if options ask for one. */
static void set_steps(attn2c_sampler *s, const attn2c_sampling *o) {
  uint8_t steps[ATTN2C_STEPS];
  s->is_chained = !o->greedy && (o->sampler_order || o->top_n_sigma > 0 || o->typical_p < 1 ||
                                 o->xtc_probability > 0 || o->dynatemp_range > 0 || o->mirostat);
  if (!s->is_chained) return;
  int count = attn2c_sampling_steps(o->sampler_order ? o->sampler_order : ATTN2C_SAMPLING_ORDER, steps);
  if (o->mirostat) steps[3] = ATTN2C_STEP_MIROSTAT, count = 4; /* after penalties, dry and temperature */
  for (int i = 0; i < count; i++)
    if (has_effect(s, o, (attn2c_sampling_step)steps[i])) s->steps[s->step_count++] = steps[i];
}

int attn2c_sampler_create(attn2c_sampler **sampler, const attn2c_sampling *options, int64_t vocabulary,
                          attn2c_message *message) {
  *sampler = NULL;
  ATTN2C_TRY(attn2c_sampling_check(options, vocabulary, message));
  attn2c_sampler *s = attn2c_allocate(sizeof *s);
  if (!s) goto no_memory;
  s->options = *options;
  s->vocabulary = (int32_t)vocabulary;
  s->blocks = (s->vocabulary + ATTN2C_SAMPLER_BLOCK - 1) / ATTN2C_SAMPLER_BLOCK;
  s->options.sampler_order = NULL; /* the caller's */
  s->mu = 2 * options->mirostat_tau;
  s->penalties.repetition = (float)options->repetition_penalty;
  s->penalties.presence = (float)options->presence_penalty;
  s->penalties.frequency = (float)options->frequency_penalty;
  s->is_penalised =
      options->repetition_penalty != 1 || options->presence_penalty != 0 || options->frequency_penalty != 0;
  set_steps(s, options);
  attn2c_sampler_temperature(s, options->greedy ? 0 : options->temperature);
  s->is_changed =
      s->is_penalised || options->dry_multiplier > 0 || options->bias_count > 0 || options->allowed_count > 0;
  if (!take_memory(s, options)) goto no_memory;
  for (int32_t i = s->vocabulary; i < s->blocks * ATTN2C_SAMPLER_BLOCK; i++)
    s->logits[i] = attn2c_bits_float(ATTN2C_NEGATIVE_INFINITE_BITS);
  *sampler = s;
  return ATTN2C_OK;
no_memory:
  attn2c_sampler_free(s);
  return attn2c_fail(message, ATTN2C_MEMORY, "no memory to sample from %lld tokens", (long long)vocabulary);
}

void attn2c_sampler_free(attn2c_sampler *s) {
  if (!s) return;
  ATTN2C_FREE_ALIGNED((void *)s->options.bias_tokens, (void *)s->options.biases, (void *)s->options.allowed,
                      (void *)s->options.stop_tokens, s->logits, s->largest_of, s->mass, s->index, s->sums,
                      s->penalties.tokens, s->penalties.counts, (void *)s->options.dry_breakers);
  attn2c_dry_free(&s->dry);
  ATTN2C_FREE_ALIGNED(s->keys, s);
}

int attn2c_sampler_feed(attn2c_sampler *s, const int32_t *tokens, int64_t count, attn2c_fed from,
                        attn2c_message *message) {
  for (int64_t i = 0; i < count; i++)
    if (tokens[i] < 0 || tokens[i] >= s->vocabulary)
      return attn2c_fail(message, ATTN2C_FORMAT, "token %d, but 0 to %d is allowed", tokens[i],
                         s->vocabulary - 1);
  if (s->is_penalised)
    for (int64_t i = 0; i < count; i++)
      attn2c_penalties_feed(&s->penalties, tokens[i], from == ATTN2C_FED_GENERATED);
  if (s->dry.capacity > 0) attn2c_dry_feed(&s->dry, tokens, count);
  return ATTN2C_OK;
}

void attn2c_sampler_reset(attn2c_sampler *s, uint64_t seed) {
  s->options.seed = seed;
  if (s->is_penalised) attn2c_penalties_reset(&s->penalties);
  s->dry.count = 0;
  s->draws = 0;
  s->mu = 2 * s->options.mirostat_tau;
}

void attn2c_sampler_temperature(attn2c_sampler *s, double temperature) {
  s->options.greedy = temperature == 0;
  s->options.temperature = temperature == 0 ? 1 : temperature;
  s->inverse = s->is_chained ? 1 : 1.0 / (double)(float)s->options.temperature;
}

/* Returns the first token with the largest logit. */
static int32_t largest_token(const attn2c_sampler *s) {
  const uint32_t order = attn2c_order(s->largest);
  int32_t token = 0;
  while (attn2c_order(s->largest_of[token / ATTN2C_SAMPLER_BLOCK]) != order) token += ATTN2C_SAMPLER_BLOCK;
  while (attn2c_order(s->logits[token]) != order) token++;
  return token;
}

/* Returns the kept token in whose range of masses, in the order of ids, `place` is. The list of kept tokens
 * has at most two parts that ascend. */
static int32_t token_at(const attn2c_sampler *s, uint64_t place) {
  if (s->kept == ATTN2C_KEPT_ALL) {
    int32_t token = 0;
    while (place >= s->mass[token]) place -= s->mass[token++];
    return token;
  }
  int32_t first = 0, middle = 1;
  while (middle < s->kept && s->index[middle] > s->index[middle - 1]) middle++;
  for (int32_t second = middle;;) {
    const int is_first = second == s->kept || (first < middle && s->index[first] < s->index[second]);
    const int32_t token = s->index[is_first ? first : second];
    if (place < s->mass[token]) return token;
    place -= s->mass[token];
    first += is_first;
    second += !is_first;
  }
}

int attn2c_sampler_sample(attn2c_sampler *s, const float *logits, int32_t *token, attn2c_message *message) {
  ATTN2C_TRY(attn2c_sampler_logits(s, logits, message));
  if (s->options.greedy) {
    *token = largest_token(s);
    return ATTN2C_OK;
  }
  if (s->is_chained)
    ATTN2C_TRY(attn2c_sampler_chain(s, message));
  else
    attn2c_sampler_keep(s);
  *token = token_at(s, attn2c_draw_below(attn2c_draw_bits(s->options.seed, s->draws++), s->total));
  if (s->options.mirostat) attn2c_sampler_surprise(s, *token);
  return ATTN2C_OK;
}

int attn2c_sampler_stops(const attn2c_sampler *s, int32_t token) {
  for (int32_t i = 0; i < s->options.stop_count; i++)
    if (s->options.stop_tokens[i] == token) return 1;
  return 0;
}
