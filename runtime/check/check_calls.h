/* check_calls.h - one driver for calls that must repeat known rows bit for bit: sequences of a known call, in
 * any order and number, for all or some of the outputs. */
#pragma once

#include "check/check_job.h"

/* The most sequences of a call that is checked tensor by tensor. */
enum { ATTN2C_CHECK_SEQUENCES = 6 };

/* A call: its sequences, which are all new and in places of their own, and its arrays. */
typedef struct {
  attn2c_check_job *job;
  attn2c_sequences n;
  int32_t *first, *lengths, *slot, *past, *source; /* after `source`, what is forgotten: nothing */
  float *kept;      /* of `encode`: the state that it has left of each sequence; NULL: another entry */
  void **in, **out; /* by the entry's inputs and outputs */
} attn2c_checked_call;

/* Makes a call of sequences with these lengths. Its inputs are the job's from the first on, its
 * outputs NaN. Returns ATTN2C_OK or _MEMORY. In every case the caller ends with attn2c_checked_call_end. */
int attn2c_checked_call_begin(attn2c_checked_call *call, attn2c_check_job *job, const int32_t *lengths,
                              ptrdiff_t count);
void attn2c_checked_call_end(attn2c_checked_call *call);

/* Makes a call through a context, as callers do; it is divided if its rows are more than one call takes.
 * Outputs that are NULL are not wanted. */
int attn2c_checked_call_through(const attn2c_checked_call *call, attn2c_context *context,
                                void *const *outputs, const char *what);

/* A call that repeats rows of a known one. */
typedef struct {
  const char *what;       /* for the rows of the report */
  ptrdiff_t count;        /* of sequences; 0: all of the known call, in its order */
  const int32_t *numbers; /* of sequences in the known call */
  const int *is_spoiled;  /* by sequence: has other inputs, and is not compared; NULL: none has */
  int is_some, choice;    /* is_some: outputs are chosen by attn2c_check_some_outputs, which names the rows */
  attn2c_context *context; /* NULL: one call of the shipped variant on `arena` as it is */
  float *arena;
} attn2c_check_repeat;

/* Makes such a call, and adds a row for each output. `made`, if it is not NULL, becomes the call, which the
 * caller ends in every case. */
int attn2c_check_repeat_call(const attn2c_checked_call *known, const attn2c_check_repeat *repeat,
                             attn2c_checked_call *made);

/* Draws lengths of at most `most` rows in all: the least, one around a multiple of 16, others of any size; at
 * most `sequences` of them. Returns their number. */
ptrdiff_t attn2c_check_draw_lengths(uint64_t seed, int64_t least, int64_t most, int64_t sequences,
                                    int32_t *lengths);

/* Sets the pointers of the outputs that call number `number`, from 0, wants of `all`: each by itself, then
 * all but one. The others are NULL. Returns the words of the call's rows; NULL: there is no such call. */
const char *attn2c_check_some_outputs(const attn2c_check_job *job, int number, void *const *all, void **some);

/* Repeats the known call for some outputs. The others overlap other data in the arena. */
int attn2c_check_some(const attn2c_checked_call *known, attn2c_context *context, float *arena);

/* Checks the longest call of an entry: each op and output of the trace, and that the shipped variant repeats
 * the outputs. `made` becomes the shipped variant's call, which the caller ends in every case. */
int attn2c_check_longest(attn2c_check_job *job, attn2c_run trace, attn2c_checked_call *made);

/* Checks a call of several sequences of any length in the same way. Their lengths are drawn. Each must also
 * have the same bits by itself, in another order, beside other sequences, and in calls that are divided. */
int attn2c_check_mixed(attn2c_check_job *job, attn2c_run trace);
