/* added_trie.c - finds added tokens in a text in one pass, whatever their length (Aho and Corasick). The trie
 * has the tokens backwards, and the text is read from its end. So the state at a byte gives the longest token
 * that begins there. */
#include "text/stages.h"

/* Returns the child of a node by a byte; 0 if there is none. */
static uint32_t child_of(const text_added_trie *trie, uint32_t node, uint8_t byte) {
  if (node == 0) return trie->first[byte];
  uint32_t child = trie->nodes[node].child;
  while (child && trie->nodes[child].byte != byte) child = trie->nodes[child].next;
  return child;
}

/* Adds a child to a node for which `child_of` finds none. */
static int add_child(text_added_trie *trie, uint32_t node, uint8_t byte, uint32_t *child) {
  ATTN2C_TRY(attn2c_grow((void **)&trie->nodes, &trie->capacity, trie->count + 1, sizeof *trie->nodes));
  *child = (uint32_t)trie->count++;
  trie->nodes[*child] = (text_added_node){.token = TEXT_NONE, .byte = byte};
  if (trie->count == 1) return ATTN2C_OK; /* the root */
  trie->nodes[*child].depth = trie->nodes[node].depth + 1;
  trie->nodes[*child].next = trie->nodes[node].child;
  trie->nodes[node].child = *child;
  if (node == 0) trie->first[byte] = *child;
  return ATTN2C_OK;
}

int text_trie_insert(text_added_trie *trie, const uint8_t *bytes, size_t length, uint32_t token) {
  uint32_t node = 0, child = 0;
  ATTN2C_TRY(trie->count ? ATTN2C_OK : add_child(trie, 0, 0, &child));
  for (size_t i = length; i > 0; i--, node = child) {
    child = child_of(trie, node, bytes[i - 1]);
    if (!child) ATTN2C_TRY(add_child(trie, node, bytes[i - 1], &child));
  }
  if (trie->nodes[node].token == TEXT_NONE) trie->nodes[node].token = token;
  if (length > trie->longest) trie->longest = length;
  return ATTN2C_OK;
}

/* Returns the node of the longest suffix of a node's text, continued by a byte, that is in the trie. */
static uint32_t follow(const text_added_trie *trie, uint32_t node, uint8_t byte, uint64_t *steps) {
  uint32_t child;
  for (; !(child = child_of(trie, node, byte)) && node; ++*steps) node = trie->nodes[node].shorter;
  return child;
}

int text_trie_close(text_added_trie *trie) {
  text_added_node *nodes = trie->nodes;
  uint32_t *queue = trie->count ? malloc(trie->count * sizeof *queue) : NULL;
  if (trie->count == 0) return ATTN2C_OK;
  if (!queue) return ATTN2C_MEMORY;
  size_t count = 0;
  uint64_t steps = 0;
  queue[count++] = 0;
  for (size_t at = 0; at < count; at++) {
    uint32_t node = queue[at];
    nodes[node].found = nodes[node].token != TEXT_NONE ? node : nodes[nodes[node].shorter].found;
    for (uint32_t child = nodes[node].child; child; child = nodes[child].next) {
      nodes[child].shorter = node ? follow(trie, nodes[node].shorter, nodes[child].byte, &steps) : 0;
      queue[count++] = child;
    }
  }
  free(queue);
  return ATTN2C_OK;
}

int text_trie_find(const text_added_trie *trie, const uint8_t *bytes, size_t begin, size_t end,
                   text_pieces *found, text_budget *budget) {
  uint64_t steps = end - begin;
  uint32_t node = 0;
  found->count = 0;
  for (size_t at = end; trie->count && at > begin; at--) {
    node = node ? follow(trie, node, bytes[at - 1], &steps) : trie->first[bytes[at - 1]];
    uint32_t token = trie->nodes[node].found;
    if (!token) continue;
    ATTN2C_TRY(text_piece_add(found, at - 1, at - 1 + trie->nodes[token].depth, trie->nodes[token].token));
  }
  return text_spend(budget, steps);
}
