/* test_machine.c - which variant of a model is used: the first that this machine has the instructions of, and
 * that proves right; its rival where that runs clearly faster. The loops and the clock are the test's. */
#define _DEFAULT_SOURCE
#include "model/kernels.h"
#include "faults.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__
#define TARGET "x86_64"
#else
#define TARGET "generic"
#endif

static unsigned long long clock_ticks, own_ticks, other_ticks;
static int runs, disturbed; /* the run that takes a hundred times as long; 0: none */

static double take(unsigned long long ticks) {
  runs++;
  clock_ticks += disturbed && runs % disturbed == 0 ? 100 * ticks : ticks;
  return 1000.0;
}

static double own(void) { return take(own_ticks); }
static double other(void) { return take(other_ticks); }
static unsigned long long ticks(void) { return clock_ticks; }

static int prefers(unsigned long long own_takes, unsigned long long other_takes) {
  const attn2c_rival rival = {NULL, own, other};
  own_ticks = own_takes, other_ticks = other_takes, runs = 0;
  return attn2c_machine_prefers(&rival, ticks);
}

Test(machine, prefers_a_rival_that_is_clearly_faster) {
  cr_assert(prefers(200, 100));
  cr_assert(prefers(112, 100));
  cr_assert_not(prefers(109, 100));
  cr_assert_not(prefers(100, 100));
  cr_assert_not(prefers(50, 100));
  cr_assert(runs > 10 && runs < 100);
}

Test(machine, judges_loops_by_their_best_samples) {
  for (disturbed = 7; disturbed < 20; disturbed++) {
    cr_assert(prefers(200, 100), "every %d", disturbed);
    cr_assert_not(prefers(100, 100), "every %d", disturbed);
  }
}

Test(machine, prefers_nothing_by_a_clock_that_stands_still) { cr_assert_not(prefers(0, 0)); }

static int is_right(void) { return 1; }
static int is_wrong(void) { return 0; }

static double quick(void) { return 1e9; }
static double slow(void) {
  for (volatile int i = 0; i < 1000; i++) continue;
  return 1.0;
}

/* The model's variants; the last one is any machine's. */
static const attn2c_descriptor *chosen_of(const attn2c_rival *rival, int (*first_right)(void), int *status) {
  static attn2c_descriptor first, second;
  static const attn2c_descriptor *const variants[] = {&first, &second, NULL};
  static attn2c_rival with;
  if (rival) with = (attn2c_rival){&second, rival->own, rival->other};
  first = second = (attn2c_descriptor){.name = "m", .target = TARGET, .variants = variants};
  first.rival = rival ? &with : NULL, first.is_right = first_right;
  const attn2c_descriptor *chosen;
  attn2c_message message = attn2c_message_make(NULL, 0);
  unsetenv("ATTN2C_TARGET");
  *status = attn2c_machine_choose(&first, &chosen, &message);
  cr_assert(chosen == &first || chosen == &second);
  return chosen == &first ? NULL : chosen;
}

Test(machine, chooses_the_first_variant_or_its_faster_rival) {
  const attn2c_rival faster = {NULL, slow, quick}, slower = {NULL, quick, slow};
  int status;
  cr_assert_null(chosen_of(NULL, NULL, &status));
  cr_assert_eq(status, ATTN2C_OK);
  cr_assert_null(chosen_of(&slower, NULL, &status));
#ifdef __x86_64__ /* elsewhere there is no counter, and no model with a rival */
  cr_assert_not_null(chosen_of(&faster, NULL, &status));
#endif
  cr_assert_eq(status, ATTN2C_OK);
}

Test(machine, passes_over_a_variant_whose_instructions_are_wrong) {
  int status;
  cr_assert_not_null(chosen_of(NULL, is_wrong, &status));
  cr_assert_null(chosen_of(NULL, is_right, &status));
}

Test(machine, says_that_the_only_variant_computes_wrong_results) {
  const attn2c_descriptor alone = {.name = "m", .target = TARGET, .is_right = is_wrong};
  char text[200];
  attn2c_message message = attn2c_message_make(text, sizeof text);
  cr_assert_not(attn2c_machine_runs(&alone, &message));
  cr_assert_str_eq(text,
                   "built for " TARGET ", but this machine lacks instructions that compute right results; "
                   "build it again here with target=host");
}
