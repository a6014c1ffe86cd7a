/* kept.c - keeps the first numbers of embeddings of texts, and scales them to unit vectors. */
#include "model/text/reader.h"

#include <math.h>

/* Returns the numbers of the model's embedding, or 0 if its answer is none. */
static size_t width_of(const attn2c_reader *reader) {
  const attn2c_text_facts *facts = reader->facts;
  if (facts->answer != ATTN2C_ANSWER_EMBEDDING) return 0;
  const attn2c_tensor *tensor =
      &reader->model->tensors[attn2c_primary_entry(reader->model)->outputs[facts->output]];
  return (size_t)tensor->shape[tensor->rank - 1];
}

size_t attn2c_text_kept(const attn2c_reader *reader, int output) {
  return output == reader->facts->output && reader->dimensions < width_of(reader) ? reader->dimensions : 0;
}

int attn2c_reader_dimensions(attn2c_reader *reader, size_t count) {
  const size_t width = width_of(reader);
  if (count <= width && width > 0) {
    reader->dimensions = count ? count : (size_t)reader->facts->dimensions;
    return ATTN2C_OK;
  }
  if (width == 0) return attn2c_reader_fail(reader, ATTN2C_USAGE, "the model gives no embedding");
  return attn2c_reader_fail(reader, ATTN2C_USAGE, "%zu numbers, but the embedding has %zu", count, width);
}

/* A unit vector as the op normalise makes it. The sum of squares is exact enough in double. */
void attn2c_text_keep(const float *values, size_t kept, int scales, float *to) {
  double sum = 0.0;
  memcpy(to, values, kept * sizeof *to);
  if (!scales) return;
  for (size_t i = 0; i < kept; i++) sum += (double)to[i] * (double)to[i];
  const double length = fmax(sqrt(sum), 1e-12);
  for (size_t i = 0; i < kept; i++) to[i] = (float)((double)to[i] / length);
}

int attn2c_text_kept_run(attn2c_reader *reader, attn2c_context *context, int64_t rows, void *const *outputs,
                         attn2c_text_run *run) {
  const size_t kept = reader->dimensions, width = width_of(reader);
  const size_t count = (size_t)attn2c_primary_entry(reader->model)->output_count;
  const int answer = reader->facts->output;
  ATTN2C_OWN void **whole = calloc(count + 1, sizeof *whole);
  float *values = malloc(reader->count * width * sizeof *values + 1), *to = outputs[answer];
  int status = ATTN2C_MEMORY;
  if (whole && values) {
    memcpy(whole, outputs, count * sizeof *whole);
    whole[answer] = values;
    reader->dimensions = 0;
    status = run(reader, context, rows, whole);
    reader->dimensions = kept;
  } else {
    snprintf(reader->fault, sizeof reader->fault, "%s", attn2c_strerror(status));
  }
  for (size_t i = 0; status == ATTN2C_OK && i < reader->count; i++)
    attn2c_text_keep(values + i * width, kept, reader->facts->is_unit, to + i * kept);
  free(values);
  return status;
}
