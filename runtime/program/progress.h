/* progress.h - a line about work that takes more than two seconds: what part of it is done, and the time
 * left. It is drawn on standard error if that is a terminal, and erased before anything else is written. */
#pragma once

#include <stdint.h>

/* Draws the line at most ten times a second. what: the work, a literal; another one begins anew, and so
 * does work of which nothing is done. all: the number that `done` reaches; 0: it is not known. */
void attn2c_progress(const char *what, int64_t done, int64_t all);

/* Erases the line. The next call above draws it again. */
void attn2c_progress_hide(void);

/* True if the line may be drawn. */
int attn2c_progress_is_seen(void);
