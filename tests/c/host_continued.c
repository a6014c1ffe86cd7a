/* host_continued.c - a user of a model that continues, in C and in C++: a prompt and tokens one by one, a
 * shared prefix, a sequence that is saved by one context and loaded by another, and calls that are refused.
 * The model is that of tests/spec/whole/continued_spec.lua: host_continued WEIGHTS OTHER_WEIGHTS FILE. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer.h"

enum { TOKENS = WRITER_SEQ, PREFIX = 37, BYTES = sizeof(float) * WRITER_VOCABULARY };

static int32_t ids[TOKENS];
static float want[TOKENS][WRITER_VOCABULARY], got[TOKENS][WRITER_VOCABULARY];

static void expect(int is_true, const char *what) {
  if (is_true) return;
  printf("%s\n", what);
  exit(1);
}

static writer_ctx *make(const char *path, writer_model **model) {
  char message[1000];
  writer_ctx *ctx = NULL;
  expect(writer_open(path, model, message, sizeof message) == 0, message);
  expect(writer_create(*model, &ctx) == 0, "create");
  return ctx;
}

/* Adds the tokens [from, TOKENS) to a sequence one by one, and compares their logits. */
static void go_on(writer_ctx *ctx, int32_t sequence, int32_t from, const char *what) {
  for (int32_t i = from; i < TOKENS; i++) {
    expect(writer_position(ctx, sequence) == i, what);
    expect(writer_decode(ctx, 1, &sequence, ids + i, got[0]) == 0, what);
    expect(memcmp(got[0], want[i], BYTES) == 0, what);
  }
}

static void write_tokens(writer_ctx *ctx) {
  int32_t both[2] = {2, 0}, next[2] = {ids[PREFIX], ids[PREFIX]};
  expect(writer_prefill_all(ctx, 0, ids, TOKENS, want[0]) == 0, "the whole");
  expect(writer_rewind(ctx, 0, 0) == 0 && writer_prefill(ctx, 0, ids, PREFIX, got[0]) == 0, "a prompt");
  expect(memcmp(got[0], want[PREFIX - 1], BYTES) == 0, "a prompt has other logits");
  expect(writer_copy(ctx, 0, 2) == 0 && writer_decode(ctx, 2, both, next, got[0]) == 0, "a prefix of two");
  expect(memcmp(got[0], want[PREFIX], BYTES) == 0 && memcmp(got[1], want[PREFIX], BYTES) == 0,
         "sequences with one prefix differ");
  go_on(ctx, 2, PREFIX + 1, "token by token");
  const int32_t mixed[3] = {1, 2, 0}, counts[3] = {PREFIX, 3, 1};
  int32_t tokens[PREFIX + 4];
  memcpy(tokens, ids, (PREFIX + 3) * sizeof *ids);
  tokens[PREFIX + 3] = ids[PREFIX + 1];
  expect(writer_rewind(ctx, 2, PREFIX) == 0 && writer_rewind(ctx, 1, 0) == 0, "back again");
  expect(writer_extend(ctx, 3, mixed, counts, tokens, 0, got[0]) == 0, "a mixture");
  expect(memcmp(got[0], want[PREFIX - 1], BYTES) == 0 && memcmp(got[1], want[PREFIX + 2], BYTES) == 0 &&
             memcmp(got[2], want[PREFIX + 1], BYTES) == 0,
         "a prompt, a guess and a token have other logits together");
}

static void keep(writer_ctx *ctx, writer_ctx *other, writer_ctx *foreign, const char *path) {
  char message[300];
  expect(writer_rewind(ctx, 2, PREFIX) == 0, "back");
  expect(writer_save(ctx, 2, path, message, sizeof message) == 0, message);
  expect(writer_load(other, 1, path, message, sizeof message) == 0, message);
  go_on(other, 1, PREFIX, "from a file");
  expect(writer_prefill(foreign, 0, ids, 3, NULL) == 0, "another model");
  expect(writer_load(foreign, 0, path, message, sizeof message) == 3, "a state of other weights is loaded");
  expect(strstr(message, ": saved state: of other weights") != NULL, message);
  expect(writer_position(foreign, 0) == 3, "a load that fails changes a sequence");
  expect(writer_load(foreign, 0, "/nonexistent", NULL, 0) == 4, "a file that is none");
}

static void refuse(writer_ctx *ctx) {
  static const int32_t twice[2] = {1, 1}, below[1] = {-1}, beyond[1] = {WRITER_SEQUENCES};
  int32_t bad = 1 << 20;
  const int32_t position = writer_position(ctx, 1);
  char message[300];
  expect(writer_prefill(ctx, WRITER_SEQUENCES, ids, 1, got[0]) == 2, "a sequence that is none");
  expect(writer_prefill(ctx, 1, ids, 0, got[0]) == 2, "no token");
  expect(writer_prefill(ctx, 1, NULL, 1, got[0]) == 2, "no ids");
  expect(writer_prefill(ctx, 1, ids, TOKENS + 1, NULL) == 3, "too many tokens");
  expect(writer_prefill(ctx, 1, &bad, 1, got[0]) == 3, "a token that is none");
  expect(writer_decode(ctx, 2, twice, ids, got[0]) == 2, "a sequence twice");
  expect(writer_decode(ctx, 1, below, ids, got[0]) == 2, "a sequence below 0");
  expect(writer_decode(ctx, 1, beyond, ids, got[0]) == 2, "a sequence beyond the last");
  expect(writer_rewind(ctx, 1, position + 1) == 2, "forward");
  expect(writer_copy(ctx, 1, -1) == 2, "a copy to none");
  expect(writer_save(ctx, -1, "x", message, sizeof message) == 2, "no sequence is saved");
  expect(writer_save(ctx, 0, NULL, message, sizeof message) == 2, "no path");
  expect(writer_load(NULL, 0, "x", message, sizeof message) == 2, "no context");
  expect(writer_position(ctx, -1) == -1 && writer_position(ctx, 1) == position, "a position");
}

int main(int argc, char **argv) {
  writer_model *model, *foreign_model;
  writer_ctx *other = NULL;
  if (argc != 4) return 2;
  writer_ctx *ctx = make(argv[1], &model), *foreign = make(argv[2], &foreign_model);
  expect(writer_create(model, &other) == 0, "another context");
  for (int i = 0; i < TOKENS; i++) ids[i] = (i * 37 + 5) % 40;
  write_tokens(ctx);
  keep(ctx, other, foreign, argv[3]);
  refuse(ctx);
  writer_destroy(other);
  writer_destroy(ctx);
  writer_destroy(foreign);
  writer_close(model);
  writer_close(foreign_model);
  printf("%d tokens\n", TOKENS);
  return 0;
}
