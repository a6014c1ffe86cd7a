/* parts.c - records a call's chunks. Threads are numbered in the order of their first; the caller is 0. */
#include "measure/parts.h"

#include <stdatomic.h>

#include "measure/timing.h"

/* The current record; set while no team runs. */
static struct {
  attn2c_record *parts;
  int phases; /* phases of the call's earlier runs */
  atomic_int taken, threads;
} current;

static _Thread_local int number; /* number of this thread plus 1; 0: none yet */

typedef struct {
  attn2c_work work;
  const void *call;
  int first; /* phase */
} recorded;

void attn2c_record_calls(attn2c_record *parts) {
  number = 1;
  if (atomic_load(&current.threads) == 0) atomic_store(&current.threads, 1);
  current.parts = parts;
  current.phases = 0;
  atomic_store(&current.taken, 0);
  if (parts) parts->count = 0;
}

static void do_part(const void *of_recorded, size_t phase, size_t chunk, size_t worker) {
  const recorded *of = of_recorded;
  if (number == 0) number = atomic_fetch_add(&current.threads, 1) + 1;
  const double begin = attn2c_now();
  of->work(of->call, phase, chunk, worker);
  const double end = attn2c_now();
  const int slot = atomic_fetch_add(&current.taken, 1);
  if (slot < ATTN2C_PARTS_MOST)
    current.parts->list[slot] =
        (attn2c_recorded_part){of->first + (int)phase, (int)chunk, number - 1, begin, end};
}

void attn2c_team_run_recorded(attn2c_team *team, attn2c_work work, const void *call, attn2c_phases phases) {
  if (!current.parts) {
    attn2c_team_run(team, work, call, phases);
    return;
  }
  const recorded of = {work, call, current.phases};
  attn2c_team_run(team, do_part, &of, phases);
  current.phases += (int)(phases.count * phases.repeats);
  const int taken = atomic_load(&current.taken);
  current.parts->count = taken < ATTN2C_PARTS_MOST ? taken : ATTN2C_PARTS_MOST;
}
