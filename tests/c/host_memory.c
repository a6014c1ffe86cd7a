/* host_memory.c - a program for tests, linked with the library of a model named `hosted`:
 * prints the bytes that creating a context asks for, by how much the process grows until
 * the first call is done, and how often a call allocates. Exits with the model's status. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosted.h"

/* glibc's own names, so that the allocator can be counted where everything calls it. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static size_t aligned_bytes, calls;

void *malloc(size_t size) {
  calls++;
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  calls++;
  return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
  calls++;
  return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  calls++;
  aligned_bytes += size;
  return __libc_memalign(alignment, size);
}

/* Resident bytes, counted page by page; /proc/self/status is behind by up to 64 pages. */
static long resident(void) {
  char line[256];
  long kilobytes = -1;
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  while (file && kilobytes < 0 && fgets(line, sizeof line, file)) sscanf(line, "Rss: %ld kB", &kilobytes);
  if (file) fclose(file);
  return kilobytes * 1024;
}

static int measure(hosted_model *model) {
  static float hidden[HOSTED_IN_HIDDEN], result[HOSTED_OUT_HIDDEN];
  for (int i = 0; i < HOSTED_IN_HIDDEN; i++) hidden[i] = 0.01f * (float)(i % 101) - 0.5f;
  memset(result, 1, sizeof result);
  hosted_forward_in in = {.hidden = hidden};
  hosted_forward_out out = {.hidden = result};
  hosted_ctx *ctx;
  resident(); /* what reading it takes is there before it counts */
  const long before = resident();
  aligned_bytes = 0;
  int status = hosted_create(model, &ctx);
  if (status != 0) return status;
  const size_t asked = aligned_bytes;
  status = hosted_forward(ctx, &in, &out);
  const long after = resident();
  calls = 0;
  if (status == 0) status = hosted_forward(ctx, &in, &out);
  const size_t allocations = calls;
  hosted_destroy(ctx);
  printf("asked %zu grown %ld allocations %zu\n", asked, after - before, allocations);
  return status;
}

int main(int argc, char **argv) {
  char message[1000];
  hosted_model *model;
  if (argc != 2) {
    fprintf(stderr, "usage: host_memory WEIGHTS.safetensors\n");
    return 2;
  }
  int status = hosted_open(argv[1], &model, message, sizeof message);
  if (status != 0) {
    fprintf(stderr, "%s\n", message);
    return status;
  }
  status = measure(model);
  hosted_close(model);
  return status;
}
