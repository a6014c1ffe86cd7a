/* grammar.c - the time of a step that is held to a JSON schema, for texts that fit it.
 *   grammar TABLES SCHEMA TEXTS  TABLES: of a tokenizer; TEXTS: a document a line. Prints the time to make
 * the schema's rule, and for each document that of its steps: their mean, the 99th percentile, the longest.
 */
#define _POSIX_C_SOURCE 200809L
#include "program/grammar/open.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 4096 /* tokens of a document */ };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *bytes = malloc((size_t)64 << 20);
  if (!file || !bytes) exit(3);
  *size = fread(bytes, 1, ((size_t)64 << 20) - 1, file);
  bytes[*size] = 0;
  fclose(file);
  return bytes;
}

/* Times the steps of one document. */
static void time_document(const attn2c_rule *rule, attn2c_text_work *work, const char *text, size_t length,
                          float *scores, int32_t size) {
  static double times[MOST];
  attn2c_text_input input = {.text = text, .length = length, .limit = {ATTN2C_TEXT_ANY_LENGTH, 0, 0}};
  attn2c_text_tokens tokens;
  if (attn2c_text_encode(work, &input, &tokens) != ATTN2C_OK || tokens.length > MOST) exit(3);
  double sum = 0;
  for (int32_t i = 0; i < (int32_t)tokens.length; i++) {
    const attn2c_history history = {.ids = tokens.ids, .count = i, .most = MOST};
    for (int32_t k = 0; k < size; k++) scores[k] = 1.0f;
    const double start = now();
    const char *why = rule->apply(rule, &history, scores, size);
    times[i] = now() - start;
    sum += times[i];
    if (why || scores[tokens.ids[i]] != 1.0f) {
      fprintf(stderr, "token %d of the document does not fit the schema: %s\n", i, why ? why : "forbidden");
      exit(3);
    }
  }
  qsort(times, (size_t)tokens.length, sizeof *times, compare);
  printf("%5zu tokens: %7.1f us a step, %7.1f at 99%%, %7.1f at most\n", tokens.length,
         sum / (double)tokens.length, times[tokens.length * 99 / 100], times[tokens.length - 1]);
}

int main(int count, char **words) {
  char note[300] = "";
  attn2c_message message = attn2c_message_make(note, sizeof note);
  size_t size, schema_size, text_size;
  attn2c_tokenizer *text;
  attn2c_text_work *work;
  attn2c_vocabulary *vocabulary;
  attn2c_grammar_use *use;
  if (count < 4) return 2;
  char *tables = read_file(words[1], &size), *schema = read_file(words[2], &schema_size),
       *texts = read_file(words[3], &text_size);
  json_t *parsed = json_loadb(schema, schema_size, 0, NULL);
  if (!parsed || attn2c_text_open(tables, size, 0, &text, &message) != ATTN2C_OK) return 3;
  int32_t tokens = 0;
  for (size_t length; attn2c_text_token(text, tokens, &length);) tokens++;
  const int32_t ends[] = {tokens - 1};
  const attn2c_generation stated = {.stop_tokens = ends, .stop_count = 1};
  double start = now();
  if (attn2c_text_work_create(text, &work) != ATTN2C_OK ||
      attn2c_vocabulary_create(text, tokens, "grammar", &vocabulary, &message) != ATTN2C_OK)
    return 3;
  printf("vocabulary of %d: %.1f ms\n", tokens, 1e-3 * (now() - start));
  const attn2c_grammar_place place = {vocabulary, &stated, 1, MOST};
  start = now();
  if (attn2c_grammar_use_create(NULL, parsed, words[2], &place, &use, &message) != ATTN2C_OK) {
    fprintf(stderr, "%s", note);
    return 3;
  }
  printf("rule of the schema: %.2f ms\n", 1e-3 * (now() - start));
  float *scores = malloc((size_t)tokens * sizeof *scores);
  for (char *at = texts, *end; scores && (end = strchr(at, '\n')); at = end + 1)
    time_document(attn2c_grammar_use_rule(use), work, at, (size_t)(end - at), scores, tokens);
  free(scores);
  attn2c_grammar_use_free(use);
  attn2c_vocabulary_free(vocabulary);
  attn2c_text_work_destroy(work);
  attn2c_text_close(text);
  json_decref(parsed);
  free(tables), free(schema), free(texts);
  return 0;
}
