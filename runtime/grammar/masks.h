/* masks.h - which tokens may follow in a state.
 *
 * Most tokens are decided by the node alone: all their bytes are within the node's rule, or they do not fit
 * it. They are found once for each node, by a walk over the tree of tokens in a state whose caller is not
 * known. Where the rule may end inside of tokens, the walk notes the place in the tree. Only from these
 * places on, tokens are looked at with the state's own callers. Tokens of a span are found once for all nodes
 * that are alike. */
#pragma once

#include "grammar/states.h"
#include "grammar/vocabulary.h"

typedef struct {
  grammar_states states;
  const attn2c_vocabulary *vocabulary;
  uint32_t *of_node[VOCABULARY_TREES]; /* place of each node's tokens of a tree in the states' memory; 0: not
                                          known */
  uint32_t *path;                      /* [longest + 1] states of a walk */
  uint32_t *tokens;                    /* [size] that a walk has found */
  uint32_t *places;                    /* [nodes of the tree] that it has noted */
  uint32_t token_count, place_count;
  uint64_t *allowed; /* [(size + 63) / 64] the result: a bit a token */
} grammar_masks;

/* bytes: of the states' memory. Returns ATTN2C_OK or _MEMORY; no other call allocates. */
int grammar_masks_create(grammar_masks *masks, const attn2c_grammar *grammar,
                         const attn2c_vocabulary *vocabulary, size_t bytes);
void grammar_masks_free(grammar_masks *masks);
/* Forgets all but a state, as grammar_states_keep does. */
uint32_t grammar_masks_keep(grammar_masks *masks, uint32_t state);

/* Finds the tokens of the first nodes that read many bytes, which takes longest. */
void grammar_masks_prepare(grammar_masks *masks);

/* Returns the state after a token, or STATE_FULL. */
uint32_t grammar_masks_advance(grammar_masks *masks, uint32_t state, int32_t token, int is_first);

/* Writes the longest tokens of the bytes that must follow in a state to ids[most]; returns their number. */
int32_t grammar_masks_foresee(grammar_masks *masks, uint32_t state, int32_t *ids, int32_t most);

/* Finds the tokens that may follow in a state, in `allowed`. Returns 0 if the memory is full. */
int grammar_masks_find(grammar_masks *masks, uint32_t state, int is_first);
