/* tokenize.c - times text into ids: every line of a file, best of some rounds, by the processor's time.
 *   tokenize TABLES LINES [jit]  prints lines and bytes a second. */
#define _POSIX_C_SOURCE 200809L
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 5

static char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*size + 1);
  if (bytes && fread(bytes, 1, *size, file) != *size) *size = 0;
  fclose(file);
  return bytes;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t lines_of(attn2c_text_work *work, const char *text, size_t size, size_t *tokens) {
  size_t lines = 0;
  for (const char *at = text, *end; at < text + size; at = end + 1, lines++) {
    end = memchr(at, '\n', (size_t)(text + size - at));
    if (!end) end = text + size;
    attn2c_text_input input = {
        .text = at, .length = (size_t)(end - at), .limit = {ATTN2C_TEXT_ANY_LENGTH, 0, 0}};
    attn2c_text_tokens result;
    if (attn2c_text_encode(work, &input, &result) != ATTN2C_OK) exit(1);
    *tokens += result.length;
  }
  return lines;
}

int main(int count, char **words) {
  size_t size = 0, text_size = 0, tokens = 0, lines = 0;
  char *tables = count > 2 ? read_file(words[1], &size) : NULL,
       *text = count > 2 ? read_file(words[2], &text_size) : NULL;
  attn2c_tokenizer *opened;
  attn2c_text_work *work;
  double best = 1e9, began = now();
  if (!tables || !text || attn2c_text_open(tables, size, count > 3 ? ATTN2C_TEXT_JIT : 0, &opened, NULL) ||
      attn2c_text_work_create(opened, &work))
    return 2;
  double open_time = now() - began;
  for (int round = 0; round < ROUNDS; round++) {
    began = now();
    tokens = 0;
    lines = lines_of(work, text, text_size, &tokens);
    if (now() - began < best) best = now() - began;
  }
  printf("%.1f thousand lines/s, %.1f MB/s, %zu tokens, opened in %.0f us\n", 1e-3 * (double)lines / best,
         1e-6 * (double)text_size / best, tokens, 1e6 * open_time);
  attn2c_text_work_destroy(work);
  attn2c_text_close(opened);
  free(tables);
  free(text);
  return 0;
}
