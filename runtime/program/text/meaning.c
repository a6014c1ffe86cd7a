/* meaning.c - collects and compares what texts mean. */
#include "program/text/view.h"

#include <math.h>

#include "model/text/late.h"

typedef struct {
  int32_t id;
  float weight;
} pair;

static int by_id(const void *a, const void *b) {
  const pair *x = a, *y = b;
  if (x->id != y->id) return x->id < y->id ? -1 : 1;
  return (x->weight < y->weight) - (x->weight > y->weight);
}

static int by_weight(const void *a, const void *b) {
  const pair *x = a, *y = b;
  if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
  return (x->id > y->id) - (x->id < y->id);
}

/* Sorts the weights of a text. Returns 0 without memory. */
static int sort(attn2c_meaning *lexical, int (*compare)(const void *, const void *)) {
  pair *pairs = malloc((size_t)lexical->count * sizeof *pairs + 1);
  if (!pairs) return 0;
  for (int64_t i = 0; i < lexical->count; i++) pairs[i] = (pair){lexical->ids[i], lexical->values[i]};
  qsort(pairs, (size_t)lexical->count, sizeof *pairs, compare);
  for (int64_t i = 0; i < lexical->count; i++)
    lexical->ids[i] = pairs[i].id, lexical->values[i] = pairs[i].weight;
  free(pairs);
  return 1;
}

void attn2c_meaning_sort(attn2c_meaning *lexical) { (void)sort(lexical, by_weight); }

static int is_unweighted(const attn2c_text_facts *facts, int32_t id) {
  for (int i = 0; i < facts->unweighted_count; i++)
    if (facts->unweighted[i] == id) return 1;
  return 0;
}

/* Takes the largest weight of each token of a text; special tokens have none. */
static int take_rows(const attn2c_view_of_text *view, attn2c_meaning *meaning) {
  for (int64_t row = 0; row < view->length; row++) {
    if (!(view->values[row] > 0) || is_unweighted(view->reader->facts, view->ids[row])) continue;
    meaning->values[meaning->count] = view->values[row];
    meaning->ids[meaning->count++] = view->ids[row];
  }
  if (!sort(meaning, by_id)) return ATTN2C_MEMORY;
  int64_t kept = 0;
  for (int64_t i = 0; i < meaning->count; i++) {
    if (kept > 0 && meaning->ids[kept - 1] == meaning->ids[i]) continue;
    meaning->ids[kept] = meaning->ids[i], meaning->values[kept++] = meaning->values[i];
  }
  meaning->count = kept;
  return ATTN2C_OK;
}

/* Takes the weights of the vocabulary that are not 0. */
static int take_tokens(const attn2c_view_of_text *view, attn2c_meaning *meaning) {
  for (int64_t id = 0; id < view->width; id++) {
    if (view->values[id] == 0) continue; /* weights of a table may be negative */
    meaning->values[meaning->count] = view->values[id];
    meaning->ids[meaning->count++] = (int32_t)id;
  }
  return ATTN2C_OK;
}

static int take_vectors(const attn2c_view_of_text *view, attn2c_meaning *meaning) {
  for (int64_t row = 0; row < view->length; row++) {
    if (!attn2c_late_keeps(view->reader->facts->late, view->is_query, view->ids[row], row)) continue;
    memcpy(meaning->values + meaning->count++ * view->width, view->values + row * view->width,
           (size_t)view->width * sizeof *meaning->values);
  }
  return ATTN2C_OK;
}

int attn2c_meaning_make(const attn2c_view_of_text *view, attn2c_meaning *meaning) {
  const attn2c_answer kind = view->reader->facts->answer;
  const int is_lexical = kind == ATTN2C_ANSWER_LEXICAL;
  *meaning = (attn2c_meaning){.kind = kind, .width = is_lexical ? 1 : view->width};
  if (view->length == 0) return ATTN2C_OK;
  const int64_t rows = kind == ATTN2C_ANSWER_VECTORS || view->has_rows ? view->length : 1;
  const size_t numbers = (size_t)(rows * (view->has_rows && is_lexical ? 1 : view->width));
  meaning->values = malloc(numbers * sizeof *meaning->values + 1);
  if (is_lexical) meaning->ids = malloc(numbers * sizeof *meaning->ids + 1);
  int status = !meaning->values || (is_lexical && !meaning->ids) ? ATTN2C_MEMORY : ATTN2C_OK;
  if (!status && kind == ATTN2C_ANSWER_EMBEDDING) {
    memcpy(meaning->values, view->values, numbers * sizeof *meaning->values);
    meaning->count = 1;
  } else if (!status) {
    status = (kind == ATTN2C_ANSWER_VECTORS ? take_vectors
              : view->has_rows              ? take_rows
                                            : take_tokens)(view, meaning);
  }
  if (status) attn2c_meaning_free(meaning);
  return status;
}

void attn2c_meaning_free(attn2c_meaning *meaning) {
  ATTN2C_FREE(meaning->values, meaning->ids);
  meaning->values = NULL, meaning->ids = NULL, meaning->count = 0;
}

static double lexical_product(const attn2c_meaning *a, const attn2c_meaning *b) {
  double sum = 0;
  for (int64_t i = 0, j = 0; i < a->count && j < b->count;) {
    if (a->ids[i] == b->ids[j]) sum += (double)a->values[i] * (double)b->values[j];
    const int32_t first = a->ids[i], second = b->ids[j];
    i += first <= second, j += second <= first;
  }
  return sum;
}

static double late_sum(const attn2c_meaning *query, const attn2c_meaning *text) {
  double sum = 0;
  for (int64_t q = 0; q < query->count; q++) {
    double best = -INFINITY;
    for (int64_t t = 0; t < text->count; t++) {
      const float *a = query->values + q * query->width, *b = text->values + t * text->width;
      float product = 0;
      for (int64_t i = 0; i < query->width; i++) product += a[i] * b[i];
      if ((double)product > best || isnan(product)) best = (double)product;
    }
    sum += best;
  }
  return sum;
}

double attn2c_likeness(const attn2c_meaning *query, const attn2c_meaning *text,
                       const attn2c_text_facts *facts) {
  if (!query->values || !text->values) return (double)NAN;
  if (query->kind == ATTN2C_ANSWER_LEXICAL) return lexical_product(query, text);
  if (query->kind == ATTN2C_ANSWER_EMBEDDING)
    return attn2c_similarity_of(facts->similarity, query->values, text->values, query->width);
  if (query->count == 0 || text->count == 0) return (double)NAN;
  return late_sum(query, text) / (facts->late && facts->late->mean ? (double)query->count : 1.0);
}
