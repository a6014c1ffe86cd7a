/* vocabulary.c - decodes each token by itself. The nodes of the tree are made in one pass over the sorted
 * tokens: a token shares the beginning of the one before it. */
#include "grammar/vocabulary.h"

enum { LONGEST = 4096 /* bytes of a token; longer ones are left out */ };

/* A token with all that its comparison needs, as qsort takes no context. */
typedef struct {
  const uint8_t *bytes;
  uint32_t length, token;
} sorted_piece;

static int compare(const void *left, const void *right) {
  const sorted_piece *a = left, *b = right;
  const uint32_t least = a->length < b->length ? a->length : b->length;
  const int order = memcmp(a->bytes, b->bytes, least);
  if (order != 0) return order;
  if (a->length != b->length) return a->length < b->length ? -1 : 1;
  return a->token < b->token ? -1 : a->token > b->token;
}

static int tree_of(size_t length) {
  int which = 0;
  while (which < GRAMMAR_SPANS && length > grammar_spans[which]) which++;
  return which;
}

/* Decodes all tokens. */
static int decode(attn2c_text_work *work, int32_t size, int is_first, vocabulary_pieces *p) {
  size_t capacity = 0, used = 0;
  p->begins = malloc(((size_t)size + 1) * sizeof *p->begins);
  int status = p->begins ? ATTN2C_OK : ATTN2C_MEMORY;
  for (int32_t id = 0; id < size && status == ATTN2C_OK; id++) {
    const char *bytes;
    size_t length;
    p->begins[id] = (uint32_t)used;
    status = attn2c_text_piece(work, id, is_first, &bytes, &length);
    if (status != ATTN2C_OK || length > LONGEST) continue;
    status = attn2c_grow((void **)&p->bytes, &capacity, used + length + 1, 1);
    if (status != ATTN2C_OK) continue;
    memcpy(p->bytes + used, bytes, length);
    used += length;
    if (length > p->longest) p->longest = (uint32_t)length;
    p->trees[tree_of(length)].count += length > 0;
  }
  if (status == ATTN2C_OK) p->begins[size] = (uint32_t)used;
  return status;
}

static void make_nodes(vocabulary_tree *t, const sorted_piece *sorted) {
  uint32_t path[LONGEST + 1] = {0}, depth = 0; /* the node at each depth of the last token */
  t->nodes[0] = (vocabulary_node){0};
  t->node_count = 1;
  for (uint32_t i = 0; i < t->count; i++) {
    uint32_t same = 0;
    while (same < depth && same < sorted[i].length && t->nodes[path[same + 1]].byte == sorted[i].bytes[same])
      same++;
    for (uint32_t d = same + 1; d <= depth; d++) t->nodes[path[d]].end = t->node_count;
    for (depth = same; depth < sorted[i].length;) {
      const uint8_t byte = sorted[i].bytes[depth++];
      path[depth] = t->node_count;
      t->nodes[t->node_count++] = (vocabulary_node){0, i, (uint16_t)depth, byte};
    }
    t->order[i] = sorted[i].token;
  }
  for (uint32_t d = 0; d <= depth; d++) t->nodes[path[d]].end = t->node_count;
  t->nodes[t->node_count].first = t->count;
}

/* Makes a tree. */
static int sort(vocabulary_pieces *p, int32_t size, int which) {
  vocabulary_tree *t = &p->trees[which];
  sorted_piece *sorted = malloc((t->count + 1u) * sizeof *sorted);
  uint32_t count = 0, bytes = 0;
  for (int32_t id = 0; id < size && sorted; id++) {
    const uint32_t length = p->begins[id + 1] - p->begins[id];
    if (length == 0 || tree_of(length) != which) continue;
    sorted[count++] = (sorted_piece){p->bytes + p->begins[id], length, (uint32_t)id};
    bytes += length;
  }
  t->order = malloc((t->count + 1u) * sizeof *t->order);
  t->nodes = malloc((bytes + (size_t)2) * sizeof *t->nodes);
  const int status = sorted && t->order && t->nodes ? ATTN2C_OK : ATTN2C_MEMORY;
  if (status == ATTN2C_OK) {
    qsort(sorted, count, sizeof *sorted, compare);
    make_nodes(t, sorted);
    vocabulary_node *fitted = realloc(t->nodes, (t->node_count + 1u) * sizeof *fitted);
    if (fitted) t->nodes = fitted;
  }
  free(sorted);
  return status;
}

/* Reads all tokens, and makes the trees. */
static int read_pieces(attn2c_text_work *work, int32_t size, int is_first, vocabulary_pieces *p) {
  int status = decode(work, size, is_first, p);
  for (int i = 0; i < VOCABULARY_TREES && status == ATTN2C_OK; i++) status = sort(p, size, i);
  return status;
}

int attn2c_vocabulary_create(const attn2c_tokenizer *text, int32_t size, const char *name,
                             attn2c_vocabulary **vocabulary, attn2c_message *message) {
  const attn2c_text_pieces pieces = attn2c_text_pieces_of(text);
  attn2c_text_work *work = NULL;
  *vocabulary = NULL;
  if (pieces == ATTN2C_TEXT_PIECES_NONE)
    return attn2c_fail(message, ATTN2C_USAGE,
                       "%s: not supported for this tokenizer: the text of a token depends on those after it",
                       name);
  attn2c_vocabulary *v = calloc(1, sizeof *v);
  int status = v ? attn2c_text_work_create(text, &work) : ATTN2C_MEMORY;
  if (v) v->size = size, v->begins_apart = pieces == ATTN2C_TEXT_PIECES_FIRST;
  if (status == ATTN2C_OK) status = read_pieces(work, size, 0, &v->after);
  if (status == ATTN2C_OK && v->begins_apart) status = read_pieces(work, size, 1, &v->beginning);
  attn2c_text_work_destroy(work);
  if (status == ATTN2C_OK)
    *vocabulary = v;
  else
    attn2c_vocabulary_free(v);
  if (status == ATTN2C_MEMORY) attn2c_say(message, "%s: no memory for the vocabulary's bytes", name);
  return status;
}

static void release(vocabulary_pieces *p) {
  ATTN2C_FREE(p->bytes, p->begins);
  for (int i = 0; i < VOCABULARY_TREES; i++) {
    ATTN2C_FREE(p->trees[i].order, p->trees[i].nodes);
  }
}

void attn2c_vocabulary_free(attn2c_vocabulary *v) {
  if (!v) return;
  release(&v->after);
  release(&v->beginning);
  free(v);
}
