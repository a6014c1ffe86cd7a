/* lead.c - rank 0 of a program: gives each call of the model, and what moves its state, to the others.
 */
#include "program/ranks/order.h"

#include "base/rank_facts.h"
#include "ranks/open.h"

static void send(attn2c_rank_session *session) {
  attn2c_order *order = &session->order;
  const int is_short = order->bytes <= ATTN2C_ORDER_BYTES;
  if (is_short && order->bytes > 0) memcpy(order->arguments, session->bytes, order->bytes);
  attn2c_ranks_broadcast(session->ranks, order, sizeof *order);
  if (!is_short) attn2c_ranks_broadcast(session->ranks, session->bytes, order->bytes);
}

void attn2c_lead(attn2c_rank_session *session, attn2c_order_kind kind, int status) {
  session->order = (attn2c_order){.kind = kind, .status = status};
  send(session);
}

/* Finds the entry and the variant of a function; returns 0 if it is none of the model's. */
static int find(const attn2c_rank_session *session, attn2c_run run, attn2c_order *order) {
  const attn2c_program *whole = session->program, *own = attn2c_the_rank_programs[0];
  const attn2c_descriptor *model = session->model->descriptor;
  for (int e = 0; e < model->entry_count; e++) {
    order->entry = e;
    order->variant = ATTN2C_RUN_SHIPPED;
    if (run == model->entries[e].run || run == whole->model->entries[e].run) return 1;
    order->variant = ATTN2C_RUN_TRACE;
    if (run == whole->trace[e]) return 1;
    order->variant = ATTN2C_RUN_PROFILE;
    if (run == whole->profile[e] || run == own->profile[e]) return 1;
  }
  return 0;
}

/* Bytes that are written one after the other, or only counted. */
typedef struct {
  unsigned char *to; /* NULL: counted */
  size_t bytes;
} writer;

static void write_bytes(writer *w, const void *from, size_t bytes) {
  if (w->to && bytes > 0) memcpy(w->to + w->bytes, from, bytes);
  w->bytes += bytes;
}

/* Writes the arguments of a call: which inputs and outputs it has, its sequences, its inputs. */
static void write_call(const attn2c_rank_session *session, const attn2c_call *call, const attn2c_order *order,
                       writer *w) {
  const attn2c_descriptor *model = session->model->descriptor;
  const attn2c_entry *entry = &model->entries[order->entry];
  const attn2c_sequences *n = call->sequences;
  const size_t count = (size_t)order->count * sizeof(int32_t);
  for (int i = 0; i < entry->input_count; i++) write_bytes(w, &(char){call->in[i] != NULL}, 1);
  for (int i = 0; i < entry->output_count; i++) write_bytes(w, &(char){call->out[i] != NULL}, 1);
  if (n) write_bytes(w, n->first, count + sizeof(int32_t));
  if (n && n->past) write_bytes(w, n->past, count);
  if (n && n->slot) write_bytes(w, n->slot, count);
  if (n && n->source) write_bytes(w, n->source, count);
  if (n && n->origin) write_bytes(w, n->origin, count);
  if (n && n->forgotten) write_bytes(w, n->forgotten, count * (size_t)attn2c_order_windows(model));
  for (int i = 0; i < entry->input_count; i++)
    if (call->in[i]) write_bytes(w, call->in[i], attn2c_order_array(model, entry, 1, i, order));
}

static int lead_run(const attn2c_model *model, attn2c_run run, const attn2c_call *call) {
  attn2c_rank_session *session = model->leader;
  const attn2c_sequences *n = call->sequences;
  attn2c_order *order = &session->order;
  *order = (attn2c_order){
      .kind = ATTN2C_ORDER_RUN, .state = (uintptr_t)call->state, .is_private = call->arena != session->arena};
  if (!find(session, run, order)) return run(call); /* of no model: nobody else takes part */
  if (n) {
    order->arrays = ATTN2C_HAS_SEQUENCES | (n->past ? ATTN2C_HAS_PAST : 0) | (n->slot ? ATTN2C_HAS_SLOT : 0) |
                    (n->source ? ATTN2C_HAS_SOURCE : 0) | (n->origin ? ATTN2C_HAS_ORIGIN : 0) |
                    (n->forgotten ? ATTN2C_HAS_FORGOTTEN : 0);
    order->rows = n->rows, order->count = n->count, order->wanted = n->wanted;
  }
  writer w = {0};
  write_call(session, call, order, &w);
  if (attn2c_order_reserve(session, w.bytes) != ATTN2C_OK) return ATTN2C_MEMORY;
  order->bytes = w.bytes;
  w = (writer){.to = session->bytes};
  write_call(session, call, order, &w);
  send(session);
  return run(call);
}

static void lead_settle(const attn2c_model *model) { attn2c_ranks_settle(model->ranks); }

static void lead_forget(const attn2c_model *model, const float *state, const attn2c_forgetting *what) {
  attn2c_rank_session *session = model->leader;
  session->order =
      (attn2c_order){.kind = ATTN2C_ORDER_FORGET, .state = (uintptr_t)state, .forgetting = *what};
  send(session);
}

static void lead_copy(const attn2c_model *model, const float *state, const attn2c_copying *what) {
  attn2c_rank_session *session = model->leader;
  session->order = (attn2c_order){.kind = ATTN2C_ORDER_COPY, .state = (uintptr_t)state, .copying = *what};
  send(session);
}

static void lead_drop(const attn2c_model *model, const float *state) {
  attn2c_rank_session *session = model->leader;
  session->order = (attn2c_order){.kind = ATTN2C_ORDER_DROP, .state = (uintptr_t)state};
  send(session);
}

/* All contexts have one arena: one thread makes all calls, and none reads what an earlier one left there. */
static void *lead_allocate(const attn2c_model *model, size_t bytes) {
  (void)bytes;
  return ((attn2c_rank_session *)model->leader)->arena;
}

static void lead_free(const attn2c_model *model, void *arena) { (void)model, (void)arena; }

static void lead_close(const attn2c_model *model) {
  attn2c_rank_session *session = model->leader;
  attn2c_lead(session, ATTN2C_ORDER_CLOSE, ATTN2C_OK);
  attn2c_ranks_free(session->ranks, session->arena);
  session->arena = NULL;
  if (model->ranks != session->ranks) attn2c_ranks_close(model->ranks);
  session->model = NULL;
}

const attn2c_rank_hooks attn2c_lead_hooks = {.allocate = lead_allocate,
                                             .free = lead_free,
                                             .run = lead_run,
                                             .settle = lead_settle,
                                             .forget = lead_forget,
                                             .copy = lead_copy,
                                             .drop = lead_drop,
                                             .close = lead_close};
