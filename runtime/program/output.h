/* output.h - the end of a stream of answers: what is left in its buffer is written, or a line says why not.
 */
#pragma once

#include "formats/place.h"

/* Writes what is left in the buffer of `out`. ATTN2C_IO, and a line: this or an earlier write failed. */
int attn2c_output_flush(FILE *out, attn2c_message *message);

/* A line about work that takes more than two seconds: what part of it is done, and the time left. It is drawn
 * on standard error if that is a terminal, and erased before anything else is written. */

/* Draws the line at most ten times a second. what: the work, a literal; another one begins anew, and so
 * does work of which nothing is done. all: the number that `done` reaches; 0: it is not known. */
void attn2c_progress(const char *what, int64_t done, int64_t all);

/* Erases the line. The next call above draws it again. */
void attn2c_progress_hide(void);

/* True if the line may be drawn. */
int attn2c_progress_is_seen(void);

/* Ends a command after Ctrl-C where its output is whole: between two answers, or at the end of a line. The
 * first signal is noted, and waiting for input ends. A second signal ends the program at once. */

/* Notes SIGINT and SIGTERM from now on. If that fails, they end the program as always. */
void attn2c_signals_note(void);
/* Notes none from now on: others take them. A command ends as by SIGTERM once `stops` returns not 0. */
void attn2c_signals_ask(int (*stops)(void));
/* Returns the signal that came, or 0. */
int attn2c_signal(void);
/* Returns ATTN2C_OK, or 128 and the number of the signal that came, with a line. */
int attn2c_signals_status(attn2c_message *message);
/* Returns 1 if the descriptor can be read; with may_wait it waits. 0: it cannot, or a signal came. */
int attn2c_signals_wait(int descriptor, int may_wait);

/* Tells if an output file would overwrite weights, or is in the folder of their checkpoint. */

/* Returns 1 if `place` is the file `weights` or its part for a rank (WEIGHTS.rank0), or an existing file of
 * the folder that `weights` names, also by another path or link.
 * weights: the value of --weights, that is a file, an index (.json) or a folder; NULL: none. */
int attn2c_place_has_weights(const attn2c_place *place, const char *weights);
