/* vocabulary.h - the bytes that each token of a tokenizer adds to a text, sorted, and as trees. */
#pragma once

#include "grammar/automaton.h"
#include "text/text.h"

/* A node of a tree of tokens, in the order of a walk. Node 0 is the root. */
typedef struct {
  uint32_t end;   /* the node after its last descendant */
  uint32_t first; /* of its tokens in `order`; the next node has the token after the last of them */
  uint16_t depth; /* bytes from the root */
  uint8_t byte;
} vocabulary_node;

/* Tokens by their bytes. */
typedef struct {
  uint32_t *order;        /* [count] */
  vocabulary_node *nodes; /* [node_count + 1] */
  uint32_t count, node_count;
} vocabulary_tree;

/* A tree for the tokens of each span, and one for longer ones. */
enum { VOCABULARY_TREES = GRAMMAR_SPANS + 1 };

/* The tokens of a vocabulary that have bytes. */
typedef struct {
  uint8_t *bytes;
  uint32_t *begins; /* [size + 1] of each token's bytes; none: it has no text, or is special */
  vocabulary_tree trees[VOCABULARY_TREES];
  uint32_t longest; /* bytes of a token */
} vocabulary_pieces;

typedef struct attn2c_vocabulary {
  int32_t size;                /* of the model's logits */
  vocabulary_pieces after;     /* after other text */
  vocabulary_pieces beginning; /* at the beginning of a text, if `begins_apart` */
  int begins_apart;
} attn2c_vocabulary;

/* Reads the tokens 0 to size - 1. name: of the option that needs them, for messages. ATTN2C_USAGE: what a
 * token adds depends on tokens after it. ATTN2C_MEMORY. *vocabulary is then NULL. It never changes. */
int attn2c_vocabulary_create(const attn2c_tokenizer *text, int32_t size, const char *name,
                             attn2c_vocabulary **vocabulary, attn2c_message *message);
void attn2c_vocabulary_free(attn2c_vocabulary *vocabulary);
