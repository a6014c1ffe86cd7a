/* follow.c - the ranks of a program after the first: they make the calls that it makes. */
#include "program/ranks/order.h"

#include "base/rank_facts.h"
#include "model/state.h"
#include "model/team.h"

/* The most states at a time. A command has one or two. */
enum { STATES = 8 };

typedef struct {
  attn2c_rank_session *session;
  attn2c_team *team;
  float *trace; /* the arena of a trace; NULL: not yet needed */
  float *arena; /* that of calls whose arena rank 0 shares with nobody; NULL: not yet needed */
  struct {
    uint64_t name; /* the address of rank 0's; 0: unused */
    float *floats;
  } states[STATES];
  const void **in;
  void **out; /* memory of outputs, of the sizes below */
  size_t *out_bytes;
} follower;

static void free_call(follower *f) {
  const attn2c_descriptor *model = f->session->program->model;
  int most = 0;
  for (int e = 0; e < model->entry_count; e++)
    if (model->entries[e].output_count > most) most = model->entries[e].output_count;
  for (int i = 0; f->out && i < most; i++) attn2c_free(f->out[i]);
  ATTN2C_FREE(f->in, f->out, f->out_bytes);
  f->in = NULL, f->out = NULL, f->out_bytes = NULL;
}

static void forget_model(follower *f) {
  attn2c_ranks_settle(f->session->ranks);
  attn2c_team_end(f->team);
  f->team = NULL;
  ATTN2C_FREE_ALIGNED(f->trace, f->arena);
  f->trace = f->arena = NULL;
  for (int i = 0; i < STATES; i++) {
    attn2c_free(f->states[i].floats);
    f->states[i].name = 0, f->states[i].floats = NULL;
  }
  free_call(f);
}

/* Allocates what calls need, as contexts of rank 0 do. */
static int prepare(follower *f) {
  const attn2c_descriptor *model = f->session->model->descriptor;
  int inputs = 0, outputs = 0;
  for (int e = 0; e < model->entry_count; e++) {
    if (model->entries[e].input_count > inputs) inputs = model->entries[e].input_count;
    if (model->entries[e].output_count > outputs) outputs = model->entries[e].output_count;
  }
  f->in = calloc((size_t)inputs + 1, sizeof *f->in);
  f->out = calloc((size_t)outputs + 1, sizeof *f->out);
  f->out_bytes = calloc((size_t)outputs + 1, sizeof *f->out_bytes);
  if (!f->in || !f->out || !f->out_bytes) return ATTN2C_MEMORY;
  return attn2c_model_team(f->session->model, &f->team);
}

/* Returns the state that stands for one of rank 0; makes it if it is new. NULL: no memory. */
static float *state_of(follower *f, uint64_t name) {
  const attn2c_continued *of = f->session->model->descriptor->continued;
  int empty = -1;
  for (int i = 0; i < STATES; i++) {
    if (f->states[i].name == name) return f->states[i].floats;
    if (f->states[i].name == 0) empty = i;
  }
  if (empty < 0 || !of) return NULL;
  float *made = attn2c_reserve((size_t)of->sequences * (size_t)of->state_floats * sizeof *made);
  if (made) f->states[empty].name = name, f->states[empty].floats = made;
  return made;
}

static void drop(follower *f, uint64_t name) {
  for (int i = 0; i < STATES; i++) {
    if (f->states[i].name != name) continue;
    attn2c_free(f->states[i].floats);
    f->states[i].name = 0, f->states[i].floats = NULL;
  }
}

/* Returns memory for an output that is wanted; NULL: no memory. */
static void *output_of(follower *f, int i, size_t bytes) {
  if (f->out[i] && f->out_bytes[i] >= bytes) return f->out[i];
  attn2c_ranks_settle(f->session->ranks); /* earlier calls write there */
  attn2c_free(f->out[i]);
  f->out[i] = attn2c_reserve(bytes > 0 ? bytes : 1);
  f->out_bytes[i] = f->out[i] ? bytes : 0;
  return f->out[i];
}

/* Returns the arena of a call. Its sums are of one kind only if it is shared, or private, on all ranks. */
static float *arena_of(follower *f, const attn2c_order *order) {
  const size_t floats = (size_t)f->session->model->descriptor->arena_floats;
  if (order->variant != ATTN2C_RUN_TRACE && !order->is_private) return f->session->arena;
  if (order->variant != ATTN2C_RUN_TRACE) {
    if (!f->arena) f->arena = attn2c_allocate(floats * sizeof(float));
    return f->arena;
  }
  if (!f->trace) f->trace = attn2c_allocate((size_t)f->session->program->trace_floats * sizeof(float));
  return f->trace;
}

static attn2c_run run_of(const follower *f, const attn2c_order *order) {
  const int own = attn2c_ranks_own(f->session->ranks);
  if (order->variant == ATTN2C_RUN_TRACE) return f->session->program->trace[order->entry];
  if (order->variant == ATTN2C_RUN_PROFILE) return attn2c_the_rank_programs[own]->profile[order->entry];
  return f->session->model->descriptor->entries[order->entry].run;
}

/* Takes `bytes` of the arguments. */
static const unsigned char *take(const unsigned char **at, size_t bytes) {
  const unsigned char *here = *at;
  *at += bytes;
  return here;
}

/* Copies numbers that may be at any address to one that fits them. */
static int32_t *numbers_of(const unsigned char **at, size_t count, int32_t **to) {
  int32_t *here = *to;
  memcpy(here, take(at, count * sizeof *here), count * sizeof *here);
  *to += count;
  return here;
}

/* Makes one call. The arguments follow each other without gaps, and inputs are copied to aligned memory. */
static int make_call(follower *f, const attn2c_order *order, const unsigned char *arguments) {
  const attn2c_descriptor *model = f->session->model->descriptor;
  const attn2c_entry *entry = &model->entries[order->entry];
  const size_t count = (size_t)order->count, windows = (size_t)attn2c_order_windows(model);
  const unsigned char *at = arguments;
  const unsigned char *has_in = take(&at, (size_t)entry->input_count);
  const unsigned char *has_out = take(&at, (size_t)entry->output_count);
  ATTN2C_OWN_ALIGNED unsigned char *copies =
      attn2c_reserve(order->bytes + ATTN2C_ALIGNMENT * ((size_t)entry->input_count + 1));
  ATTN2C_OWN void **out = calloc((size_t)entry->output_count + 1, sizeof *out);
  ATTN2C_OWN double *nanoseconds = calloc((size_t)entry->op_count + 1, sizeof *nanoseconds);
  int status = copies && out && nanoseconds ? ATTN2C_OK : ATTN2C_MEMORY;
  attn2c_call call = {.kernels = f->session->model->kernels,
                      .weights = f->session->model->weights,
                      .arena = arena_of(f, order),
                      .state = order->state ? state_of(f, order->state) : NULL,
                      .in = f->in,
                      .out = out,
                      .team = f->team,
                      .ranks = f->session->model->ranks,
                      .nanoseconds = nanoseconds};
  if (!call.arena || (order->state && !call.state)) status = ATTN2C_MEMORY;
  attn2c_sequences n = {.rows = order->rows, .count = order->count, .wanted = order->wanted};
  if (status == ATTN2C_OK) {
    int32_t *numbers = (int32_t *)(void *)copies;
    if (order->arrays & ATTN2C_HAS_SEQUENCES) n.first = numbers_of(&at, count + 1, &numbers);
    if (order->arrays & ATTN2C_HAS_PAST) n.past = numbers_of(&at, count, &numbers);
    if (order->arrays & ATTN2C_HAS_SLOT) n.slot = numbers_of(&at, count, &numbers);
    if (order->arrays & ATTN2C_HAS_SOURCE) n.source = numbers_of(&at, count, &numbers);
    if (order->arrays & ATTN2C_HAS_ORIGIN) n.origin = numbers_of(&at, count, &numbers);
    if (order->arrays & ATTN2C_HAS_FORGOTTEN) n.forgotten = numbers_of(&at, count * windows, &numbers);
    if (order->arrays & ATTN2C_HAS_SEQUENCES) call.sequences = &n;
    unsigned char *to = (unsigned char *)numbers;
    for (int i = 0; i < entry->input_count; i++) {
      const size_t bytes = has_in[i] ? attn2c_order_array(model, entry, 1, i, order) : 0;
      to += -(uintptr_t)to % ATTN2C_ALIGNMENT;
      f->in[i] = has_in[i] ? to : NULL;
      memcpy(to, take(&at, bytes), bytes);
      to += bytes;
    }
  }
  int are_wanted = 1; /* as in attn2c_model_begin */
  for (int i = 0; i < entry->output_count && status == ATTN2C_OK; i++) {
    are_wanted = are_wanted && (has_out[i] || entry->output_count == 1);
    if (has_out[i]) out[i] = output_of(f, i, attn2c_order_array(model, entry, 0, i, order));
    if (has_out[i] && !out[i]) status = ATTN2C_MEMORY;
  }
  if (status == ATTN2C_OK) run_of(f, order)(&call); /* rank 0 has the same status */
  if (!are_wanted) attn2c_ranks_settle(f->session->ranks);
  return status;
}

static int open(follower *f, attn2c_message *message) {
  if (attn2c_part_open(f->session, message) != ATTN2C_OK) return ATTN2C_OK; /* rank 0 has the same status */
  return prepare(f);
}

/* Does what an order says. A status other than ATTN2C_OK is only this rank's. */
static int obey(follower *f, const attn2c_order *order, const unsigned char *arguments,
                attn2c_message *message) {
  const attn2c_continued *of = f->session->model ? f->session->model->descriptor->continued : NULL;
  float *state;
  switch (order->kind) {
  case ATTN2C_ORDER_OPEN:
    return open(f, message);
  case ATTN2C_ORDER_CLOSE:
    forget_model(f);
    attn2c_part_close(f->session);
    return ATTN2C_OK;
  case ATTN2C_ORDER_RUN:
    return make_call(f, order, arguments);
  case ATTN2C_ORDER_DROP:
    drop(f, order->state);
    return ATTN2C_OK;
  default:
    state = state_of(f, order->state);
    if (!state) return ATTN2C_MEMORY;
    if (order->kind == ATTN2C_ORDER_FORGET) attn2c_state_forget(of, state, &order->forgetting);
    if (order->kind == ATTN2C_ORDER_COPY) attn2c_state_copy_part(of, state, &order->copying);
    return ATTN2C_OK;
  }
}

int attn2c_follow(attn2c_rank_session *session, attn2c_message *message) {
  follower f = {.session = session};
  attn2c_order *order = &session->order;
  for (;;) {
    attn2c_ranks_broadcast(session->ranks, order, sizeof *order);
    if (order->kind == ATTN2C_ORDER_END) break;
    const unsigned char *arguments = order->arguments;
    if (order->bytes > ATTN2C_ORDER_BYTES) {
      if (attn2c_order_reserve(session, order->bytes) != ATTN2C_OK)
        attn2c_ranks_end(session->ranks, ATTN2C_MEMORY, "no memory for the inputs of a call");
      attn2c_ranks_broadcast(session->ranks, session->bytes, order->bytes);
      arguments = session->bytes;
    }
    const int status = obey(&f, order, arguments, message);
    if (status != ATTN2C_OK) attn2c_ranks_end(session->ranks, status, "no memory for a call");
  }
  const int status = order->status;
  forget_model(&f);
  attn2c_part_close(session);
  return status;
}
