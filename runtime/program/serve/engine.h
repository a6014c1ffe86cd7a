/* engine.h - the thread that calls the model. Jobs come from the loop of connections in their order. A job of
 * calls without state is computed together with others of its kind; a job that writes is admitted to a
 * writer, which computes a step of all that it has at a time. */
#pragma once

#include "base/attn2c.h"

#include <stdatomic.h>

typedef struct attn2c_engine attn2c_engine;
typedef struct attn2c_job attn2c_job;

/* The functions of jobs of one kind. */
typedef struct attn2c_job_kind {
  /* Computes `count` jobs in the engine's thread. A status is for each job to keep. NULL: it is admitted. */
  void (*run)(attn2c_engine *engine, attn2c_job *const *jobs, int count);
  /* Returns 0 for a job that has to run again, before those that wait. NULL: none has. */
  int (*is_ready)(const attn2c_job *job);
  int most;            /* jobs of a run, at most ATTN2C_ENGINE_MOST */
  int64_t most_weight; /* the sum of their weights; a heavier job runs by itself */
  /* Are called in the loop's thread: the engine has told of the job, or is done with it. `done` writes the
   * reply if job->exchange is not NULL. `told` may be NULL. */
  void (*told)(attn2c_job *job);
  void (*done)(attn2c_job *job);
  void (*free)(attn2c_job *job);
} attn2c_job_kind;

/* The first member of a job. */
struct attn2c_job {
  const attn2c_job_kind *kind;
  struct attn2c_server *server;
  struct attn2c_exchange *exchange; /* of the loop's thread; NULL: the client has gone */
  int64_t weight;
  size_t bytes; /* that it takes while it waits */
  /* The engine looks at both before each step. The loop calls attn2c_engine_look after a change. */
  atomic_int is_cancelled; /* 1: the client has gone */
  atomic_int is_behind;    /* 1: the client has to read first what a stream has */
  attn2c_job *next;        /* of the engine's lists */
  int is_listed, is_done;
};

enum { ATTN2C_ENGINE_MOST = 256 };

/* The part of the engine that writes. Both are called in the engine's thread. */
typedef struct attn2c_engine_writer {
  void *context;
  /* Takes a job. Returns 0 if it has no room. */
  int (*admit)(void *context, attn2c_job *job);
  /* Computes a step. Returns 0 if it has nothing to compute. */
  int (*step)(void *context);
} attn2c_engine_writer;

/* most_waiting: jobs that may wait. wake(context): the loop calls attn2c_engine_collect. ATTN2C_OK or
 * _MEMORY. */
int attn2c_engine_create(int most_waiting, void (*wake)(void *), void *context, attn2c_engine **engine);
void attn2c_engine_set_writer(attn2c_engine *engine, const attn2c_engine_writer *writer);
/* Starts the thread; ends it once its step is done, and frees the engine with jobs that are left. */
int attn2c_engine_start(attn2c_engine *engine);
void attn2c_engine_free(attn2c_engine *engine);

/* Gives a job. Returns ATTN2C_OK, or ATTN2C_MEMORY if no more may wait: the job is the caller's.
 */
int attn2c_engine_submit(attn2c_engine *engine, attn2c_job *job);
/* Makes the engine look at its jobs, if it waits. */
void attn2c_engine_look(attn2c_engine *engine);
/* Calls `told` and `done` of the jobs that the engine has told of. */
void attn2c_engine_collect(attn2c_engine *engine);

/* In the engine's thread: tells the loop of a job. After is_done the job is the loop's. */
void attn2c_engine_tell(attn2c_engine *engine, attn2c_job *job, int is_done);
/* The lock of what both threads read and write of a job. */
void attn2c_engine_lock(attn2c_engine *engine);
void attn2c_engine_unlock(attn2c_engine *engine);

/* Jobs that wait, and that are computed. */
void attn2c_engine_counts(attn2c_engine *engine, int *waiting, int *running);
