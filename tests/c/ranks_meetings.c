/* ranks_meetings.c - a program of several ranks that compares sums, gathers and broadcasts with plain loops.
 * `mpirun -n N ranks_meetings [windows|messages|PER_MACHINE] [STAGES]`; rank 0 prints a checksum of all sums.
 * With STAGES it only tests what stages pass to each other. With `build` the last rank has another build,
 * with `number` another number of ranks is asked for, with `killed` it kills itself among the sums, with
 * `other` it adds values of other memory than the others. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "ranks/open.h"

static int own, count, failures;
static uint64_t sums;

static void expect(int is_right, const char *what, size_t at) {
  if (is_right || failures++ > 4) return;
  fprintf(stderr, "rank %d: %s differs at %zu\n", own, what, at);
}

/* Returns a value that only its rank, its sum and its place give. */
static float value_of(int rank, int number, size_t i) {
  uint32_t x = (uint32_t)rank * 2654435761u + (uint32_t)number * 40503u + (uint32_t)i * 2246822519u;
  x ^= x >> 15, x *= 2246822519u, x ^= x >> 13;
  return ((float)(x % 2000001) - 1000000.0f) * (rank % 2 ? 1e-3f : 1.0f);
}

/* Adds the values of ranks [first, first + n) of the n that remain of all, in the order that ranks.h states.
 */
static float expected(int number, size_t i) {
  float level[ATTN2C_RANKS_MOST];
  int n = count;
  for (int r = 0; r < n; r++) level[r] = value_of(r, number, i);
  for (; n > 1; n = (n + 1) / 2)
    for (int r = 0; r < n; r += 2) level[r / 2] = r + 1 < n ? level[r] + level[r + 1] : level[r];
  return level[0];
}

static void fill(float *values, size_t n, int number) {
  for (size_t i = 0; i < n; i++) values[i] = value_of(own, number, i);
}

static void judge(const float *values, size_t n, int number) {
  for (size_t i = 0; i < n; i++) {
    const float want = expected(number, i);
    expect(memcmp(&want, &values[i], sizeof want) == 0, "sum", i);
  }
  sums = attn2c_checksum(sums, values, n * sizeof *values);
}

/* Returns after all ranks have called it. */
static void wait_for_all(attn2c_ranks *ranks) {
  attn2c_message quiet = attn2c_message_make(NULL, 0);
  expect(attn2c_ranks_agree(ranks, ATTN2C_OK, &quiet) == ATTN2C_OK, "agreement", 3);
}

/* Sums of all sizes, one after the other, in memory that ranks share or that is their own. */
static void test_sums(attn2c_ranks *ranks, float *values) {
  static const size_t sizes[] = {0, 1, 15, 16, 17, 100, 2047, 2048, 2049, 5000, 262144, 262161, 1100003};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    fill(values + s, sizes[s], (int)s);
    attn2c_ranks_sum(ranks, values + s, sizes[s]);
    judge(values + s, sizes[s], (int)s);
  }
}

/* Four sums under way at a time, of the ring, of shared memory and of the stage. */
static void test_under_way(attn2c_ranks *ranks, float *shared, float *private) {
  static const size_t sizes[] = {7, 4000, 2000, 300000, 64, 30000, 2048, 3000};
  for (int round = 0; round < 40; round++) {
    for (int place = 0; place < ATTN2C_RANKS_SUMS; place++) {
      const int number = round * ATTN2C_RANKS_SUMS + place;
      const size_t n = round > 3 && sizes[number % 8] > 4000 ? 40 : sizes[number % 8];
      float *values = (number % 3 ? shared : private) + (size_t)place * 300000;
      fill(values, n, number);
      attn2c_ranks_sum_begin(ranks, values, n);
    }
    attn2c_ranks_sums_end(ranks);
    for (int place = 0; place < ATTN2C_RANKS_SUMS; place++) {
      const int number = round * ATTN2C_RANKS_SUMS + place;
      const size_t n = round > 3 && sizes[number % 8] > 4000 ? 40 : sizes[number % 8];
      judge((number % 3 ? shared : private) + (size_t)place * 300000, n, number);
    }
  }
}

static void test_gather(attn2c_ranks *ranks, const size_t *widths, size_t rows, int is_in_place) {
  size_t first[ATTN2C_RANKS_MOST + 1] = {0};
  for (int r = 0; r < count; r++) first[r + 1] = first[r] + widths[r];
  const size_t whole = first[count], step = whole + 3, width = widths[own];
  float *all = calloc(rows * step + 1, sizeof *all);
  float *part = is_in_place ? all + first[own] : calloc(rows * (width + 2) + 1, sizeof *part);
  const size_t part_step = is_in_place ? step : width + 2;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < width; j++) part[i * part_step + j] = value_of(own, 9, i * width + j);
  attn2c_ranks_gather(ranks, part, part_step, all, step, first, rows);
  for (size_t i = 0; i < rows; i++) {
    for (int r = 0; r < count; r++)
      for (size_t j = 0; j < widths[r]; j++)
        expect(all[i * step + first[r] + j] == value_of(r, 9, i * widths[r] + j), "gather", i * step + j);
    for (size_t j = whole; j < step && i + 1 < rows; j++) expect(all[i * step + j] == 0, "gap", i);
  }
  if (!is_in_place) free(part);
  free(all);
}

static void test_gathers(attn2c_ranks *ranks) {
  size_t widths[ATTN2C_RANKS_MOST];
  static const size_t rows[] = {1, 5, 1000};
  for (size_t i = 0; i < 3; i++) {
    for (int r = 0; r < count; r++) widths[r] = r == 1 ? 0 : (size_t)(r * 37 + 5) * (i == 1 ? 400 : 1);
    test_gather(ranks, widths, rows[i], 0);
    test_gather(ranks, widths, rows[i], 1);
  }
  for (int r = 0; r < count; r++) widths[r] = r == 0 ? 300001 : 10;
  test_gather(ranks, widths, 2, 0);
}

static void test_broadcast(attn2c_ranks *ranks) {
  static const size_t sizes[] = {1, 4, 4096, 3000000};
  for (size_t s = 0; s < 4; s++) {
    unsigned char *bytes = calloc(sizes[s], 1);
    for (size_t i = 0; i < sizes[s] && own == 0; i++) bytes[i] = (unsigned char)(i * 31 + s);
    attn2c_ranks_broadcast(ranks, bytes, sizes[s]);
    for (size_t i = 0; i < sizes[s]; i++) expect(bytes[i] == (unsigned char)(i * 31 + s), "broadcast", i);
    free(bytes);
  }
}

static void test_agreement(attn2c_ranks *ranks) {
  char text[200];
  attn2c_message message = attn2c_message_make(text, sizeof text);
  expect(attn2c_ranks_agree(ranks, ATTN2C_OK, &message) == ATTN2C_OK && !*text, "agreement", 0);
  const int last = count - 1;
  if (own == last) attn2c_say(&message, "bad\nworse");
  if (own == last) attn2c_say(&message, "too");
  expect(attn2c_ranks_agree(ranks, own == last ? ATTN2C_FORMAT : ATTN2C_OK, &message) == ATTN2C_FORMAT,
         "agreement", 1);
  char want[200];
  snprintf(want, sizeof want, "rank %d: bad?worse\nrank %d: too", last, last);
  expect(count == 1 || strcmp(text, want) == 0, "message", 0);
  message = attn2c_message_make(text, sizeof text);
  expect(attn2c_ranks_agree(ranks, ATTN2C_MEMORY, &message) == ATTN2C_MEMORY, "agreement", 2);
  message = attn2c_message_make(text, sizeof text);
  expect(attn2c_ranks_compare(ranks, 7, "weights", &message) == ATTN2C_OK && !*text, "comparison", 0);
  const int status = attn2c_ranks_compare(ranks, own == last ? 8 : 7, "weights", &message);
  snprintf(want, sizeof want, "rank %d has other weights than rank 0", last);
  expect(count == 1 || (status == ATTN2C_FORMAT && strcmp(text, want) == 0), "comparison", 1);
  wait_for_all(ranks);
}

/* Fills rows `step` apart with values of one round, or compares them. */
static void rows_of(float *rows, size_t n, size_t width, size_t step, int round, int is_filled) {
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < width; j++) {
      const float value = value_of(7, round, i * width + j);
      if (is_filled)
        rows[i * step + j] = value;
      else
        expect(rows[i * step + j] == value, "a row of a stage", (size_t)round);
    }
}

/* Rounds of a pipeline: orders, states of several sizes, sums of a stage's ranks, and outputs, also of more
 * bytes than wait for a stage, which are settled after several rounds. */
static void test_stages(attn2c_ranks *ranks, float *space) {
  enum { ROUNDS = 36, TOGETHER = 6, MOST = 90000 };
  const int stage = attn2c_ranks_stage(ranks), last = attn2c_ranks_stages(ranks) - 1;
  static const size_t rows[] = {40, 1, 300, 0, 7, 64}, outputs[] = {3, 80000, 0, 70001, 1, 900};
  float *states = space, *sums_of = space + MOST, *out = space + 2 * MOST;
  if (last == 0) return;
  for (int round = 0; round < ROUNDS; round++) {
    char order[3000];
    const size_t n = rows[round % 6], wide = outputs[round % 6], width = 200, step = round % 2 ? 200 : 208;
    memset(order, round, sizeof order);
    attn2c_ranks_broadcast(ranks, order, sizeof order);
    expect(order[2999] == round, "an order", (size_t)round);
    if (stage == 0) rows_of(states, n, width, step, round, 1);
    if (stage > 0) attn2c_ranks_take(ranks, states, n, width, step);
    rows_of(states, n, width, step, round, 0);
    for (int i = 0; i < 300; i++) sums_of[i] = (float)i;
    attn2c_ranks_sum(attn2c_ranks_team(ranks), sums_of, 300);
    const int each = attn2c_ranks_count(attn2c_ranks_team(ranks));
    expect(sums_of[299] == (float)(299 * each), "a sum of a stage", (size_t)round);
    if (stage < last) attn2c_ranks_pass(ranks, states, n, width, step);
    if (stage < last) memset(states, 0, MOST * sizeof *states);
    float *to = out + (size_t)(round % TOGETHER) * MOST;
    if (stage == last) rows_of(to, wide, 1, 1, -round, 1);
    if (stage == last)
      attn2c_ranks_give(ranks, to, wide, 1, 1);
    else
      attn2c_ranks_expect(ranks, to, wide, 1, 1);
    if (round % TOGETHER < TOGETHER - 1) continue;
    attn2c_ranks_settle(ranks);
    for (int i = 0; i < TOGETHER; i++)
      rows_of(out + (size_t)i * MOST, outputs[i], 1, 1, -(round - TOGETHER + 1 + i), 0);
  }
}

int main(int argc, char **argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  const char *how = argc > 1 ? argv[1] : "windows";
  const int is_last = own == count - 1;
  const attn2c_ranks_wanted wanted = {.count = count + (strcmp(how, "number") == 0),
                                      .stages = argc > 2 ? atoi(argv[2]) : 1,
                                      .passed_bytes = 100000,
                                      .name = "meetings",
                                      .build = is_last && strcmp(how, "build") == 0,
                                      .without_windows = strcmp(how, "messages") == 0,
                                      .per_node = atoi(how)};
  char text[200] = "";
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_ranks *ranks;
  const int status = attn2c_ranks_open(MPI_COMM_WORLD, &wanted, &ranks, &message);
  if (status != ATTN2C_OK) {
    if (own == 0) fprintf(stderr, "%s\n", text);
    MPI_Finalize();
    return status;
  }
  const size_t floats = 1300000;
  float *private = calloc(floats, sizeof *private);
  float *shared = attn2c_ranks_allocate(ranks, floats * sizeof *shared);
  if (wanted.stages > 1) {
    test_stages(ranks, private);
  } else {
    test_sums(ranks, private);
    test_sums(ranks, shared);
    if (strcmp(how, "killed") == 0) signal(SIGTERM, SIG_IGN); /* by which mpirun ends the others */
    wait_for_all(ranks);
    if (is_last && strcmp(how, "killed") == 0) raise(SIGKILL);
    if (strcmp(how, "other") == 0) attn2c_ranks_sum(ranks, is_last ? private : shared, 4000);
    test_under_way(ranks, shared, private);
    test_gathers(ranks);
    test_broadcast(ranks);
    test_agreement(ranks);
  }
  attn2c_ranks_free(ranks, shared);
  free(private);
  int all = 0;
  MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (own == 0) printf("%d ranks, %d failures, sums %016llx\n", count, all, (unsigned long long)sums);
  attn2c_ranks_close(ranks);
  MPI_Finalize();
  return failures ? ATTN2C_MISMATCH : ATTN2C_OK;
}
