/* engine.c - one lock guards the lists of jobs, and what both threads share of a job. */
#include "program/serve/engine.h"

#include <pthread.h>

enum { MOST_BYTES = 256 << 20 }; /* of jobs that wait */

/* Jobs one after the other. */
typedef struct {
  attn2c_job *first, *last;
} list;

struct attn2c_engine {
  pthread_mutex_t lock;
  pthread_cond_t has_more;
  pthread_t thread;
  int has_thread, is_ending, has_to_look;
  list waiting, told;
  int waiting_count, running_count, most_waiting;
  size_t waiting_bytes;
  void (*wake)(void *);
  void *context;
  attn2c_engine_writer writer;
};

static void append(list *l, attn2c_job *job) {
  job->next = NULL;
  if (l->last)
    l->last->next = job;
  else
    l->first = job;
  l->last = job;
}

/* Takes the job after `before`, or the first one if that is NULL, out of a list. */
static attn2c_job *cut(list *l, attn2c_job *before) {
  attn2c_job *job = before ? before->next : l->first;
  if (before)
    before->next = job->next;
  else
    l->first = job->next;
  if (l->last == job) l->last = before;
  job->next = NULL;
  return job;
}

int attn2c_engine_create(int most_waiting, void (*wake)(void *), void *context, attn2c_engine **engine) {
  *engine = calloc(1, sizeof **engine);
  if (!*engine) return ATTN2C_MEMORY;
  (*engine)->most_waiting = most_waiting;
  (*engine)->wake = wake, (*engine)->context = context;
  pthread_mutex_init(&(*engine)->lock, NULL);
  pthread_cond_init(&(*engine)->has_more, NULL);
  return ATTN2C_OK;
}

void attn2c_engine_set_writer(attn2c_engine *e, const attn2c_engine_writer *writer) { e->writer = *writer; }

void attn2c_engine_lock(attn2c_engine *e) { pthread_mutex_lock(&e->lock); }
void attn2c_engine_unlock(attn2c_engine *e) { pthread_mutex_unlock(&e->lock); }

int attn2c_engine_submit(attn2c_engine *e, attn2c_job *job) {
  attn2c_engine_lock(e);
  const int is_full = e->waiting_count >= e->most_waiting || job->bytes > MOST_BYTES - e->waiting_bytes;
  if (!is_full) {
    append(&e->waiting, job);
    e->waiting_count++;
    e->waiting_bytes += job->bytes;
  }
  attn2c_engine_unlock(e);
  if (!is_full) pthread_cond_signal(&e->has_more); /* the thread then finds the lock open */
  return is_full ? ATTN2C_MEMORY : ATTN2C_OK;
}

void attn2c_engine_look(attn2c_engine *e) {
  attn2c_engine_lock(e);
  e->has_to_look = 1;
  attn2c_engine_unlock(e);
  pthread_cond_signal(&e->has_more);
}

void attn2c_engine_tell(attn2c_engine *e, attn2c_job *job, int is_done) {
  attn2c_engine_lock(e);
  const int is_first = !e->told.first;
  if (is_done) job->is_done = 1, e->running_count--;
  if (!job->is_listed) append(&e->told, job);
  job->is_listed = 1;
  attn2c_engine_unlock(e);
  if (is_first) e->wake(e->context);
}

void attn2c_engine_collect(attn2c_engine *e) {
  for (;;) {
    attn2c_engine_lock(e);
    attn2c_job *job = e->told.first ? cut(&e->told, NULL) : NULL;
    const int is_done = job && job->is_done;
    if (job) job->is_listed = 0;
    attn2c_engine_unlock(e);
    if (!job) return;
    if (!is_done) {
      if (job->kind->told) job->kind->told(job);
      continue;
    }
    job->kind->done(job);
    job->kind->free(job);
  }
}

/* Takes the job after `before` from those that wait. */
static void begin(attn2c_engine *e, attn2c_job *before) {
  const attn2c_job *job = cut(&e->waiting, before);
  e->waiting_count--, e->running_count++;
  e->waiting_bytes -= job->bytes;
}

/* Takes jobs that wait: each that the writer has room for; and of the others the first one, with more of its
 * kind that may run together. Returns their number. It is called with the lock. */
static int take(attn2c_engine *e, attn2c_job **jobs) {
  int count = 0, is_full = 0;
  int64_t weight = 0;
  attn2c_job *before = NULL;
  for (attn2c_job *job = e->waiting.first; job; job = before ? before->next : e->waiting.first) {
    const attn2c_job_kind *kind = job->kind;
    int is_taken = 0;
    if (atomic_load(&job->is_cancelled)) {
      begin(e, before);
      attn2c_engine_unlock(e);
      attn2c_engine_tell(e, job, 1);
      attn2c_engine_lock(e);
      continue;
    }
    if (!kind->run) {
      is_taken = !is_full && e->writer.admit(e->writer.context, job);
      is_full = !is_taken;
    } else if (count == 0 ||
               (kind == jobs[0]->kind && count < kind->most && weight + job->weight <= kind->most_weight)) {
      is_taken = 1;
      jobs[count++] = job;
      weight += job->weight;
    }
    if (!is_taken) {
      before = job;
      continue;
    }
    begin(e, before);
  }
  return count;
}

/* Tells of jobs that have run; the others become NULL in the list. */
static void tell_ready(attn2c_engine *e, attn2c_job **jobs, int count) {
  for (int i = 0; i < count; i++) {
    const attn2c_job_kind *kind = jobs[i]->kind;
    if (kind->is_ready && !kind->is_ready(jobs[i])) continue;
    attn2c_engine_tell(e, jobs[i], 1);
    jobs[i] = NULL;
  }
}

/* Puts jobs that have to run again before those that wait. Called with the lock. */
static void put_back(attn2c_engine *e, attn2c_job *const *jobs, int count) {
  for (int i = count - 1; i >= 0; i--) {
    if (!jobs[i]) continue;
    jobs[i]->next = e->waiting.first;
    e->waiting.first = jobs[i];
    if (!e->waiting.last) e->waiting.last = jobs[i];
    e->waiting_count++, e->running_count--;
    e->waiting_bytes += jobs[i]->bytes;
  }
}

static void *serve(void *given) {
  attn2c_engine *e = given;
  attn2c_job *jobs[ATTN2C_ENGINE_MOST];
  int is_writing = 0;
  attn2c_engine_lock(e);
  while (!e->is_ending) {
    e->has_to_look = 0;
    const int count = take(e, jobs);
    attn2c_engine_unlock(e);
    if (count > 0) jobs[0]->kind->run(e, jobs, count);
    tell_ready(e, jobs, count);
    if (e->writer.step) is_writing = e->writer.step(e->writer.context);
    attn2c_engine_lock(e);
    put_back(e, jobs, count);
    while (!is_writing && !e->is_ending && !e->has_to_look && !e->waiting.first)
      pthread_cond_wait(&e->has_more, &e->lock);
  }
  attn2c_engine_unlock(e);
  return NULL;
}

int attn2c_engine_start(attn2c_engine *e) {
  e->has_thread = pthread_create(&e->thread, NULL, serve, e) == 0;
  return e->has_thread ? ATTN2C_OK : ATTN2C_MEMORY;
}

void attn2c_engine_free(attn2c_engine *e) {
  if (!e) return;
  attn2c_engine_lock(e);
  e->is_ending = 1;
  pthread_cond_signal(&e->has_more);
  attn2c_engine_unlock(e);
  if (e->has_thread) pthread_join(e->thread, NULL);
  list *lists[] = {&e->waiting, &e->told};
  for (int i = 0; i < 2; i++)
    while (lists[i]->first) {
      attn2c_job *job = cut(lists[i], NULL);
      job->kind->free(job);
    }
  pthread_mutex_destroy(&e->lock);
  pthread_cond_destroy(&e->has_more);
  free(e);
}

void attn2c_engine_counts(attn2c_engine *e, int *waiting, int *running) {
  attn2c_engine_lock(e);
  *waiting = e->waiting_count, *running = e->running_count;
  attn2c_engine_unlock(e);
}
