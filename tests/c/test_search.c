/* test_search.c - what texts mean for a search: likeness of embeddings, lexical weights and vectors of
 * tokens; and the tokens of queries and documents (model/text/late.c). */
#include "faults.h"
#include "model/text/late.h"
#include "program/text/view.h"

#include <criterion/criterion.h>
#include <math.h>

static attn2c_meaning meant(attn2c_answer kind, int64_t count, int64_t width, const float *values,
                            const int32_t *ids) {
  return (attn2c_meaning){kind, count, width, (float *)(uintptr_t)values, (int32_t *)(uintptr_t)ids};
}

static const attn2c_late of_mean = {.mean = 1};
static const attn2c_text_facts usual, mean = {.late = &of_mean};

Test(search, lexical_weights_are_multiplied_token_by_token) {
  const float of_query[] = {2, 3, 5}, of_text[] = {7, 11, 13, 17};
  const int32_t query_ids[] = {1, 4, 9}, text_ids[] = {0, 4, 8, 9};
  const attn2c_meaning query = meant(ATTN2C_ANSWER_LEXICAL, 3, 1, of_query, query_ids),
                       text = meant(ATTN2C_ANSWER_LEXICAL, 4, 1, of_text, text_ids),
                       none = meant(ATTN2C_ANSWER_LEXICAL, 0, 1, of_text, text_ids);
  cr_assert_eq(attn2c_likeness(&query, &text, &usual), 3 * 11 + 5 * 17);
  cr_assert_eq(attn2c_likeness(&text, &query, &usual), 3 * 11 + 5 * 17);
  cr_assert_eq(attn2c_likeness(&query, &none, &usual), 0);
}

Test(search, vectors_take_their_best_product) {
  const float of_query[] = {1, 0, 0, 1, -1, 0}, of_text[] = {0.5f, 2, 3, -4};
  const attn2c_meaning query = meant(ATTN2C_ANSWER_VECTORS, 3, 2, of_query, NULL),
                       text = meant(ATTN2C_ANSWER_VECTORS, 2, 2, of_text, NULL),
                       none = meant(ATTN2C_ANSWER_VECTORS, 0, 2, of_text, NULL);
  cr_assert_eq(attn2c_likeness(&query, &text, &usual), 3 + 2 - 0.5);
  cr_assert_eq(attn2c_likeness(&query, &text, &mean), 4.5 / 3);
  cr_assert_eq(attn2c_likeness(&text, &query, &usual), (0.5 > 2 ? 0.5 : 2) + 3);
  cr_assert(isnan(attn2c_likeness(&query, &none, &usual)) && isnan(attn2c_likeness(&none, &text, &mean)));
}

Test(search, embeddings_are_compared_as_the_model_says) {
  const float of_query[] = {3, -4}, of_text[] = {0, 2};
  const attn2c_meaning query = meant(ATTN2C_ANSWER_EMBEDDING, 1, 2, of_query, NULL),
                       text = meant(ATTN2C_ANSWER_EMBEDDING, 1, 2, of_text, NULL);
  const double want[] = {
      [ATTN2C_COSINE] = -0.8, [ATTN2C_DOT] = -8, [ATTN2C_EUCLIDEAN] = -sqrt(45), [ATTN2C_MANHATTAN] = -9};
  for (int i = 0; i < 4; i++) {
    const attn2c_text_facts facts = {.similarity = (attn2c_similarity)i};
    cr_assert_float_eq(attn2c_likeness(&query, &text, &facts), want[i], 1e-12);
  }
}

Test(search, texts_without_tokens_are_like_nothing) {
  const float values[] = {3, 4};
  const attn2c_meaning text = meant(ATTN2C_ANSWER_EMBEDDING, 1, 2, values, NULL),
                       none = meant(ATTN2C_ANSWER_EMBEDDING, 0, 2, NULL, NULL);
  cr_assert_float_eq(attn2c_likeness(&text, &text, &usual), 1.0, 1e-12);
  cr_assert(isnan(attn2c_likeness(&text, &none, &usual)) && isnan(attn2c_likeness(&none, &text, &usual)));
}

Test(search, weights_are_sorted_equal_ones_by_their_token) {
  float values[] = {1, 3, 2, 3};
  int32_t ids[] = {2, 9, 4, 7};
  attn2c_meaning lexical = meant(ATTN2C_ANSWER_LEXICAL, 4, 1, values, ids);
  attn2c_meaning_sort(&lexical);
  const int32_t want[] = {7, 9, 4, 2};
  for (int i = 0; i < 4; i++) cr_assert_eq(ids[i], want[i]);
  cr_assert_eq(values[0], 3);
  cr_assert_eq(values[3], 1);
}

static const int32_t skipped[] = {5};
static const attn2c_late late = {.query_marker = 90,
                                 .document_marker = 91,
                                 .expansion = 92,
                                 .query_length = 6,
                                 .document_length = 9,
                                 .first = 1,
                                 .skip = skipped,
                                 .skip_count = 1};
enum { LONGEST = 8 };

/* Completes a text of `length` tokens 1, 2, 3 and so on. */
static size_t complete(const attn2c_late *of, int is_query, size_t length, attn2c_padded *padded,
                       attn2c_text_tokens *tokens) {
  static const int32_t ids[] = {1, 2, 3, 4, 5}, types[5];
  static const attn2c_text_place places[] = {
      {.begin = 1}, {.begin = 2}, {.begin = 3}, {.begin = 4}, {.begin = 5}};
  static const uint8_t sources[5];
  size_t keys;
  *tokens = (attn2c_text_tokens){
      .length = length, .ids = ids, .types = types, .places = places, .sources = sources};
  cr_assert_eq(attn2c_late_complete(of, is_query, padded, LONGEST, tokens, &keys), ATTN2C_OK);
  return keys;
}

static void expect_ids(const attn2c_text_tokens *tokens, size_t count, const int32_t *ids) {
  cr_assert_eq(tokens->length, count);
  for (size_t i = 0; i < count; i++) cr_assert_eq(tokens->ids[i], ids[i], "token %zu: %d", i, tokens->ids[i]);
}

Test(search, queries_and_documents_have_their_markers) {
  attn2c_padded padded = {0};
  attn2c_text_tokens tokens;
  cr_assert_eq(complete(&late, 1, 3, &padded, &tokens), 4);
  expect_ids(&tokens, 6, (const int32_t[]){1, 90, 2, 3, 92, 92});
  cr_assert_eq(tokens.places[2].begin, 2);
  cr_assert(tokens.sources[0] == 0 && tokens.sources[1] == 2 && tokens.sources[2] == 0 &&
            tokens.sources[5] == 2);
  cr_assert_eq(complete(&late, 0, 5, &padded, &tokens), 6);
  expect_ids(&tokens, 6, (const int32_t[]){1, 91, 2, 3, 4, 5});
  attn2c_late other = late;
  other.attends = 1, other.query_marker = -1;
  cr_assert_eq(complete(&other, 1, 2, &padded, &tokens), 6);
  expect_ids(&tokens, 6, (const int32_t[]){1, 2, 92, 92, 92, 92});
  cr_assert_eq(complete(&late, 0, 0, &padded, &tokens), 0);
  attn2c_padded_close(&padded);
}

Test(search, texts_are_cut_so_that_markers_fit) {
  attn2c_late other = late;
  cr_assert_eq(attn2c_late_limit(&late, 1, LONGEST), 5);
  cr_assert_eq(attn2c_late_limit(&late, 0, LONGEST), 7); /* a call takes fewer than a document's */
  other.document_marker = -1, other.document_length = 0;
  cr_assert_eq(attn2c_late_limit(&other, 0, LONGEST), 8);
}

Test(search, some_tokens_have_no_vector) {
  cr_assert(!attn2c_late_keeps(&late, 0, 1, 0) && attn2c_late_keeps(&late, 0, 1, 1));
  cr_assert(!attn2c_late_keeps(&late, 0, 5, 3) && attn2c_late_keeps(&late, 1, 5, 3));
  cr_assert(attn2c_late_keeps(NULL, 0, 5, 0));
}

Test(search, the_nth_allocation_fails) {
  for (int nth = 1;; nth++) {
    static const int32_t ids[] = {1, 2}, types[2];
    static const attn2c_text_place places[2];
    static const uint8_t sources[2];
    attn2c_padded padded = {0};
    attn2c_text_tokens tokens = {
        .length = 2, .ids = ids, .types = types, .places = places, .sources = sources};
    size_t keys;
    faults_clear();
    faults_allocation(nth, 0);
    const int status = attn2c_late_complete(&late, 1, &padded, LONGEST, &tokens, &keys);
    attn2c_padded_close(&padded);
    cr_assert_eq(faults_live_blocks(), 0);
    if (faults_met() == 0) break;
    cr_assert_eq(status, ATTN2C_MEMORY, "%d", nth);
  }
}
