/* npy_difference.c - a program for tests: prints the largest absolute difference of two
 * float arrays of the same shape, and where. Infinity where one has a NaN or an infinity
 * that the other has not. Exits with a status of attn2c.h; 2 for shapes that differ. */
#include <math.h>
#include <stdio.h>

#include "formats/npy.h"

static double value(const attn2c_npy *array, int64_t index) {
  return array->type == ATTN2C_NPY_FLOAT64 ? ((const double *)array->data)[index]
                                           : (double)((const float *)array->data)[index];
}

static double difference(double a, double b) {
  if (isnan(a) && isnan(b)) return 0;
  if (a == b) return 0; /* infinities of the same sign, too */
  const double apart = fabs(a - b);
  return isnan(apart) ? INFINITY : apart;
}

static int comparable(const attn2c_npy *a, const attn2c_npy *b) {
  const attn2c_npy *both[] = {a, b};
  for (int i = 0; i < 2; i++) {
    if (both[i]->type == ATTN2C_NPY_FLOAT32 || both[i]->type == ATTN2C_NPY_FLOAT64) continue;
    fprintf(stderr, "%s: neither float32 nor float64\n", both[i]->path);
    return 0;
  }
  int same = a->rank == b->rank;
  for (int d = 0; same && d < a->rank; d++) same = a->shape[d] == b->shape[d];
  if (!same) fprintf(stderr, "%s and %s: their shapes differ\n", a->path, b->path);
  return same;
}

static void print_largest(const attn2c_npy *a, const attn2c_npy *b) {
  double largest = 0;
  int64_t where = 0;
  for (int64_t i = 0; i < a->elements; i++) {
    const double apart = difference(value(a, i), value(b, i));
    if (apart <= largest) continue;
    largest = apart;
    where = i;
  }
  printf("%.9g at element %lld of %lld\n", largest, (long long)where, (long long)a->elements);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: npy_difference A.npy B.npy\n");
    return ATTN2C_USAGE;
  }
  char text[1000];
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_npy a = {0}, b = {0};
  int status = attn2c_npy_read(argv[1], &a, &message);
  if (status == ATTN2C_OK) status = attn2c_npy_read(argv[2], &b, &message);
  if (status != ATTN2C_OK) fprintf(stderr, "%s\n", text);
  if (status == ATTN2C_OK && !comparable(&a, &b)) status = ATTN2C_USAGE;
  if (status == ATTN2C_OK) print_largest(&a, &b);
  attn2c_npy_free(&a);
  attn2c_npy_free(&b);
  return status;
}
