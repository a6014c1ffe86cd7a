/* guess.h - guesses the next tokens of a text by its own repetitions, and decides how many a call verifies.
 *
 * A call of the model reads the last token of an answer and the guesses after it, and gives the logits after
 * each. Tokens are drawn from these one by one, as without guesses: by the same processors, options and
 * random numbers. The first token that differs from its guess is the last one of the call; what the model has
 * read after it is forgotten. So a guess g is accepted with the probability p(g), and else the token has the
 * distribution p without g. That is the published rule (Leviathan, Kalman and Matias 2023; Chen et al. 2023)
 * for guesses that are certain. Answers have the same tokens as without guesses, for every seed. */
#pragma once

#include "generate/sample.h"
#include "base/descriptor.h"

struct attn2c_history;

/* The most guesses of a sequence; the most rows of a call; kinds of matches by their length. */
enum { ATTN2C_GUESSES = 16, ATTN2C_GUESS_ROWS = ATTN2C_MOST_SEQUENCES + 32, ATTN2C_GUESS_KINDS = 11 };

/* Guesses of one sequence. */
typedef struct attn2c_guess {
  int32_t ids[ATTN2C_GUESSES];
  int32_t found; /* ids */
  int32_t count; /* of them that the next call verifies */
  int32_t match; /* tokens before them that occur earlier as well; 0: the guesses come from a model */
} attn2c_guess;

/* The match of guesses that a rule foresees: longer than any repetition that is compared. */
enum { ATTN2C_GUESS_FORESEEN = 33 };

/* Times of the calls so far, in nanoseconds, and how often guesses were right. All zero: nothing is known. */
typedef struct attn2c_guesser {
  double times[ATTN2C_GUESS_ROWS + 1];     /* of a call, by its rows */
  uint8_t measured[ATTN2C_GUESS_ROWS + 1]; /* how often, up to 3, from which on a time is known */
  int32_t largest;                         /* number of rows whose time is known */
  double tried[ATTN2C_GUESS_KINDS], right[ATTN2C_GUESS_KINDS];
  double all;  /* of all calls */
  double loss; /* of calls with guesses: by how much they took longer than their tokens without guesses */
} attn2c_guesser;

/* Finds where the last tokens of a text occur earlier: the most tokens, from 2 to 32; of equally many, the
 * last place. The guesses are the tokens after them, at most `most`. The text is ids[count] and then `last`.
 * It takes time for each token of the text. */
void attn2c_guess_find(const int32_t *ids, int32_t count, int32_t last, int32_t most, attn2c_guess *guess);

/* Finds what the history's rule foresees, or else repetitions of its text. */
void attn2c_guess_next(const struct attn2c_history *history, int32_t last, int32_t most, attn2c_guess *guess);

/* Sets the count of each of `sequences` guesses, for one call of at most `rows` rows in all: the numbers that
 * give the most tokens for the time, by what was accepted and by the times of calls, but at most twice the
 * rows of any call whose time is known. Losses by wrong guesses are bounded: by 1.5% of the time of
 * all calls, and the time of one more. */
void attn2c_guess_plan(const attn2c_guesser *guesser, attn2c_guess *guesses, int32_t sequences, int32_t rows);

/* Compares guesses with the `count` tokens that were drawn in their place; these need not be verified ones.
 */
void attn2c_guess_learn(attn2c_guesser *guesser, const attn2c_guess *guess, const int32_t *ids,
                        int32_t count);

/* Takes the time of a call of `rows` rows for some sequences, which gave `tokens` tokens. */
void attn2c_guess_time(attn2c_guesser *guesser, int32_t sequences, int32_t rows, int32_t tokens,
                       double nanoseconds);

/* The guesses of the sequences of a call. All zero at first. */
typedef struct attn2c_guess_call {
  attn2c_guesser guesser;
  attn2c_guess guesses[ATTN2C_MOST_SEQUENCES];
  int32_t sequences, rows;
  int32_t learned, tokens; /* sequences whose tokens are known, and these tokens */
  double began, took;      /* nanoseconds */
} attn2c_guess_call;

/* Plans a call of at most `rows` rows for the guesses that were found for `sequences` sequences, and starts
 * its clock. Sets call->rows. */
void attn2c_guess_call_begin(attn2c_guess_call *call, int32_t sequences, int32_t rows);

/* Stops the clock of the call. */
void attn2c_guess_call_end(attn2c_guess_call *call);

/* Takes the tokens that sequence number i got by the call, each i once. */
void attn2c_guess_call_learn(attn2c_guess_call *call, int32_t i, const int32_t *ids, int32_t count);

/* The functions of the library. They return ATTN2C_USAGE for a NULL or a number that is not there. */
int attn2c_guess_call_create(attn2c_guess_call **call);

/* Finds guesses for the texts ids[i], of counts[i] tokens, and begins a call. most: of each, or NULL. */
int attn2c_guess_call_find(attn2c_guess_call *call, int32_t rows, int32_t sequences,
                           const int32_t *const *ids, const int32_t *counts, const int32_t *most,
                           int32_t guesses[][ATTN2C_GUESSES], int32_t *guessed);

/* Draws and feeds tokens of sequence number i while they are as guessed, from logits [1 + its
 * guesses][vocabulary] to ids[1 + its guesses]; a stop token is the last. Returns the status of
 * attn2c_sampler_sample; *count: tokens that were drawn. It stops the clock, and learns. */
int attn2c_guess_call_draw(attn2c_guess_call *call, int32_t i, struct attn2c_sampler *sampler,
                           const float *logits, int32_t vocabulary, int32_t *ids, int32_t *count,
                           attn2c_message *message);
