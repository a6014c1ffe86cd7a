/* load_state.c - a program for the fuzzer of damaged files: loads a saved sequence into the model of
 * tests/hf/texts/next and goes on with it: load_state WEIGHTS FILE; load_state WEIGHTS FILE TOKENS saves one.
 * Messages are lines on standard error, and the exit code is the call's status. */
#include <stdio.h>
#include <stdlib.h>

#include "next.h"

static int end(int status, const char *message) {
  if (status != 0) fprintf(stderr, "load_state: %s\n", *message ? message : next_strerror(status));
  return status;
}

/* Adds tokens to the sequence. */
static int go_on(next_ctx *ctx, int count) {
  int32_t ids[NEXT_SEQ];
  for (int i = 0; i < NEXT_SEQ; i++) ids[i] = 3 + 7 * i % 50;
  return next_prefill(ctx, 0, ids, count, NULL);
}

int main(int argc, char **argv) {
  char message[2000] = "";
  next_model *model = NULL;
  next_ctx *ctx = NULL;
  if (argc < 3) return 2;
  int status = next_open(argv[1], &model, message, sizeof message);
  if (status == 0) status = next_create(model, &ctx);
  if (status == 0 && argc > 3) {
    status = go_on(ctx, atoi(argv[3]));
    if (status == 0) status = next_save(ctx, 0, argv[2], message, sizeof message);
  } else if (status == 0) {
    status = next_load(ctx, 0, argv[2], message, sizeof message);
    const int64_t position = next_position(ctx, 0);
    if (status != 0 && position != 0) return end(1, "a load that failed has changed the sequence");
    if (status == 0 && position < NEXT_SEQ) status = go_on(ctx, 1);
  }
  next_destroy(ctx);
  next_close(model);
  return end(status, message);
}
