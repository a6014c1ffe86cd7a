/* meetings.c - times what ranks do when they meet, for predictions of their number: sums and gathers of the
 * ranks of this machine in shared memory, messages between two of them, and additions. Prints one JSON
 * object. `mpirun -n N meetings SECONDS [ways]`: each size takes some SECONDS; with `ways` it also times sums
 * of other memory, by messages and by MPI_Allreduce. gen/commands/scale/meetings.lua compiles and starts it.
 */

#include "ranks/inner.h"

enum { ROUNDS = 5, MOST_ROUNDS = 500, ROUND_US = 200, MOST_REPEATS = 1024, MANY = 16, MOST_FLOATS = 1 << 20 };

/* Floats of a line of the caches. */
enum { LINE = 16 };

static const size_t sizes[] = {16, 512, 768, 2048, 4096, 32768, 98304, 262144, MOST_FLOATS};
enum { SIZES = sizeof sizes / sizeof *sizes };

static int own, count;
static double seconds; /* of the rounds of a size */
static volatile uint32_t seen;

/* The memory of the meetings that are timed. */
typedef struct {
  attn2c_ranks *ranks;
  float *values, *part; /* [MOST_FLOATS] */
} memory;

typedef void meeting(const memory *, size_t floats);

static void sum(const memory *of, size_t floats) { attn2c_ranks_sum(of->ranks, of->values, floats); }

static void sum_by_mpi(const memory *of, size_t floats) {
  MPI_Allreduce(MPI_IN_PLACE, of->values, (int)floats, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

/* Gathers these floats of all ranks. */
static void gather(const memory *of, size_t floats) {
  size_t first[ATTN2C_RANKS_MOST + 1];
  for (int i = 0; i <= count; i++) first[i] = floats * (size_t)i / (size_t)count;
  attn2c_ranks_gather(of->ranks, of->part, first[own + 1] - first[own], of->values, floats, first, 1);
}

static void nothing(const memory *of, size_t floats) { (void)of, (void)floats; }

/* Exchanges one message of these floats between ranks 0 and 1. */
static void exchange(const memory *of, size_t floats) {
  if (own > 1) return;
  MPI_Sendrecv(of->part, (int)floats, MPI_FLOAT, 1 - own, 0, of->values, (int)floats, MPI_FLOAT, 1 - own, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Exchanges many messages at once. */
static void exchange_many(const memory *of, size_t floats) {
  MPI_Request requests[2 * MANY];
  MPI_Status statuses[2 * MANY]; /* gcc warns of MPICH's MPI_STATUSES_IGNORE */
  if (own > 1) return;
  for (int i = 0; i < MANY; i++)
    MPI_Irecv(of->values + (size_t)i * floats, (int)floats, MPI_FLOAT, 1 - own, i, MPI_COMM_WORLD,
              &requests[i]);
  for (int i = 0; i < MANY; i++)
    MPI_Isend(of->part, (int)floats, MPI_FLOAT, 1 - own, i, MPI_COMM_WORLD, &requests[MANY + i]);
  MPI_Waitall(2 * MANY, requests, statuses);
}

static void add(const memory *of, size_t floats) {
  const float *from[] = {of->values, of->part};
  float *to[] = {of->values};
  attn2c_ranks_add(1, to, 2, from, floats);
}

static void write_lines(float *values, size_t floats) {
  for (size_t i = 0; i < floats; i += LINE) values[i] = (float)i;
}

static void read_lines(const float *values, size_t floats) {
  uint32_t all = 0, bits;
  for (size_t i = 0; i < floats; i += LINE) {
    memcpy(&bits, values + i, sizeof bits);
    all ^= bits;
  }
  seen = all;
}

/* Returns microseconds of the mean of some meetings, in the slowest rank: back to back, or `is_apart`, as in
 * a model: each rank has just written what it gives, and reads the result. So lines move between the caches
 * of cores, as they do in a model. */
static double round_of(meeting *meet, const memory *of, size_t floats, int repeats, int is_apart) {
  double taken = 0, slowest = 0;
  float one = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < (is_apart ? repeats : 1); i++) {
    if (is_apart) {
      write_lines(of->values, floats);
      write_lines(of->part, floats);
      attn2c_ranks_sum(of->ranks, &one, 1); /* nobody waits for another one's writing */
    }
    const double start = MPI_Wtime();
    for (int k = 0; k < (is_apart ? 1 : repeats); k++) meet(of, floats);
    if (is_apart) read_lines(of->values, floats);
    taken += MPI_Wtime() - start;
  }
  taken *= 1e6 / repeats;
  MPI_Allreduce(&taken, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

/* Returns microseconds: the least of some short rounds. Other work on the machine disturbs ranks twice,
 * because they wait for each other; few rounds may be undisturbed. */
static double least_of(meeting *meet, const memory *of, size_t floats, int is_apart) {
  int repeats = 1;
  while (repeats < MOST_REPEATS && round_of(meet, of, floats, repeats, is_apart) * repeats < ROUND_US)
    repeats *= 2;
  const double start = MPI_Wtime();
  double least = round_of(meet, of, floats, repeats, is_apart);
  for (int round = 1, is_over = 0; round < MOST_ROUNDS && !is_over; round++) {
    const double taken = round_of(meet, of, floats, repeats, is_apart);
    if (taken < least) least = taken;
    is_over = round >= ROUNDS && MPI_Wtime() - start > seconds;
    MPI_Bcast(&is_over, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  return least;
}

/* Returns the time that a meeting adds to a model. */
static double added_by(meeting *meet, const memory *of, size_t floats) {
  const double with = least_of(meet, of, floats, 1), without = least_of(nothing, of, floats, 1);
  return with > without ? with - without : 0;
}

static double back_to_back(meeting *meet, const memory *of, size_t floats) {
  return least_of(meet, of, floats, 0);
}

/* Prints the times of all sizes, [floats, microseconds] each. */
static void report(const char *name, double (*time_of)(meeting *, const memory *, size_t), meeting *meet,
                   const memory *of) {
  if (own == 0) printf(", \"%s\": [", name);
  for (int i = 0; i < SIZES; i++) {
    const double taken = time_of(meet, of, sizes[i]);
    if (own == 0) printf("%s[%zu, %.4g]", i ? ", " : "", sizes[i], taken);
  }
  if (own == 0) printf("]");
}

static attn2c_ranks *open(int without_windows) {
  const attn2c_ranks_wanted wanted = {.count = count, .name = "meetings", .without_windows = without_windows};
  char text[200] = "";
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_ranks *ranks;
  const int status = attn2c_ranks_open(MPI_COMM_WORLD, &wanted, &ranks, &message);
  if (status == ATTN2C_OK) return ranks;
  if (own == 0) fprintf(stderr, "%s\n", text);
  MPI_Finalize();
  exit(status);
}

/* Reports other ways to add, of the same floats. */
static void report_ways(const memory *shared) {
  memory of = *shared;
  of.values = calloc(MOST_FLOATS, sizeof(float));
  if (!of.values) MPI_Abort(MPI_COMM_WORLD, ATTN2C_MEMORY);
  report("sums_of_other_memory", added_by, sum, &of);
  report("sums_by_mpi", added_by, sum_by_mpi, &of);
  of.ranks = open(1);
  report("sums_by_messages", added_by, sum, &of);
  attn2c_ranks_close(of.ranks);
  free(of.values);
}

int main(int argc, char **argv) {
  int level;
  seconds = argc > 1 ? atof(argv[1]) : 0.1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  attn2c_ranks *ranks = open(0);
  const memory of = {.ranks = ranks,
                     .values = attn2c_ranks_allocate(ranks, MOST_FLOATS * sizeof(float)),
                     .part = calloc(MOST_FLOATS, sizeof(float))};
  if (!of.values || !of.part) MPI_Abort(MPI_COMM_WORLD, ATTN2C_MEMORY);
  if (own == 0) printf("{\"ranks\": %d", count);
  report("sums", added_by, sum, &of);
  report("gathers", added_by, gather, &of);
  report("messages", back_to_back, exchange, &of);
  if (argc > 2 && strcmp(argv[2], "ways") == 0) report_ways(&of);
  const double one = back_to_back(exchange, &of, 16), many = back_to_back(exchange_many, &of, 16);
  const double adds = back_to_back(add, &of, 16384);
  if (own == 0)
    printf(", \"message_us\": %.4g, \"adds_per_us\": %.4g}\n", many > one ? (many - one) / (MANY - 1) : 0.0,
           16384 / adds);
  free(of.part);
  attn2c_ranks_free(ranks, of.values);
  attn2c_ranks_close(ranks);
  MPI_Finalize();
  return ATTN2C_OK;
}
