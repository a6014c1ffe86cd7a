/* team.h - manages the threads that share one context's calls. A call is a list of phases in order, and a
 * phase is a list of chunks. Any thread may claim any chunk. So the bits depend neither on which thread does
 * a chunk, nor on the number of threads. Emitted code for several workers includes this header. */
#pragma once

#include "base/descriptor.h"

#include <pthread.h>

/* Does one chunk of one phase of a call, with the private memory of a worker. */
typedef void (*attn2c_work)(const void *call, size_t phase, size_t chunk, size_t worker);

/* Bytes of the weights, from byte `at` on. */
typedef struct {
  size_t at, bytes;
} attn2c_stock;

/* The phases of a call: `repeats` times phases with chunks[0] to chunks[count - 1] chunks, each at least 1
 * and less than 2^24. stocks[phase * workers + worker]: the weights that a worker reads first after a phase,
 * which it asks for while it waits; NULL: none. */
typedef struct {
  size_t repeats, count;
  const size_t *chunks;
  const void *weights;
  const attn2c_stock *stocks;
} attn2c_phases;

/* Makes a team for code for up to `workers` workers. It has the caller, worker 0, and up to threads - 1 new
 * threads, fewer if they cannot be made. Returns NULL if there is no memory. */
attn2c_team *attn2c_team_make(int workers, int threads);
/* Ends the threads. In the child of a fork they do not exist, and only the memory is freed. */
void attn2c_team_end(attn2c_team *team);

/* Returns the workers that code was made for; 1 without a team. */
int attn2c_team_workers(const attn2c_team *team);
/* Returns the number of threads: the caller and those that could be made. */
int attn2c_team_threads(const attn2c_team *team);
/* Begins a call: runs that share one account of what sharing gains and costs. It reads the time that a thread
 * has computed, which takes as long as a barrier. Only one caller may use a team at a time. */
void attn2c_team_begin(attn2c_team *team);
/* Runs all chunks of all phases, phase after phase, and returns when the last is done. A phase of one chunk
 * is done by the thread that ends the phase before it. Without a team (NULL) the caller runs all chunks. */
void attn2c_team_run(attn2c_team *team, attn2c_work work, const void *call, attn2c_phases phases);

/* Ends a call. */
void attn2c_team_settle(attn2c_team *team);

/* Starts a thread with a small stack that handles no signal. Returns 0 or an errno. */
int attn2c_thread_start(pthread_t *thread, void *(*body)(void *), void *argument);

/* Returns the cores that this process may use, 1 or more. */
int attn2c_processors(void);
