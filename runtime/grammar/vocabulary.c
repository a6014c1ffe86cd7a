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
    p->count += length > 0;
  }
  if (status == ATTN2C_OK) p->begins[size] = (uint32_t)used;
  return status;
}

/* Makes the nodes of the sorted tokens. */
static void make_nodes(vocabulary_pieces *p, const sorted_piece *sorted) {
  uint32_t path[LONGEST + 1] = {0}, depth = 0; /* the node at each depth of the last token */
  p->nodes[0] = (vocabulary_node){0};
  p->node_count = 1;
  for (uint32_t i = 0; i < p->count; i++) {
    uint32_t same = 0;
    while (same < depth && same < sorted[i].length && p->nodes[path[same + 1]].byte == sorted[i].bytes[same])
      same++;
    for (uint32_t d = same + 1; d <= depth; d++) p->nodes[path[d]].end = p->node_count;
    for (depth = same; depth < sorted[i].length;) {
      const uint8_t byte = sorted[i].bytes[depth++];
      path[depth] = p->node_count;
      p->nodes[p->node_count++] = (vocabulary_node){0, i, (uint16_t)depth, byte};
    }
    if (depth > p->longest) p->longest = depth;
    p->order[i] = sorted[i].token;
  }
  for (uint32_t d = 0; d <= depth; d++) p->nodes[path[d]].end = p->node_count;
  p->nodes[p->node_count].first = p->count;
}

static int sort(vocabulary_pieces *p, int32_t size) {
  const size_t nodes = (p->begins[size] ? p->begins[size] : 0) + (size_t)2;
  sorted_piece *sorted = malloc((p->count + 1u) * sizeof *sorted);
  uint32_t count = 0;
  p->order = malloc((p->count + 1u) * sizeof *p->order);
  p->nodes = malloc(nodes * sizeof *p->nodes);
  const int status = sorted && p->order && p->nodes ? ATTN2C_OK : ATTN2C_MEMORY;
  for (int32_t id = 0; id < size && status == ATTN2C_OK; id++) {
    const uint32_t length = p->begins[id + 1] - p->begins[id];
    if (length > 0) sorted[count++] = (sorted_piece){p->bytes + p->begins[id], length, (uint32_t)id};
  }
  if (status == ATTN2C_OK) {
    qsort(sorted, count, sizeof *sorted, compare);
    make_nodes(p, sorted);
    vocabulary_node *fitted = realloc(p->nodes, (p->node_count + 1u) * sizeof *fitted);
    if (fitted) p->nodes = fitted;
  }
  free(sorted);
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
  if (status == ATTN2C_OK) status = decode(work, size, 0, &v->after);
  if (status == ATTN2C_OK) status = sort(&v->after, size);
  if (status == ATTN2C_OK && v->begins_apart) status = decode(work, size, 1, &v->beginning);
  if (status == ATTN2C_OK && v->begins_apart) status = sort(&v->beginning, size);
  attn2c_text_work_destroy(work);
  if (status == ATTN2C_OK)
    *vocabulary = v;
  else
    attn2c_vocabulary_free(v);
  if (status == ATTN2C_MEMORY) attn2c_say(message, "%s: no memory for the vocabulary's bytes", name);
  return status;
}

static void release(vocabulary_pieces *p) {
  free(p->bytes);
  free(p->begins);
  free(p->order);
  free(p->nodes);
}

void attn2c_vocabulary_free(attn2c_vocabulary *v) {
  if (!v) return;
  release(&v->after);
  release(&v->beginning);
  free(v);
}
