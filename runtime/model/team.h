/* team.h - the threads that share one context's calls. A call is a list of phases; each phase has a fixed
 * number of parts, which may run in any order and on any thread; it ends when all of them are done. So the
 * bits depend neither on which thread runs what, nor on the number of threads. Included by emitted code for
 * several workers. */
#ifndef ATTN2C_TEAM_H
#define ATTN2C_TEAM_H

#include "base/descriptor.h"

#include <pthread.h>
#include <stddef.h>

/* Does one part of one phase of a call. */
typedef void (*attn2c_work)(const void *call, size_t phase, size_t part);

/* A team for code with so many parts a phase: the caller, and up to threads - 1 threads made here, as many as
 * can be. NULL where there is no memory. */
attn2c_team *attn2c_team_make(int workers, int threads);
/* Ends the threads. In the child of a fork they are not there, and only the memory is given back. */
void attn2c_team_end(attn2c_team *team);

/* The parts of a phase; 1 without a team. */
int attn2c_team_workers(const attn2c_team *team);
/* The caller and the threads that could be made. */
int attn2c_team_threads(const attn2c_team *team);
/* Runs all parts of all phases, one phase after the other, and returns when the last is done. One caller at a
 * time. Without a team (NULL) the caller does the parts itself. */
void attn2c_team_run(attn2c_team *team, attn2c_work work, const void *call, size_t phases, size_t parts);

/* Starts a thread with a small stack that takes no signal. Returns what pthread_create does: 0, or an error
 * number. */
int attn2c_thread_start(pthread_t *thread, void *(*body)(void *), void *argument);

/* Cores that this process may use, 1 or more. */
int attn2c_processors(void);

#endif
