/* masks.c - the tokens of a node are a record in the states' memory: their number, the number of runs, the
 * tokens, the runs. Tokens are a list, or a bit each where a list would be longer. A run has the places of
 * the tree that one byte leads to after the rule's end: the byte, their number, and they. Only bytes that the
 * callers read are then looked at. */
#include "grammar/masks.h"

/* Nodes whose tokens are found before the first step. A walk over 150,000 tokens takes 2 ms. */
enum { MOST_PREPARED = 8, MANY_BYTES = 128, MOST_FORCED = 96 /* bytes */ };

static uint32_t bit_words(const grammar_masks *m) { return ((uint32_t)m->vocabulary->size + 31) / 32; }

int grammar_masks_create(grammar_masks *m, const attn2c_grammar *grammar, const attn2c_vocabulary *vocabulary,
                         size_t bytes) {
  const vocabulary_pieces *after = &vocabulary->after, *beginning = &vocabulary->beginning;
  const uint32_t longest = after->longest > beginning->longest ? after->longest : beginning->longest;
  uint32_t nodes = 0;
  memset(m, 0, sizeof *m);
  m->vocabulary = vocabulary;
  const int status = grammar_states_create(&m->states, grammar, bytes);
  for (int i = 0; i < VOCABULARY_TREES; i++) {
    m->of_node[i] = attn2c_allocate(grammar->node_count * sizeof **m->of_node);
    if (after->trees[i].node_count > nodes) nodes = after->trees[i].node_count;
    if (beginning->trees[i].node_count > nodes) nodes = beginning->trees[i].node_count;
  }
  m->path = attn2c_reserve((longest + 1u) * sizeof *m->path);
  m->tokens = attn2c_reserve((size_t)vocabulary->size * sizeof *m->tokens);
  m->places = attn2c_reserve_sparse(nodes * sizeof *m->places);
  m->allowed = attn2c_reserve(((size_t)vocabulary->size + 63) / 64 * sizeof *m->allowed);
  return status == ATTN2C_OK && m->of_node[0] && m->of_node[1] && m->path && m->tokens && m->places &&
                 m->allowed
             ? ATTN2C_OK
             : ATTN2C_MEMORY;
}

void grammar_masks_free(grammar_masks *m) {
  grammar_states_free(&m->states);
  for (int i = 0; i < VOCABULARY_TREES; i++) attn2c_free(m->of_node[i]);
  ATTN2C_FREE_ALIGNED(m->path, m->tokens, m->places, m->allowed);
}

uint32_t grammar_masks_keep(grammar_masks *m, uint32_t state) {
  for (int i = 0; i < VOCABULARY_TREES; i++)
    memset(m->of_node[i], 0, m->states.grammar->node_count * sizeof **m->of_node);
  return grammar_states_keep(&m->states, state);
}

static const vocabulary_pieces *pieces_of(const grammar_masks *m, int is_first) {
  return is_first && m->vocabulary->begins_apart ? &m->vocabulary->beginning : &m->vocabulary->after;
}

uint32_t grammar_masks_advance(grammar_masks *m, uint32_t state, int32_t token, int is_first) {
  const vocabulary_pieces *p = pieces_of(m, is_first);
  const uint32_t begin = p->begins[token], end = p->begins[token + 1];
  if (begin == end) return STATE_DEAD;
  for (uint32_t i = begin; i < end && state != STATE_DEAD && state != STATE_FULL; i++)
    state = state_step(&m->states, state, p->bytes[i]);
  return state;
}

/* Walks over what is below a node of the tree, which is in a state, and appends the tokens that fit, and the
 * places where the rule ends whose caller is not known. Returns 0 if the memory is full. */
static int walk(grammar_masks *m, const vocabulary_tree *t, uint32_t from, uint32_t state) {
  grammar_states *s = &m->states;
  const vocabulary_node *nodes = t->nodes;
  m->path[nodes[from].depth] = state;
  for (uint32_t i = from + 1, end = nodes[from].end; i < end;) {
    const vocabulary_node *node = &nodes[i];
    state = state_step(s, m->path[node->depth - 1], node->byte);
    if (state == STATE_FULL) return 0;
    if (state == STATE_DEAD) {
      i = node->end;
      continue;
    }
    m->path[node->depth] = state;
    for (uint32_t k = node->first; k < nodes[i + 1].first; k++) m->tokens[m->token_count++] = t->order[k];
    if (node->end > i + 1 && state_is_open(s, state)) m->places[m->place_count++] = i;
    i++;
  }
  return 1;
}

static void allow(grammar_masks *m, const uint32_t *tokens, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) m->allowed[tokens[i] / 64] |= (uint64_t)1 << tokens[i] % 64;
}

/* Writes the runs of the noted places' children; returns their words. NULL: counts only. */
static uint32_t write_runs(const grammar_masks *m, const vocabulary_tree *t, uint32_t *words,
                           uint32_t *runs) {
  const vocabulary_node *nodes = t->nodes;
  uint32_t counts[256] = {0}, at[256], used = 0;
  for (uint32_t i = 0; i < m->place_count; i++)
    for (uint32_t k = m->places[i] + 1; k < nodes[m->places[i]].end; k = nodes[k].end)
      counts[nodes[k].byte]++;
  *runs = 0;
  for (uint32_t byte = 0; byte < 256; byte++) {
    if (counts[byte] == 0) continue;
    if (words) words[used] = byte, words[used + 1] = counts[byte];
    at[byte] = used + 2;
    used += 2 + counts[byte];
    ++*runs;
  }
  for (uint32_t i = 0; words && i < m->place_count; i++)
    for (uint32_t k = m->places[i] + 1; k < nodes[m->places[i]].end; k = nodes[k].end)
      words[at[nodes[k].byte]++] = k;
  return used;
}

/* Finds the tokens of a node in a tree. Returns their place, or STATE_FULL. */
static uint32_t find_tokens(grammar_masks *m, int which, uint32_t node) {
  const vocabulary_tree *t = &m->vocabulary->after.trees[which];
  grammar_states *s = &m->states;
  uint32_t runs;
  m->token_count = m->place_count = 0;
  const uint32_t state = grammar_states_at(s, node);
  if (state == STATE_FULL || !walk(m, t, 0, state)) return STATE_FULL;
  const int is_list = m->token_count < bit_words(m);
  const uint32_t size = is_list ? m->token_count : bit_words(m);
  const uint32_t at = grammar_states_take(s, 2 + size + write_runs(m, t, NULL, &runs));
  if (at == STATE_FULL) return at;
  uint32_t *words = s->words + at;
  words[0] = is_list ? size : UINT32_MAX;
  words[1] = runs;
  if (is_list) {
    memcpy(words + 2, m->tokens, size * sizeof *words);
  } else {
    memset(words + 2, 0, size * sizeof *words);
    for (uint32_t i = 0; i < m->token_count; i++) words[2 + m->tokens[i] / 32] |= 1u << m->tokens[i] % 32;
  }
  write_runs(m, t, words + 2 + size, &runs);
  return m->of_node[which][node] = at;
}

/* A repetition's last copies have the least numbers. */
void grammar_masks_prepare(grammar_masks *m) {
  const attn2c_grammar *g = m->states.grammar;
  int prepared = 0;
  for (uint32_t i = g->node_count; i-- > 0 && prepared < MOST_PREPARED;) {
    const grammar_node *node = &g->nodes[i];
    uint32_t bytes = 0;
    for (uint32_t k = 0; node->kind == GRAMMAR_BYTES && k < node->other; k++)
      bytes += g->ranges[node->next + k].high - g->ranges[node->next + k].low + 1u;
    if (bytes < MANY_BYTES || m->of_node[0][node->like[0]]) continue;
    for (int which = 0; which < GRAMMAR_SPANS; which++)
      if (!m->of_node[which][node->like[which]] && find_tokens(m, which, node->like[which]) == STATE_FULL)
        return;
    prepared++;
  }
}

/* Allows the tokens of the places that a byte leads to, and of those below them, in the state after it. */
static int add_run(grammar_masks *m, const vocabulary_tree *t, const uint32_t *places, uint32_t count,
                   uint32_t state) {
  for (uint32_t i = 0; i < count; i++) {
    const vocabulary_node *node = &t->nodes[places[i]];
    allow(m, t->order + node->first, node[1].first - node->first);
    m->token_count = 0;
    if (node->end > places[i] + 1 && !walk(m, t, places[i], state)) return 0;
    allow(m, m->tokens, m->token_count);
  }
  return 1;
}

/* Allows the tokens of a tree that may follow at a node with its callers. */
static int add_node(grammar_masks *m, int which, uint32_t node, uint32_t stacks) {
  grammar_states *s = &m->states;
  const vocabulary_tree *t = &m->vocabulary->after.trees[which];
  if (t->count == 0) return 1;
  const uint32_t at = m->of_node[which][node] ? m->of_node[which][node] : find_tokens(m, which, node);
  if (at == STATE_FULL) return 0;
  const uint32_t *words = s->words + at, runs = words[1];
  const int is_list = words[0] != UINT32_MAX;
  const uint32_t size = is_list ? words[0] : bit_words(m);
  if (is_list)
    allow(m, words + 2, size);
  else
    for (uint32_t i = 0; i < size; i++) m->allowed[i / 2] |= (uint64_t)words[2 + i] << i % 2 * 32;
  if (runs == 0) return 1;
  const uint32_t outside = grammar_states_return(s, stacks);
  if (outside == STATE_FULL) return 0;
  words += 2 + size;
  for (uint32_t i = 0; i < runs; i++, words += 2 + words[1]) {
    const uint32_t state = state_step(s, outside, (uint8_t)words[0]);
    if (state == STATE_FULL || (state != STATE_DEAD && !add_run(m, t, words + 2, words[1], state))) return 0;
  }
  return 1;
}

int grammar_masks_find(grammar_masks *m, uint32_t state, int is_first) {
  grammar_states *s = &m->states;
  memset(m->allowed, 0, ((size_t)m->vocabulary->size + 63) / 64 * sizeof *m->allowed);
  if (is_first && m->vocabulary->begins_apart) {
    for (int i = 0; i < VOCABULARY_TREES; i++) {
      m->token_count = 0;
      if (!walk(m, &m->vocabulary->beginning.trees[i], 0, state)) return 0;
      allow(m, m->tokens, m->token_count);
    }
    return 1;
  }
  for (uint32_t i = 0; i < state_count(s, state); i++) {
    const state_item item = state_items(s, state)[i];
    const grammar_node *node = &s->grammar->nodes[item.node];
    for (int which = 0; node->kind == GRAMMAR_BYTES && which < VOCABULARY_TREES; which++)
      if (!add_node(m, which, which < GRAMMAR_SPANS ? node->like[which] : item.node, item.stacks)) return 0;
  }
  return 1;
}

/* Writes the bytes that must follow in a state, at most `most`. Returns their number. */
static uint32_t forced_bytes(grammar_masks *m, uint32_t state, uint8_t *bytes, uint32_t most) {
  uint32_t count = 0;
  while (count < most && !state_accepts(&m->states, state)) {
    uint32_t ways = 0, next = STATE_DEAD;
    for (int byte = 0; byte < 256 && ways < 2; byte++) {
      const uint32_t after = state_step(&m->states, state, (uint8_t)byte);
      if (after == STATE_FULL) return 0;
      if (after != STATE_DEAD) ways++, next = after, bytes[count] = (uint8_t)byte;
    }
    if (ways != 1) break;
    state = next;
    count++;
  }
  return count;
}

/* Returns the length of the longest token that bytes begin with, which is *id; 0: there is none. */
static uint32_t longest_token(const vocabulary_pieces *p, const uint8_t *bytes, uint32_t count, int32_t *id) {
  uint32_t longest = 0;
  for (int which = 0; which < VOCABULARY_TREES; which++) {
    const vocabulary_tree *t = &p->trees[which];
    uint32_t depth = 0, end = t->nodes[0].end;
    for (uint32_t i = 1; i < end && depth < count;) {
      const vocabulary_node *node = &t->nodes[i];
      if (node->byte != bytes[depth]) {
        i = node->end;
        continue;
      }
      depth++, end = node->end, i++;
      if (node[1].first > node->first && depth > longest)
        longest = depth, *id = (int32_t)t->order[node->first];
    }
  }
  return longest;
}

int32_t grammar_masks_foresee(grammar_masks *m, uint32_t state, int32_t *ids, int32_t most) {
  uint8_t bytes[MOST_FORCED];
  int32_t count = 0;
  const uint32_t end = forced_bytes(m, state, bytes, MOST_FORCED);
  for (uint32_t at = 0; count < most; count++) {
    const uint32_t length = longest_token(&m->vocabulary->after, bytes + at, end - at, &ids[count]);
    at += length;
    if (length == 0 || at == end) break;
  }
  return count;
}
