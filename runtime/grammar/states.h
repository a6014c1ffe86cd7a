/* states.h - the states of a text that a grammar reads byte by byte. A state is a set of nodes, each with the
 * calls that it returns to. These are a set of stacks, which is one record: the nodes to return to, and for
 * each of them the record of the stacks below. Equal records are one, so a state that comes again is found,
 * and each step is computed once. All records are in one memory. When it is full, the caller says which state
 * stays. */
#pragma once

#include "grammar/automaton.h"

/* Numbers of records: their place in the memory. */
enum { STATE_DEAD = 0 /* no text goes on; of stacks: none */ };
#define STATE_FULL UINT32_MAX /* the memory is full */

/* A node of a state, and the stacks under it; or a node to return to, and the stacks below that. */
typedef struct {
  uint32_t node, stacks;
} state_item;

typedef struct {
  const attn2c_grammar *grammar;
  uint32_t *words; /* [capacity] the memory */
  uint32_t used, capacity;
  uint32_t *slots; /* [slot_count] hash table of records; 0: none */
  uint32_t slot_count, records;
  /* The state that is made, by node. */
  uint32_t *marks;  /* the number of the state for which the node was reached last */
  uint32_t *stacks; /* these */
  uint32_t *waits;  /* the same number if the node waits in `queue` */
  uint32_t *queue, *found;
  uint32_t mark, queued, found_count;
  int is_full;
  struct {
    uint32_t a, b, both;
  } joined[256]; /* the last results of joining stacks */
} grammar_states;

/* bytes: of the memory. Returns ATTN2C_OK or _MEMORY; no other call allocates. */
int grammar_states_create(grammar_states *states, const attn2c_grammar *grammar, size_t bytes);
void grammar_states_free(grammar_states *states);
/* Forgets all records but those that a state needs, which move to the beginning. Returns the state's place
 * there. No other record may be used after it. */
uint32_t grammar_states_keep(grammar_states *states, uint32_t state);

/* Returns the state at the beginning of a text. */
uint32_t grammar_states_first(grammar_states *states);
/* Returns the state at one node of a rule whose caller is not known. */
uint32_t grammar_states_at(grammar_states *states, uint32_t node);
/* Returns the state after the call of the stacks' last rule. */
uint32_t grammar_states_return(grammar_states *states, uint32_t stacks);
/* Computes the state after a byte of a class. */
uint32_t grammar_states_compute(grammar_states *states, uint32_t state, uint32_t class);

/* Takes words of the memory; returns their place, or STATE_FULL. */
uint32_t grammar_states_take(grammar_states *states, uint32_t words);

static inline uint32_t state_count(const grammar_states *s, uint32_t record) { return s->words[record] >> 1; }
static inline const state_item *state_items(const grammar_states *s, uint32_t record) {
  return (const state_item *)(s->words + record + 2);
}

/* True if the text may end. */
static inline int state_accepts(const grammar_states *s, uint32_t state) {
  return state_count(s, state) > 0 && state_items(s, state)[0].node == GRAMMAR_NODE_ACCEPT;
}
/* True if the rule may end whose caller is not known. */
static inline int state_is_open(const grammar_states *s, uint32_t state) {
  return state_count(s, state) > 0 && state_items(s, state)[0].node == GRAMMAR_NODE_UNKNOWN;
}

/* Returns the state after a byte. */
static inline uint32_t state_step(grammar_states *s, uint32_t state, uint8_t byte) {
  const uint32_t class = s->grammar->class_of[byte], row = s->words[state + 1];
  const uint32_t next = row ? s->words[row + class] : STATE_FULL;
  return next != STATE_FULL ? next : grammar_states_compute(s, state, class);
}
