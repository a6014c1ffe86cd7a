/* host_text.c - a user of a model's interface for text, in C and in C++: ids and places, ids back to text,
 * and texts to outputs. The model is tests/hf/texts/sequence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sequence.h"

static void fail(const char *what, int status) {
  printf("%s: %s\n", what, sequence_strerror(status));
  exit(1);
}

static sequence_text_in of(const char *text) {
  sequence_text_in in;
  memset(&in, 0, sizeof in);
  in.text = text;
  in.length = strlen(text);
  return in;
}

int main(int argc, char **argv) {
  char message[1000];
  sequence_model *model;
  sequence_ctx *ctx;
  sequence_text *text;
  sequence_tokens tokens;
  const char *decoded;
  size_t length;
  if (argc < 2) return 2;
  int status = sequence_open(argv[1], &model, message, sizeof message);
  if (status) fail(message, status);
  if ((status = sequence_create(model, &ctx)) != 0) fail("create", status);
  if ((status = sequence_text_open(&text, message, sizeof message)) != 0) fail(message, status);

  sequence_text_in texts[2] = {of("how do I reset my password"), of("the dog")};
  if ((status = sequence_tokenize(text, &texts[0], 0, &tokens)) != 0) fail(sequence_text_fault(text), status);
  for (size_t i = 0; i < tokens.length; i++)
    if (tokens.places[i].byte_end > texts[0].length || tokens.sources[i] > 2 || tokens.types[i] != 0)
      return 3;
  if ((status = sequence_detokenize(text, tokens.ids, tokens.length, 1, &decoded, &length)) != 0)
    fail("decode", status);
  printf("decoded %.*s\n", (int)length, decoded);
  if (sequence_tokenize(text, &texts[0], 3, &tokens) != 0 || tokens.length != 3 || tokens.removed == 0)
    return 4;
  /* Fewer tokens than the special ones are refused, and so is a length without a text. */
  sequence_text_in none = texts[0];
  none.text = NULL;
  if (sequence_tokenize(text, &texts[0], 1, &tokens) != 3 || sequence_tokenize(text, &none, 0, &tokens) != 2)
    return 7;

  float logits[2 * 3];
  int32_t lengths[2];
  sequence_forward_out out;
  memset(&out, 0, sizeof out);
  out.logits = logits;
  if ((status = sequence_forward_text(ctx, text, texts, 2, &out, lengths)) != 0)
    fail(sequence_text_fault(text), status);
  for (int i = 0; i < 6; i++) printf("logit %.9g\n", (double)logits[i]);
  if (lengths[1] >= lengths[0] || lengths[1] < 3 || lengths[0] > SEQUENCE_SEQ) return 5;

  if (sequence_tokenize(NULL, texts, 0, &tokens) != 2 || sequence_text_open(NULL, NULL, 0) != 2 ||
      sequence_text_open(NULL, message, sizeof message) != 2)
    return 6;
  sequence_text_close(text);
  sequence_text_close(NULL);
  sequence_destroy(ctx);
  sequence_close(model);
  return 0;
}
