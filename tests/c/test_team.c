/* test_team.c - teams of threads: every part of every phase is done once, and no phase begins before the one
 * before it ends, whoever runs what; in the child of a fork, for callers that change, and where others are
 * put aside in the middle of a part. */
#define _DEFAULT_SOURCE
#include "measure/parts.h"
#include "model/team.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PARTS = 8, PHASES = 300 };

typedef struct {
  atomic_int begun[PHASES][PARTS], finished[PHASES];
  atomic_int wrong;
  int parts;
  pthread_t caller;
  long stall; /* nanoseconds that others are put aside in a part */
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

/* Threads that have done a part. */
static atomic_int met;
static _Thread_local int is_met;

static void note(const void *of_call, size_t phase, size_t part) {
  record *r = (record *)of_call;
  if (!is_met) atomic_fetch_add(&met, is_met = 1);
  if (atomic_fetch_add(&r->begun[phase][part], 1) != 0) atomic_store(&r->wrong, 1);
  if (phase > 0 && atomic_load(&r->finished[phase - 1]) != r->parts) atomic_store(&r->wrong, 2);
  if (!pthread_equal(pthread_self(), r->caller)) {
    atomic_fetch_add(&r->by_others, 1);
    if (r->stall) wait_for(r->stall);
  }
  if (r->stall) spin(0.1);
  atomic_fetch_add(&r->finished[phase], 1);
}

/* A call, from this thread; what is wrong with it. */
static int run(attn2c_team *team, int parts, record *r) {
  r->parts = parts;
  r->caller = pthread_self();
  attn2c_team_run(team, note, r, PHASES, (size_t)parts);
  for (int phase = 0; phase < PHASES; phase++)
    if (atomic_load(&r->finished[phase]) != parts) return 3;
  return atomic_load(&r->wrong);
}

static int run_anew(attn2c_team *team, int parts) {
  record *r = calloc(1, sizeof *r);
  const int wrong = run(team, parts, r);
  free(r);
  return wrong;
}

Test(team, does_every_part_once_and_in_order) {
  for (int parts = 1; parts <= PARTS; parts++) {
    for (int threads = 1; threads <= parts; threads++) {
      attn2c_team *team = attn2c_team_make(parts, threads);
      cr_assert_eq(attn2c_team_workers(team), parts);
      cr_assert_eq(attn2c_team_threads(team), threads);
      for (int call = 0; call < 5; call++) {
        cr_assert_eq(run_anew(team, parts), 0, "%d parts, %d threads, call %d", parts, threads, call);
        if (call == 2) wait_for(2000000); /* all of them sleep */
      }
      attn2c_team_end(team);
    }
  }
  cr_assert_eq(run_anew(NULL, 3), 0);
  cr_assert_eq(attn2c_team_workers(NULL), 1);
  attn2c_team_end(NULL);
}

Test(team, shares_the_work, .timeout = 600) {
  attn2c_team *team = attn2c_team_make(2, 2);
  record *r = calloc(1, sizeof *r);
  for (int call = 0; call < 200 && atomic_load(&r->by_others) == 0; call++) {
    *r = (record){.stall = 1};
    cr_assert_eq(run(team, 2, r), 0);
  }
  cr_assert_gt(atomic_load(&r->by_others), 0);
  attn2c_team_end(team);
  free(r);
}

/* Others that are put aside for 20 ms in each part, as by a busy machine. */
Test(team, works_alone_where_waiting_costs_more_than_it_gains, .timeout = 600) {
  attn2c_team *team = attn2c_team_make(2, 2);
  int others = 0, calls = 0;
  for (; calls < 10 || (others == 0 && calls < 200); calls++) {
    record *r = calloc(1, sizeof *r);
    r->stall = 20000000;
    cr_assert_eq(run(team, 2, r), 0);
    others += atomic_load(&r->by_others);
    free(r);
  }
  /* Of some 300 parts a call that the other could take, those few that were tries. */
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
    cr_assert_eq(run(team, 3, r), 0);
    free(r);
  }
  cr_assert_eq(atomic_load(&met), 3);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    int wrong = run_anew(team, 3);
    attn2c_team_end(team);
    attn2c_team *own = attn2c_team_make(3, 3);
    if (wrong == 0) wrong = run_anew(own, 3);
    attn2c_team_end(own);
    _exit(wrong);
  }
  int status = 0;
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
  cr_assert_eq(run_anew(team, 3), 0);
  attn2c_team_end(team);
}

static void *other_caller(void *team) { return run_anew(team, 3) ? team : NULL; }

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

static attn2c_record history;

Test(team, records_who_did_which_part_when) {
  attn2c_team *team = attn2c_team_make(2, 2);
  static record r;
  r.parts = 2;
  r.caller = pthread_self();
  attn2c_record_calls(&history);
  attn2c_team_run_recorded(team, note, &r, 3, 2);
  static record again;
  again.parts = 2;
  again.caller = pthread_self();
  attn2c_team_run_recorded(team, note, &again, 2, 2);
  attn2c_record_calls(NULL);
  cr_assert_eq(history.count, 10);
  int done[5][2] = {{0}};
  for (int i = 0; i < history.count; i++) {
    const attn2c_recorded_part *part = &history.list[i];
    cr_assert(part->phase >= 0 && part->phase < 5 && part->part >= 0 && part->part < 2);
    cr_expect(part->thread == 0 || part->thread == 1);
    cr_expect_leq(part->begin, part->end);
    done[part->phase][part->part]++;
    for (int j = 0; j < i; j++)
      if (history.list[j].phase < part->phase) cr_expect_leq(history.list[j].end, part->begin);
  }
  for (int phase = 0; phase < 5; phase++)
    for (int part = 0; part < 2; part++) cr_expect_eq(done[phase][part], 1);
  static record third;
  third.parts = 2;
  third.caller = pthread_self();
  attn2c_team_run_recorded(team, note, &third, 1, 2);
  cr_expect_eq(history.count, 10, "nothing is recorded that was not asked for");
  attn2c_team_end(team);
}
