/* language.c - the language classifier from C: prints each text's language and its probability, as `run`
 * does. Usage: language WEIGHTS TEXT... */
#include <language.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LANGUAGES = LANGUAGE_OUT_LOGITS };

/* The labels of models/language/config.json. */
static const char *const names[LANGUAGES] = {"cs", "da", "de", "en", "es", "fi", "fr", "hu", "it", "ja",
                                             "ko", "nl", "pl", "pt", "ro", "ru", "sv", "tr", "uk", "zh"};

/* Prints the label of the largest logit, and its share in the softmax. */
static void print_answer(const float *logits) {
  int best = 0;
  double sum = 0;
  for (int i = 1; i < LANGUAGES; i++)
    if (logits[i] > logits[best]) best = i;
  for (int i = 0; i < LANGUAGES; i++) sum += exp((double)logits[i] - (double)logits[best]);
  printf("%s\t%.4f\n", names[best], 1 / sum);
}

int main(int count, char **words) {
  if (count < 2) return 2;
  char message[1024] = "";
  language_model *model = NULL; /* the weights; any number of threads may share it */
  language_ctx *context = NULL; /* one caller's memory */
  language_text *text = NULL;   /* one caller's tokenizer */
  int status = language_open(words[1], &model, message, sizeof message);
  if (!status) status = language_create(model, &context);
  if (!status) status = language_text_open(&text, message, sizeof message);
  for (int i = 2; !status && i < count; i++) {
    float logits[LANGUAGES];
    language_text_in in = {.text = words[i], .length = strlen(words[i])};
    language_forward_out out = {.logits = logits};
    status = language_forward_text(context, text, &in, 1, &out, NULL);
    if (status)
      snprintf(message, sizeof message, "%s", language_text_fault(text));
    else
      print_answer(logits);
  }
  if (status) fprintf(stderr, "%s\n", *message ? message : language_strerror(status));
  language_text_close(text);
  language_destroy(context);
  language_close(model);
  return status;
}
