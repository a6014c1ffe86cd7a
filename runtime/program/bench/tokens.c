/* tokens.c - lists and makes the calls of a model that continues that `bench` times. */
#include "program/bench/bench.h"

#include "model/continue.h"

/* Tokens of a prompt and of a short one, and before those that are decoded. */
enum { PROMPT = 512, SHORT_PROMPT = 16, LATER = 1000 };

/* Rows of a source, unless the longest is shorter: a sentence. */
enum { SOURCE = 32 };

/* Tokens that are added again with the one after them, to compare its logits. */
enum { BACK = 7 };

int attn2c_bench_tokens_list(const attn2c_descriptor *model, int64_t length, int32_t *ids,
                             attn2c_bench_tokens list[ATTN2C_BENCH_TOKEN_CALLS]) {
  const int64_t context = model->lengths->sizes[0].seq, sequences = model->continued->sequences;
  const int64_t prompt = length > 0 ? length : attn2c_lesser(PROMPT, context);
  const int64_t later = length > 0        ? attn2c_lesser(length, context - 1)
                        : context > LATER ? LATER
                                          : context / 2;
  int count = 0;
  list[count++] = (attn2c_bench_tokens){"prefill", 1, 0, prompt, ids};
  list[count++] = (attn2c_bench_tokens){"first token", 1, 0, attn2c_lesser(SHORT_PROMPT, context), ids};
  for (int64_t together = 1; together > 0; together = together < sequences ? sequences : 0) {
    list[count++] = (attn2c_bench_tokens){"decode", together, 0, 1, ids};
    if (later > 0) list[count++] = (attn2c_bench_tokens){"decode", together, later, 1, ids};
  }
  return count;
}

void attn2c_bench_tokens_label(const attn2c_bench_tokens *of, char *label, size_t size) {
  if (of->count > 1 || of->name[0] != 'd')
    snprintf(label, size, "%s (%lld token%s)", of->name, (long long)of->count, of->count == 1 ? "" : "s");
  else if (of->sequences == 1)
    snprintf(label, size, "%s (position %lld)", of->name, (long long)of->position);
  else
    snprintf(label, size, "%s (%lld sequences, position %lld)", of->name, (long long)of->sequences,
             (long long)of->position);
}

int64_t attn2c_bench_tokens_rows_of_source(const attn2c_descriptor *model) {
  if (!attn2c_encode_entry(model)) return 0;
  const attn2c_lengths *lengths = model->continued->source_lengths;
  return lengths->least > SOURCE ? lengths->least : attn2c_lesser(SOURCE, lengths->sizes[0].seq);
}

int attn2c_bench_tokens_source(attn2c_context *context, const void *const *inputs) {
  const attn2c_descriptor *model = context->model->descriptor;
  const int32_t first = 0, rows = (int32_t)attn2c_bench_tokens_rows_of_source(model);
  return model->continued->encode(context, 1, &first, &rows, inputs);
}

int attn2c_bench_tokens_prepare(attn2c_context *context, const attn2c_bench_tokens *of) {
  int64_t have = attn2c_position(context, 0);
  if (have > of->position) ATTN2C_TRY(attn2c_rewind(context, 0, have = of->position));
  if (have < of->position)
    ATTN2C_TRY(attn2c_prefill(context, 0, of->ids + have, of->position - have, ATTN2C_LOGITS_LAST, NULL));
  for (int64_t i = 1; i < of->sequences; i++) ATTN2C_TRY(attn2c_sequence_copy(context, 0, i, 0));
  return ATTN2C_OK;
}

int attn2c_bench_tokens_call(attn2c_context *context, const attn2c_bench_tokens *of, float *logits) {
  int32_t sequences[ATTN2C_MOST_SEQUENCES], ids[ATTN2C_MOST_SEQUENCES];
  for (int64_t i = 0; i < of->sequences; i++) {
    ATTN2C_TRY(attn2c_rewind(context, i, of->position));
    sequences[i] = (int32_t)i, ids[i] = of->ids[of->position];
  }
  if (of->count > 1)
    return attn2c_prefill(context, 0, of->ids + of->position, of->count, ATTN2C_LOGITS_LAST, logits);
  return attn2c_decode(context, of->sequences, sequences, ids, logits);
}

int attn2c_bench_tokens_otherwise(attn2c_context *context, const attn2c_bench_tokens *of, float *logits) {
  const int64_t width = attn2c_logits_width(context->model->descriptor);
  const int64_t last = of->position + of->count - 1, back = attn2c_lesser(last, BACK);
  for (int64_t i = 0; i < of->sequences; i++) {
    ATTN2C_TRY(attn2c_rewind(context, i, last - back));
    ATTN2C_TRY(
        attn2c_prefill(context, i, of->ids + last - back, back + 1, ATTN2C_LOGITS_LAST, logits + i * width));
  }
  return ATTN2C_OK;
}

int attn2c_bench_tokens_rows(const attn2c_descriptor *model, const int32_t *origins,
                             const attn2c_bench_tokens *of, attn2c_bench_token_rows *rows) {
  if (of->count > model->continued->call_rows) return 0;
  rows->first[0] = 0;
  for (int i = 0; i < of->sequences; i++) {
    rows->first[i + 1] = (int32_t)((i + 1) * of->count);
    rows->past[i] = (int32_t)of->position, rows->slot[i] = i, rows->ids[i] = of->ids[of->position];
    rows->source[i] = (int32_t)attn2c_bench_tokens_rows_of_source(model);
    rows->adapters[i] = 0;
  }
  rows->in[0] = of->count > 1 ? of->ids + of->position : rows->ids;
  rows->in[1] = rows->adapters;
  rows->n = (attn2c_sequences){.rows = of->sequences * of->count,
                               .count = of->sequences,
                               .first = rows->first,
                               .past = rows->past,
                               .slot = rows->slot,
                               .source = rows->source,
                               .origin = origins,
                               .wanted = of->count > 1 ? of->count - 1 : 0};
  return 1;
}
