/* test_team.c - teams of threads: every chunk of every phase is done once, and no phase begins before the one
 * before it ends, whoever does what; in the child of a fork, for callers that change, where others are
 * put aside in the middle of a chunk, and where a core is slow. */
#define _GNU_SOURCE
#include "measure/parts.h"
#include "model/team.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 8, CHUNKS = 40, PHASES = 300 };

typedef struct {
  atomic_int begun[PHASES][CHUNKS], finished[PHASES];
  atomic_int holds[WORKERS]; /* 1: somebody uses this worker's memory */
  atomic_int wrong;
  const attn2c_phases *phases;
  pthread_t caller;
  long stall; /* nanoseconds that others are put aside in a chunk */
  atomic_int by_others;
} record;

static void wait_for(long nanoseconds) {
  const struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  nanosleep(&time, NULL);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void spin(double milliseconds) {
  for (const double start = now(); now() - start < milliseconds;) continue;
}

/* Threads that have done a chunk. */
static atomic_int met;
static _Thread_local int is_met;

static int chunks_of(const attn2c_phases *phases, size_t phase) {
  return (int)phases->chunks[phase % phases->count];
}

static void note(const void *of_call, size_t phase, size_t chunk, size_t worker) {
  record *r = (record *)of_call;
  if (!is_met) atomic_fetch_add(&met, is_met = 1);
  if (atomic_fetch_add(&r->holds[worker], 1) != 0) atomic_store(&r->wrong, 4);
  if ((int)chunk >= chunks_of(r->phases, phase)) atomic_store(&r->wrong, 5);
  if (atomic_fetch_add(&r->begun[phase][chunk], 1) != 0) atomic_store(&r->wrong, 1);
  if (phase > 0 && atomic_load(&r->finished[phase - 1]) != chunks_of(r->phases, phase - 1))
    atomic_store(&r->wrong, 2);
  if (!pthread_equal(pthread_self(), r->caller)) {
    atomic_fetch_add(&r->by_others, 1);
    if (r->stall) wait_for(r->stall);
  }
  if (r->stall) spin(0.1);
  atomic_fetch_sub(&r->holds[worker], 1);
  atomic_fetch_add(&r->finished[phase], 1);
}

/* A call, from this thread; what is wrong with it. */
static int run(attn2c_team *team, const attn2c_phases *phases, record *r) {
  r->phases = phases;
  r->caller = pthread_self();
  attn2c_team_begin(team);
  attn2c_team_run(team, note, r, *phases);
  attn2c_team_settle(team);
  for (size_t phase = 0; phase < phases->count * phases->repeats; phase++)
    if (atomic_load(&r->finished[phase]) != chunks_of(phases, phase)) return 3;
  return atomic_load(&r->wrong);
}

static const size_t two[] = {2}, three[] = {3}, various[] = {1, 7, 2, CHUNKS, 3, 1};
static const attn2c_phases of_two = {PHASES, 1, two, NULL, NULL}, of_three = {PHASES, 1, three, NULL, NULL};
static const attn2c_phases of_various = {PHASES / 6, 6, various, NULL, NULL};

static int run_anew(attn2c_team *team, const attn2c_phases *phases) {
  record *r = calloc(1, sizeof *r);
  const int wrong = run(team, phases, r);
  free(r);
  return wrong;
}

Test(team, does_every_chunk_once_and_in_order) {
  for (int workers = 1; workers <= WORKERS; workers++) {
    for (int threads = 1; threads <= workers; threads++) {
      attn2c_team *team = attn2c_team_make(workers, threads);
      cr_assert_eq(attn2c_team_workers(team), workers);
      cr_assert_eq(attn2c_team_threads(team), threads);
      for (int call = 0; call < 5; call++) {
        const int wrong = run_anew(team, call % 2 ? &of_three : &of_various);
        cr_assert_eq(wrong, 0, "%d: %d workers, %d threads, call %d", wrong, workers, threads, call);
        if (call == 2) wait_for(2000000); /* all of them sleep */
      }
      attn2c_team_end(team);
    }
  }
  cr_assert_eq(run_anew(NULL, &of_various), 0);
  cr_assert_eq(attn2c_team_workers(NULL), 1);
  attn2c_team_end(NULL);
}

Test(team, shares_the_work, .timeout = 600) {
  attn2c_team *team = attn2c_team_make(2, 2);
  record *r = calloc(1, sizeof *r);
  for (int call = 0; call < 200 && atomic_load(&r->by_others) == 0; call++) {
    *r = (record){.stall = 1};
    cr_assert_eq(run(team, &of_two, r), 0);
  }
  cr_assert_gt(atomic_load(&r->by_others), 0);
  attn2c_team_end(team);
  free(r);
}

/* Others that are put aside for 20 ms in each chunk, as by a busy machine. */
Test(team, works_alone_where_waiting_costs_more_than_it_gains, .timeout = 600) {
  attn2c_team *team = attn2c_team_make(2, 2);
  int others = 0, calls = 0;
  for (; calls < 10 || (others == 0 && calls < 200); calls++) {
    record *r = calloc(1, sizeof *r);
    r->stall = 20000000;
    cr_assert_eq(run(team, &of_two, r), 0);
    others += atomic_load(&r->by_others);
    free(r);
  }
  /* The other could take some 300 chunks a call, and took only the few that were tries. */
  cr_assert_gt(others, 0);
  cr_assert_lt(others, 2 * calls);
  attn2c_team_end(team);
}

/* All threads have begun when the process forks: AddressSanitizer's allocator stays locked for ever in a
 * child that was made while a thread held it, and a thread that begins does. */
Test(team, survives_a_fork, .timeout = 600) {
  attn2c_team *team = attn2c_team_make(3, 3);
  for (int call = 0; call < 200 && atomic_load(&met) < 3; call++) {
    record *r = calloc(1, sizeof *r);
    r->stall = 1;
    cr_assert_eq(run(team, &of_three, r), 0);
    free(r);
  }
  cr_assert_eq(atomic_load(&met), 3);
  const pid_t child = fork();
  if (child == 0) {
    alarm(300);
    int wrong = run_anew(team, &of_various);
    attn2c_team_end(team);
    attn2c_team *own = attn2c_team_make(3, 3);
    if (wrong == 0) wrong = run_anew(own, &of_various);
    attn2c_team_end(own);
    _exit(wrong);
  }
  int status = 0;
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
  cr_assert_eq(run_anew(team, &of_various), 0);
  attn2c_team_end(team);
}

static void *other_caller(void *team) { return run_anew(team, &of_various) ? team : NULL; }

Test(team, serves_one_thread_after_another) {
  attn2c_team *team = attn2c_team_make(3, 3);
  for (int i = 0; i < 20; i++) {
    pthread_t caller;
    void *wrong;
    cr_assert_eq(pthread_create(&caller, NULL, other_caller, team), 0);
    pthread_join(caller, &wrong);
    cr_assert_null(wrong);
  }
  attn2c_team_end(team);
}

enum { ROUNDS = 40 };

typedef struct {
  pthread_t did[2 * ROUNDS][2]; /* each chunk of each phase */
} doers;

static void note_doer(const void *of_call, size_t phase, size_t chunk, size_t worker) {
  doers *of = (doers *)of_call;
  (void)worker;
  spin(0.02);
  of->did[phase][chunk] = pthread_self();
}

/* A call of several runs, whose threads ask for the weights of the next phase while they wait. A thread that
 * does all chunks of a phase also does the one chunk of the next. */
Test(team, goes_on_with_phases_of_one_chunk) {
  static const size_t two_and_one[] = {2, 1};
  static const char weights[4096];
  static const attn2c_stock stocks[] = {{0, 128}, {2048, 2048}, {0, 0}, {4032, 64}};
  const attn2c_phases phases = {ROUNDS, 2, two_and_one, weights, stocks};
  attn2c_team *team = attn2c_team_make(2, 2);
  static doers of;
  for (int call = 0; call < 5; call++) {
    attn2c_team_begin(team);
    for (int part = 0; part < 3; part++) {
      attn2c_team_run(team, note_doer, &of, phases);
      for (int i = 0; i < 2 * ROUNDS; i += 2)
        if (pthread_equal(of.did[i][0], of.did[i][1]))
          cr_assert(pthread_equal(of.did[i][0], of.did[i + 1][0]));
    }
    attn2c_team_settle(team);
  }
  attn2c_team_end(team);
}

static sigset_t seen;

static void *look(void *unused) {
  pthread_sigmask(SIG_SETMASK, NULL, &seen);
  return unused;
}

Test(team, threads_take_no_signals) {
  sigset_t before, after;
  pthread_t thread;
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  cr_assert_eq(attn2c_thread_start(&thread, look, NULL), 0);
  pthread_join(thread, NULL);
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  for (int signal = 1; signal < 32; signal++) {
    cr_assert_eq(sigismember(&before, signal), sigismember(&after, signal));
    if (signal != SIGKILL && signal != SIGSTOP) cr_assert(sigismember(&seen, signal), "signal %d", signal);
  }
}

/* Starts a process that computes on a core for ever. */
static pid_t take_core(int core) {
  const pid_t other = fork();
  if (other == 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    sched_setaffinity(0, sizeof set, &set);
    alarm(300);
    for (volatile int i = 0;; i++) continue;
  }
  return other;
}

typedef struct {
  pthread_t caller;
  int core; /* the caller's */
  atomic_int lent,
      elsewhere; /* chunks of others that ended on nothing else, and that began elsewhere after that */
} cores;

/* Returns whether this thread may use one core only. Linux may move a thread that may use others, too. */
static int is_on_alone(int core) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1 && CPU_ISSET(core, &set);
}

static void half_millisecond(const void *of_call, size_t phase, size_t chunk, size_t worker) {
  cores *of = (cores *)of_call;
  (void)phase, (void)chunk, (void)worker;
  const int is_other = !pthread_equal(pthread_self(), of->caller);
  if (is_other && atomic_load(&of->lent) > 0 && sched_getcpu() != of->core)
    atomic_fetch_add(&of->elsewhere, 1);
  spin(0.5);
  if (is_other && is_on_alone(of->core)) atomic_fetch_add(&of->lent, 1);
}

/* A call of 50 phases of four chunks. */
static void half_milliseconds(attn2c_team *team, const cores *of) {
  static const size_t four[] = {4};
  attn2c_team_begin(team);
  attn2c_team_run(team, half_millisecond, of, (attn2c_phases){50, 1, four, NULL, NULL});
  attn2c_team_settle(team);
}

/* A thread that has a chunk and no core gets the caller's, and gives it back. */
Test(team, lends_its_core_to_a_thread_without_one, .timeout = 600) {
  cpu_set_t all, one;
  cr_assert_eq(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) != 2 || !CPU_ISSET(0, &all) || !CPU_ISSET(1, &all)) cr_skip_test("needs cores 0 and 1");
  attn2c_team *team = attn2c_team_make(2, 2);
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0); /* of this thread */
  const pid_t competitor = take_core(1);
  cores of = {.caller = pthread_self()};
  for (int call = 0; call < 300 && atomic_load(&of.lent) == 0; call++) half_milliseconds(team, &of);
  kill(competitor, SIGKILL);
  waitpid(competitor, NULL, 0);
  cr_expect_gt(atomic_load(&of.lent), 0);
  for (int call = 0; call < 300 && atomic_load(&of.elsewhere) == 0; call++) half_milliseconds(team, &of);
  cr_expect_gt(atomic_load(&of.elsewhere), 0);
  attn2c_team_end(team);
}

static attn2c_record history;

Test(team, records_who_did_which_chunk_when) {
  attn2c_team *team = attn2c_team_make(2, 2);
  static record r, again, third;
  const attn2c_phases once = {3, 1, two, NULL, NULL}, twice = {2, 1, two, NULL, NULL},
                      last = {1, 1, two, NULL, NULL};
  attn2c_record_calls(&history);
  r.phases = again.phases = third.phases = &once;
  r.caller = again.caller = third.caller = pthread_self();
  attn2c_team_begin(team);
  attn2c_team_run_recorded(team, note, &r, once);
  attn2c_team_run_recorded(team, note, &again, twice);
  attn2c_team_settle(team);
  attn2c_record_calls(NULL);
  cr_assert_eq(history.count, 10);
  int done[5][2] = {{0}}, of_caller = 0;
  for (int i = 0; i < history.count; i++) {
    const attn2c_recorded_part *part = &history.list[i];
    cr_assert(part->phase >= 0 && part->phase < 5 && part->part >= 0 && part->part < 2);
    cr_expect(part->thread == 0 || part->thread == 1);
    of_caller += part->thread == 0;
    cr_expect_leq(part->begin, part->end);
    done[part->phase][part->part]++;
    for (int j = 0; j < i; j++)
      if (history.list[j].phase < part->phase) cr_expect_leq(history.list[j].end, part->begin);
  }
  for (int phase = 0; phase < 5; phase++)
    for (int part = 0; part < 2; part++) cr_expect_eq(done[phase][part], 1);
  cr_expect_gt(of_caller, 0);
  attn2c_team_run_recorded(team, note, &third, last);
  cr_expect_eq(history.count, 10, "nothing is recorded that was not asked for");
  attn2c_team_end(team);
}
