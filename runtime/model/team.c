/* team.c - implements threads that share a call. Three rules keep a call from ever being slower than its
 * caller would be by itself, whatever else the machine does:
 * - A chunk belongs to the thread that claims it first. A phase's chunks are divided into a run for each
 * worker. A thread begins with its own run, whose data are in its cache, and then claims chunks of other
 * runs, in their order. So a slow core does fewer chunks, and the caller does all of them itself if its
 * workers are not scheduled, could not be made, or do not exist after a fork.
 * - Waiting is a short spin, then sleep.
 * - A chunk whose thread was suspended cannot be finished by another thread. If the caller has nothing left
 * to do, it lends such a thread its own core until the chunk is done.
 * - Sharing may still cost more than it gains. The caller therefore keeps a balance (balance.h): the time
 * that others saved it, minus the time that it waited for them. While the balance is negative it shares
 * nothing, then it tries again. */
#include "system/system.h"
#include "base/processor.h"
#include "model/balance.h"
#include "model/team.h"

#include <time.h>

enum {
  LINE = 64,
  STACK_BYTES = 256 << 10,
  PAUSES = 16,       /* between two readings of the clock */
  LEFT_BITS = 24,    /* of a run's state: the chunks that are left; the other bits are its phase */
  MOST_WATCHED = 64, /* threads of a team */
  LOOK = 20000,      /* nanoseconds in which a thread with a core computes */
  NO_END = -1,
  NAP = 200000 /* nanoseconds between two looks at threads that compute */
};

/* An event to wait for: its count changes when it happens. */
typedef struct {
  _Alignas(LINE) atomic_uint count;
  atomic_int sleepers;
} bell;

/* The chunks of a worker's run that nobody has claimed, in a phase counted over all calls. */
typedef struct {
  _Alignas(LINE) atomic_uint_fast64_t left; /* phase << LEFT_BITS | chunks */
} run;

typedef struct {
  attn2c_team *team;
  int number;
  pthread_t thread;
  const char *next, *stop; /* weights that it asks for while it waits */
  atomic_int works;        /* 1: it may have a chunk */
  atomic_int lent;         /* 1: it was moved to the caller's core */
  pthread_mutex_t lock;
  attn2c_cores allowed, kept; /* the cores that it was given, and those that it uses; under the lock */
} member;

struct attn2c_team {
  /* The current call; written while no thread works. */
  attn2c_work work;
  const void *call;
  attn2c_phases phases;
  uint_fast64_t first; /* the call's first phase, counted over all calls */
  attn2c_modes modes;
  /* Used by the caller only. */
  attn2c_balance balance;
  attn2c_account account; /* of the current call */
  int together;           /* 1: it shares its runs */
  int64_t computed;       /* the time that the caller had computed before it */
  int workers, threads;
  pid_t owner;
  member *members; /* [threads]; the first is the caller */

  _Alignas(LINE) atomic_uint_fast64_t phase; /* the current phase, counted over all calls */
  _Alignas(LINE) atomic_uint_fast64_t rest;  /* chunks of the phase that have not ended */
  _Alignas(LINE) atomic_uint_fast64_t end;   /* the phase after the call's last */
  atomic_int open;                           /* 1: others may claim chunks */
  atomic_int over;                           /* 1: the team ends */
  atomic_int patience;                       /* nanoseconds of spinning */
  atomic_int core;                           /* the caller's core when the call began; -1: unknown */
  bell calls, barriers;
  run runs[];
};

static int64_t clock_of(clockid_t which) {
  struct timespec t = {0};
  clock_gettime(which, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t now(void) { return clock_of(CLOCK_MONOTONIC); }

/* Returns when the bell has rung since `seen` was read, or sooner. Asks for the weights that a thread reads
 * next meanwhile. nap: nanoseconds of sleep at most; 0: any. */
static void await(member *me, bell *b, unsigned seen, int patience, long nap) {
  int64_t until = 0;
  for (int pauses = 0;; pauses++) {
    if (atomic_load_explicit(&b->count, memory_order_acquire) != seen) return;
    if (me->next < me->stop) {
      __builtin_prefetch(me->next, 0, 2);
      me->next += LINE;
      continue;
    }
    attn2c_pause();
    if (pauses % PAUSES != 0) continue;
    const int64_t time = now();
    if (until == 0) until = time + patience;
    if (time >= until) break;
  }
  if (nap == 0) return;
  atomic_fetch_add(&b->sleepers, 1);
  attn2c_system_wait(&b->count, seen, nap);
  atomic_fetch_sub(&b->sleepers, 1);
}

static void ring(bell *b) {
  atomic_fetch_add(&b->count, 1);
  if (atomic_load(&b->sleepers) > 0) attn2c_system_wake(&b->count);
}

/* Returns the chunks of a phase, which has not ended. */
static size_t chunks_of(const attn2c_team *team, uint_fast64_t phase) {
  return team->phases.chunks[(size_t)(phase - team->first) % team->phases.count];
}

/* Returns the chunk after the last of a worker's run. */
static size_t stop_of(const attn2c_team *team, int worker, size_t chunks) {
  return chunks * (size_t)(worker + 1) / (size_t)team->workers;
}

/* Makes a phase's chunks free, before anybody is told that it has begun. */
static void begin(attn2c_team *team, uint_fast64_t phase) {
  const size_t chunks = chunks_of(team, phase);
  atomic_store(&team->rest, chunks);
  for (int i = 0; i < team->workers; i++)
    atomic_store(&team->runs[i].left,
                 phase << LEFT_BITS | (stop_of(team, i, chunks) - stop_of(team, i - 1, chunks)));
}

/* Claims a chunk of a worker's run; returns how many were left with it, 0 if none. */
static size_t claim(run *r, uint_fast64_t phase) {
  uint_fast64_t left = atomic_load_explicit(&r->left, memory_order_relaxed);
  while (left > phase << LEFT_BITS && left < (phase + 1) << LEFT_BITS)
    if (atomic_compare_exchange_weak(&r->left, &left, left - 1)) return (size_t)(left - (phase << LEFT_BITS));
  return 0;
}

/* Begins the next phase, or ends the call, when all chunks of `phase` are done. Phases of one chunk are done
 * at once: what they read is in this thread's cache, and nobody else has to be told of them. */
static void advance(attn2c_team *team, int number, uint_fast64_t phase, uint_fast64_t end) {
  for (; phase < end && chunks_of(team, phase) == 1; phase++)
    team->work(team->call, (size_t)(phase - team->first), 0, (size_t)number);
  if (phase < end) begin(team, phase);
  atomic_store(&team->phase, phase);
  ring(&team->barriers);
}

/* Notes the weights that a thread reads after a phase. */
static void look_ahead(attn2c_team *team, int number, uint_fast64_t phase) {
  const attn2c_phases *of = &team->phases;
  if (!of->stocks) return;
  const attn2c_stock *stock =
      &of->stocks[(size_t)(phase - team->first) % of->count * (size_t)team->workers + (size_t)number];
  member *me = &team->members[number];
  me->next = (const char *)of->weights + stock->at;
  me->stop = me->next + stock->bytes;
}

/* Does chunks of the phase while some are free, one's own run first, and returns their number. A thread that
 * has claimed a chunk keeps its phase from ending, and so the call from changing. */
static size_t work_off(attn2c_team *team, int number, uint_fast64_t phase) {
  size_t mine = 0;
  for (int i = 0; i < team->workers; i++) {
    const int worker = (number + i) % team->workers;
    for (size_t left; (left = claim(&team->runs[worker], phase)) > 0; mine++) {
      if (number > 0 && mine == 0) attn2c_modes_set(team->modes);
      const size_t chunk = stop_of(team, worker, chunks_of(team, phase)) - left;
      team->work(team->call, (size_t)(phase - team->first), chunk, (size_t)number);
    }
  }
  if (mine == 0) return 0;
  look_ahead(team, number, phase);
  if (atomic_fetch_sub(&team->rest, mine) == mine)
    advance(team, number, phase + 1, atomic_load_explicit(&team->end, memory_order_relaxed));
  return mine;
}

/* Reads the cores that a thread may use. If they were changed from outside, the new set is kept to. */
static int learn_cores(member *m) {
  attn2c_cores cores;
  if (!attn2c_system_cores(m->thread, &cores)) return 0;
  if (!attn2c_system_same_cores(&cores, &m->kept)) m->allowed = cores;
  return 1;
}

/* Moves this thread away from the caller's core. A thread that is woken there suspends the caller and works
 * in its place, while another core is idle: Linux searches an idle core only as far as the load of the last
 * milliseconds lets it expect one, and with two cores it expects none. */
static void keep_away(member *me) {
  const int core = atomic_load_explicit(&me->team->core, memory_order_relaxed);
  if (!atomic_load_explicit(&me->lent, memory_order_relaxed) && attn2c_system_core() != core) return;
  pthread_mutex_lock(&me->lock);
  if (learn_cores(me)) attn2c_system_use_cores(me->thread, &me->allowed, core, 0, &me->kept);
  atomic_store(&me->lent, 0);
  pthread_mutex_unlock(&me->lock);
}

/* Moves a thread to the caller's core, which the caller leaves by sleeping. */
static void lend_core(member *m) {
  const int core = attn2c_system_core();
  if (core < 0 || pthread_mutex_trylock(&m->lock) != 0) return;
  /* The thread keeps away from its team's core, so both are said first. */
  const int before = atomic_exchange(&m->team->core, core), lent = atomic_exchange(&m->lent, 1);
  if (!learn_cores(m) || !attn2c_system_use_cores(m->thread, &m->allowed, core, 1, &m->kept)) {
    atomic_store(&m->team->core, before);
    atomic_store(&m->lent, lent);
  }
  pthread_mutex_unlock(&m->lock);
}

/* Waits for the end of a phase whose chunks are all claimed. A thread that has one, but computes nothing,
 * waits for a core that others have. */
static void await_others(attn2c_team *team, uint_fast64_t phase) {
  for (int looks = 0;; looks++) {
    const unsigned seen = atomic_load(&team->barriers.count);
    if (atomic_load(&team->phase) > phase) return;
    if (looks == 0) {
      await(&team->members[0], &team->barriers, seen,
            atomic_load_explicit(&team->patience, memory_order_relaxed), 0);
      continue;
    }
    int64_t before[MOST_WATCHED];
    const int watched = team->threads < MOST_WATCHED ? team->threads : MOST_WATCHED;
    for (int i = 1; i < watched; i++) before[i] = attn2c_system_computed(team->members[i].thread);
    await(&team->members[0], &team->barriers, seen, LOOK, 0);
    if (atomic_load(&team->phase) > phase) return;
    int is_lent = 0;
    for (int i = 1; i < watched && !is_lent; i++) {
      member *m = &team->members[i];
      if (atomic_load(&m->works) && attn2c_system_computed(m->thread) - before[i] < LOOK / 4) {
        lend_core(m);
        is_lent = 1;
      }
    }
    await(&team->members[0], &team->barriers, seen, 0, is_lent ? NO_END : NAP);
  }
}

static void *serve(void *of_member) {
  member *me = of_member;
  attn2c_team *team = me->team;
  for (;;) {
    const unsigned calls = atomic_load(&team->calls.count), barriers = atomic_load(&team->barriers.count);
    if (atomic_load(&team->over)) return NULL;
    const uint_fast64_t phase = atomic_load(&team->phase);
    const int patience = atomic_load_explicit(&team->patience, memory_order_relaxed);
    if (!atomic_load(&team->open) || phase >= atomic_load(&team->end)) {
      await(me, &team->calls, calls, patience, NO_END);
      continue;
    }
    keep_away(me);
    atomic_store(&me->works, 1);
    const size_t mine = work_off(team, me->number, phase);
    atomic_store(&me->works, 0);
    if (mine == 0) await(me, &team->barriers, barriers, patience, NO_END);
  }
}

int attn2c_thread_start(pthread_t *thread, void *(*body)(void *), void *argument) {
  return attn2c_system_start(thread, STACK_BYTES, body, argument);
}

attn2c_team *attn2c_team_make(int workers, int threads) {
  attn2c_team *team = attn2c_allocate(sizeof *team + (size_t)workers * sizeof *team->runs);
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
    pthread_mutex_init(&next->lock, NULL);
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

/* Lets others claim chunks if there is credit, and keeps them out if there is none. */
static void decide(attn2c_team *team, int open, int begins) {
  const int before = atomic_load_explicit(&team->open, memory_order_relaxed);
  if (open != before) atomic_store(&team->open, open);
  if (open && (begins || !before)) ring(&team->calls);
}

static void run_alone(attn2c_work work, const void *call, attn2c_phases phases) {
  for (size_t phase = 0; phase < phases.count * phases.repeats; phase++)
    for (size_t chunk = 0; chunk < phases.chunks[phase % phases.count]; chunk++) work(call, phase, chunk, 0);
}

static int has_others(const attn2c_team *team) { return team && team->threads > 1; }

void attn2c_team_begin(attn2c_team *team) {
  if (!has_others(team)) return;
  team->account = (attn2c_account){0};
  team->together = attn2c_balance_shares(&team->balance, 0);
  if (!team->together) atomic_store(&team->open, 0);
  atomic_store_explicit(&team->core, attn2c_system_core(), memory_order_relaxed);
  team->computed = team->together ? clock_of(CLOCK_THREAD_CPUTIME_ID) : 0;
}

void attn2c_team_run(attn2c_team *team, attn2c_work work, const void *call, attn2c_phases phases) {
  if (!has_others(team)) {
    run_alone(work, call, phases);
    return;
  }
  const uint_fast64_t first = atomic_load(&team->phase), end = first + phases.count * phases.repeats;
  team->work = work;
  team->call = call;
  team->phases = phases;
  team->first = first;
  team->modes = attn2c_modes_now();
  int64_t time = now();
  advance(team, 0, first, end);
  atomic_store(&team->end, end);
  attn2c_account *account = &team->account;
  int begins = 1;
  for (uint_fast64_t phase; (phase = atomic_load(&team->phase)) < end; begins = 0) {
    const int open = team->together && attn2c_balance_shares(&team->balance, account->waited);
    decide(team, open, begins);
    const size_t chunks = chunks_of(team, phase), mine = work_off(team, 0, phase);
    const int64_t begun = time, worked = now();
    await_others(team, phase);
    time = now();
    account->mine += (int64_t)mine;
    account->others += (int64_t)(chunks - mine);
    if (team->together) account->waited += time - worked;
    if (!open) account->alone += worked - begun;
  }
}

void attn2c_team_settle(attn2c_team *team) {
  if (!has_others(team)) return;
  if (team->together) team->account.computed = clock_of(CLOCK_THREAD_CPUTIME_ID) - team->computed;
  attn2c_balance_settle(&team->balance, &team->account);
  atomic_store_explicit(&team->patience, attn2c_balance_patience(&team->balance), memory_order_relaxed);
}

int attn2c_processors(void) { return attn2c_system_processors(); }
