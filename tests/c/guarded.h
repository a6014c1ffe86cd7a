/* guarded.h - buffers of tests that end at a page without access, and begin after one where
 * they fill their pages, so that a read or write outside faults; and numbers to fill them. */
#ifndef ATTN2C_TESTS_GUARDED_H
#define ATTN2C_TESTS_GUARDED_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { GUARDED_PAGE = 4096 };

static inline size_t guarded_pages(size_t bytes) {
  return (bytes + GUARDED_PAGE - 1) / GUARDED_PAGE * GUARDED_PAGE;
}

/* `bytes` bytes, whose end is the end of accessible memory. Exits when there is no memory. */
static inline void *guarded_allocate(size_t bytes) {
  const size_t inside = guarded_pages(bytes);
  char *base = mmap(NULL, inside + 2 * GUARDED_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) abort();
  if (inside && mprotect(base + GUARDED_PAGE, inside, PROT_READ | PROT_WRITE)) abort();
  return base + GUARDED_PAGE + inside - bytes;
}

static inline void guarded_free(void *memory, size_t bytes) {
  const size_t inside = guarded_pages(bytes);
  munmap((char *)memory + bytes - inside - GUARDED_PAGE, inside + 2 * GUARDED_PAGE);
}

/* A matrix of rows that lie ld >= cols floats apart, without padding after the last one. */
static inline size_t guarded_matrix_bytes(int rows, int cols, int ld) {
  return rows > 0 ? sizeof(float) * ((size_t)(rows - 1) * (size_t)ld + (size_t)cols) : 0;
}

/* The next of a fixed sequence, uniform in [-1, 1). */
static inline float guarded_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return (float)(int32_t)*state / 2147483648.0f;
}

/* The value of padding. */
#define GUARDED_PADDING 12345.678f

/* Random values of the given mean and scale, and padding between the rows. */
static inline float *guarded_matrix(int rows, int cols, int ld, uint32_t seed, float mean, float scale) {
  float *x = guarded_allocate(guarded_matrix_bytes(rows, cols, ld));
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < cols; j++)
      x[(size_t)i * (size_t)ld + (size_t)j] = mean + scale * guarded_random(&seed);
    for (int j = cols; j < ld && i + 1 < rows; j++) x[(size_t)i * (size_t)ld + (size_t)j] = GUARDED_PADDING;
  }
  return x;
}

static inline void guarded_matrix_free(float *x, int rows, int cols, int ld) {
  guarded_free(x, guarded_matrix_bytes(rows, cols, ld));
}

/* 1 while the padding between the rows is as it was. */
static inline int guarded_padding_kept(const float *x, int rows, int cols, int ld) {
  for (int i = 0; i + 1 < rows; i++)
    for (int j = cols; j < ld; j++)
      if (x[(size_t)i * (size_t)ld + (size_t)j] != GUARDED_PADDING) return 0;
  return 1;
}

#endif
