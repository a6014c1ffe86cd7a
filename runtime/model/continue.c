/* continue.c - divides the tokens of a sequence into calls, and keeps the positions of a context's sequences.
 */
#include "model/continue.h"
#include "base/generation.h"
#include "model/sequences.h"
#include "model/state.h"

/* Returns how a context's model continues, or NULL. */
static const attn2c_continued *continued_of(const attn2c_context *context) {
  return context ? context->model->descriptor->continued : NULL;
}

static int has_sequence(const attn2c_context *context, int64_t sequence) {
  const attn2c_continued *of = continued_of(context);
  return of && sequence >= 0 && sequence < of->sequences;
}

/* True if a sequence has the source that its tokens read, or if the model has no encoder. */
static int has_source(const attn2c_context *context, int64_t sequence) {
  const int source = continued_of(context)->source;
  return !source || *attn2c_state_grown(context, source, sequence) > 0;
}

/* Returns how a context continues whose calls may begin, or NULL. */
static const attn2c_continued *prepared(const attn2c_context *context) {
  const attn2c_continued *of = continued_of(context);
  return of && context->open ? of : NULL;
}

/* Checks that tokens are in the vocabulary. */
static int check_ids(const attn2c_context *context, const int32_t *ids, int64_t count) {
  const attn2c_descriptor *model = context->model->descriptor;
  const attn2c_entry *entry = attn2c_primary_entry(model);
  const attn2c_tensor *tensor = &model->tensors[entry->inputs[0]];
  for (int64_t i = 0; i < count; i++)
    if (ids[i] < tensor->minimum || ids[i] >= tensor->limit) return ATTN2C_FORMAT;
  return ATTN2C_OK;
}

/* Tokens that are added to several sequences. */
typedef struct {
  attn2c_context *context;
  int64_t count; /* sequences */
  const int32_t *sequences, *ids;
  void *const *outputs; /* of the entry; NULL: `logits` is the only one that may be wanted */
  float *logits;
  int is_of_all;   /* 1: outputs are of all tokens, 0: of the last one of each sequence */
  int64_t written; /* rows of outputs that calls have written */
  /* By sequence: its first in ids, and one more; tokens that calls added; the last call's. */
  int64_t first[ATTN2C_MOST_SEQUENCES + 1], done[ATTN2C_MOST_SEQUENCES], last[ATTN2C_MOST_SEQUENCES];
} extension;

/* Returns where a call writes an output of the entry, or NULL. */
static void *output_of(const extension *e, int i) {
  const attn2c_continued *of = continued_of(e->context);
  const attn2c_descriptor *model = e->context->model->descriptor;
  const int64_t elements = attn2c_elements(&model->tensors[attn2c_primary_entry(model)->outputs[i]]);
  float *begin = e->outputs ? e->outputs[i] : i == of->logits ? e->logits : NULL;
  return begin ? begin + e->written * (elements / of->symbols[0].most) : NULL;
}

/* Checks the sequences and their tokens, and numbers the tokens. */
static int begin(extension *e, const int32_t *counts) {
  const attn2c_continued *of = continued_of(e->context);
  uint8_t seen[ATTN2C_MOST_SEQUENCES] = {0};
  int is_full = 0, is_missing = 0;
  for (int64_t i = 0; i < e->count; i++) {
    const int32_t sequence = e->sequences[i];
    const int64_t tokens = counts ? counts[i] : 1;
    if (!has_sequence(e->context, sequence) || seen[sequence]++ || tokens < 1) return ATTN2C_USAGE;
    e->first[i + 1] = e->first[i] + tokens;
    is_missing = is_missing || !has_source(e->context, sequence);
    is_full = is_full || tokens > of->symbols[0].most - e->context->positions[sequence];
  }
  if (is_missing) return ATTN2C_USAGE;
  return is_full ? ATTN2C_FORMAT : check_ids(e->context, e->ids, e->first[e->count]);
}

/* Makes one call, of the next rows[i] tokens of each sequence i; none are left out. The sequence `head` comes
 * first. The outputs of rows from `wanted` on are written. */
static int call_entry(extension *e, const int64_t *rows, int64_t head, int64_t wanted) {
  attn2c_context *context = e->context;
  const attn2c_descriptor *model = context->model->descriptor;
  const attn2c_entry *entry = attn2c_primary_entry(model);
  int32_t adapters[ATTN2C_MOST_SEQUENCES],
      first[ATTN2C_MOST_SEQUENCES + 1] = {0}, past[ATTN2C_MOST_SEQUENCES], slot[ATTN2C_MOST_SEQUENCES];
  int32_t source[ATTN2C_MOST_SEQUENCES], origin[ATTN2C_MOST_SEQUENCES], *ids = attn2c_sequences_ids(context);
  const int of_source = model->continued->source, of_adapter = model->continued->adapter;
  attn2c_sequences n = {
      .first = first, .past = past, .slot = slot, .source = source, .origin = origin, .wanted = wanted};
  for (int64_t at = 0; at < e->count; at++) {
    const int64_t i = at == 0 ? head : at - (at <= head);
    if (rows[i] == 0) continue;
    memcpy(ids + n.rows, e->ids + e->first[i] + e->done[i], (size_t)rows[i] * sizeof *ids);
    slot[n.count] = e->sequences[i];
    past[n.count] = (int32_t)(context->positions[slot[n.count]] + e->done[i]);
    source[n.count] = of_source ? *attn2c_state_grown(context, of_source, slot[n.count]) : 0;
    origin[n.count] = context->origins[slot[n.count]];
    adapters[n.count] = of_adapter ? *attn2c_state_grown(context, of_adapter, slot[n.count]) : 0;
    n.rows += rows[i], n.count++;
    first[n.count] = (int32_t)n.rows;
    e->done[i] += rows[i];
  }
  const void *const in[] = {ids, adapters};
  void **out = attn2c_sequences_outputs(context);
  for (int i = 0; i < entry->output_count; i++) out[i] = output_of(e, i);
  e->written += n.rows - wanted;
  n.forgotten = attn2c_state_room(context, &n);
  attn2c_call call = attn2c_context_call(context, in, out);
  call.sequences = &n;
  entry = attn2c_entry_of_call(model, entry, in, n.count);
  return attn2c_model_begin(context->model, entry, entry->run, &call);
}

/* Makes the calls of all tokens that are not in e->last, in their order. */
static int call_first(extension *e) {
  const attn2c_continued *of = continued_of(e->context);
  const attn2c_entry *entry = attn2c_primary_entry(e->context->model->descriptor);
  int is_wanted = 0; /* of all rows, or of none */
  for (int i = 0; i < entry->output_count && e->is_of_all; i++) is_wanted = is_wanted || output_of(e, i);
  for (;;) {
    int64_t rows[ATTN2C_MOST_SEQUENCES], all = 0;
    for (int64_t i = 0; i < e->count; i++) {
      const int64_t left = e->first[i + 1] - e->first[i] - e->done[i] - e->last[i],
                    free = of->call_rows - all;
      rows[i] = left < free ? left : free;
      all += rows[i];
    }
    if (all == 0) return ATTN2C_OK;
    ATTN2C_TRY(call_entry(e, rows, 0, is_wanted ? 0 : all));
  }
}

/* Plans the last call, which gives the logits of each sequence's last token. A call gives the logits of its
 * last rows. So it has one row of each sequence, but more rows of the longest, its head, whose rows come
 * first. These fill the call as far as all tokens need. Returns the head's number. */
static int64_t plan_last(extension *e) {
  const int64_t call_rows = continued_of(e->context)->call_rows;
  int64_t head = 0, most = 0, rows = (e->first[e->count] - 1) % call_rows + 1;
  for (int64_t i = 0; i < e->count; i++) {
    const int64_t tokens = e->first[i + 1] - e->first[i];
    if (tokens > most) head = i, most = tokens;
    e->last[i] = 1;
  }
  if (rows > e->count - 1 + most) rows = e->count - 1 + most;
  if (rows > e->count) e->last[head] = rows - (e->count - 1);
  return head;
}

/* Moves the first row of logits after the `after` rows that follow it. */
static void move_row(float *logits, int64_t after, int64_t width) {
  for (int64_t i = 0; i < after * width; i++) {
    const float value = logits[i];
    logits[i] = logits[i + width];
    logits[i + width] = value;
  }
}

static int call_all(extension *e) {
  if (!e->logits || e->is_of_all) return call_first(e);
  const int64_t head = plan_last(e);
  int status = call_first(e);
  if (status == ATTN2C_OK) status = call_entry(e, e->last, head, e->last[head] - 1);
  if (status == ATTN2C_OK && head > 0) {
    attn2c_model_settle(e->context->model);
    move_row(e->logits, head, attn2c_logits_width(e->context->model->descriptor));
  }
  return status;
}

static int extend(extension *e, const int32_t *counts) {
  const attn2c_continued *of = prepared(e->context);
  if (!of || !e->sequences || !e->ids || e->count < 1 || e->count > of->sequences) return ATTN2C_USAGE;
  ATTN2C_TRY(begin(e, counts));
  int status = call_all(e);
  attn2c_model_settle(e->context->model);
  for (int64_t i = 0; i < e->count && status == ATTN2C_OK; i++)
    e->context->positions[e->sequences[i]] += (int32_t)e->done[i];
  return status;
}

int attn2c_extend(attn2c_context *context, int64_t count, const int32_t *sequences, const int32_t *counts,
                  const int32_t *ids, attn2c_which_logits which, float *logits) {
  extension e = {.context = context,
                 .count = count,
                 .sequences = sequences,
                 .ids = ids,
                 .logits = logits,
                 .is_of_all = which == ATTN2C_LOGITS_ALL};
  return extend(&e, counts);
}

int attn2c_extend_outputs(attn2c_context *context, int64_t count, const int32_t *sequences,
                          const int32_t *counts, const int32_t *ids, void *const *outputs) {
  extension e = {.context = context,
                 .count = count,
                 .sequences = sequences,
                 .ids = ids,
                 .outputs = outputs,
                 .is_of_all = 1};
  return extend(&e, counts);
}

int64_t attn2c_position(const attn2c_context *context, int64_t sequence) {
  return has_sequence(context, sequence) ? context->positions[sequence] : -1;
}

int attn2c_set_adapter(attn2c_context *context, int64_t sequence, int64_t adapter) {
  const int symbol = has_sequence(context, sequence) ? continued_of(context)->adapter : 0;
  int32_t *own = symbol ? attn2c_state_grown(context, symbol, sequence) : NULL;
  if (!own) return has_sequence(context, sequence) && adapter == 0 ? ATTN2C_OK : ATTN2C_USAGE;
  const int is_known = adapter >= 0 && adapter <= continued_of(context)->symbols[symbol].most;
  if (*own == adapter) return ATTN2C_OK;
  if (!is_known || context->positions[sequence] > 0) return ATTN2C_USAGE;
  *own = (int32_t)adapter;
  const int source = continued_of(context)->source;
  if (source) *attn2c_state_grown(context, source, sequence) = 0;
  return ATTN2C_OK;
}

int attn2c_rewind(attn2c_context *context, int64_t sequence, int64_t position) {
  if (!has_sequence(context, sequence) || position < 0 || position > context->positions[sequence])
    return ATTN2C_USAGE;
  if (!attn2c_state_has(context, sequence, position)) return ATTN2C_USAGE;
  context->positions[sequence] = (int32_t)position;
  return ATTN2C_OK;
}

/* Copies the first `most` tokens, from `same` on; of a model with windows all. */
static int copy_part(attn2c_context *context, int64_t from, int64_t to, int64_t same, int64_t most) {
  if (!has_sequence(context, from) || !has_sequence(context, to)) return ATTN2C_USAGE;
  if (same < 0 || same > context->positions[from] || same > context->positions[to]) return ATTN2C_USAGE;
  attn2c_state_copy(context, from, to, same, most);
  return ATTN2C_OK;
}

int attn2c_sequence_copy(attn2c_context *context, int64_t from, int64_t to, int64_t same) {
  return copy_part(context, from, to, same, INT32_MAX);
}

static int extend_any(void *context, int32_t count, const int32_t *sequences, const int32_t *counts,
                      const int32_t *ids, int all, float *logits) {
  return attn2c_extend(context, count, sequences, counts, ids, all ? ATTN2C_LOGITS_ALL : ATTN2C_LOGITS_LAST,
                       logits);
}

static int32_t position_of_any(const void *context, int32_t sequence) {
  return (int32_t)attn2c_position(context, sequence);
}

static int rewind_any(void *context, int32_t sequence, int32_t at) {
  return attn2c_rewind(context, sequence, at);
}

static int adapt_any(void *context, int32_t sequence, int32_t adapter) {
  return attn2c_set_adapter(context, sequence, adapter);
}

static int copy_any(void *context, int32_t from, int32_t to, int32_t same, int32_t most) {
  return copy_part(context, from, to, same, most);
}

static int encode_any(void *context, int32_t count, const int32_t *sequences, const int32_t *counts,
                      const int32_t *ids) {
  const void *const inputs[] = {ids, NULL}; /* sequences have their adapters */
  return continued_of(context)->encode(context, count, sequences, counts, inputs);
}

attn2c_calls attn2c_continued_calls(attn2c_context *context) {
  const attn2c_descriptor *model = context->model->descriptor;
  const attn2c_entry *encode = attn2c_encode_entry(model);
  const attn2c_tensor *read = encode ? &model->tensors[encode->inputs[0]] : NULL;
  const attn2c_lengths *sources = model->continued->source_lengths;
  const int is_ids = read && read->type == ATTN2C_I32;
  const int may_read =
      is_ids || (read && sources->least == sources->sizes[0].seq); /* others are of any size */
  const attn2c_generation *stated = model->continued->generation;
  return (attn2c_calls){.context = context,
                        .encode = may_read ? encode_any : NULL,
                        .source = may_read ? (int32_t)sources->sizes[0].seq : 0,
                        .source_values = may_read && !is_ids ? attn2c_elements(read) : 0,
                        .start = stated ? stated->start_tokens : NULL,
                        .start_count = stated ? stated->start_count : 0,
                        .vocabulary = (int32_t)attn2c_logits_width(model),
                        .tokens = (int32_t)model->lengths->sizes[0].seq,
                        .sequences = (int32_t)model->continued->sequences,
                        .rows = (int32_t)model->continued->call_rows,
                        .extend = extend_any,
                        .position = position_of_any,
                        .rewind = rewind_any,
                        .adapt = model->continued->adapter ? adapt_any : NULL,
                        .copy = copy_any,
                        .log_softmax = model->continued->log_softmax};
}

int attn2c_run_anew(attn2c_context *context, int64_t count, const int32_t *each, int64_t seq,
                    const void *const *inputs, void *const *outputs) {
  const attn2c_continued *of = continued_of(context);
  const int32_t *ids = inputs[0], *adapters = of->adapter ? inputs[1] : NULL;
  int32_t slots[ATTN2C_MOST_SEQUENCES], counts[ATTN2C_MOST_SEQUENCES];
  int64_t written = 0;
  if (of->source && count > of->sequences) return ATTN2C_USAGE;
  for (int64_t i = 0; of->source && i < count; i++) {
    const int is_other = adapters && adapters[i] != *attn2c_state_grown(context, of->adapter, i);
    if (!has_source(context, i) || is_other) return ATTN2C_USAGE;
  }
  memset(context->positions, 0, (size_t)of->sequences * sizeof *context->positions);
  for (int64_t done = 0, together; done < count; done += together) {
    together = count - done < of->sequences ? count - done : of->sequences;
    for (int i = 0; i < together; i++) slots[i] = i, counts[i] = each ? each[done + i] : (int32_t)seq;
    for (int i = 0; of->adapter && !of->source && i < together; i++) {
      context->positions[i] = 0;
      if (attn2c_set_adapter(context, i, adapters ? adapters[done + i] : 0)) return ATTN2C_FORMAT;
    }
    extension e = {.context = context,
                   .count = together,
                   .sequences = slots,
                   .ids = ids,
                   .outputs = outputs,
                   .is_of_all = 1,
                   .written = written};
    ATTN2C_TRY(begin(&e, counts));
    ATTN2C_TRY(call_first(&e));
    ids += e.first[together], written += e.first[together];
  }
  return ATTN2C_OK;
}
