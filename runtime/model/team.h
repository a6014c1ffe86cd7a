/* team.h - manages the threads that share one context's calls. A call is a list of phases. Each phase has a
 * fixed number of parts, which may run in any order and on any thread; it ends when all of them are done. So
 * the bits depend neither on which thread runs a part, nor on the number of threads. Emitted code for several
 * workers includes this header. */
#ifndef ATTN2C_TEAM_H
#define ATTN2C_TEAM_H

#include "base/descriptor.h"

#include <pthread.h>
#include <stddef.h>

/* Runs one part of one phase of a call. */
typedef void (*attn2c_work)(const void *call, size_t phase, size_t part);

/* Makes a team for code with `workers` parts per phase. It has the caller and up to threads - 1 new threads,
 * fewer if they cannot be made. Returns NULL if there is no memory. */
attn2c_team *attn2c_team_make(int workers, int threads);
/* Ends the threads. In the child of a fork they do not exist, and only the memory is freed. */
void attn2c_team_end(attn2c_team *team);

/* Returns the parts of a phase; 1 without a team. */
int attn2c_team_workers(const attn2c_team *team);
/* Returns the number of threads: the caller and those that could be made. */
int attn2c_team_threads(const attn2c_team *team);
/* Runs all parts of all phases, one phase after the other, and returns when the last is done. Only one caller
 * may run a team at a time. Without a team (NULL) the caller runs all parts. */
void attn2c_team_run(attn2c_team *team, attn2c_work work, const void *call, size_t phases, size_t parts);

/* Starts a thread with a small stack that handles no signal. Returns 0, or an error number like
 * pthread_create. */
int attn2c_thread_start(pthread_t *thread, void *(*body)(void *), void *argument);

/* Returns the cores that this process may use, 1 or more. */
int attn2c_processors(void);

#endif
