/* call.h - a call that `bench` verifies and times. */
#pragma once

#include "measure/bandwidth.h"
#include "program/bench/tokens.h"
#include "program/sizes.h"

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
