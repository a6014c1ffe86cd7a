/* calls.c - opens a model that continues, and gives its calls the form that runtime/generate uses.
 */
#include "program/generate/command.h"

#include "model/continue.h"
#include "model/sequences.h"
#include "program/inputs.h"
#include "program/run.h"

static int extend(void *context, int32_t count, const int32_t *sequences, const int32_t *counts,
                  const int32_t *ids, int all, float *logits) {
  return attn2c_extend(context, count, sequences, counts, ids, all ? ATTN2C_LOGITS_ALL : ATTN2C_LOGITS_LAST,
                       logits);
}

static int32_t position(const void *context, int32_t sequence) {
  return (int32_t)attn2c_position(context, sequence);
}

static int rewind_to(void *context, int32_t sequence, int32_t at) {
  return attn2c_rewind(context, sequence, at);
}

static int copy(void *context, int32_t from, int32_t to) { return attn2c_sequence_copy(context, from, to); }

int64_t attn2c_continuing_vocabulary(const attn2c_descriptor *model) { return attn2c_logits_width(model); }

int attn2c_continuing_open(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *notes,
                           attn2c_continuing *made, attn2c_message *message) {
  int status = attn2c_run_open(model, arguments, notes, &made->opened, message);
  if (status != ATTN2C_OK) return status;
  status = attn2c_sequences_create(made->opened, &made->context);
  if (status != ATTN2C_OK) {
    attn2c_say(message, "no memory for the keys and values of %lld sequences",
               (long long)model->continued->sequences);
    return status;
  }
  made->calls = (attn2c_calls){.context = made->context,
                               .vocabulary = (int32_t)attn2c_logits_width(model),
                               .tokens = (int32_t)model->lengths->sizes[0].seq,
                               .sequences = (int32_t)model->continued->sequences,
                               .extend = extend,
                               .position = position,
                               .rewind = rewind_to,
                               .copy = copy};
  return status;
}

void attn2c_continuing_close(attn2c_continuing *made) {
  attn2c_context_destroy(made->context);
  attn2c_model_close(made->opened);
}
