/* similar.c - how much each of several texts or pictures is like each. */
#include "program/answers/answers.h"

#include "formats/npy.h"

static void write_row(const float *row, int64_t count, attn2c_answer_format format, FILE *out) {
  if (format == ATTN2C_ANSWERS_JSONL) fputs("{\"similar\":[", out);
  for (int64_t i = 0; i < count; i++) {
    if (format == ATTN2C_ANSWERS_JSONL)
      fprintf(out, row[i] == row[i] ? "%s%.6f" : "%snull", i ? "," : "", (double)row[i]);
    else
      fprintf(out, "%s%7.4f", i ? "\t" : "", (double)row[i]);
  }
  fputs(format == ATTN2C_ANSWERS_JSONL ? "]}\n" : "\n", out);
}

int attn2c_similar_scores(const char *of, double (*score)(const void *context, int64_t i, int64_t j),
                          const void *context, int64_t count, attn2c_answer_format format, FILE *out,
                          attn2c_message *message) {
  const int64_t shape[2] = {count, count};
  if (count > ATTN2C_MAX_SIMILAR)
    return attn2c_fail(message, ATTN2C_USAGE, "--similar: %lld %s, but at most %d are allowed",
                       (long long)count, of, ATTN2C_MAX_SIMILAR);
  ATTN2C_OWN float *matrix = context ? calloc((size_t)(count * count) + 1, sizeof *matrix) : NULL;
  if (!matrix)
    return attn2c_fail(message, ATTN2C_MEMORY, "--similar: no memory for %lld %s", (long long)count, of);
  for (int64_t i = 0; i < count; i++)
    for (int64_t j = 0; j < count; j++) matrix[i * count + j] = (float)score(context, i, j);
  int status = ATTN2C_OK;
  if (format == ATTN2C_ANSWERS_NPY)
    status = attn2c_npy_write("/dev/stdout", ATTN2C_F32, 2, shape, matrix, message);
  else
    for (int64_t i = 0; i < count; i++) write_row(matrix + i * count, count, format, out);
  return status;
}

typedef struct {
  attn2c_similarity similarity;
  const float *values;
  int64_t width;
} embedded;

static double likeness(const void *context, int64_t i, int64_t j) {
  const embedded *of = context;
  return attn2c_similarity_of(of->similarity, of->values + i * of->width, of->values + j * of->width,
                              of->width);
}

int attn2c_similar_write(const char *of, attn2c_similarity similarity, const float *embeddings, int64_t count,
                         int64_t width, attn2c_answer_format format, FILE *out, attn2c_message *message) {
  const embedded all = {similarity, embeddings, width};
  return attn2c_similar_scores(of, likeness, embeddings ? &all : NULL, count, format, out, message);
}
