/* ranks_trace.c - gathers the tensors that the traces of all ranks have made. A tensor is divided along one
 * axis, or is the sum of terms, or all ranks have it. All ranks gather it together, and all receive it. */
#include "check/check_sequence.h"
#include "ranks/ranks.h"

#include <math.h>

/* A call of an entry, of a rank and of the whole model. */
typedef struct {
  const attn2c_call *call;
  const attn2c_descriptor *whole, *own;
  const attn2c_entry *entry; /* the whole model's */
  const float *arena;        /* the rank's trace */
  attn2c_ranks *team;        /* of the rank's stage */
  int64_t to_magnitudes;     /* floats from a tensor of terms to the sum of their magnitudes */
  size_t *first;             /* room for a division */
} gathering;

/* How a tensor grows in a call; NULL: it does not, as in calls of features, which have no sequences. */
static const attn2c_growth *growth_of(const gathering *g, int tensor) {
  return g->call->sequences && g->whole->growth ? &g->whole->growth[tensor] : NULL;
}

/* The rows of a tensor in one call, in blocks that follow each other: one a sequence, or one for all. */
static int64_t blocks_of(const gathering *g, int tensor) {
  const attn2c_growth *growth = growth_of(g, tensor);
  if (growth && growth->is_shared) return 1;
  return growth ? g->call->sequences->count : 1;
}

/* Returns the elements of an axis in block number `block`. */
static int64_t size_of(const gathering *g, const attn2c_tensor *tensor, int number, int axis, int64_t block) {
  const attn2c_growth *growth = growth_of(g, number);
  if (!growth || growth->is_shared || growth->axes[axis] == 0) return tensor->shape[axis];
  const attn2c_check_job job = {.descriptor = g->whole, .entry = g->entry};
  return attn2c_check_sequence_tensor(&job, number, g->call->sequences, block).shape[axis];
}

/* Returns the product of the sizes of axes [from, upto). */
static int64_t sizes_of(const gathering *g, const attn2c_tensor *tensor, int number, int from, int upto,
                        int64_t block) {
  int64_t product = 1;
  for (int axis = from; axis < upto; axis++) product *= size_of(g, tensor, number, axis, block);
  return product;
}

/* A tensor's rows: `own` of the rank, of any width; `all` of the whole model. */
typedef struct {
  const float *own;
  float *all;
  int64_t own_step, all_step; /* floats from row to row */
} rows;

/* Sums the terms of all ranks, and their magnitudes, which bound the error of any other order. */
static void sum_terms(const gathering *g, rows at, int64_t count, int64_t width) {
  for (int64_t row = 0; row < count; row++) {
    float *sums = at.all + row * at.all_step, *magnitudes = sums + g->to_magnitudes;
    memcpy(sums, at.own + row * at.own_step, (size_t)width * sizeof *sums);
    for (int64_t i = 0; i < width; i++) magnitudes[i] = fabsf(sums[i]);
    attn2c_ranks_sum(g->team, sums, (size_t)width);
    attn2c_ranks_sum(g->team, magnitudes, (size_t)width);
  }
}

static void copy_rows(rows at, int64_t count, int64_t width) {
  for (int64_t row = 0; row < count; row++)
    memcpy(at.all + row * at.all_step, at.own + row * at.own_step, (size_t)width * sizeof(float));
}

/* Copies integers, such as the experts of a row. All ranks must have the same: where one of them has others
 * than the first, the first copies these, which are not right for its own operands. */
static void copy_integers(gathering *g, rows at, int64_t count, int64_t width) {
  const int ranks = attn2c_ranks_count(g->team);
  for (int64_t row = 0; row < count; row++) {
    const float *own = at.own + row * at.own_step;
    float *to = at.all + row * at.all_step, *other = to + g->to_magnitudes;
    memcpy(to, own, (size_t)width * sizeof *to);
    for (int from = 1; from < ranks; from++) {
      for (int r = 0; r <= ranks; r++) g->first[r] = r > from ? (size_t)width : 0;
      attn2c_ranks_gather(g->team, own, (size_t)at.own_step, other, (size_t)at.all_step, g->first, 1);
      for (int64_t i = 0; i < width; i++)
        if (memcmp(other + i, own + i, sizeof *to) != 0) memcpy(to + i, other + i, sizeof *to);
    }
  }
}

/* Gathers one block of a tensor, and moves on to the next. */
static void gather_block(gathering *g, int number, const attn2c_division *of, rows *at, int64_t block) {
  const attn2c_tensor *all = &g->whole->tensors[number];
  const int ranks = attn2c_ranks_count(g->team), last = all->rank - 1;
  const int64_t count = sizes_of(g, all, number, 0, last, block);
  int64_t own_count = count;
  if (of->axis == ATTN2C_TERMS) {
    sum_terms(g, *at, count, at->all_step);
  } else if (of->axis == ATTN2C_UNDIVIDED) {
    if (all->type == ATTN2C_I32)
      copy_integers(g, *at, count, all->shape[last]);
    else
      copy_rows(*at, count, at->all_step);
  } else if (of->axis == last) {
    const int64_t parts = all->shape[last] / of->first[ranks]; /* a row has one for each of its experts */
    for (int r = 0; r <= ranks; r++) g->first[r] = (size_t)of->first[r];
    attn2c_ranks_gather(g->team, at->own, (size_t)(at->own_step / parts), at->all,
                        (size_t)(at->all_step / parts), g->first, (size_t)(count * parts));
  } else {
    /* parts are rows: the rows of one element of the axis follow each other; they keep the rank's steps */
    const int64_t outer = sizes_of(g, all, number, 0, of->axis, block);
    const int64_t inner = sizes_of(g, all, number, of->axis + 1, last, block);
    const int own = attn2c_ranks_own(g->team);
    const int64_t mine = (of->first[own + 1] - of->first[own]) * inner;
    for (int r = 0; r <= ranks; r++) g->first[r] = (size_t)(of->first[r] * inner * at->all_step);
    float *packed = calloc((size_t)(mine * at->all_step) + 1, sizeof *packed);
    for (int64_t i = 0; packed && i < outer; i++) {
      const rows to = {at->own + i * mine * at->own_step, packed, at->own_step, at->all_step};
      copy_rows(to, mine, at->all_step);
      attn2c_ranks_gather(g->team, packed, (size_t)(mine * at->all_step),
                          at->all + i * of->first[ranks] * inner * at->all_step,
                          (size_t)(of->first[ranks] * inner * at->all_step), g->first, 1);
    }
    free(packed);
    own_count = outer * mine;
  }
  at->own += own_count * at->own_step;
  at->all += count * at->all_step;
}

/* Gives a tensor that one stage has gathered to all ranks. */
static void spread(const gathering *g, int number, const attn2c_division *of, float *to) {
  const attn2c_tensor *all = &g->whole->tensors[number];
  attn2c_ranks *ranks = g->call->ranks;
  const int stages = attn2c_ranks_stages(ranks), root = of->stage * (attn2c_ranks_count(ranks) / stages);
  size_t bytes = 0;
  if (stages == 1) return;
  for (int64_t block = 0; block < blocks_of(g, number); block++)
    bytes += (size_t)(sizes_of(g, all, number, 0, all->rank - 1, block) * all->trace_leading_dimension) *
             sizeof *to;
  attn2c_ranks_broadcast_from(ranks, root, to, bytes);
  if (of->axis == ATTN2C_TERMS) attn2c_ranks_broadcast_from(ranks, root, to + g->to_magnitudes, bytes);
}

static void gather_tensor(gathering *g, int number) {
  const attn2c_division *of = &g->whole->divided->divisions[number];
  const attn2c_tensor *all = &g->whole->tensors[number];
  if (all->kind != ATTN2C_SCRATCH) return;
  float *const to = g->call->arena + all->trace_offset;
  rows at = {NULL, to, 0, all->trace_leading_dimension};
  if (of->stage == attn2c_ranks_stage(g->call->ranks)) {
    const attn2c_tensor *own = &g->own->tensors[of->own];
    at.own = g->arena + own->trace_offset, at.own_step = own->trace_leading_dimension;
    for (int64_t block = 0; block < blocks_of(g, number); block++) gather_block(g, number, of, &at, block);
  }
  spread(g, number, of, to);
}

/* Gives the arena of a rank's trace the values that no step writes. */
static int fill(const attn2c_call *call, const attn2c_program *program, int entry, float *arena) {
  attn2c_descriptor own = *program->model;
  ATTN2C_OWN attn2c_tensor *tensors = calloc((size_t)own.tensor_count + 1, sizeof *tensors);
  if (!tensors) return ATTN2C_MEMORY;
  const attn2c_check_job job = {.descriptor = program->model, .entry = &own.entries[entry]};
  const int encodes = job.entry == attn2c_encode_entry(job.descriptor);
  const int64_t most = encodes         ? own.continued->source_lengths->sizes[0].seq
                       : own.continued ? own.continued->call_rows
                                       : 0;
  const int32_t first[] = {0, (int32_t)most};
  const attn2c_sequences n = {.rows = first[1], .count = 1, .first = first};
  for (int i = 0; i < own.tensor_count; i++)
    tensors[i] = own.continued ? attn2c_check_sequence_tensor(&job, i, &n, 0) : own.tensors[i];
  own.tensors = tensors;
  const attn2c_check_trace trace = {.model = &own,
                                    .entry = &own.entries[entry],
                                    .arena = arena,
                                    .floats = program->trace_floats,
                                    .inputs = call->in,
                                    .outputs = call->out};
  attn2c_check_trace_fill_arena(&trace);
  return ATTN2C_OK;
}

int attn2c_ranks_trace(const attn2c_call *call, const attn2c_program *const *programs, int entry,
                       int64_t floats) {
  const int rank = attn2c_ranks_own(call->ranks);
  const attn2c_program *program = programs[rank];
  const attn2c_descriptor *whole = program->model->divided->whole;
  gathering g = {.call = call,
                 .whole = whole,
                 .own = program->model,
                 .team = attn2c_ranks_team(call->ranks),
                 .entry = &whole->entries[entry],
                 .to_magnitudes = floats};
  ATTN2C_OWN_ALIGNED float *arena = attn2c_allocate((size_t)program->trace_floats * sizeof *arena);
  g.first = calloc((size_t)whole->divided->count + 1, sizeof *g.first);
  int status = arena && g.first ? ATTN2C_OK : ATTN2C_MEMORY;
  if (status == ATTN2C_OK) status = fill(call, program, entry, arena);
  if (status == ATTN2C_OK) {
    attn2c_call own = *call;
    own.arena = arena;
    status = program->trace[entry](&own);
    attn2c_ranks_settle(call->ranks);
  }
  g.arena = arena;
  for (int i = 0; i < g.entry->op_count && status == ATTN2C_OK; i++)
    gather_tensor(&g, g.entry->ops[i].result);
  free(g.first);
  return status;
}
