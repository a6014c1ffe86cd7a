/* team.c - how many workers fit this machine, and whether this process is the child of a
 * fork: see team.h and model.h. */
#define _GNU_SOURCE
#include "model.h"

#include <pthread.h>
#include <sched.h>

int attn2c_team_allowed(void);

static pthread_once_t watching = PTHREAD_ONCE_INIT;
static int is_child; /* written only between fork and its return in the child, which has one thread then */

static void in_child(void) { is_child = 1; }
static void watch(void) { pthread_atfork(NULL, NULL, in_child); }

void attn2c_team_watch(void) { pthread_once(&watching, watch); }

int attn2c_team_allowed(void) { return !is_child; }

int attn2c_processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  const int count = CPU_COUNT(&set);
  return count < 1 ? 1 : count;
}
