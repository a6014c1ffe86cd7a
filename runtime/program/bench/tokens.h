/* tokens.h - the calls of a model that continues that `bench` times: a prompt, and one token of some
 * sequences after a number of others. All sequences have the same tokens. */
#pragma once

#include "model/model.h"

typedef struct {
  const char *name;  /* "prefill", "decode", "first token" */
  int64_t sequences; /* of a call: those from 0 on */
  int64_t position;  /* tokens that each has before the call */
  int64_t count;     /* tokens that the call adds to each; more than 1: to one sequence */
  int32_t *ids;      /* the tokens of every sequence, from its first on */
} attn2c_bench_tokens;

enum { ATTN2C_BENCH_TOKEN_CALLS = 6 };

/* Writes the calls that are timed, and returns how many. length: tokens of the prompt and before those that
 * are decoded, at most the context; 0: the usual numbers. */
int attn2c_bench_tokens_list(const attn2c_descriptor *model, int64_t length, int32_t *ids,
                             attn2c_bench_tokens list[ATTN2C_BENCH_TOKEN_CALLS]);

/* Writes a call's name: "decode (8 sequences, position 1000)". */
void attn2c_bench_tokens_label(const attn2c_bench_tokens *of, char *label, size_t size);

/* Returns the rows of the source that sequences have; 0: the model has no encoder. */
int64_t attn2c_bench_tokens_rows_of_source(const attn2c_descriptor *model);

/* Reads a source into sequence 0, and forgets its tokens. inputs: of `encode`. Returns the status. */
int attn2c_bench_tokens_source(attn2c_context *context, const void *const *inputs);

/* Gives a call's sequences the tokens before it, and sequence 0's source. Returns the model's status. */
int attn2c_bench_tokens_prepare(attn2c_context *context, const attn2c_bench_tokens *of);

/* Makes a call, for the logits [sequences][vocabulary] of each sequence's last token. It takes back the
 * tokens that an earlier one has added. Returns the model's status. */
int attn2c_bench_tokens_call(attn2c_context *context, const attn2c_bench_tokens *of, float *logits);

/* Computes the same logits by calls that are divided otherwise. */
int attn2c_bench_tokens_otherwise(attn2c_context *context, const attn2c_bench_tokens *of, float *logits);

/* One call of the entry's code with the arguments of such a call, for its other variants. */
typedef struct {
  attn2c_sequences n;
  int32_t first[ATTN2C_MOST_SEQUENCES + 1], past[ATTN2C_MOST_SEQUENCES], slot[ATTN2C_MOST_SEQUENCES];
  int32_t source[ATTN2C_MOST_SEQUENCES], ids[ATTN2C_MOST_SEQUENCES];
  void *in[1];
} attn2c_bench_token_rows;

/* Prepares it. origins: of the context's sequences. Returns 0 if the tokens are too many for one call. */
int attn2c_bench_tokens_rows(const attn2c_descriptor *model, const int32_t *origins,
                             const attn2c_bench_tokens *of, attn2c_bench_token_rows *rows);
