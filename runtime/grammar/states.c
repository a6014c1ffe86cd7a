/* states.c - a record has a header (items * 2, + 1 for a state), a word, and its items in ascending order of
 * nodes. The word is, of a state, the place of its row, the states after each class of bytes; of stacks, the
 * state after their return. 0: it is not known yet. */
#include "grammar/states.h"

enum {
  STATE = 1,
  LIVE = 1,       /* the word of a record that stays; no record or row is there */
  SLOT_BYTES = 32 /* bytes of the memory for each slot of the hash table */
};

int grammar_states_create(grammar_states *s, const attn2c_grammar *grammar, size_t bytes) {
  const size_t nodes = grammar->node_count;
  uint32_t slots = 1024;
  memset(s, 0, sizeof *s);
  s->grammar = grammar;
  s->capacity = (uint32_t)(bytes / sizeof *s->words);
  while (slots < bytes / SLOT_BYTES) slots *= 2;
  s->slot_count = slots;
  s->words = attn2c_reserve_sparse(bytes);
  s->slots = calloc(slots, sizeof *s->slots); /* pages of zeros that are not touched yet */
  s->marks = attn2c_allocate(nodes * sizeof *s->marks);
  s->stacks = attn2c_reserve(nodes * sizeof *s->stacks);
  s->waits = attn2c_allocate(nodes * sizeof *s->waits);
  s->queue = attn2c_reserve(nodes * sizeof *s->queue);
  s->found = attn2c_reserve(nodes * sizeof *s->found);
  if (!s->words || !s->slots || !s->marks || !s->stacks || !s->waits || !s->queue || !s->found)
    return ATTN2C_MEMORY;
  s->words[0] = s->words[1] = 0; /* the record without items */
  s->used = 2;
  return ATTN2C_OK;
}

void grammar_states_free(grammar_states *s) {
  attn2c_free(s->words);
  free(s->slots);
  ATTN2C_FREE_ALIGNED(s->marks, s->stacks, s->waits, s->queue, s->found);
}

uint32_t grammar_states_take(grammar_states *s, uint32_t words) {
  if (s->is_full || words > s->capacity - s->used) {
    s->is_full = 1;
    return STATE_FULL;
  }
  s->used += words;
  return s->used - words;
}

/* Returns the record with the contents of the one at `record`, which is the last of the memory if `is_last`,
 * and then goes if there is another one. */
static uint32_t unique(grammar_states *s, uint32_t record, int is_last) {
  const uint32_t count = state_count(s, record), size = 2 + 2 * count;
  uint32_t hash = s->words[record];
  for (uint32_t i = 2; i < size; i++) hash = (hash ^ s->words[record + i]) * 0x9e3779b1u, hash ^= hash >> 15;
  uint32_t slot = hash & (s->slot_count - 1);
  for (; s->slots[slot]; slot = (slot + 1) & (s->slot_count - 1)) {
    const uint32_t other = s->slots[slot];
    if (s->words[other] != s->words[record] ||
        memcmp(s->words + other + 2, s->words + record + 2, (size - 2) * sizeof *s->words) != 0)
      continue;
    if (is_last) s->used = record;
    return other;
  }
  if (4 * ++s->records > 3 * s->slot_count) {
    s->is_full = 1;
    return STATE_FULL;
  }
  s->slots[slot] = record;
  return record;
}

/* Returns the stacks of one node over others. */
static uint32_t push(grammar_states *s, uint32_t node, uint32_t stacks) {
  const uint32_t record = grammar_states_take(s, 4);
  if (record == STATE_FULL || stacks == STATE_FULL) return STATE_FULL;
  const uint32_t words[] = {1 << 1, 0, node, stacks};
  memcpy(s->words + record, words, sizeof words);
  return unique(s, record, 1);
}

/* Returns the stacks of both records. */
static uint32_t join(grammar_states *s, uint32_t a, uint32_t b) {
  if (a == b || b == STATE_DEAD) return a;
  if (a == STATE_DEAD) return b;
  if (a > b) {
    const uint32_t other = a;
    a = b, b = other;
  }
  const uint32_t slot = (a * 31 + b) % (sizeof s->joined / sizeof *s->joined);
  if (s->joined[slot].a == a && s->joined[slot].b == b) return s->joined[slot].both;
  const uint32_t counts[] = {state_count(s, a), state_count(s, b)};
  const uint32_t record = grammar_states_take(s, 2 + 2 * (counts[0] + counts[1])), end = s->used;
  if (record == STATE_FULL) return STATE_FULL;
  const state_item *left = state_items(s, a), *right = state_items(s, b);
  state_item *made = (state_item *)(s->words + record + 2);
  uint32_t count = 0;
  for (uint32_t i = 0, k = 0; i < counts[0] || k < counts[1];) {
    const int has_left = i < counts[0] && (k == counts[1] || left[i].node <= right[k].node);
    const int has_right = k < counts[1] && (i == counts[0] || right[k].node <= left[i].node);
    made[count] = has_left ? left[i] : right[k];
    if (has_left && has_right) made[count].stacks = join(s, left[i].stacks, right[k].stacks);
    if (made[count++].stacks == STATE_FULL) return STATE_FULL;
    i += (uint32_t)has_left, k += (uint32_t)has_right;
  }
  s->words[record] = count << 1;
  s->words[record + 1] = 0;
  if (s->used == end) s->used = record + 2 + 2 * count; /* nothing was made since */
  const uint32_t both = unique(s, record, s->used == record + 2 + 2 * count);
  if (both == STATE_FULL) return both;
  s->joined[slot].a = a, s->joined[slot].b = b, s->joined[slot].both = both;
  return both;
}

/* Adds a node to the state that is made. */
static void reach(grammar_states *s, uint32_t node, uint32_t stacks) {
  const grammar_node *n = &s->grammar->nodes[node];
  const int goes_on = n->kind != GRAMMAR_BYTES && n->kind != GRAMMAR_ACCEPT && n->kind != GRAMMAR_UNKNOWN;
  if (!n->is_whole || s->is_full) return;
  if (s->marks[node] != s->mark) {
    s->marks[node] = s->mark;
    s->stacks[node] = stacks;
    if (!goes_on) s->found[s->found_count++] = node;
  } else {
    const uint32_t both = join(s, s->stacks[node], stacks);
    if (both == s->stacks[node] || both == STATE_FULL) return;
    s->stacks[node] = both;
  }
  if (!goes_on || s->waits[node] == s->mark) return;
  s->waits[node] = s->mark;
  s->queue[s->queued++] = node;
}

/* Reaches what a node leads to without a byte. A call at the end of its rule leaves no trace. */
static void follow(grammar_states *s, uint32_t node) {
  const grammar_node *n = &s->grammar->nodes[node];
  const uint32_t stacks = s->stacks[node];
  if (n->kind == GRAMMAR_FORK) {
    reach(s, n->next, stacks);
    reach(s, n->other, stacks);
  } else if (n->kind == GRAMMAR_CALL) {
    const uint32_t below = n->next == GRAMMAR_NODE_END ? stacks : push(s, n->next, stacks);
    reach(s, s->grammar->starts[n->other], below);
  } else {
    for (uint32_t i = 0; i < state_count(s, stacks); i++)
      reach(s, state_items(s, stacks)[i].node, state_items(s, stacks)[i].stacks);
  }
}

static int compare(const void *left, const void *right) {
  const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return a < b ? -1 : a > b;
}

static void begin(grammar_states *s) {
  if (++s->mark == 0) { /* numbers come again */
    memset(s->marks, 0, s->grammar->node_count * sizeof *s->marks);
    memset(s->waits, 0, s->grammar->node_count * sizeof *s->waits);
    s->mark = 1;
  }
  s->queued = s->found_count = 0;
}

/* Follows all nodes, and returns the state. */
static uint32_t finish(grammar_states *s) {
  while (s->queued > 0 && !s->is_full) {
    const uint32_t node = s->queue[--s->queued];
    s->waits[node] = 0;
    follow(s, node);
  }
  if (s->found_count == 0 && !s->is_full) return STATE_DEAD;
  const uint32_t record = grammar_states_take(s, 2 + 2 * s->found_count);
  if (record == STATE_FULL) return STATE_FULL;
  qsort(s->found, s->found_count, sizeof *s->found, compare);
  s->words[record] = s->found_count << 1 | STATE;
  s->words[record + 1] = 0;
  for (uint32_t i = 0; i < s->found_count; i++) {
    s->words[record + 2 + 2 * i] = s->found[i];
    s->words[record + 3 + 2 * i] = s->stacks[s->found[i]];
  }
  return unique(s, record, 1);
}

/* Writes the records that a state needs to the slots, in ascending order. Returns their number. */
static uint32_t find_live(grammar_states *s, uint32_t state) {
  uint32_t *live = s->slots, count = 0;
  s->words[STATE_DEAD + 1] = LIVE; /* it stays where it is */
  for (uint32_t at = state, i = 0, item = 0;;) {
    if (s->words[at + 1] != LIVE) s->words[at + 1] = LIVE, live[count++] = at;
    for (; i < count && item == state_count(s, live[i]); i++) item = 0;
    if (i == count) break;
    at = state_items(s, live[i])[item++].stacks;
  }
  s->words[STATE_DEAD + 1] = 0;
  qsort(live, count, sizeof *live, compare);
  return count;
}

uint32_t grammar_states_keep(grammar_states *s, uint32_t state) {
  const uint32_t *live = s->slots, count = find_live(s, state);
  uint32_t used = 2;
  for (uint32_t i = 0; i < count; i++) { /* the word of a record is its new place */
    s->words[live[i] + 1] = used;
    used += 2 + 2 * state_count(s, live[i]);
  }
  state = s->words[state + 1];
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < state_count(s, live[i]); k++) {
      uint32_t *stacks = &s->words[live[i] + 3 + 2 * k];
      *stacks = s->words[*stacks + 1];
    }
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t to = s->words[live[i] + 1], words = 2 + 2 * state_count(s, live[i]);
    memmove(s->words + to, s->words + live[i], words * sizeof *s->words);
    s->words[to + 1] = 0;
  }
  memset(s->slots, 0, s->slot_count * sizeof *s->slots);
  memset(s->joined, 0, sizeof s->joined);
  s->used = used;
  s->records = 0;
  s->is_full = 0;
  for (uint32_t i = 2; i < used; i += 2 + 2 * state_count(s, i)) unique(s, i, 0);
  return state;
}

uint32_t grammar_states_first(grammar_states *s) {
  begin(s);
  reach(s, s->grammar->starts[s->grammar->root], push(s, GRAMMAR_NODE_ACCEPT, STATE_DEAD));
  return finish(s);
}

uint32_t grammar_states_at(grammar_states *s, uint32_t node) {
  begin(s);
  reach(s, node, push(s, GRAMMAR_NODE_UNKNOWN, STATE_DEAD));
  return finish(s);
}

uint32_t grammar_states_return(grammar_states *s, uint32_t stacks) {
  if (s->words[stacks + 1]) return s->words[stacks + 1];
  begin(s);
  for (uint32_t i = 0; i < state_count(s, stacks); i++)
    reach(s, state_items(s, stacks)[i].node, state_items(s, stacks)[i].stacks);
  const uint32_t state = finish(s);
  if (state != STATE_FULL) s->words[stacks + 1] = state;
  return state;
}

/* Returns the node after a byte, or UINT32_MAX. */
static uint32_t after(const attn2c_grammar *g, const grammar_node *node, uint8_t byte) {
  const grammar_range *ranges = g->ranges + node->next;
  for (uint32_t i = 0; i < node->other && ranges[i].low <= byte; i++)
    if (byte <= ranges[i].high) return ranges[i].next;
  return UINT32_MAX;
}

uint32_t grammar_states_compute(grammar_states *s, uint32_t state, uint32_t class) {
  const attn2c_grammar *g = s->grammar;
  begin(s);
  for (uint32_t i = 0; i < state_count(s, state); i++) {
    const state_item item = state_items(s, state)[i];
    const grammar_node *node = &g->nodes[item.node];
    const uint32_t next = node->kind == GRAMMAR_BYTES ? after(g, node, g->byte_of_class[class]) : UINT32_MAX;
    if (next != UINT32_MAX) reach(s, next, item.stacks);
  }
  const uint32_t made = finish(s);
  if (s->words[state + 1] == 0) {
    const uint32_t row = grammar_states_take(s, g->classes);
    if (row == STATE_FULL) return STATE_FULL;
    memset(s->words + row, 0xff, g->classes * sizeof *s->words);
    s->words[state + 1] = row;
  }
  s->words[s->words[state + 1] + class] = made;
  return made;
}
