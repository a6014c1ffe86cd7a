/* bench.h - the command `bench`: verifies the model, then times it together with the roof (roof.h). A model
 * that fails the verification is not timed. */
#pragma once

#include "measure/bandwidth.h"
#include "program/bench/report.h"
#include "program/sizes.h"

/* Models below this many floating-point operations a call are compared with the reference in full before
 * timing. For larger models that comparison would take longer than the bench. */
#define ATTN2C_BENCH_FULL_CHECK 50e6

/* Two choices for calls that take `call_nanoseconds`. The first function returns the calls in a sample: a
 * sample lasts 200 microseconds, so that reading the clock takes less than a thousandth of it. The second
 * returns the number of samples that take about a second, from 7 to 2000. */
int attn2c_bench_calls(double call_nanoseconds);
int attn2c_bench_repetitions(double call_nanoseconds);

/* True if --part asks for the parts of all ranks. */
int attn2c_bench_is_of_all(const attn2c_arguments *arguments);

/* Opens, verifies, times and prints every entry. Returns ATTN2C_MISMATCH if an output differs between two
 * calls or from the trace variant, is not finite, or fails the comparison with the reference. With --part
 * nothing is verified: without their meetings ranks compute no results. */
int attn2c_bench_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *out,
                         attn2c_message *message);

/* The calls of a model that continues: a prompt, and one token of some sequences after a number of others.
 * All sequences have the same tokens. */

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
  int32_t adapters[ATTN2C_MOST_SEQUENCES]; /* none */
  void *in[2];
} attn2c_bench_token_rows;

/* Prepares it. origins: of the context's sequences. Returns 0 if the tokens are too many for one call. */
int attn2c_bench_tokens_rows(const attn2c_descriptor *model, const int32_t *origins,
                             const attn2c_bench_tokens *of, attn2c_bench_token_rows *rows);

#define ATTN2C_NS_IN_MS 1e6

/* A call with its arrays. */
typedef struct {
  const attn2c_program *program;
  const attn2c_model *model;
  attn2c_context *context;
  const attn2c_entry *entry;
  int number;                /* index of the entry */
  const attn2c_sizes *sizes; /* sizes of a call that does not fill the entry; NULL: a full call */
  void **in;                 /* this entry's part of the list of all inputs */
  void **out, **again;
  attn2c_sequences *sequence; /* of a call of a model of any length; NULL: another model */
  const attn2c_bench_tokens
      *tokens; /* of a model that continues; `sequence` is NULL if they take several calls */
  attn2c_reads
      *reads; /* samples the rate of memory, for a call that is as fast as its weights are read; or NULL */
} attn2c_bench_call;

/* Allocates `out` and `again`. Returns ATTN2C_OK or _MEMORY, with a message. */
int attn2c_bench_call_allocate(attn2c_bench_call *s, attn2c_message *message);
void attn2c_bench_call_free(attn2c_bench_call *s);

/* Makes the call. Returns the status of the model. */
int attn2c_bench_call_make(const attn2c_bench_call *s, void *const *out);

/* Returns the arguments of the entry's code, for calls that do not divide or pad. */
attn2c_call attn2c_bench_call_whole(const attn2c_bench_call *s, void *const *out);

/* Reports the status of a call, and returns it. */
int attn2c_bench_call_failed(const attn2c_bench_call *s, int status, attn2c_message *message);

/* Compares `again` with `out` bit for bit. Returns ATTN2C_MISMATCH, with a message that names the first
 * element that differs; `between` says what was compared. */
int attn2c_bench_call_same(const attn2c_bench_call *s, const char *between, attn2c_message *message);

/* Makes the call twice, and once in the trace variant. Returns ATTN2C_MISMATCH if the outputs differ or are
 * not finite; a status of the model; or ATTN2C_MEMORY. Leaves the time of the first call. */
int attn2c_bench_call_verify(const attn2c_bench_call *s, double *first_ms, attn2c_message *message);

/* Times a call together with the roof, the bound and the profile that the arguments ask for, and writes them
 * to `result`. Returns ATTN2C_OK, ATTN2C_MEMORY, or ATTN2C_MISMATCH if the profiled variant differs. */
int attn2c_bench_time(attn2c_bench_call *s, const attn2c_arguments *arguments, attn2c_bench_result *result,
                      attn2c_message *message);

typedef struct {
  char *model, *entry;
  int threads;
  double median, deviation; /* ms */
} attn2c_old_row;

typedef struct {
  const char *path;
  attn2c_old_row *rows;
  int count;
} attn2c_old_rows;

/* Reads the rows: one JSON object a line. Returns ATTN2C_OK, _IO, _MEMORY, or ATTN2C_FORMAT with one line
 * that names the row and what is expected. The caller frees them in every case. */
int attn2c_old_rows_read(const char *path, attn2c_old_rows *old, attn2c_message *message);
void attn2c_old_rows_free(attn2c_old_rows *old);

/* Prints old, new, their ratio, and whether they differ by more than twice the deviation of their difference.
 * The old row is the one with the same model, entry and threads. */
void attn2c_bench_compare(const attn2c_old_rows *old, const attn2c_bench_result *results, int count,
                          FILE *out);
