/* text_threads.c - threads that use tokenizers at once: text_threads TABLES. They share one tokenizer, then
 * each opens its own over the same tables; all must get the same tokens and texts. ThreadSanitizer watches.
 */
#include "text/text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define ROUNDS  6

static const char sample[] =
    "The quick \xef\xac\x81 brown e\xcc\x81\xcc\xa3 \xff fox's [MASK] 12 \xe4\xb8\xad "
    "yesterday <mask> jumping jumping over 1234567 dogs\r\n  and <s> on.";

typedef struct job {
  const uint8_t *tables;
  size_t size;
  const attn2c_tokenizer *shared; /* NULL: the thread opens its own */
  uint32_t hash;
  int status;
} job;

static uint32_t hash_of(uint32_t hash, const void *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x01000193u;
  return hash;
}

static int use(attn2c_text_work *work, uint32_t *hash) {
  int status = ATTN2C_OK;
  for (size_t round = 0; round < ROUNDS && status == ATTN2C_OK; round++) {
    attn2c_text_tokens tokens;
    attn2c_text_input input = {.text = sample + round, .length = sizeof sample - 1 - round};
    input.pair = round & 1 ? sample : NULL, input.pair_length = sizeof sample - 1;
    input.limit.tokens = round & 2 ? 16 : ATTN2C_TEXT_ANY_LENGTH;
    int32_t ids[512];
    const char *text;
    size_t length;
    status = attn2c_text_encode(work, &input, &tokens);
    if (status != ATTN2C_OK) break;
    size_t count = tokens.length < 512 ? tokens.length : 512;
    memcpy(ids, tokens.ids, count * sizeof *ids);
    *hash = hash_of(*hash, ids, count * sizeof *ids);
    status = attn2c_text_decode(work, ids, count, 0, &text, &length);
    if (status == ATTN2C_OK) *hash = hash_of(*hash, text, length);
  }
  return status;
}

static void *run(void *argument) {
  job *job = argument;
  attn2c_tokenizer *own = NULL;
  attn2c_text_work *work = NULL;
  job->hash = 0x811c9dc5u;
  job->status =
      job->shared ? ATTN2C_OK : attn2c_text_open(job->tables, job->size, ATTN2C_TEXT_VERIFY, &own, NULL);
  if (job->status == ATTN2C_OK) job->status = attn2c_text_work_create(job->shared ? job->shared : own, &work);
  if (job->status == ATTN2C_OK) job->status = use(work, &job->hash);
  attn2c_text_work_destroy(work);
  attn2c_text_close(own);
  return NULL;
}

static int run_all(const uint8_t *tables, size_t size, const attn2c_tokenizer *shared, uint32_t *hash) {
  pthread_t threads[THREADS];
  job jobs[THREADS];
  for (int i = 0; i < THREADS; i++) {
    jobs[i] = (job){.tables = tables, .size = size, .shared = shared};
    if (pthread_create(&threads[i], NULL, run, &jobs[i]) != 0) exit(6);
  }
  int same = 1;
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    same = same && jobs[i].status == ATTN2C_OK && jobs[i].hash == jobs[0].hash;
  }
  *hash = jobs[0].hash;
  return same;
}

int main(int count, char **words) {
  FILE *file = count == 2 ? fopen(words[1], "rb") : NULL;
  if (!file) return 4;
  static uint8_t tables[4 << 20];
  size_t size = fread(tables, 1, sizeof tables, file);
  fclose(file);
  attn2c_tokenizer *shared = NULL;
  if (attn2c_text_open(tables, size, 0, &shared, NULL) != ATTN2C_OK) return 3;
  uint32_t one = 0, other = 0;
  int same = run_all(tables, size, shared, &one) && run_all(tables, size, NULL, &other) && one == other;
  attn2c_text_close(shared);
  printf("%s\n", same ? "same" : "different");
  return !same;
}
