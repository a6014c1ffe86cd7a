/* host_sources.c - a user of a model with an encoder, in C and in C++: sources that are read in one call,
 * logits of all tokens and token by token, another source, a copy, a saved sequence, and calls that are
 * refused. The models are from tests/oracle/sources.py: host_sources WEIGHTS SOURCES IDS LOGITS FILE,
 * which reads the ids of two sources and of two sequences, and writes the logits of all tokens. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

enum { COUNT = 2, WIDTH = READER_VOCABULARY, MOST = READER_SEQ };

static int32_t sources[COUNT * READER_ENCODE_SEQ], ids[COUNT * MOST];
static float want[COUNT * MOST][WIDTH], got[MOST][WIDTH];

static void expect(int is_true, const char *what) {
  if (is_true) return;
  printf("%s\n", what);
  exit(1);
}

/* Returns the integers of a file for each of the two. */
static int32_t read_integers(const char *path, int32_t *to, size_t most) {
  FILE *file = fopen(path, "rb");
  expect(file != NULL, path);
  const size_t count = fread(to, sizeof *to, most, file);
  fclose(file);
  expect(count > 0 && count % COUNT == 0, path);
  return (int32_t)(count / COUNT);
}

static int read_source(reader_ctx *ctx, int32_t sequence, const int32_t *of, int32_t rows) {
  reader_encode_in in;
  memset(&in, 0, sizeof in);
  in.sequences = 1;
  in.lengths = &rows;
  in.source_ids = of;
  return reader_encode(ctx, &sequence, &in);
}

/* Adds the first tokens of a sequence one by one, from `from` on, and compares their logits. */
static void go_on(reader_ctx *ctx, int32_t place, int32_t from, int32_t tokens, int32_t of,
                  const char *what) {
  for (int32_t i = from; i < tokens; i++) {
    expect(reader_decode(ctx, 1, &place, ids + of * tokens + i, got[0]) == 0, what);
    expect(memcmp(got[0], want[of * tokens + i], sizeof got[0]) == 0, what);
  }
}

int main(int argc, char **argv) {
  char message[1000];
  reader_model *model = NULL;
  reader_ctx *ctx = NULL, *other = NULL;
  expect(argc == 6, "host_sources WEIGHTS SOURCES IDS LOGITS FILE");
  expect(reader_open(argv[1], &model, message, sizeof message) == 0, message);
  expect(reader_create(model, &ctx) == 0 && reader_create(model, &other) == 0, "create");
  const int32_t rows = read_integers(argv[2], sources, COUNT * READER_ENCODE_SEQ);
  const int32_t tokens = read_integers(argv[3], ids, COUNT * MOST);

  expect(reader_prefill(ctx, 0, ids, tokens, got[0]) == 2, "a sequence without a source takes tokens");
  const int32_t order[COUNT] = {1, 0}, lengths[COUNT] = {rows, rows};
  reader_encode_in in;
  memset(&in, 0, sizeof in);
  in.sequences = COUNT;
  in.lengths = lengths;
  in.source_ids = sources;
  expect(reader_encode(ctx, order, &in) == 0, "encode");
  for (int32_t i = 0; i < COUNT; i++)
    expect(reader_prefill_all(ctx, order[i], ids + i * tokens, tokens, want[i * tokens]) == 0, "prefill_all");

  expect(read_source(ctx, 0, sources, rows) == 0 && reader_position(ctx, 0) == 0, "another source");
  go_on(ctx, 0, 0, tokens, 0, "another source, token by token");
  expect(reader_rewind(ctx, 0, tokens / 2) == 0 && reader_copy(ctx, 0, 1) == 0, "a copy");
  expect(read_source(ctx, 0, sources + rows, rows) == 0, "another source beside a copy");
  go_on(ctx, 1, tokens / 2, tokens, 0, "a copy has another source");
  go_on(ctx, 0, 0, tokens, 1, "the second source");

  expect(reader_rewind(ctx, 0, tokens / 2) == 0, "back");
  expect(reader_save(ctx, 0, argv[5], message, sizeof message) == 0, message);
  expect(reader_load(other, 1, argv[5], message, sizeof message) == 0, message);
  go_on(other, 1, tokens / 2, tokens, 1, "from a file");
  expect(reader_rewind(ctx, 0, 0) == 0 && reader_save(ctx, 0, argv[5], message, sizeof message) == 0,
         message);
  expect(reader_load(other, 0, argv[5], message, sizeof message) == 0, message);
  go_on(other, 0, 0, tokens, 1, "only a source from a file");

  const int32_t bad = 1 << 20;
  expect(read_source(ctx, READER_SEQUENCES, sources, rows) == 2, "a sequence that is none");
  expect(read_source(ctx, 0, sources, READER_ENCODE_SEQ + 1) == 3, "a source that is too long");
  expect(read_source(ctx, 0, sources, 0) == 3, "a source without rows");
  expect(read_source(ctx, 0, &bad, 1) == 3, "an id that is none");
  expect(read_source(ctx, 0, NULL, rows) == 2, "no ids");
  expect(reader_encode(ctx, NULL, &in) == 2 && reader_encode(NULL, order, &in) == 2 &&
             reader_encode(ctx, order, NULL) == 2,
         "no arguments");
  go_on(ctx, 0, 0, tokens, 1, "a refused call changes a sequence");

  FILE *file = fopen(argv[4], "wb");
  expect(file != NULL, argv[4]);
  expect(fwrite(want, sizeof want[0], (size_t)(COUNT * tokens), file) == (size_t)(COUNT * tokens), argv[4]);
  expect(fclose(file) == 0, argv[4]);
  reader_destroy(ctx);
  reader_destroy(other);
  reader_close(model);
  return 0;
}
