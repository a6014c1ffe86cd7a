/* test_guess.c - guesses are the tokens after the longest repetition; how many are verified is the best
 * number for calls of known times, and never costs much. A simulated clock takes the place of the machine's.
 */
#include "generate/guess.h"

#include "generate/draw.h"

#include <criterion/criterion.h>
#include <string.h>

enum { TOKENS = 60 };

/* Finds the longest repetition by comparing all pairs of places, and returns the place after it; 0: none. */
static int32_t slow_find(const int32_t *text, int32_t count, int32_t *longest) {
  int32_t at = 0;
  *longest = 1;
  for (int32_t end = 1; end < count; end++) {
    int32_t same = 0;
    while (same < 32 && same < end && text[end - 1 - same] == text[count - 1 - same]) same++;
    if (same >= 2 && same >= *longest) *longest = same, at = end;
  }
  return at;
}

Test(guess, the_longest_repetition) {
  int found = 0, wrapped = 0;
  for (uint64_t seed = 0; seed < 3000; seed++) {
    int32_t text[TOKENS + ATTN2C_GUESSES], longest;
    const int32_t count = 1 + (int32_t)attn2c_draw_below(attn2c_draw_bits(seed, 0), TOKENS);
    const uint64_t words = 1 + seed % 4;
    for (int32_t i = 0; i < count; i++)
      text[i] = (int32_t)attn2c_draw_below(attn2c_draw_bits(seed, 1 + (uint64_t)i), words);
    const int32_t most = (int32_t)(seed % 20) - 1, at = slow_find(text, count, &longest);
    attn2c_guess guess;
    attn2c_guess_find(text, count - 1, text[count - 1], most, &guess);
    const int32_t want = at == 0 || most < 1 ? 0 : most < ATTN2C_GUESSES ? most : ATTN2C_GUESSES;
    cr_assert_eq(guess.found, want, "seed %d: %d guesses", (int)seed, guess.found);
    cr_assert_eq(guess.count, 0);
    if (want > 0) cr_assert_eq(guess.match, longest);
    for (int32_t i = 0; i < want; i++) {
      text[count + i] = text[at + i]; /* a repetition may go on in its guesses */
      cr_assert_eq(guess.ids[i], text[count + i], "seed %d, guess %d", (int)seed, i);
    }
    found += want > 0;
    wrapped += want > count - at;
  }
  cr_assert(found > 1000 && wrapped > 100);
}

/* A machine: the time of a call. */
typedef double (*machine)(int32_t rows);
static double flat(int32_t rows) { return 1000 + 60 * (rows - 1); }
static double linear(int32_t rows) { return 1000 * rows; }
/* Blocks of 4 rows: 5 rows take as long as 8. */
static double blocks(int32_t rows) { return rows == 1 ? 1000 : 1200 + 900 * ((rows - 1) / 4); }

/* Generates tokens of some sequences, each guess right with a chance, and returns the tokens for each time of
 * a call without guesses. most_rows: the rows of the last call. */
static double simulate(machine time, double chance, int32_t sequences, int steps, int32_t *last_rows,
                       double *worst) {
  attn2c_guesser guesser;
  double all = 0, done = 0;
  uint64_t draws = 0;
  memset(&guesser, 0, sizeof guesser);
  *worst = 0;
  for (int step = 0; step < steps; step++) {
    attn2c_guess guesses[8];
    int32_t rows = 0, tokens = 0;
    for (int32_t i = 0; i < sequences; i++) guesses[i] = (attn2c_guess){.found = ATTN2C_GUESSES};
    attn2c_guess_plan(&guesser, guesses, sequences, 40);
    for (int32_t i = 0; i < sequences; i++) {
      int32_t ids[ATTN2C_GUESSES + 1], count = 0;
      cr_assert(guesses[i].count >= 0 && guesses[i].count <= ATTN2C_GUESSES);
      do {
        const double drawn = (double)(attn2c_draw_bits(1, draws++) >> 11) * 0x1p-53;
        ids[count] = drawn < chance ? 0 : 1;
      } while (ids[count++] == 0 && count <= guesses[i].count);
      attn2c_guess_learn(&guesser, &guesses[i], ids, count);
      rows += 1 + guesses[i].count;
      tokens += count;
    }
    cr_assert(rows <= 40);
    attn2c_guess_time(&guesser, sequences, rows, tokens, time(rows));
    all += time(rows);
    done += (double)tokens / sequences * time(sequences);
    if (step > 100 && 1 - done / all > *worst) *worst = 1 - done / all;
    *last_rows = rows;
  }
  return done / all;
}

/* Returns the most that any fixed number of guesses gives. */
static double optimum(machine time, double chance) {
  double best = 1, expected = 1, power = 1;
  for (int32_t count = 1; count <= ATTN2C_GUESSES; count++) {
    power *= chance;
    expected += power;
    if (expected / time(1 + count) * time(1) > best) best = expected / time(1 + count) * time(1);
  }
  return best;
}

Test(guess, is_near_the_best_number) {
  static const double chances[] = {0, 0.2, 0.5, 0.7, 0.9, 1};
  static const machine machines[] = {flat, linear, blocks};
  for (size_t i = 0; i < sizeof chances / sizeof *chances; i++)
    for (size_t j = 0; j < sizeof machines / sizeof *machines; j++) {
      int32_t rows;
      double worst;
      const double best = optimum(machines[j], chances[i]);
      const double got = simulate(machines[j], chances[i], 1, 3000, &rows, &worst);
      cr_assert_gt(got, 0.9 * best, "chance %g, machine %d: %g of %g", chances[i], (int)j, got, best);
      cr_assert_lt(worst, 0.03, "chance %g, machine %d: lost %g", chances[i], (int)j, worst);
    }
}

Test(guess, several_sequences_share_a_call) {
  int32_t rows;
  double worst;
  cr_assert_gt(simulate(flat, 0.8, 8, 1000, &rows, &worst), 1.35);
  cr_assert_gt(rows, 8);
  simulate(linear, 0.8, 8, 1000, &rows, &worst);
  cr_assert_eq(rows, 8);
  cr_assert_lt(worst, 0.03);
}

/* A text that stops repeating loses little, and gets guesses again when it repeats. */
Test(guess, follows_the_text) {
  attn2c_guesser guesser;
  memset(&guesser, 0, sizeof guesser);
  int32_t verified[3] = {0};
  for (int part = 0; part < 3; part++)
    for (int step = 0; step < 400; step++) {
      attn2c_guess guess = {.found = ATTN2C_GUESSES, .match = 4};
      attn2c_guess_plan(&guesser, &guess, 1, 17);
      int32_t ids[ATTN2C_GUESSES + 1] = {part == 1}, count = part == 1 ? 1 : 1 + guess.count;
      attn2c_guess_learn(&guesser, &guess, ids, count);
      attn2c_guess_time(&guesser, 1, 1 + guess.count, count, flat(1 + guess.count));
      if (step >= 100) verified[part] += guess.count;
    }
  cr_assert_gt(verified[0], 200 * 8);
  cr_assert_lt(verified[1], 130);
  cr_assert_gt(verified[2], 200 * 8);
  /* Old tries count little. */
  const attn2c_guess guess = {.found = 1, .match = 4};
  const int32_t right = 0, wrong = 1;
  for (int i = 0; i < 400; i++) attn2c_guess_learn(&guesser, &guess, &right, 1);
  for (int i = 0; i < 64; i++) attn2c_guess_learn(&guesser, &guess, &wrong, 1);
  double tried = 0, hits = 0;
  for (int i = 0; i < ATTN2C_GUESS_KINDS; i++)
    if (guesser.right[i] < 0.5 * guesser.tried[i]) tried += guesser.tried[i], hits += guesser.right[i];
  cr_assert(tried > 0 && hits < 0.3 * tried);
}
