/* speaker.c - the speaker classifier from C: prints a segment's speaker and its largest logit a line.
 * Usage: speaker WEIGHTS SEGMENTS; segments are floats [32][128][40]. */
#include <speaker.h>

#include <math.h>
#include <stdio.h>

enum { SPEAKERS = SPEAKER_OUT_LOGITS / SPEAKER_BATCH };

static float features[SPEAKER_IN_FEATURES], logits[SPEAKER_OUT_LOGITS];
static int32_t speakers[SPEAKER_OUT_SPEAKER];

static int read_floats(const char *path, float *values, size_t count) {
  FILE *file = fopen(path, "rb");
  size_t got = file ? fread(values, sizeof *values, count, file) : 0;
  if (file) fclose(file);
  if (got != count) fprintf(stderr, "%s: has fewer than the expected %zu floats\n", path, count);
  return got == count ? 0 : 4;
}

int main(int count, char **words) {
  if (count != 3) return 2;
  char message[1024] = "";
  speaker_model *model;
  int status = speaker_open(words[1], &model, message, sizeof message);
  if (status) {
    fprintf(stderr, "%s\n", message);
    return status;
  }
  speaker_ctx *context = NULL;
  status = read_floats(words[2], features, SPEAKER_IN_FEATURES);
  if (!status) status = speaker_create(model, &context);
  if (!status) {
    speaker_forward_in in = {.features = features};
    speaker_forward_out out = {.logits = logits, .speaker = speakers};
    status = speaker_forward(context, &in, &out);
  }
  for (int i = 0; !status && i < SPEAKER_BATCH; i++) {
    float largest = -INFINITY;
    for (int j = 0; j < SPEAKERS; j++) largest = fmaxf(largest, logits[i * SPEAKERS + j]);
    printf("%d %.6f\n", (int)speakers[i], (double)largest);
  }
  speaker_destroy(context);
  speaker_close(model);
  return status;
}
