/* host.c - runs the speaker model's library on any operating system: host WEIGHTS. It
 * prints a hash of the outputs of a fixed input, for comparison with other systems'. */
#include "speaker.h"

#include <inttypes.h>
#include <stdio.h>

static float features[SPEAKER_IN_FEATURES], logits[SPEAKER_OUT_LOGITS];
static int32_t speakers[SPEAKER_OUT_SPEAKER];

static uint64_t hash_of(uint64_t hash, const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(1099511628211);
  return hash;
}

static int run(int count, char **words) {
  char message[1000];
  speaker_model *model;
  speaker_ctx *context;
  if (count != 2) return 2;
  int status = speaker_open(words[1], &model, message, sizeof message);
  if (status != 0) {
    printf("%d: %s\n", status, message);
    return status;
  }
  uint32_t random = 1;
  for (int i = 0; i < SPEAKER_IN_FEATURES; i++) {
    random = random * 1664525u + 1013904223u;
    features[i] = (float)(int32_t)random / 2147483648.0f;
  }
  status = speaker_set_threads(model, 2);
  if (status == 0) status = speaker_create(model, &context);
  const speaker_forward_in in = {features};
  speaker_forward_out out = {logits, speakers};
  for (int call = 0; call < 20 && status == 0; call++) status = speaker_forward(context, &in, &out);
  uint64_t hash = hash_of(UINT64_C(14695981039346656037), logits, sizeof logits);
  hash = hash_of(hash, speakers, sizeof speakers);
  printf("%d: %016" PRIx64 "\n", status, hash);
  speaker_destroy(context);
  speaker_close(model);
  return status;
}

#ifdef _WIN32
#include <windows.h>

/* Takes words of any language, of which main gets only the system's own. */
int wmain(int count, wchar_t **wide) {
  static char word[4000];
  char *words[] = {"host", word};
  if (count == 2) WideCharToMultiByte(CP_UTF8, 0, wide[1], -1, word, sizeof word, NULL, NULL);
  return run(count, words);
}
#else
int main(int count, char **words) { return run(count, words); }
#endif
