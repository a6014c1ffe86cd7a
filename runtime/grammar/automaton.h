/* automaton.h - a grammar as nodes. Each rule is an automaton over bytes whose nodes may call other rules. */
#pragma once

#include "grammar/grammar.h"

typedef enum {
  GRAMMAR_ACCEPT,  /* the text is whole */
  GRAMMAR_UNKNOWN, /* the end of a rule whose caller is not known (masks.c) */
  GRAMMAR_END,     /* of a rule */
  GRAMMAR_BYTES,   /* reads a byte: ranges [first, first + count) */
  GRAMMAR_FORK,    /* goes on at `next` and at `other` */
  GRAMMAR_CALL     /* goes on at rule number `other`, then at `next` */
} grammar_kind;

/* Spans: bytes of tokens. The copies of a long repetition are alike for tokens of a span, but for
 * the same number of the last ones. */
enum { GRAMMAR_SPANS = 2 };
static const uint32_t grammar_spans[GRAMMAR_SPANS] = {24, 128};

typedef struct {
  uint8_t kind;
  uint8_t is_whole;             /* 1: a text leads from here to the rule's end */
  uint8_t is_empty;             /* 1: the empty text does */
  uint32_t next, other;         /* of BYTES: next is `first`, other is `count` */
  uint32_t like[GRAMMAR_SPANS]; /* a node from which the same texts of each span go on; often itself */
} grammar_node;

typedef struct {
  uint8_t low, high;
  uint32_t next;
} grammar_range;

/* The first nodes. */
enum { GRAMMAR_NODE_ACCEPT, GRAMMAR_NODE_UNKNOWN, GRAMMAR_NODE_END, GRAMMAR_NODES };

struct attn2c_grammar {
  grammar_node *nodes;
  grammar_range *ranges; /* of one node they are ascending */
  uint32_t *starts;      /* [rules] nodes */
  uint32_t node_count, range_count, rules, root;
  uint8_t class_of[256];      /* bytes of one class go the same ways everywhere */
  uint8_t byte_of_class[256]; /* one of its bytes */
  uint32_t classes;
};
