/* sequence_calls.h - divides sequences of any length into calls of an entry. */
#pragma once

#include "model/model.h"

/* The place of a call among all sequences: the rows and sequences before it. */
typedef struct {
  int64_t rows, sequences;
} attn2c_call_place;

/* Sequences that calls of an entry divide: `count` of each[i] rows, or each of `seq` rows if each is NULL. */
typedef struct {
  attn2c_context *context;
  const attn2c_entry *entry;
  const attn2c_lengths *lengths; /* the entry's */
  int64_t count;
  const int32_t *each;
  int64_t seq;
  const int32_t *slots; /* their places in the state; NULL: none is kept */
  const void *const *inputs;
  void *const *outputs;
  const int32_t *adapters; /* take the place of the last input; NULL: none do */
} attn2c_sequence_calls;

/* Returns the array of an input, or NULL. */
static inline const void *attn2c_input_of(const attn2c_sequence_calls *d, int input) {
  return d->adapters && input == d->entry->input_count - 1 ? d->adapters : d->inputs[input];
}

static inline int64_t attn2c_rows_of(const attn2c_sequence_calls *d, int64_t sequence) {
  return d->each ? d->each[sequence] : d->seq;
}

/* Returns the elements of an input or output before a call's. */
int64_t attn2c_elements_before(const attn2c_sequence_calls *d, const attn2c_axes *axes, int tensor,
                               attn2c_call_place at);

/* Checks the inputs and the lengths. Returns a status of attn2c_sequences_run. */
int attn2c_sequence_calls_verify(const attn2c_sequence_calls *d);

/* Makes the calls; the caller ends them (attn2c_model_settle). */
int attn2c_sequence_calls_run(const attn2c_sequence_calls *d);
