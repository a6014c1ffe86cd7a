/* weights.c - the sources of a model's weights behind one interface. All weights are
 * verified when the source is opened, so that a checkpoint that does not fit is refused
 * with everything that is wrong with it, and reading meets only faults of the machine. */
#define _DEFAULT_SOURCE
#include "weights.h"
#include "constants.h"
#include "random.h"
#include "safetensors.h"
#include "shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct attn2c_source {
  const attn2c_descriptor *model;
  attn2c_safetensors *file; /* NULL: random */
  uint64_t seed;
  int *found;  /* of each weight: the tensor of the file that it is taken from, or -1 */
  int *unused; /* the tensors of the file that no weight is taken from */
  int unused_count;
};

/* Constants. */

/* Fills the constant, or, where values is NULL, sees whether that can be done; a line where it cannot. */
static int fill_constant(const attn2c_descriptor *model, const attn2c_weight *weight, float *values,
                         attn2c_message *message) {
  const attn2c_tensor *tensor = &model->tensors[weight->tensor];
  const char *formula = weight->formula ? weight->formula : "none";
  if (attn2c_constant_fill(formula, tensor, values)) return ATTN2C_OK;
  attn2c_say(message, "%s: formula %.100s, but %s, with the numbers of its shape, is expected", tensor->name,
             formula, attn2c_constant_names);
  return ATTN2C_FORMAT;
}

/* Verifying. */

static int is_constant(const attn2c_weight *weight) { return weight->names == NULL; }

static void say_missing(const attn2c_weight *weight, attn2c_message *message) {
  char tried[1024] = "";
  size_t used = 0;
  for (int i = 1; weight->names[i] && used < sizeof tried; i++)
    used += (size_t)snprintf(tried + used, sizeof tried - used, "%s%s", i > 1 ? ", " : "", weight->names[i]);
  if (used)
    attn2c_say(message, "%s: missing (also looked for %s)", weight->names[0], tried);
  else
    attn2c_say(message, "%s: missing", weight->names[0]);
}

/* Weights that are row ranges of one tensor (query, key and value in one matrix) share its fault: it is said
 * once. They stand close together, so that looking back a little is enough, and thousands of missing ones
 * take no longer. */
static int is_said(const attn2c_source *source, const int *faulty, int count, const attn2c_weight *weight,
                   int found) {
  for (int i = count > 64 ? count - 64 : 0; i < count; i++) {
    const attn2c_weight *other = &source->model->weights[faulty[i]];
    if (source->found[faulty[i]] == found && strcmp(other->names[0], weight->names[0]) == 0 &&
        attn2c_shape_equal(other->source_rank, other->source_shape, weight->source_rank,
                           weight->source_shape))
      return 1;
  }
  return 0;
}

/* Whether a file's tensor has the elements of a weight in the weight's order: its shape is the weight's, or
 * differs by axes of one, or it has a row as several axes: a convolution [out][channels][patch][patch] is a
 * matrix. */
static int has_shape(const attn2c_safetensor *tensor, const attn2c_weight *weight) {
  int64_t shape[ATTN2C_SAFETENSORS_MAX_RANK] = {0}, want[ATTN2C_MAX_RANK] = {0}, row = 1;
  int rank = 0, want_rank = 0;
  for (int d = 0; d < tensor->rank; d++)
    if (tensor->shape[d] != 1) shape[rank++] = tensor->shape[d];
  for (int d = 0; d < weight->source_rank; d++)
    if (weight->source_shape[d] != 1) want[want_rank++] = weight->source_shape[d];
  if (attn2c_shape_equal(rank, shape, want_rank, want)) return 1;
  if (want_rank != 2 || rank <= 2 || shape[0] != want[0]) return 0;
  for (int d = 1; d < rank; d++)
    if (__builtin_mul_overflow(row, shape[d], &row)) return 0;
  return row == want[1];
}

/* The lines on what is wrong with the tensor of one weight. */
static void say_faults(const attn2c_source *source, const attn2c_weight *weight, int found,
                       attn2c_message *message) {
  if (found < 0) {
    say_missing(weight, message);
    return;
  }
  const attn2c_safetensor *tensor = attn2c_safetensors_tensor(source->file, found);
  if (!attn2c_dtype_readable(tensor->dtype))
    attn2c_say(message, "%s: type %s, but F32, F64, F16 or BF16 is expected", tensor->name,
               attn2c_dtype_name(tensor->dtype));
  if (!has_shape(tensor, weight))
    attn2c_say(message, "%s: shape %s, but %s is expected", tensor->name,
               attn2c_shape_write(tensor->rank, tensor->shape).text,
               attn2c_shape_write(weight->source_rank, weight->source_shape).text);
}

static int is_fitting(const attn2c_source *source, const attn2c_weight *weight, int found) {
  if (found < 0) return 0;
  const attn2c_safetensor *tensor = attn2c_safetensors_tensor(source->file, found);
  return attn2c_dtype_readable(tensor->dtype) && has_shape(tensor, weight);
}

static int find_tensor(const attn2c_safetensors *file, const attn2c_weight *weight) {
  for (int i = 0; weight->names[i]; i++) {
    int found = attn2c_safetensors_find(file, weight->names[i]);
    if (found >= 0) return found;
  }
  return -1;
}

/* faulty: room for every weight. */
static int check_weights(attn2c_source *source, int *faulty, attn2c_message *message) {
  int faults = 0, faulty_count = 0;
  for (int i = 0; i < source->model->weight_count; i++) {
    const attn2c_weight *weight = &source->model->weights[i];
    source->found[i] = -1;
    if (is_constant(weight)) {
      faults += fill_constant(source->model, weight, NULL, message) != ATTN2C_OK;
      continue;
    }
    if (!source->file) continue;
    int found = find_tensor(source->file, weight);
    source->found[i] = found;
    if (is_fitting(source, weight, found)) continue;
    faults++;
    if (is_said(source, faulty, faulty_count, weight, found)) continue;
    faulty[faulty_count++] = i;
    say_faults(source, weight, found, message);
  }
  return faults ? ATTN2C_FORMAT : ATTN2C_OK;
}

/* Lists the tensors of the file that no weight is taken from; `used` has a zeroed byte for each. */
static void list_unused(attn2c_source *source, char *used) {
  int count = source->file ? attn2c_safetensors_count(source->file) : 0;
  for (int i = 0; i < source->model->weight_count; i++)
    if (source->found[i] >= 0) used[source->found[i]] = 1;
  for (int i = 0; i < count; i++)
    if (!used[i]) source->unused[source->unused_count++] = i;
}

static int prepare(attn2c_source *source, attn2c_message *message) {
  size_t weights = (size_t)source->model->weight_count;
  size_t tensors = source->file ? (size_t)attn2c_safetensors_count(source->file) : 0;
  int status = ATTN2C_MEMORY;
  /* One more of each, as an allocation of nothing may be NULL. */
  int *faulty = calloc(weights + 1, sizeof *faulty);
  char *used = calloc(tensors + 1, 1);
  source->found = calloc(weights + 1, sizeof *source->found);
  source->unused = calloc(tensors + 1, sizeof *source->unused);
  if (faulty && used && source->found && source->unused) {
    status = check_weights(source, faulty, message);
    list_unused(source, used);
  } else {
    attn2c_say(message, "weights: out of memory");
  }
  free(faulty);
  free(used);
  return status;
}

/* Opening. */

/* Takes the file, which may be NULL, over. */
static int make_source(const attn2c_descriptor *model, attn2c_safetensors *file, uint64_t seed,
                       attn2c_source **source, attn2c_message *message) {
  attn2c_source *made = calloc(1, sizeof *made);
  if (!made) {
    attn2c_say(message, "weights: out of memory");
    attn2c_safetensors_close(file);
    return ATTN2C_MEMORY;
  }
  made->model = model;
  made->file = file;
  made->seed = seed;
  int status = prepare(made, message);
  if (status)
    attn2c_source_close(made);
  else
    *source = made;
  return status;
}

int attn2c_source_file(const char *path, const attn2c_descriptor *model, attn2c_source **source,
                       attn2c_message *message) {
  attn2c_safetensors *file;
  *source = NULL;
  int status = attn2c_safetensors_open(path, &file, message);
  return status ? status : make_source(model, file, 0, source, message);
}

int attn2c_source_memory(const void *bytes, size_t size, const attn2c_descriptor *model,
                         attn2c_source **source, attn2c_message *message) {
  attn2c_safetensors *file;
  *source = NULL;
  int status = attn2c_safetensors_open_memory(bytes, size, &file, message);
  return status ? status : make_source(model, file, 0, source, message);
}

int attn2c_source_random(uint64_t seed, const attn2c_descriptor *model, attn2c_source **source,
                         attn2c_message *message) {
  *source = NULL;
  return make_source(model, NULL, seed, source, message);
}

void attn2c_source_close(attn2c_source *source) {
  if (!source) return;
  attn2c_safetensors_close(source->file);
  free(source->found);
  free(source->unused);
  free(source);
}

int attn2c_source_unused(const attn2c_source *source) { return source->unused_count; }

const char *attn2c_source_unused_name(const attn2c_source *source, int index) {
  return attn2c_safetensors_tensor(source->file, source->unused[index])->name;
}

/* Reading. */

/* Rows [first, first + count) of a weight that takes runs of its tensor's rows or columns. row: elements of
 * the weight's rows, source_row: of the tensor's. */
static int read_selections(const attn2c_source *source, int index, int64_t first, int64_t count, int64_t row,
                           int64_t source_row, float *values, attn2c_message *message) {
  const attn2c_descriptor *model = source->model;
  const int64_t start = model->weights[index].source_row * source_row;
  int status = ATTN2C_OK;
  for (int64_t r = first; r < first + count; r++) {
    int64_t before = 0; /* rows of the runs that have been passed */
    for (int s = 0; s < model->selection_count && status == ATTN2C_OK; s++) {
      const attn2c_selection *run = &model->selections[s];
      if (run->weight != index) continue;
      if (run->axis == 1) {
        status = attn2c_safetensors_read(source->file, source->found[index],
                                         start + r * source_row + run->first, run->count, values, message);
        values += run->count;
      } else if (r >= before && r < before + run->count) {
        status =
            attn2c_safetensors_read(source->file, source->found[index],
                                    start + (run->first + r - before) * source_row, row, values, message);
        values += row;
      }
      before += run->axis == 0 ? run->count : 0;
    }
  }
  return status;
}

static int has_selections(const attn2c_descriptor *model, int index) {
  for (int s = 0; s < model->selection_count; s++)
    if (model->selections[s].weight == index) return 1;
  return 0;
}

int attn2c_source_read_rows(attn2c_source *source, int index, int64_t first, int64_t count, float *values,
                            attn2c_message *message) {
  const attn2c_weight *weight = &source->model->weights[index];
  const attn2c_tensor *tensor = &source->model->tensors[weight->tensor];
  const int64_t row = attn2c_elements(tensor) / tensor->shape[0];
  if (is_constant(weight)) {
    if (first == 0 && count == tensor->shape[0]) return fill_constant(source->model, weight, values, message);
    attn2c_say(message, "%s: a constant is made as a whole", tensor->name);
    return ATTN2C_USAGE;
  }
  if (!source->file) {
    attn2c_random_part(source->seed, tensor->name, first * row, values, count * row, weight->random_mean,
                       weight->random_deviation);
    return ATTN2C_OK;
  }
  /* A row is all of the file's tensor but its first axis, however the model's weight divides it. */
  int64_t source_row = 1;
  for (int d = 1; d < weight->source_rank; d++) source_row *= weight->source_shape[d];
  if (has_selections(source->model, index))
    return read_selections(source, index, first, count, row, source_row, values, message);
  return attn2c_safetensors_read(source->file, source->found[index],
                                 weight->source_row * source_row + first * row, count * row, values, message);
}

int attn2c_source_read(attn2c_source *source, int index, float *values, attn2c_message *message) {
  const attn2c_tensor *tensor = &source->model->tensors[source->model->weights[index].tensor];
  return attn2c_source_read_rows(source, index, 0, tensor->shape[0], values, message);
}
