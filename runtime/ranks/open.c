#define _GNU_SOURCE
#include "ranks/open.h"

#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ranks/inner.h"

static int check_count(MPI_Comm communicator, const attn2c_ranks_wanted *wanted, attn2c_message *message) {
  int is_begun = 0, is_ended = 0, count = 0;
  MPI_Initialized(&is_begun);
  MPI_Finalized(&is_ended);
  if (!is_begun || is_ended)
    return attn2c_fail(message, ATTN2C_USAGE, "MPI is not initialised: MPI_Init_thread comes first");
  if (communicator == MPI_COMM_NULL || MPI_Comm_size(communicator, &count) != MPI_SUCCESS)
    return attn2c_fail(message, ATTN2C_USAGE, "this is no communicator");
  if (count == wanted->count) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_USAGE,
                     "the model %s is divided among %d ranks, but %d %s started: mpirun -n %d", wanted->name,
                     wanted->count, count, count == 1 ? "is" : "are", wanted->count);
}

/* True if a machine has all ranks, or consecutive ones, a power of 2 of them, from a multiple of it on. */
static int is_aligned(const attn2c_ranks *ranks, int least) {
  const int n = ranks->node_count;
  if (n == ranks->count) return 1;
  return (n & (n - 1)) == 0 && ranks->own - ranks->node_own == least && least % n == 0;
}

/* Makes this rank a machine of its own. */
static int be_alone(attn2c_ranks *ranks) {
  if (ranks->node != MPI_COMM_NULL) MPI_Comm_free(&ranks->node);
  ranks->node_count = 1, ranks->node_own = 0;
  ranks->machines = ranks->count, ranks->machine = ranks->own;
  return MPI_Comm_split(ranks->all, ranks->own, 0, &ranks->node) == MPI_SUCCESS;
}

/* Finds the ranks of this machine. */
static int find_machine(attn2c_ranks *ranks, const attn2c_ranks_wanted *wanted) {
  if (MPI_Comm_split_type(ranks->all, MPI_COMM_TYPE_SHARED, ranks->own, MPI_INFO_NULL, &ranks->node) !=
      MPI_SUCCESS)
    return 0;
  if (wanted->per_node > 0) {
    MPI_Comm whole = ranks->node;
    const int error = MPI_Comm_split(whole, ranks->own / wanted->per_node, ranks->own, &ranks->node);
    MPI_Comm_free(&whole);
    if (error != MPI_SUCCESS) return 0;
  }
  MPI_Comm_size(ranks->node, &ranks->node_count);
  MPI_Comm_rank(ranks->node, &ranks->node_own);
  int least = ranks->own, most = 0;
  MPI_Bcast(&least, 1, MPI_INT, 0, ranks->node);
  MPI_Allreduce(&ranks->node_count, &most, 1, MPI_INT, MPI_MAX, ranks->all);
  const int is_alike = is_aligned(ranks, least) && ranks->node_count == most && ranks->count % most == 0;
  ranks->machines = ranks->count / most, ranks->machine = ranks->own / most;
  return attn2c_ranks_all_have(ranks->all, is_alike && !wanted->without_windows) ? 1 : be_alone(ranks);
}

/* True on all ranks if a machine has fewer cores than ranks. */
static int is_crowded(const attn2c_ranks *ranks) {
  cpu_set_t own, all;
  if (sched_getaffinity(0, sizeof own, &own) != 0) return 1;
  if (MPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, ranks->node) != MPI_SUCCESS) return 1;
  return !attn2c_ranks_all_have(ranks->all, CPU_COUNT(&all) >= ranks->node_count);
}

/* Opens the processes of this machine, to learn when they end. Linux before 5.3 has no such descriptors; then
 * whoever started the ranks has to end them. */
static int find_processes(attn2c_ranks *ranks) {
  attn2c_rank_window *own = ranks->windows[ranks->node_own];
  struct stat space = {0};
  atomic_store(&own->process, (int32_t)getpid());
  atomic_store(&own->process_space, stat("/proc/self/ns/pid", &space) == 0 ? space.st_ino : 0);
  if (MPI_Barrier(ranks->node) != MPI_SUCCESS) return 0;
  for (int i = 0; i < ranks->node_count; i++)
    if (space.st_ino != 0 && atomic_load(&ranks->windows[i]->process_space) == space.st_ino)
      ranks->processes[i] = (int)syscall(SYS_pidfd_open, atomic_load(&ranks->windows[i]->process), 0);
  return 1;
}

/* Makes the windows of this machine. */
static int make_windows(attn2c_ranks *ranks) {
  attn2c_rank_block block = {.window = MPI_WIN_NULL};
  if (ranks->node_count == 1) return 1;
  const int is_made = attn2c_ranks_make_block(ranks, sizeof(attn2c_rank_window), &block);
  if (!attn2c_ranks_all_have(ranks->all, is_made)) {
    attn2c_ranks_free_block(&block);
    return be_alone(ranks);
  }
  ranks->window = block.window;
  for (int i = 0; i < ranks->node_count; i++) ranks->windows[i] = (void *)block.parts[i];
  attn2c_rank_window *own = ranks->windows[ranks->node_own];
  memset(own, 0, offsetof(attn2c_rank_window, ring));
  return find_processes(ranks);
}

/* Allocates what meetings need. */
static int make_memory(attn2c_ranks *ranks) {
  const size_t machines = (size_t)ranks->machines;
  const size_t whole = machines * ATTN2C_RANKS_SMALL, piece = ATTN2C_RANKS_PIECE + 16 * machines;
  const size_t received = whole > piece ? whole : piece;
  int is_made = 1;
  ranks->requests = calloc(2 * (size_t)ranks->count, sizeof(MPI_Request));
  ranks->of_machine = malloc(ATTN2C_RANKS_SMALL * sizeof(float));
  is_made = ranks->requests && ranks->of_machine;
  for (int i = 0; i < ATTN2C_RANKS_SUMS && machines > 1; i++) {
    ranks->sums[i].requests = calloc(2 * machines, sizeof(MPI_Request));
    ranks->sums[i].received = malloc(received * sizeof(float));
    is_made = is_made && ranks->sums[i].requests && ranks->sums[i].received;
  }
  return is_made;
}

/* Opens the ranks of this stage, and the streams between stages. */
static int open_stages(attn2c_ranks *ranks, const attn2c_ranks_wanted *wanted) {
  attn2c_message message = attn2c_message_make(NULL, 0);
  const int each = ranks->count / ranks->stages;
  MPI_Comm team = MPI_COMM_NULL;
  ranks->team = NULL;
  const int is_split = MPI_Comm_split(ranks->all, ranks->stage, ranks->own, &team) == MPI_SUCCESS;
  attn2c_ranks_wanted of_team = *wanted;
  of_team.count = each, of_team.stages = 1;
  int is_made = is_split;
  if (attn2c_ranks_all_have(ranks->all, is_split) && each > 1)
    is_made = attn2c_ranks_open(team, &of_team, &ranks->team, &message) == ATTN2C_OK;
  if (team != MPI_COMM_NULL) MPI_Comm_free(&team);
  if (ranks->team) {
    ranks->team->whole = ranks;
    ranks->team->first += ranks->stage * each;
  }
  if (!attn2c_ranks_all_have(ranks->all, is_made)) return 0;
  return attn2c_ranks_open_stages(ranks, wanted->passed_bytes);
}

static int fill(attn2c_ranks *ranks, const attn2c_ranks_wanted *wanted, attn2c_message *message) {
  MPI_Comm_size(ranks->all, &ranks->count);
  MPI_Comm_rank(ranks->all, &ranks->own);
  ranks->whole = ranks->team = ranks;
  ranks->stages = wanted->stages > 1 ? wanted->stages : 1;
  ranks->stage = ranks->own / (ranks->count / ranks->stages);
  snprintf(ranks->name, sizeof ranks->name, "%s", wanted->name);
  MPI_Comm_set_errhandler(ranks->all, MPI_ERRORS_RETURN);
  ATTN2C_TRY(attn2c_ranks_compare(ranks, wanted->build, "code", message));
  int is_made = find_machine(ranks, wanted);
  ranks->is_crowded = is_crowded(ranks);
  is_made = is_made && make_windows(ranks);
  is_made = is_made && MPI_Comm_split(ranks->all, ranks->node_own, ranks->own, &ranks->across) == MPI_SUCCESS;
  is_made = is_made && make_memory(ranks);
  ranks->first = ranks->machine * ranks->node_count;
  if (attn2c_ranks_all_have(ranks->all, is_made) && ranks->stages > 1) is_made = open_stages(ranks, wanted);
  if (attn2c_ranks_all_have(ranks->all, is_made)) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_MEMORY, "no memory for the meetings of %d ranks", ranks->count);
}

int attn2c_ranks_open(MPI_Comm communicator, const attn2c_ranks_wanted *wanted, attn2c_ranks **ranks,
                      attn2c_message *message) {
  *ranks = NULL;
  int status = check_count(communicator, wanted, message);
  if (status != ATTN2C_OK) return status;
  attn2c_ranks *made = calloc(1, sizeof *made);
  if (!attn2c_ranks_all_have(communicator, made != NULL)) {
    attn2c_say(message, "no memory for the meetings of %d ranks", wanted->count);
    free(made);
    return ATTN2C_MEMORY;
  }
  made->whole = made->team = made;
  made->all = made->node = made->across = MPI_COMM_NULL;
  made->window = MPI_WIN_NULL;
  for (int i = 0; i < ATTN2C_RANKS_MOST; i++) made->processes[i] = -1;
  for (int i = 0; i < ATTN2C_RANKS_BLOCKS; i++) made->blocks[i].window = MPI_WIN_NULL;
  if (MPI_Comm_dup(communicator, &made->all) != MPI_SUCCESS)
    status = attn2c_fail(message, ATTN2C_MEMORY, "MPI cannot copy the communicator");
  else
    status = fill(made, wanted, message);
  if (status == ATTN2C_OK)
    *ranks = made;
  else
    attn2c_ranks_close(made);
  return status;
}

void attn2c_ranks_close(attn2c_ranks *ranks) {
  if (!ranks) return;
  attn2c_ranks_close_stages(ranks);
  if (ranks->team != ranks) attn2c_ranks_close(ranks->team);
  for (int i = 0; i < ATTN2C_RANKS_MOST; i++)
    if (ranks->processes[i] >= 0) close(ranks->processes[i]);
  for (int i = 0; i < ATTN2C_RANKS_BLOCKS; i++) attn2c_ranks_free_block(&ranks->blocks[i]);
  attn2c_rank_block windows = {.window = ranks->window};
  attn2c_ranks_free_block(&windows);
  if (ranks->across != MPI_COMM_NULL) MPI_Comm_free(&ranks->across);
  if (ranks->node != MPI_COMM_NULL) MPI_Comm_free(&ranks->node);
  if (ranks->all != MPI_COMM_NULL) MPI_Comm_free(&ranks->all);
  for (int i = 0; i < ATTN2C_RANKS_SUMS; i++) {
    ATTN2C_FREE(ranks->sums[i].requests, ranks->sums[i].received);
  }
  ATTN2C_FREE(ranks->requests, ranks->of_machine, ranks->counted, ranks);
}

void *attn2c_ranks_allocate(attn2c_ranks *ranks, size_t bytes) {
  if (ranks && ranks->team != ranks) return attn2c_ranks_allocate(ranks->team, bytes);
  if (!ranks || ranks->node_count == 1) return attn2c_allocate(bytes);
  for (int i = 0; i < ATTN2C_RANKS_BLOCKS; i++) {
    if (ranks->blocks[i].own) continue;
    attn2c_rank_block block = {.window = MPI_WIN_NULL};
    const size_t whole = (bytes + ATTN2C_ALIGNMENT - 1) / ATTN2C_ALIGNMENT * ATTN2C_ALIGNMENT;
    const int is_made = whole >= bytes && attn2c_ranks_make_block(ranks, whole, &block);
    if (!attn2c_ranks_all_have(ranks->all, is_made)) {
      attn2c_ranks_free_block(&block);
      break;
    }
    memset(block.own, 0, block.bytes);
    ranks->blocks[i] = block;
    return block.own;
  }
  return attn2c_allocate(bytes);
}

void attn2c_ranks_free(attn2c_ranks *of, void *memory) {
  attn2c_ranks *ranks = attn2c_ranks_team(of);
  for (int i = 0; ranks && memory && i < ATTN2C_RANKS_BLOCKS; i++) {
    if (ranks->blocks[i].own != memory) continue;
    attn2c_ranks_free_block(&ranks->blocks[i]);
    return;
  }
  attn2c_free(memory);
}
