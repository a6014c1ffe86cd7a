/* demo.c - classifies held-out segments with the trained model, through its C interface, batch by batch.
 * It compares the results with the labels and with PyTorch's logits.
 * Usage: demo WEIGHTS SEGMENTS LABELS LOGITS */
#include "speaker.h"

#include "formats/npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = SPEAKER_SEQ, BANDS = 40, SPEAKERS = 600 };

typedef struct {
  int64_t segments;
  float *features, *logits; /* [segments][FRAMES][BANDS], PyTorch's [segments][SPEAKERS] */
  int32_t *labels;          /* [segments] */
} held_out;

static void fail(int status, const char *text) {
  fprintf(stderr, "demo: %s\n", text);
  exit(status);
}

/* Reads an .npy file of the given row shape, with any number of rows. */
static void *read_rows(const char *path, attn2c_type type, int rank, const int64_t *row, int64_t *rows) {
  char text[512] = "";
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_npy array;
  int status = attn2c_npy_read(path, &array, &message);
  if (status != ATTN2C_OK) fail(status, text);
  int64_t shape[3] = {array.rank > 0 ? array.shape[0] : 0, 0, 0};
  size_t count = (size_t)shape[0];
  for (int i = 1; i < rank; i++) count *= (size_t)(shape[i] = row[i - 1]);
  void *values = calloc(count + 1, sizeof(float));
  if (!values) fail(ATTN2C_MEMORY, "out of memory");
  status = attn2c_npy_as(&array, type, rank, shape, path, values, &message);
  if (status != ATTN2C_OK) fail(status, text);
  attn2c_npy_free(&array);
  *rows = shape[0];
  return values;
}

static held_out read_held_out(char **paths) {
  held_out data;
  int64_t labels, logits;
  data.features = read_rows(paths[0], ATTN2C_F32, 3, (const int64_t[]){FRAMES, BANDS}, &data.segments);
  data.labels = read_rows(paths[1], ATTN2C_I32, 1, NULL, &labels);
  data.logits = read_rows(paths[2], ATTN2C_F32, 2, (const int64_t[]){SPEAKERS}, &logits);
  if (labels != data.segments || logits != data.segments || data.segments % SPEAKER_BATCH != 0)
    fail(ATTN2C_FORMAT, "the numbers of segments, labels and logits differ, or are no multiple of the batch");
  return data;
}

int main(int count, char **arguments) {
  if (count != 5) fail(ATTN2C_USAGE, "usage: demo WEIGHTS SEGMENTS LABELS LOGITS");
  held_out data = read_held_out(arguments + 2);
  char text[4096] = "";
  speaker_model *model;
  speaker_ctx *context;
  int status = speaker_open(arguments[1], &model, text, sizeof text);
  if (status) fail(status, text);
  status = speaker_create(model, &context);
  if (status) fail(status, speaker_strerror(status));

  static float logits[SPEAKER_OUT_LOGITS];
  static int32_t speakers[SPEAKER_OUT_SPEAKER];
  int64_t right = 0;
  double difference = 0;
  for (int64_t first = 0; first < data.segments; first += SPEAKER_BATCH) {
    speaker_forward_in in = {data.features + first * FRAMES * BANDS};
    speaker_forward_out out = {logits, speakers};
    status = speaker_forward(context, &in, &out);
    if (status) fail(status, speaker_strerror(status));
    for (int64_t i = 0; i < SPEAKER_BATCH; i++) right += speakers[i] == data.labels[first + i];
    for (int64_t i = 0; i < SPEAKER_OUT_LOGITS; i++)
      difference = fmax(difference, fabs((double)logits[i] - (double)data.logits[first * SPEAKERS + i]));
  }
  printf("%-26s%lld of %lld held-out segments (%.1f%%)\n", "accuracy", (long long)right,
         (long long)data.segments, 100.0 * (double)right / (double)data.segments);
  printf("%-26s%.2g at most\n", "difference to PyTorch", difference);
  speaker_destroy(context);
  speaker_close(model);
  free(data.features);
  free(data.labels);
  free(data.logits);
  return difference <= 1e-3 ? ATTN2C_OK : ATTN2C_MISMATCH;
}
