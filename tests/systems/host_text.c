/* host_text.c - runs the language model's library on any operating system: host_text WEIGHTS. It prints the
 * most probable label of three sentences, and a hash of their scores. */
#include "language.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **words) {
  static const char *const sentences[] = {
      "Kde je n\xc3\xa1"
      "dra\xc5\xbe\xc3\xad?",
      "Wo ist der Bahnhof?", "\xd0\x93\xd0\xb4\xd0\xb5 \xd0\xb2\xd0\xbe\xd0\xba\xd0\xb7\xd0\xb0\xd0\xbb?"};
  char message[1000];
  language_model *model = NULL;
  language_ctx *context = NULL;
  language_text *text = NULL;
  language_text_in texts[3];
  float logits[3][LANGUAGE_OUT_LOGITS];
  language_forward_out out = {logits[0]};
  uint64_t hash = UINT64_C(14695981039346656037);
  if (count != 2) return 2;
  int status = language_open(words[1], &model, message, sizeof message);
  if (status == 0) status = language_create(model, &context);
  if (status == 0) status = language_text_open(&text, message, sizeof message);
  for (int i = 0; i < 3; i++) texts[i] = (language_text_in){sentences[i], strlen(sentences[i]), NULL, 0};
  if (status == 0) status = language_forward_text(context, text, texts, 3, &out, NULL);
  printf("%d:", status);
  for (int i = 0; i < 3 && status == 0; i++) {
    int best = 0;
    for (int k = 1; k < LANGUAGE_OUT_LOGITS; k++)
      if (logits[i][k] > logits[i][best]) best = k;
    printf(" %d", best);
  }
  for (size_t i = 0; i < sizeof logits; i++)
    hash = (hash ^ ((const unsigned char *)logits)[i]) * UINT64_C(1099511628211);
  printf(" %016" PRIx64 "\n", hash);
  language_text_close(text);
  language_destroy(context);
  language_close(model);
  return status;
}
