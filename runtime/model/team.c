/* team.c - implements threads that share a call. Three rules keep a call from ever being slower than its
 * caller alone would be, whatever else the machine does:
 * - A part belongs to the thread that takes it first. A thread begins with its own part, whose data are in
 * its cache, and then takes parts that no thread has begun. So the caller does all parts itself if its
 * workers are not scheduled, could not be made, or do not exist after a fork.
 * - Waiting is a short spin, then sleep.
 * - A part whose thread was suspended cannot be finished by another thread. The caller therefore keeps a
 * balance (balance.h): the time that others saved it, minus the time that it waited for them. While the
 * balance is negative it works alone, then it tries again. */
#define _GNU_SOURCE
#include "base/processor.h"
#include "model/balance.h"
#include "model/team.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The kernel's FUTEX_WAIT_PRIVATE and FUTEX_WAKE_PRIVATE, whose headers some C libraries lack. */
enum { WAIT_PRIVATE = 128, WAKE_PRIVATE = 129 };

enum { LINE = 64, STACK_BYTES = 256 << 10, PAUSES = 16 /* between two readings of the clock */ };

/* An event to wait for: its count changes when it happens. */
typedef struct {
  _Alignas(LINE) atomic_uint count;
  atomic_int sleepers;
} bell;

/* The number of phases, of all calls, in which this part has been taken. */
typedef struct {
  _Alignas(LINE) atomic_uint_fast64_t taken;
} part_state;

typedef struct {
  attn2c_team *team;
  int number;
  pthread_t thread;
  cpu_set_t allowed, kept; /* the cores that it was given, and those that it uses */
} member;

struct attn2c_team {
  /* The current call; written while no thread works. */
  attn2c_work work;
  const void *call;
  uint_fast64_t first; /* the call's first phase, counted over all calls */
  attn2c_modes modes;
  /* Used by the caller only. */
  attn2c_balance balance;
  int workers, threads;
  pid_t owner;
  member *members; /* [threads]; the first is the caller */

  _Alignas(LINE) atomic_uint_fast64_t phase; /* the current phase, counted over all calls */
  _Alignas(LINE) atomic_uint_fast64_t done;  /* parts, counted over all calls */
  _Alignas(LINE) atomic_uint_fast64_t end;   /* the phase after the call's last */
  atomic_int open;                           /* 1: others may take parts */
  atomic_int over;                           /* 1: the team ends */
  atomic_int patience;                       /* nanoseconds of spinning */
  atomic_int core;                           /* the caller's core when the call began; -1: unknown */
  bell calls, barriers;
  part_state parts[];
};

static int64_t clock_of(clockid_t which) {
  struct timespec t = {0};
  clock_gettime(which, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t now(void) { return clock_of(CLOCK_MONOTONIC); }

/* Returns when the bell has rung since `seen` was read, or sooner. */
static void await(bell *b, unsigned seen, int patience) {
  int64_t until = 0;
  for (int pauses = 0;; pauses++) {
    if (atomic_load_explicit(&b->count, memory_order_acquire) != seen) return;
    attn2c_pause();
    if (pauses % PAUSES != 0) continue;
    const int64_t time = now();
    if (until == 0) until = time + patience;
    if (time >= until) break;
  }
  atomic_fetch_add(&b->sleepers, 1);
  syscall(SYS_futex, &b->count, WAIT_PRIVATE, seen, NULL, NULL, 0);
  atomic_fetch_sub(&b->sleepers, 1);
}

static void ring(bell *b) {
  atomic_fetch_add(&b->count, 1);
  if (atomic_load(&b->sleepers) > 0) syscall(SYS_futex, &b->count, WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* Takes a part of the phase that is not taken, one's own first; returns -1 if there is none. */
static int take(attn2c_team *team, int number, uint_fast64_t phase) {
  for (int i = 0; i < team->workers; i++) {
    const int part = (number + i) % team->workers;
    atomic_uint_fast64_t *taken = &team->parts[part].taken;
    uint_fast64_t expected = phase;
    if (atomic_load_explicit(taken, memory_order_relaxed) == phase &&
        atomic_compare_exchange_strong(taken, &expected, phase + 1))
      return part;
  }
  return -1;
}

/* Does parts of the phase while there are some, and returns their number. A thread that has taken a part
 * keeps its phase from ending, and so the call from changing. */
static int work_off(attn2c_team *team, int number, uint_fast64_t phase) {
  const uint_fast64_t all = (phase + 1) * (uint_fast64_t)team->workers;
  int mine = 0;
  for (int part; (part = take(team, number, phase)) >= 0; mine++) {
    if (number > 0 && mine == 0) attn2c_modes_set(team->modes);
    team->work(team->call, (size_t)(phase - team->first), (size_t)part);
    if (atomic_fetch_add(&team->done, 1) + 1 == all) {
      atomic_store(&team->phase, phase + 1);
      ring(&team->barriers);
    }
  }
  return mine;
}

/* Moves this thread away from the caller's core. A thread that is woken there suspends the caller and works
 * in its place, while another core is idle: Linux searches an idle core only as far as the load of the last
 * milliseconds lets it expect one, and with two cores it expects none. If the thread's cores are changed from
 * outside, the new set is used. */
static void keep_away(member *me) {
  const int core = atomic_load_explicit(&me->team->core, memory_order_relaxed);
  cpu_set_t cores;
  if (core < 0 || core >= CPU_SETSIZE || sched_getcpu() != core) return;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return;
  if (!CPU_EQUAL(&cores, &me->kept)) me->allowed = cores;
  cores = me->allowed;
  CPU_CLR(core, &cores);
  if (CPU_COUNT(&cores) > 0 && sched_setaffinity(0, sizeof cores, &cores) == 0) me->kept = cores;
}

static void *serve(void *of_member) {
  member *me = of_member;
  attn2c_team *team = me->team;
  for (;;) {
    const unsigned calls = atomic_load(&team->calls.count), barriers = atomic_load(&team->barriers.count);
    if (atomic_load(&team->over)) return NULL;
    const uint_fast64_t phase = atomic_load(&team->phase);
    const int patience = atomic_load_explicit(&team->patience, memory_order_relaxed);
    if (!atomic_load(&team->open) || phase >= atomic_load(&team->end))
      await(&team->calls, calls, patience);
    else {
      keep_away(me);
      if (work_off(team, me->number, phase) == 0) await(&team->barriers, barriers, patience);
    }
  }
}

int attn2c_thread_start(pthread_t *thread, void *(*body)(void *), void *argument) {
  sigset_t all, before;
  pthread_attr_t attributes;
  int fault = pthread_attr_init(&attributes);
  if (fault) return fault;
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  /* The thread handles no signals of the process, since their owner does not know it. */
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  fault = pthread_create(thread, &attributes, body, argument);
  /* Thread-local data of the process use part of the stack, and may not fit. */
  if (fault == EINVAL) fault = pthread_create(thread, NULL, body, argument);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return fault;
}

attn2c_team *attn2c_team_make(int workers, int threads) {
  attn2c_team *team = attn2c_allocate(sizeof *team + (size_t)workers * sizeof *team->parts);
  if (!team) return NULL;
  team->members = calloc((size_t)workers, sizeof *team->members);
  if (!team->members) {
    attn2c_free(team);
    return NULL;
  }
  team->workers = workers;
  team->threads = 1;
  team->owner = getpid();
  atomic_store(&team->patience, attn2c_balance_patience(&team->balance));
  while (team->threads < threads && team->threads < workers) {
    member *next = &team->members[team->threads];
    next->team = team;
    next->number = team->threads;
    if (attn2c_thread_start(&next->thread, serve, next) != 0) break;
    team->threads++;
  }
  return team;
}

void attn2c_team_end(attn2c_team *team) {
  if (!team) return;
  if (team->owner == getpid()) {
    atomic_store(&team->over, 1);
    ring(&team->calls);
    for (int i = 1; i < team->threads; i++) pthread_join(team->members[i].thread, NULL);
  }
  free(team->members);
  attn2c_free(team);
}

int attn2c_team_workers(const attn2c_team *team) { return team ? team->workers : 1; }
int attn2c_team_threads(const attn2c_team *team) { return team ? team->threads : 1; }

/* Lets others take parts if there is credit, and keeps them out if there is none. */
static void decide(attn2c_team *team, int open, int begins) {
  const int before = atomic_load_explicit(&team->open, memory_order_relaxed);
  if (open != before) atomic_store(&team->open, open);
  if (open && (begins || !before)) ring(&team->calls);
}

static void run_alone(attn2c_work work, const void *call, size_t phases, size_t parts) {
  for (size_t phase = 0; phase < phases; phase++)
    for (size_t part = 0; part < parts; part++) work(call, phase, part);
}

void attn2c_team_run(attn2c_team *team, attn2c_work work, const void *call, size_t phases, size_t parts) {
  if (!team || team->threads == 1) {
    run_alone(work, call, phases, parts);
    return;
  }
  const uint_fast64_t first = atomic_load(&team->phase), end = first + phases;
  team->work = work;
  team->call = call;
  team->first = first;
  team->modes = attn2c_modes_now();
  const int together = attn2c_balance_shares(&team->balance, 0);
  if (!together) atomic_store(&team->open, 0);
  atomic_store_explicit(&team->core, sched_getcpu(), memory_order_relaxed);
  atomic_store(&team->end, end);
  attn2c_account account = {0};
  const int64_t core = together ? clock_of(CLOCK_THREAD_CPUTIME_ID) : 0;
  int64_t time = now();
  for (uint_fast64_t phase = first; phase < end; phase = atomic_load(&team->phase)) {
    const int open = together && attn2c_balance_shares(&team->balance, account.waited);
    decide(team, open, phase == first);
    const int mine = work_off(team, 0, phase);
    const int64_t begun = time, worked = now();
    for (;;) {
      const unsigned seen = atomic_load(&team->barriers.count);
      if (atomic_load(&team->phase) > phase) break;
      await(&team->barriers, seen, atomic_load_explicit(&team->patience, memory_order_relaxed));
    }
    time = now();
    account.mine += mine;
    account.others += team->workers - mine;
    if (together) account.waited += time - worked;
    if (!open) account.alone += worked - begun;
  }
  if (together) account.computed = clock_of(CLOCK_THREAD_CPUTIME_ID) - core;
  attn2c_balance_settle(&team->balance, &account);
  atomic_store_explicit(&team->patience, attn2c_balance_patience(&team->balance), memory_order_relaxed);
}

int attn2c_processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  const int count = CPU_COUNT(&set);
  return count < 1 ? 1 : count;
}
