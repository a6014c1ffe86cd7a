/* guess.c - the longest repetition is looked for anew for each token, by a pass over the text: that takes
 * less than a thousandth of a call, and keeps nothing. */
#include "generate/guess.h"

#include "generate/processors.h"

#include <time.h>

enum {
  LEAST = 2,    /* tokens of a match */
  LONGEST = 32, /* tokens of a match that are compared */
  TRIES = 32,   /* of a kind, after which older ones count half */
  MEASURES = 3, /* of a number of rows, of which the shortest time counts */
  MEMORY = 8    /* calls whose losses and gains are remembered, and times averaged */
};

/* Before anything is known, a row more takes this part of the time of those before it, ... */
static const double ROW = 0.125;
/* ... and guesses are right as often as this, by their kind, as if they had been tried WEIGHT times. */
static const double USUAL[ATTN2C_GUESS_KINDS] = {0.7, 0.2, 0.35, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95};
static const double WEIGHT = 4;
/* Guesses that are less probable together than this are not verified; nor are any that gain less than this.
 */
static const double LEAST_CHANCE = 0.02, LEAST_GAIN = 1.02;
static const double FORGETS = 0.98;
static const double LOSS = 0.015; /* of the time of all calls */

void attn2c_guess_find(const int32_t *ids, int32_t count, int32_t last, int32_t most, attn2c_guess *guess) {
  int32_t longest = LEAST - 1, at = 0;
  for (int32_t i = count - 1; i >= 1 && longest < LONGEST; i--) {
    if (ids[i] != last || ids[i - 1] != ids[count - 1]) continue;
    int32_t same = LEAST;
    while (same < LONGEST && same <= i && ids[i - same] == ids[count - same]) same++;
    if (same > longest) longest = same, at = i + 1;
  }
  *guess = (attn2c_guess){.match = longest};
  if (longest < LEAST || most < 1) return;
  guess->found = most < ATTN2C_GUESSES ? most : ATTN2C_GUESSES;
  /* A repetition that reaches the end of the text goes on in its guesses. */
  for (int32_t i = 0; i < guess->found; i++, at++)
    guess->ids[i] = at < count ? ids[at] : at == count ? last : guess->ids[at - count - 1];
}

void attn2c_guess_next(const attn2c_history *history, int32_t last, int32_t most, attn2c_guess *guess) {
  const attn2c_rule *rule = history->rule;
  const int32_t room = most < ATTN2C_GUESSES ? most : ATTN2C_GUESSES;
  *guess = (attn2c_guess){.match = ATTN2C_GUESS_FORESEEN};
  if (rule && rule->foresee && room > 0) guess->found = rule->foresee(rule, history, last, guess->ids, room);
  if (guess->found == 0) attn2c_guess_find(history->ids, history->count, last, most, guess);
}

static int kind_of(const attn2c_guess *guess, int32_t right) {
  static const int32_t ends[ATTN2C_GUESS_KINDS - 2] = {2, 3, 4, 5, 7, 11, 15, 23, LONGEST};
  const int32_t match = guess->match + right;
  int kind = 1;
  if (guess->match == 0) return 0;
  while (kind < ATTN2C_GUESS_KINDS - 1 && match > ends[kind - 1]) kind++;
  return kind;
}

static double chance_of(const attn2c_guesser *g, int kind) {
  return (g->right[kind] + WEIGHT * USUAL[kind]) / (g->tried[kind] + WEIGHT);
}

void attn2c_guess_learn(attn2c_guesser *g, const attn2c_guess *guess, const int32_t *ids, int32_t count) {
  /* A model that guesses is tried again some time after it was wrong too often. */
  if (guess->match == 0 && guess->found == 0) g->tried[0] *= FORGETS, g->right[0] *= FORGETS;
  for (int32_t i = 0; i < guess->found && i < count; i++) {
    const int kind = kind_of(guess, i), is_right = guess->ids[i] == ids[i];
    if (g->tried[kind] >= TRIES) g->tried[kind] /= 2, g->right[kind] /= 2;
    g->tried[kind]++;
    g->right[kind] += is_right;
    if (!is_right) return;
  }
}

/* Returns the number of rows, from `rows` on in steps of `step`, whose time is known; 0: there is none. */
static int32_t known(const attn2c_guesser *g, int32_t rows, int32_t step) {
  if (step < 0 && rows > g->largest) return g->largest;
  while (rows > 0 && rows <= g->largest && g->measured[rows] < MEASURES) rows += step;
  return rows <= g->largest ? rows : 0;
}

/* Returns the time of a call: between those that are known, or as far beyond them as they are apart. */
static double time_of(const attn2c_guesser *g, int32_t rows) {
  const int32_t below = known(g, rows, -1), above = known(g, rows, 1);
  if (below == rows || !above) {
    const int32_t first = known(g, 1, 1);
    const double row = below > first ? (g->times[below] - g->times[first]) / (below - first)
                                     : ROW * g->times[below] / (below + !below);
    return g->times[below] + (row > 0 ? row : 0) * (rows - below);
  }
  if (!below) return g->times[above];
  return g->times[below] + (g->times[above] - g->times[below]) * (rows - below) / (above - below);
}

void attn2c_guess_plan(const attn2c_guesser *g, attn2c_guess *guesses, int32_t sequences, int32_t rows) {
  const double plain = time_of(g, sequences), spare = LOSS * g->all + plain - g->loss;
  double chances[ATTN2C_MOST_SEQUENCES], expected = sequences, best = LEAST_GAIN * sequences / plain;
  const int32_t twice = 2 * g->largest, most = rows < twice ? rows : twice;
  int32_t kept = 0, count = 0;
  uint8_t order[ATTN2C_GUESS_ROWS]; /* the sequence of each guess, the most probable first */
  for (int32_t i = 0; i < sequences; i++) {
    guesses[i].count = 0;
    chances[i] = guesses[i].found > 0 ? chance_of(g, kind_of(&guesses[i], 0)) : 0;
  }
  if (!known(g, sequences, -1)) return; /* the first calls are measured without guesses */
  for (; sequences + count < most && sequences + count < ATTN2C_GUESS_ROWS; count++) {
    int32_t next = 0;
    for (int32_t i = 1; i < sequences; i++)
      if (chances[i] > chances[next]) next = i;
    if (chances[next] < LEAST_CHANCE) break;
    const double time = time_of(g, sequences + count + 1);
    if (time - plain > spare) break;
    attn2c_guess *guess = &guesses[next];
    order[count] = (uint8_t)next;
    expected += chances[next];
    chances[next] *= ++guess->count < guess->found ? chance_of(g, kind_of(guess, guess->count)) : 0;
    if (expected / time > best) best = expected / time, kept = count + 1;
  }
  while (count > kept) guesses[order[--count]].count--;
}

void attn2c_guess_time(attn2c_guesser *g, int32_t sequences, int32_t rows, int32_t tokens,
                       double nanoseconds) {
  double *time = &g->times[rows];
  /* A call that was interrupted says nothing of the machine. */
  if (g->measured[rows] >= MEASURES && nanoseconds > 2 * *time) nanoseconds = 2 * *time;
  if (g->measured[rows] >= MEASURES)
    *time += (nanoseconds - *time) / MEMORY;
  else if (!g->measured[rows] || nanoseconds < *time)
    *time = nanoseconds;
  if (g->measured[rows] < MEASURES && ++g->measured[rows] == MEASURES && rows > g->largest) g->largest = rows;
  g->all += nanoseconds;
  if (rows == sequences) return;
  const double plain = time_of(g, sequences);
  g->loss += nanoseconds - plain * tokens / sequences;
  if (g->loss < -MEMORY * plain) g->loss = -MEMORY * plain;
}

static double nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

void attn2c_guess_call_begin(attn2c_guess_call *call, int32_t sequences, int32_t rows) {
  attn2c_guess_plan(&call->guesser, call->guesses, sequences, rows);
  call->sequences = call->rows = sequences;
  call->learned = call->tokens = 0;
  for (int32_t i = 0; i < sequences; i++) call->rows += call->guesses[i].count;
  call->took = 0;
  call->began = nanoseconds();
}

void attn2c_guess_call_end(attn2c_guess_call *call) {
  if (call->took == 0) call->took = nanoseconds() - call->began;
}

void attn2c_guess_call_learn(attn2c_guess_call *call, int32_t i, const int32_t *ids, int32_t count) {
  attn2c_guess_learn(&call->guesser, &call->guesses[i], ids, count);
  call->tokens += count;
  if (++call->learned == call->sequences)
    attn2c_guess_time(&call->guesser, call->sequences, call->rows, call->tokens, call->took);
}

int attn2c_guess_call_draw(attn2c_guess_call *call, int32_t i, attn2c_sampler *sampler, const float *logits,
                           int32_t vocabulary, int32_t *ids, int32_t *count, attn2c_message *message) {
  int status = ATTN2C_OK, is_right = 1;
  if (!call || !sampler || !logits || !ids || !count || i < 0 || i >= call->sequences) return ATTN2C_USAGE;
  const attn2c_guess *guess = &call->guesses[i];
  attn2c_guess_call_end(call);
  for (*count = 0; *count <= guess->count && is_right; ++*count) {
    int32_t *id = &ids[*count];
    status = attn2c_sampler_sample(sampler, logits + (size_t)*count * (size_t)vocabulary, id, message);
    if (status != ATTN2C_OK) break;
    attn2c_sampler_feed(sampler, id, 1, ATTN2C_FED_GENERATED, message);
    is_right = *count < guess->count && *id == guess->ids[*count] && !attn2c_sampler_stops(sampler, *id);
  }
  attn2c_guess_call_learn(call, i, ids, *count);
  return status;
}

int attn2c_guess_call_create(attn2c_guess_call **call) {
  if (!call) return ATTN2C_USAGE;
  *call = attn2c_allocate(sizeof **call);
  return *call ? ATTN2C_OK : ATTN2C_MEMORY;
}

int attn2c_guess_call_find(attn2c_guess_call *call, int32_t rows, int32_t sequences,
                           const int32_t *const *ids, const int32_t *counts, const int32_t *most,
                           int32_t guesses[][ATTN2C_GUESSES], int32_t *guessed) {
  if (!call || !ids || !counts || !guesses || !guessed || sequences < 1) return ATTN2C_USAGE;
  for (int32_t i = 0; i < sequences; i++) {
    if (!ids[i] || counts[i] < 1) return ATTN2C_USAGE;
    attn2c_guess_find(ids[i], counts[i] - 1, ids[i][counts[i] - 1], most ? most[i] : ATTN2C_GUESSES,
                      &call->guesses[i]);
  }
  attn2c_guess_call_begin(call, sequences, rows);
  for (int32_t i = 0; i < sequences; i++) {
    guessed[i] = call->guesses[i].count;
    memcpy(guesses[i], call->guesses[i].ids, sizeof guesses[i]);
  }
  return ATTN2C_OK;
}
