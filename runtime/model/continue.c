/* continue.c - divides the tokens of a sequence into calls, and keeps the positions of a context's sequences.
 */
#include "model/continue.h"
#include "model/sequences.h"
#include "model/state.h"

#include <string.h>

/* Returns how a context's model continues, or NULL. */
static const attn2c_continued *continued_of(const attn2c_context *context) {
  return context ? context->model->descriptor->continued : NULL;
}

static int has_sequence(const attn2c_context *context, int64_t sequence) {
  const attn2c_continued *of = continued_of(context);
  return of && sequence >= 0 && sequence < of->sequences;
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

/* Returns the first of a call's rows whose logits are wanted; `rows` if none are. */
static int64_t first_wanted(attn2c_which_logits which, const float *logits, int64_t rows, int is_last_call) {
  if (!logits) return rows;
  if (which == ATTN2C_LOGITS_ALL) return 0;
  return is_last_call ? rows - 1 : rows;
}

/* Begins one call of the entry, for the logits of the rows from n->wanted on. */
static int call_entry(attn2c_context *context, const attn2c_sequences *n, const int32_t *ids, float *logits) {
  const attn2c_entry *entry = attn2c_primary_entry(context->model->descriptor);
  const attn2c_continued *of = continued_of(context);
  const void *const in[] = {ids};
  void **out = attn2c_sequences_outputs(context);
  for (int i = 0; i < entry->output_count; i++) out[i] = i == of->logits ? logits : NULL;
  attn2c_call call = attn2c_context_call(context, in, out);
  call.sequences = n;
  return attn2c_model_begin(context->model, entry, entry->run, &call);
}

/* Makes the calls of some tokens of a sequence. */
static int call_chunks(attn2c_context *context, int64_t sequence, const int32_t *ids, int64_t count,
                       attn2c_which_logits which, float *logits) {
  const attn2c_continued *of = continued_of(context);
  const int64_t width = attn2c_logits_width(context->model->descriptor);
  const int64_t before = context->positions[sequence];
  const int32_t slot[] = {(int32_t)sequence};
  for (int64_t done = 0; done < count;) {
    const int64_t rows = count - done < of->call_rows ? count - done : of->call_rows;
    const int32_t first[] = {0, (int32_t)rows}, past[] = {(int32_t)(before + done)};
    attn2c_sequences n = {.rows = rows,
                          .count = 1,
                          .first = first,
                          .past = past,
                          .slot = slot,
                          .wanted = first_wanted(which, logits, rows, done + rows == count)};
    n.forgotten = attn2c_state_room(context, &n);
    float *to = logits && which == ATTN2C_LOGITS_ALL ? logits + done * width : logits;
    const int status = call_entry(context, &n, ids + done, to);
    if (status != ATTN2C_OK) return status;
    done += rows;
  }
  return ATTN2C_OK;
}

int attn2c_prefill(attn2c_context *context, int64_t sequence, const int32_t *ids, int64_t count,
                   attn2c_which_logits which, float *logits) {
  const attn2c_continued *of = prepared(context);
  if (!of || !has_sequence(context, sequence) || !ids || count < 1) return ATTN2C_USAGE;
  const int64_t before = context->positions[sequence];
  if (count > of->symbols[0].most - before || check_ids(context, ids, count) != ATTN2C_OK)
    return ATTN2C_FORMAT;
  const int status = call_chunks(context, sequence, ids, count, which, logits);
  attn2c_model_settle(context->model);
  if (status != ATTN2C_OK) return status;
  context->positions[sequence] = (int32_t)(before + count);
  return ATTN2C_OK;
}

int attn2c_decode(attn2c_context *context, int64_t count, const int32_t *sequences, const int32_t *ids,
                  float *logits) {
  const attn2c_continued *of = prepared(context);
  if (!of || !sequences || !ids || count < 1 || count > of->sequences) return ATTN2C_USAGE;
  int32_t first[ATTN2C_MOST_SEQUENCES + 1], past[ATTN2C_MOST_SEQUENCES], slot[ATTN2C_MOST_SEQUENCES];
  uint32_t seen = 0;
  first[0] = 0;
  for (int64_t i = 0; i < count; i++) {
    if (!has_sequence(context, sequences[i]) || seen >> sequences[i] & 1) return ATTN2C_USAGE;
    seen |= (uint32_t)1 << sequences[i];
    first[i + 1] = (int32_t)(i + 1), slot[i] = sequences[i], past[i] = context->positions[sequences[i]];
    if (past[i] >= of->symbols[0].most) return ATTN2C_FORMAT;
  }
  if (check_ids(context, ids, count) != ATTN2C_OK) return ATTN2C_FORMAT;
  attn2c_sequences n = {.rows = count,
                        .count = count,
                        .first = first,
                        .past = past,
                        .slot = slot,
                        .wanted = logits ? 0 : count};
  n.forgotten = attn2c_state_room(context, &n);
  const int status = call_entry(context, &n, ids, logits);
  attn2c_model_settle(context->model);
  for (int64_t i = 0; i < count && status == ATTN2C_OK; i++) context->positions[sequences[i]]++;
  return status;
}

int64_t attn2c_position(const attn2c_context *context, int64_t sequence) {
  return has_sequence(context, sequence) ? context->positions[sequence] : -1;
}

int attn2c_rewind(attn2c_context *context, int64_t sequence, int64_t position) {
  if (!has_sequence(context, sequence) || position < 0 || position > context->positions[sequence])
    return ATTN2C_USAGE;
  if (!attn2c_state_has(context, sequence, position)) return ATTN2C_USAGE;
  context->positions[sequence] = (int32_t)position;
  return ATTN2C_OK;
}

int attn2c_copy(attn2c_context *context, int64_t from, int64_t to) {
  if (!has_sequence(context, from) || !has_sequence(context, to)) return ATTN2C_USAGE;
  attn2c_state_copy(context, from, to);
  return ATTN2C_OK;
}

/* Runs the rows [done, done + rows) of one sequence, or several whole sequences of which each is new. */
static int run_part(attn2c_context *context, attn2c_call_place at, int64_t count, const int32_t *first,
                    int64_t past, const void *const *inputs, void *const *outputs) {
  int32_t pasts[ATTN2C_MOST_SEQUENCES] = {0}, slots[ATTN2C_MOST_SEQUENCES];
  for (int i = 0; i < count; i++) slots[i] = i;
  pasts[0] = (int32_t)past;
  attn2c_sequences n = {.rows = first[count], .count = count, .first = first, .past = pasts, .slot = slots};
  const int output_count = attn2c_primary_entry(context->model->descriptor)->output_count;
  int is_any_wanted = 0; /* of all rows, or of none */
  for (int i = 0; i < output_count; i++) is_any_wanted = is_any_wanted || outputs[i];
  if (!is_any_wanted) n.wanted = n.rows;
  n.forgotten = attn2c_state_room(context, &n);
  return attn2c_sequences_call(context, at, &n, inputs, outputs);
}

int attn2c_run_anew(attn2c_context *context, int64_t count, const int32_t *each, int64_t seq,
                    const void *const *inputs, void *const *outputs) {
  const attn2c_continued *of = continued_of(context);
  attn2c_call_place at = {0, 0};
  memset(context->positions, 0, (size_t)of->sequences * sizeof *context->positions);
  while (at.sequences < count) {
    int32_t first[ATTN2C_MOST_SEQUENCES + 1] = {0};
    int64_t together = 0;
    while (together < of->sequences && at.sequences + together < count) {
      const int64_t rows = each ? each[at.sequences + together] : seq;
      if (first[together] + rows > of->call_rows) break;
      first[together + 1] = (int32_t)(first[together] + rows);
      together++;
    }
    int status = ATTN2C_OK;
    if (together > 0) {
      status = run_part(context, at, together, first, 0, inputs, outputs);
      at.rows += first[together], at.sequences += together;
    }
    const int64_t longer = together > 0 ? 0 : each ? each[at.sequences] : seq;
    for (int64_t done = 0; done < longer && status == ATTN2C_OK;) {
      const int64_t rows = longer - done < of->call_rows ? longer - done : of->call_rows;
      first[1] = (int32_t)rows;
      status = run_part(context, at, 1, first, done, inputs, outputs);
      at.rows += rows, done += rows;
    }
    at.sequences += longer > 0;
    if (status != ATTN2C_OK) return status;
  }
  return ATTN2C_OK;
}
