/* projected_read.c - reads what a table of projected distances is made of, and makes it. */
#include "weights/source.h"

/* Reads a whole weight without factors; index -1 reads nothing. */
static int read_whole(attn2c_source *source, int index, float *values, attn2c_message *message) {
  if (index < 0) return ATTN2C_OK;
  return attn2c_source_read_plain(source, index, 0, attn2c_source_tensor(source, index)->shape[0], values,
                                  message);
}

/* Returns the number of floats that a weight has; 0 for index -1. */
static size_t floats_of(const attn2c_source *source, int index) {
  return index < 0 ? 0 : (size_t)attn2c_elements(attn2c_source_tensor(source, index));
}

/* Reads the table of distances, with its norm, into source->table. All layers have the same table. */
static int read_table(attn2c_source *source, const attn2c_projected *of, attn2c_message *message) {
  const attn2c_projected *known = &source->table_of;
  if (source->table && known->table == of->table && known->gain == of->gain &&
      known->norm_bias == of->norm_bias)
    return ATTN2C_OK;
  const size_t floats = floats_of(source, of->table), gains = floats_of(source, of->gain);
  attn2c_free(source->table);
  source->table = attn2c_reserve((floats + gains + floats_of(source, of->norm_bias)) * sizeof(float));
  if (!source->table) return attn2c_say_no_memory(message);
  float *gain = source->table + floats, *bias = gain + gains;
  int status = read_whole(source, of->table, source->table, message);
  if (!status) status = read_whole(source, of->gain, gain, message);
  if (!status) status = read_whole(source, of->norm_bias, bias, message);
  if (!status && of->gain >= 0)
    attn2c_projected_norm(source->table, attn2c_projected_rows(of), (int64_t)gains, of->eps, gain,
                          of->norm_bias < 0 ? NULL : bias);
  source->table_of = *of;
  if (!status) return ATTN2C_OK;
  attn2c_free(source->table);
  source->table = NULL;
  return status;
}

/* Computes rows of one head of a table of projected distances, from its first row on. buffer: of the head's
 * rows of the weight, then the scratch of attn2c_projected_head. */
static int read_head(attn2c_source *source, const attn2c_projected *of, int64_t head, int64_t width,
                     int64_t count, const float *bias, float *buffer, float *values,
                     attn2c_message *message) {
  const int64_t inputs = attn2c_source_tensor(source, of->weight)->shape[1];
  ATTN2C_TRY(attn2c_source_read_plain(source, of->weight, head * width, width, buffer, message));
  attn2c_projected_head(of, source->table, inputs, buffer, of->bias < 0 ? NULL : bias + head * width, width,
                        count, buffer + width * inputs, values);
  return ATTN2C_OK;
}

/* Computes rows of a table of projected distances; `first` is the first row of a head. */
static int read_projected(attn2c_source *source, int index, int64_t first, int64_t count, float *values,
                          attn2c_message *message) {
  attn2c_projected of;
  const attn2c_tensor *tensor = attn2c_source_tensor(source, index);
  if (!attn2c_projected_parse(source->model, &source->model->weights[index], &of)) return ATTN2C_FORMAT;
  const int64_t width = tensor->shape[1], rows = tensor->shape[0] / of.heads;
  const int64_t inputs = attn2c_source_tensor(source, of.weight)->shape[1];
  const size_t biases = floats_of(source, of.bias);
  if (first % rows != 0)
    return attn2c_fail(message, ATTN2C_USAGE, "%s: a constant can only be read as a whole, or by heads",
                       tensor->name);
  ATTN2C_TRY(read_table(source, &of, message));
  ATTN2C_OWN_ALIGNED float *bias =
      attn2c_reserve((biases + (size_t)((2 * inputs + attn2c_projected_rows(&of)) * width)) * sizeof *bias);
  if (!bias) return attn2c_say_no_memory(message);
  ATTN2C_TRY(read_whole(source, of.bias, bias, message));
  for (int64_t done = 0; done < count; done += rows) {
    const int64_t some = count - done < rows ? count - done : rows;
    ATTN2C_TRY(read_head(source, &of, (first + done) / rows, width, some, bias, bias + biases,
                         values + done * width, message));
  }
  return ATTN2C_OK;
}

static int fits(const attn2c_descriptor *model, const attn2c_weight *weight) {
  attn2c_projected projected;
  return attn2c_projected_parse(model, weight, &projected);
}

const attn2c_projector attn2c_distance_projector = {fits, read_projected};
