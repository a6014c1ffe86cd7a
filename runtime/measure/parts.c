/* parts.c - the record of a call's parts: see parts.h. Threads are numbered as they first do one; the caller
 * is 0. */
#include "measure/parts.h"

#include <stdatomic.h>

#include "measure/timing.h"

/* The record at hand: written while no team runs. */
static struct {
  attn2c_record *parts;
  int phases; /* of the call's runs before the one at hand */
  atomic_int taken, threads;
} at_hand;

static _Thread_local int number; /* of a thread, one more; 0: none yet */

typedef struct {
  attn2c_work work;
  const void *call;
  int first; /* phase */
} recorded;

void attn2c_record_calls(attn2c_record *parts) {
  number = 1;
  if (atomic_load(&at_hand.threads) == 0) atomic_store(&at_hand.threads, 1);
  at_hand.parts = parts;
  at_hand.phases = 0;
  atomic_store(&at_hand.taken, 0);
  if (parts) parts->count = 0;
}

static void do_part(const void *of_recorded, size_t phase, size_t part) {
  const recorded *of = of_recorded;
  if (number == 0) number = atomic_fetch_add(&at_hand.threads, 1) + 1;
  const double begin = attn2c_now();
  of->work(of->call, phase, part);
  const double end = attn2c_now();
  const int slot = atomic_fetch_add(&at_hand.taken, 1);
  if (slot < ATTN2C_PARTS_MOST)
    at_hand.parts->list[slot] =
        (attn2c_recorded_part){of->first + (int)phase, (int)part, number - 1, begin, end};
}

void attn2c_team_run_recorded(attn2c_team *team, attn2c_work work, const void *call, size_t phases,
                              size_t parts) {
  if (!at_hand.parts) {
    attn2c_team_run(team, work, call, phases, parts);
    return;
  }
  const recorded of = {work, call, at_hand.phases};
  attn2c_team_run(team, do_part, &of, phases, parts);
  at_hand.phases += (int)phases;
  const int taken = atomic_load(&at_hand.taken);
  at_hand.parts->count = taken < ATTN2C_PARTS_MOST ? taken : ATTN2C_PARTS_MOST;
}
