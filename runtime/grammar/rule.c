/* rule.c - keeps the states of the last answers with their tokens. An answer is found among them by its
 * tokens but the last ones, which are then read. */
#include "grammar/rule.h"

#include "generate/bits.h"
#include "grammar/masks.h"

enum {
  MEMORY = 16 << 20, /* bytes of states, if the caller does not say */
  ENDED = 1          /* the state after a token that ends the answer; no record is there */
};

/* An answer that was asked for. */
typedef struct {
  int32_t *ids;
  int32_t count; /* -1: none */
  int is_first;  /* 1: its text begins with the answer */
  uint32_t state;
  uint64_t used; /* when it was, as a number */
} place;

struct attn2c_grammar_rule {
  attn2c_rule rule;
  attn2c_grammar_options options;
  grammar_masks masks;
  int32_t *ends, *ids;
  place *places;
  int32_t place_count;
  uint64_t uses;
};

static const char *apply(const attn2c_rule *rule, const attn2c_history *history, float *scores,
                         int32_t vocabulary);
static int32_t foresee(const attn2c_rule *rule, const attn2c_history *history, int32_t last, int32_t *ids,
                       int32_t most);

int attn2c_grammar_rule_create(attn2c_grammar_rule **rule, const attn2c_grammar_options *options) {
  attn2c_grammar_rule *r = *rule = attn2c_allocate(sizeof *r);
  if (!r) return ATTN2C_MEMORY;
  r->rule.apply = apply;
  r->rule.foresee = foresee;
  r->options = *options;
  r->place_count = 2 * options->answers; /* a step finds the answers of the step before */
  r->places = attn2c_allocate((size_t)r->place_count * sizeof *r->places);
  r->ends = attn2c_reserve((size_t)options->end_count * sizeof *r->ends);
  r->ids = attn2c_reserve_sparse((size_t)r->place_count * (size_t)options->most * sizeof *r->ids);
  const int status = grammar_masks_create(&r->masks, options->grammar, options->vocabulary,
                                          options->bytes ? options->bytes : MEMORY);
  if (status == ATTN2C_OK && r->places && r->ends && r->ids) {
    grammar_masks_prepare(&r->masks);
    if (options->end_count > 0) memcpy(r->ends, options->ends, (size_t)options->end_count * sizeof *r->ends);
    for (int32_t i = 0; i < r->place_count; i++)
      r->places[i] = (place){.ids = r->ids + (size_t)i * (size_t)options->most, .count = -1};
    return ATTN2C_OK;
  }
  attn2c_grammar_rule_free(r);
  *rule = NULL;
  return ATTN2C_MEMORY;
}

void attn2c_grammar_rule_free(attn2c_grammar_rule *r) {
  if (!r) return;
  grammar_masks_free(&r->masks);
  ATTN2C_FREE_ALIGNED(r->places, r->ends, r->ids, r);
}

const attn2c_rule *attn2c_grammar_rule_of(const attn2c_grammar_rule *rule) { return &rule->rule; }

/* True if no token before the answer has text. */
static int is_first(const attn2c_vocabulary *v, const attn2c_history *h) {
  for (int32_t i = 0; v->begins_apart && i < h->prompt; i++) {
    const int32_t id = h->ids[i];
    if (id < v->size && v->after.begins[id] < v->after.begins[id + 1]) return 0;
  }
  return v->begins_apart;
}

static int ends(const attn2c_grammar_rule *r, int32_t token) {
  for (int32_t i = 0; i < r->options.end_count; i++)
    if (r->ends[i] == token) return 1;
  return 0;
}

/* Returns the place with the most tokens of an answer, or NULL. */
static place *nearest(attn2c_grammar_rule *r, const int32_t *ids, int32_t count, int is_first_text) {
  place *found = NULL;
  for (int32_t i = 0; i < r->place_count; i++) {
    place *p = &r->places[i];
    if (p->count >= 0 && p->count <= count && p->is_first == is_first_text &&
        (!found || p->count > found->count) && memcmp(p->ids, ids, (size_t)p->count * sizeof *ids) == 0)
      found = p;
  }
  return found;
}

/* Keeps the state of an answer in the place that was not used for longest. */
static void keep(attn2c_grammar_rule *r, const int32_t *ids, int32_t count, int is_first_text,
                 uint32_t state) {
  place *oldest = &r->places[0];
  if (count > r->options.most) return;
  for (int32_t i = 1; i < r->place_count; i++)
    if (r->places[i].used < oldest->used) oldest = &r->places[i];
  memcpy(oldest->ids, ids, (size_t)count * sizeof *ids);
  oldest->count = count;
  oldest->is_first = is_first_text;
  oldest->state = state;
  oldest->used = ++r->uses;
}

/* Returns the state after one more token of an answer. */
static uint32_t state_after(attn2c_grammar_rule *r, uint32_t state, int32_t id, int is_first_token) {
  if (state == STATE_DEAD || state == STATE_FULL) return state;
  if (ends(r, id)) return state == ENDED || state_accepts(&r->masks.states, state) ? ENDED : STATE_DEAD;
  if (state == ENDED || id >= r->options.vocabulary->size) return STATE_DEAD;
  return grammar_masks_advance(&r->masks, state, id, is_first_token);
}

/* Forgets all but a state, which moves. */
static uint32_t forget(attn2c_grammar_rule *r, uint32_t state) {
  for (int32_t i = 0; i < r->place_count; i++) r->places[i].count = -1;
  return grammar_masks_keep(&r->masks, state);
}

/* Returns the state after the tokens of an answer. */
static uint32_t state_of(attn2c_grammar_rule *r, const int32_t *ids, int32_t count, int is_first_text) {
  const place *p = nearest(r, ids, count, is_first_text);
  uint32_t state = p ? p->state : grammar_states_first(&r->masks.states);
  if (state == STATE_FULL) {
    forget(r, STATE_DEAD);
    state = grammar_states_first(&r->masks.states);
  }
  for (int32_t i = p ? p->count : 0; i < count && state != STATE_FULL; i++) {
    const int is_first_token = is_first_text && i == 0;
    const uint32_t next = state_after(r, state, ids[i], is_first_token);
    state = next != STATE_FULL ? next : state_after(r, forget(r, state), ids[i], is_first_token);
  }
  if (state != STATE_FULL) keep(r, ids, count, is_first_text, state);
  return state;
}

/* Finds the tokens that may follow, and the answer's state. Returns 0 if the memory is too small. */
static int find(attn2c_grammar_rule *r, const attn2c_history *h, uint32_t *state) {
  const int32_t count = h->count - h->prompt;
  const int is_first_text = is_first(r->options.vocabulary, h);
  *state = state_of(r, h->ids + h->prompt, count, is_first_text);
  if (*state == STATE_FULL) return 0;
  const int is_first_token = is_first_text && count == 0;
  if (!grammar_masks_find(&r->masks, *state == ENDED ? STATE_DEAD : *state, is_first_token)) {
    *state = forget(r, *state);
    keep(r, h->ids + h->prompt, count, is_first_text, *state);
    if (!grammar_masks_find(&r->masks, *state, is_first_token)) return 0;
  }
  const int may_end = *state == ENDED || state_accepts(&r->masks.states, *state);
  for (int32_t i = 0; may_end && i < r->options.end_count; i++)
    r->masks.allowed[r->ends[i] / 64] |= (uint64_t)1 << r->ends[i] % 64;
  return 1;
}

/* Forbids the tokens of a block whose bits are 0. Where most are, all are, and the others come back. */
static void forbid(float *scores, int32_t count, uint64_t bits) {
  const float none = attn2c_bits_float(ATTN2C_NEGATIVE_INFINITE_BITS);
  float own[64];
  if (count == 64 && __builtin_popcountll(bits) < 24) {
    memcpy(own, scores, sizeof own);
    for (int k = 0; k < 64; k++) scores[k] = none;
    for (; bits; bits &= bits - 1) scores[__builtin_ctzll(bits)] = own[__builtin_ctzll(bits)];
    return;
  }
  for (bits = ~bits; bits; bits &= bits - 1)
    if (__builtin_ctzll(bits) < count) scores[__builtin_ctzll(bits)] = none;
}

static const char *apply(const attn2c_rule *rule, const attn2c_history *history, float *scores,
                         int32_t vocabulary) {
  attn2c_grammar_rule *r = (attn2c_grammar_rule *)rule;
  uint64_t any = 0;
  uint32_t state;
  const int is_found = find(r, history, &state);
  for (int32_t i = 0; i < vocabulary; i += 64) {
    const uint64_t bits = is_found ? r->masks.allowed[i / 64] : 0;
    any |= bits;
    forbid(scores + i, vocabulary - i < 64 ? vocabulary - i : 64, bits);
  }
  return any                   ? NULL
         : !is_found           ? "the grammar needs more states than its memory has"
         : state == STATE_DEAD ? "the answer's tokens do not fit the grammar"
                               : "no token of this model goes on as the grammar demands";
}

static int32_t foresee(const attn2c_rule *rule, const attn2c_history *h, int32_t last, int32_t *ids,
                       int32_t most) {
  attn2c_grammar_rule *r = (attn2c_grammar_rule *)rule;
  const int32_t count = h->count - h->prompt;
  const int is_first_text = is_first(r->options.vocabulary, h);
  uint32_t state = state_of(r, h->ids + h->prompt, count, is_first_text);
  state = state_after(r, state, last, is_first_text && count == 0);
  return state == STATE_FULL || state == ENDED ? 0 : grammar_masks_foresee(&r->masks, state, ids, most);
}
