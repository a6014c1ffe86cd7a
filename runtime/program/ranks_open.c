/* ranks_open.c - opens a rank's part of a model, together with all other ranks. */
#include "program/ranks_order.h"

#include <stdlib.h>

#include "base/checksum.h"
#include "program/inputs.h"

/* True if all ranks have the whole of a weight. */
static int is_undivided(const attn2c_divided *divided, int weight) {
  const attn2c_descriptor *first = divided->ranks[0];
  const int64_t elements = attn2c_elements(&first->tensors[first->weights[weight].tensor]);
  for (int r = 0; r < divided->count; r++) {
    const attn2c_descriptor *model = divided->ranks[r];
    const attn2c_slice *slice = &model->slices[weight];
    if (slice->row != 0 || slice->column != 0 || slice->is_zero) return 0;
    if (attn2c_elements(&model->tensors[model->weights[weight].tensor]) != elements) return 0;
  }
  return 1;
}

/* Adds the first row of each weight to a checksum; all of a vector. of: NULL, or only weights that all its
 * ranks have whole. */
static int add_rows(attn2c_source *source, const attn2c_descriptor *model, const attn2c_divided *of,
                    uint64_t *sum, attn2c_message *message) {
  int status = ATTN2C_OK;
  for (int w = 0; w < model->weight_count && status == ATTN2C_OK; w++) {
    const attn2c_tensor *tensor = &model->tensors[model->weights[w].tensor];
    const int64_t rows = tensor->rank == 1 ? tensor->shape[0] : 1;
    const int64_t width = attn2c_elements(tensor) / tensor->shape[0];
    if (model->weights[w].formula || attn2c_scaled_by(model, w) >= 0 || (of && !is_undivided(of, w)))
      continue;
    float *values = attn2c_reserve((size_t)(rows * width) * sizeof *values);
    if (!values) return ATTN2C_MEMORY;
    status = attn2c_source_read_rows(source, w, 0, rows, values, message);
    *sum = attn2c_checksum(*sum, values, (size_t)(rows * width) * sizeof *values);
    attn2c_free(values);
  }
  return status;
}

/* Computes a number that tells weights from others: from those that all ranks have, and from the first rows
 * of all weights of a checkpoint. */
static int identify(attn2c_rank_session *session, attn2c_source *source, uint64_t *sum,
                    attn2c_message *message) {
  const attn2c_descriptor *own = session->model->descriptor, *whole = session->program->model;
  *sum = 0;
  int status = add_rows(source, own, own->divided, sum, message);
  if (status != ATTN2C_OK || attn2c_source_packed(source)) return status;
  attn2c_source *of_all;
  status = attn2c_source_choose(session->arguments, whole, &of_all, message);
  if (status != ATTN2C_OK) return status;
  status = add_rows(of_all, whole, NULL, sum, message);
  attn2c_source_close(of_all);
  return status;
}

static int open_own(attn2c_rank_session *session, uint64_t *identity, attn2c_message *message) {
  const attn2c_divided *divided = session->program->model->divided;
  const attn2c_descriptor *own = divided->ranks[attn2c_ranks_own(session->ranks)];
  attn2c_source *source;
  int status = attn2c_source_choose(session->arguments, own, &source, message);
  if (status != ATTN2C_OK) return status;
  status = attn2c_model_open(own, source, &session->model, message);
  if (status == ATTN2C_OK) status = identify(session, source, identity, message);
  attn2c_source_close(source);
  return status;
}

int attn2c_part_open(attn2c_rank_session *session, attn2c_message *message) {
  uint64_t identity = 0;
  int status = open_own(session, &identity, message);
  status = attn2c_ranks_agree(session->ranks, status, message);
  if (status == ATTN2C_OK) status = attn2c_ranks_compare(session->ranks, identity, "weights", message);
  if (status == ATTN2C_OK) {
    const attn2c_descriptor *own = session->model->descriptor;
    session->arena = attn2c_ranks_allocate(session->ranks, (size_t)own->arena_floats * sizeof(float));
    if (!session->arena) attn2c_say(message, "no memory for the arena");
    status = attn2c_ranks_agree(session->ranks, session->arena ? ATTN2C_OK : ATTN2C_MEMORY, message);
  }
  if (status == ATTN2C_OK) {
    session->model->ranks = session->ranks;
    return ATTN2C_OK;
  }
  attn2c_part_close(session);
  return status;
}

void attn2c_part_close(attn2c_rank_session *session) {
  attn2c_ranks_free(session->ranks, session->arena);
  session->arena = NULL;
  attn2c_model *model = session->model;
  session->model = NULL;
  if (model) model->hooks = NULL;
  attn2c_model_close(model);
}

size_t attn2c_order_array(const attn2c_descriptor *model, const attn2c_entry *entry, int is_input, int i,
                          const attn2c_order *order) {
  const attn2c_tensor *tensor = &model->tensors[is_input ? entry->inputs[i] : entry->outputs[i]];
  int64_t elements = attn2c_elements(tensor);
  if (model->is_open) {
    const attn2c_axes *axes = is_input ? &model->lengths->inputs[i] : &model->lengths->outputs[i];
    if (axes->batch >= 0 && axes->rows >= 0)
      elements = order->rows * (elements / model->lengths->sizes[0].seq);
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
