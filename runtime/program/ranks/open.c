/* open.c - opens a rank's part of a model, together with all other ranks. */
#include "program/ranks/order.h"

#include "model/ranks_open.h"
#include "program/inputs.h"

static int choose(const void *arguments, const attn2c_descriptor *model, attn2c_source **source,
                  attn2c_message *message) {
  return attn2c_source_choose(arguments, model, source, message);
}

int attn2c_part_open(attn2c_rank_session *session, attn2c_message *message) {
  ATTN2C_TRY(attn2c_ranks_open_model(session->ranks, session->program->model->divided, choose,
                                     session->arguments, &session->model, message));
  const attn2c_descriptor *own = session->model->descriptor;
  session->arena = attn2c_ranks_allocate(session->ranks, (size_t)own->arena_floats * sizeof(float));
  if (!session->arena) attn2c_say(message, "no memory for the arena");
  int is_made = session->arena != NULL;
  if (session->arguments->part) { /* of all: they do not meet in calls */
    attn2c_ranks *alone = attn2c_ranks_alone(own->divided->count, own->rank);
    if (alone) session->model->ranks = alone;
    is_made = is_made && alone;
  }
  int status = attn2c_ranks_agree(session->ranks, is_made ? ATTN2C_OK : ATTN2C_MEMORY, message);
  if (status != ATTN2C_OK) attn2c_part_close(session);
  return status;
}

void attn2c_part_close(attn2c_rank_session *session) {
  attn2c_ranks_free(session->ranks, session->arena);
  session->arena = NULL;
  attn2c_model *model = session->model;
  session->model = NULL;
  if (model) model->hooks = NULL;
  if (model && model->ranks != session->ranks) attn2c_ranks_close(model->ranks);
  attn2c_model_close(model);
}

size_t attn2c_order_array(const attn2c_descriptor *model, const attn2c_entry *entry, int is_input, int i,
                          const attn2c_order *order) {
  const attn2c_tensor *tensor = &model->tensors[is_input ? entry->inputs[i] : entry->outputs[i]];
  const attn2c_lengths *lengths = attn2c_lengths_of(model, entry);
  int64_t elements = attn2c_elements(tensor);
  if (lengths) {
    const attn2c_axes *axes = is_input ? &lengths->inputs[i] : &lengths->outputs[i];
    if (axes->batch >= 0 && axes->rows >= 0)
      elements = order->rows * (elements / lengths->sizes[0].seq);
    else if (axes->batch >= 0)
      elements *= order->count;
  }
  return (size_t)elements * sizeof(float);
}

int attn2c_order_windows(const attn2c_descriptor *model) {
  return model->continued ? model->continued->window_count : 0;
}

int attn2c_order_reserve(attn2c_rank_session *session, size_t bytes) {
  if (bytes <= session->capacity) return ATTN2C_OK;
  unsigned char *longer = realloc(session->bytes, bytes);
  if (!longer) return ATTN2C_MEMORY;
  session->bytes = longer;
  session->capacity = bytes;
  return ATTN2C_OK;
}
