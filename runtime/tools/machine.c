/* machine.c - a program that measures this machine and prints the facts as JSON. `gen/attn2c machine`
 * compiles it with the loops of each target (templates/rates.c.in) and runs it once. It is in no model. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <unistd.h>

#include "base/processor.h"
#include "measure/bandwidth.h"
#include "measure/levels.h"
#include "measure/rates.h"
#include "measure/timing.h"
#include "model/team.h"
#include "system/clock.h"

enum { MOST_TARGETS = 16, ROUNDS = 12, MOST_CORES = 256 };

#define SAMPLE_NANOSECONDS 2e5
#define SPIN_NANOSECONDS   3e7

/* The loops, ended by NULL; the command writes them. */
extern const attn2c_rates *const attn2c_all_rates[];

typedef struct {
  const attn2c_rates *of;
  const char *missing; /* what this machine lacks, or NULL */
  double best[ATTN2C_RATES_TYPES];
  int is_wrong[ATTN2C_RATES_TYPES];
} timed;

/* Times all loops in turn, so that a disturbance does not hit only one. */
static int time_rates(timed *list) {
  int count = 0;
  for (; attn2c_all_rates[count] && count < MOST_TARGETS; count++) {
    timed *t = &list[count];
    *t = (timed){.of = attn2c_all_rates[count], .missing = attn2c_missing(attn2c_all_rates[count]->target)};
    for (int i = 0; i < ATTN2C_RATES_TYPES && !t->missing; i++)
      t->is_wrong[i] = t->of->loops[i].is_right && !t->of->loops[i].is_right();
  }
  for (int round = 0; round < ROUNDS; round++) {
    for (int j = 0; j < count; j++) {
      for (int i = 0; i < ATTN2C_RATES_TYPES; i++) {
        if (list[j].missing || list[j].is_wrong[i]) continue;
        const double rate = attn2c_rate_of_loop(list[j].of->loops[i].round, SAMPLE_NANOSECONDS);
        if (rate > list[j].best[i]) list[j].best[i] = rate;
      }
    }
  }
  return count;
}

static void print_rates(const timed *list, int count) {
  printf("\"targets\": {");
  for (int j = 0; j < count; j++) {
    printf("%s\n  \"%s\": {", j ? "," : "", list[j].of->target);
    if (list[j].missing) printf("\"missing\": \"%s\"", list[j].missing);
    for (int i = 0; i < ATTN2C_RATES_TYPES && !list[j].missing; i++) {
      printf("%s\"%s\": ", i ? ", " : "", list[j].of->loops[i].type);
      if (list[j].is_wrong[i])
        printf("\"wrong\"");
      else
        printf("%.1f", list[j].best[i]);
    }
    printf("}");
  }
  printf("},\n");
}

static size_t usable_memory(void) {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (size_t)pages / 8 * (size_t)page : 0;
}

/* Prints the levels of one core, and the rate at which all cores read from memory. */
static void print_levels(attn2c_level_reader read, int cores) {
  attn2c_level levels[ATTN2C_LEVELS];
  const int count = attn2c_levels_find("/sys/devices/system/cpu/cpu0/cache", usable_memory(), levels);
  const size_t most = levels[count - 1].sample; /* memory's */
  ATTN2C_OWN_ALIGNED char *block = most ? attn2c_reserve(most) : NULL;
  printf("\"levels\": [");
  for (int i = 0; i < count; i++) {
    attn2c_level *level = &levels[i];
    if (block && level->sample <= most) attn2c_level_measure(level, block, read);
    printf("%s\n  {\"number\": %d, \"bytes\": %zu, \"gigabytes\": %.1f, \"nanoseconds\": %.2f}", i ? "," : "",
           level->number, level->bytes, level->gigabytes, level->nanoseconds);
  }
  printf("],\n\"cores\": %d,\n\"all_cores\": %.1f,\n", cores,
         block ? attn2c_bandwidth_in(block, most, cores) : 0.0);
}

/* Returns the nanoseconds for which this thread has had a processor. */
static double own_time(void) { return (double)attn2c_system_clock(CLOCK_THREAD_CPUTIME_ID); }

/* Uses a processor for some time. Sets the share of it that the thread did not have one. */
static void *spin(void *lost) {
  const double start = attn2c_now(), begun = own_time();
  while (attn2c_now() - start < SPIN_NANOSECONDS) continue;
  *(double *)lost = 1 - (own_time() - begun) / (attn2c_now() - start);
  return NULL;
}

/* Returns the largest share of time that one of a thread a core has no processor. */
static double lost_by_all(int cores) {
  double lost[MOST_CORES] = {0}, most = 0;
  pthread_t threads[MOST_CORES];
  int made = 0;
  while (made < cores && made < MOST_CORES && attn2c_thread_start(&threads[made], spin, &lost[made]) == 0)
    made++;
  for (int i = 0; i < made; i++) {
    pthread_join(threads[i], NULL);
    if (lost[i] > most) most = lost[i];
  }
  return most;
}

int main(void) {
  timed list[MOST_TARGETS];
  const double start = attn2c_now(), begun = own_time();
  const int count = time_rates(list);
  const double lost = 1 - (own_time() - begun) / (attn2c_now() - start);
  attn2c_level_reader read = NULL;
  for (int j = 0; j < count && !read; j++)
    if (!list[j].missing) read = list[j].of->read;
  if (!read) return ATTN2C_MACHINE;
  printf("{");
  print_rates(list, count);
  print_levels(read, attn2c_processors());
  const double lost_later = lost_by_all(attn2c_processors());
  printf("\"lost\": %.3f,\n", lost > lost_later ? lost : lost_later);
  printf("\"seconds\": %.2f}\n", (attn2c_now() - start) / 1e9);
  return fflush(stdout) == 0 ? ATTN2C_OK : ATTN2C_IO;
}
