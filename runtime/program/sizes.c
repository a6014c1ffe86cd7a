#include "program/sizes.h"

#include "base/shape.h"
#include "program/inputs.h"

/* Makes the axes for a program that does not state them. A leading axis is the batch. */
static int own_axes(attn2c_sizes *sizes, attn2c_message *message) {
  const attn2c_entry *entry = sizes->entry;
  const int inputs = entry->input_count, outputs = entry->output_count;
  sizes->own_axes = calloc((size_t)(inputs + outputs) + 1, sizeof *sizes->own_axes);
  if (sizes->own_axes == NULL) return attn2c_fail(message, ATTN2C_MEMORY, "run: no memory");
  for (int i = 0; i < inputs + outputs; i++) {
    const int tensor = i < inputs ? entry->inputs[i] : entry->outputs[i - inputs];
    const signed char batch = attn2c_has_batch(sizes->model, entry, tensor) ? 0 : -1;
    sizes->own_axes[i] = (attn2c_axes){batch, -1, -1, ATTN2C_HIDES_NOTHING};
  }
  sizes->own_size = (attn2c_size){attn2c_batch(sizes->model, entry), 1};
  sizes->own = (attn2c_lengths){sizes->own_axes, sizes->own_axes + inputs, &sizes->own_size, 1, NULL};
  sizes->lengths = &sizes->own;
  return ATTN2C_OK;
}

int attn2c_sizes_open(const attn2c_program *program, attn2c_sizes *sizes, attn2c_message *message) {
  *sizes = (attn2c_sizes){.model = program->model, .entry = attn2c_primary_entry(program->model)};
  sizes->lengths = program->model->lengths ? program->model->lengths : program->lengths;
  return sizes->lengths ? ATTN2C_OK : own_axes(sizes, message);
}

void attn2c_sizes_close(attn2c_sizes *sizes) {
  free(sizes->own_axes);
  attn2c_free(sizes->each);
}

static const attn2c_axes *axes_of(const attn2c_sizes *sizes, int is_input, int index) {
  return is_input ? &sizes->lengths->inputs[index] : &sizes->lengths->outputs[index];
}

/* Returns a tensor with the rows of all sequences, one after the other. */
static attn2c_tensor concatenated(const attn2c_sizes *sizes, const attn2c_axes *axes,
                                  const attn2c_tensor *tensor) {
  attn2c_tensor made = *tensor;
  if (axes->batch < 0) return made;
  const int has_rows = axes->rows >= 0;
  made.shape[0] = has_rows ? sizes->rows : sizes->batch;
  for (int i = 1; has_rows && i + 1 < tensor->rank; i++) made.shape[i] = tensor->shape[i + 1];
  made.rank -= has_rows;
  return made;
}

attn2c_tensor attn2c_sizes_tensor(const attn2c_sizes *sizes, int is_input, int index) {
  const attn2c_entry *entry = sizes->entry;
  const attn2c_axes *axes = axes_of(sizes, is_input, index);
  const int number = is_input ? entry->inputs[index] : entry->outputs[index];
  if (sizes->each) return concatenated(sizes, axes, &sizes->model->tensors[number]);
  const int64_t shorter = sizes->seq > 0 ? sizes->lengths->sizes->seq - sizes->seq : 0;
  attn2c_tensor tensor = sizes->model->tensors[number];
  for (int i = 0; i < tensor.rank; i++) {
    if (i == axes->batch && sizes->batch > 0) tensor.shape[i] = sizes->batch;
    if (i == axes->rows || i == axes->keys) tensor.shape[i] -= shorter;
  }
  return tensor;
}

static int wrong_length(const attn2c_sizes *sizes, const char *name, const attn2c_npy *array, int64_t seq,
                        attn2c_message *message) {
  const attn2c_lengths *lengths = sizes->lengths;
  const attn2c_shape_text shape = attn2c_shape_write(array->rank, array->shape);
  const int64_t longest = lengths->sizes->seq;
  if (!sizes->model->is_open)
    attn2c_say(message, "%s: %s holds %s: %" PRId64 " tokens, but %" PRId64 " are expected", name,
               array->path, shape.text, seq, longest);
  else
    attn2c_say(message, "%s: %s holds %s: %" PRId64 " tokens, but %" PRId64 " to %" PRId64 " are allowed",
               name, array->path, shape.text, seq, lengths->least, longest);
  return ATTN2C_FORMAT;
}

static int disagree(const char *name, int64_t size, const char *what, const char *other, int64_t other_size,
                    attn2c_message *message) {
  return attn2c_fail(message, ATTN2C_FORMAT, "%s: %" PRId64 " %s, but %s has %" PRId64, name, size, what,
                     other, other_size);
}

/* True if an array has the tensor's rank and extents. Axes that change with a call may differ. */
static int is_alike(const attn2c_npy *array, const attn2c_tensor *tensor, const attn2c_axes *axes) {
  if (array->rank != tensor->rank) return 0;
  for (int i = 0; i < tensor->rank; i++) {
    const int grows = i == axes->batch || i == axes->rows || i == axes->keys;
    if (!grows && array->shape[i] != tensor->shape[i]) return 0;
  }
  return 1;
}

/* Compares the rows of an array with those that the lengths have. */
static int agree_with_lengths(const attn2c_sizes *sizes, int index, const attn2c_npy *array,
                              attn2c_message *message) {
  const attn2c_tensor tensor = attn2c_sizes_tensor(sizes, 1, index);
  if (axes_of(sizes, 1, index)->rows < 0 || array->rank != tensor.rank) return ATTN2C_OK;
  if (array->shape[0] == tensor.shape[0]) return ATTN2C_OK;
  return disagree(tensor.name, array->shape[0], "rows", "the sum of lengths", sizes->rows, message);
}

/* Sets the sizes from an array, or compares it with them. */
static int agree(attn2c_sizes *sizes, int index, const attn2c_npy *array, attn2c_message *message) {
  const attn2c_axes *axes = axes_of(sizes, 1, index);
  const attn2c_tensor *tensor = &sizes->model->tensors[sizes->entry->inputs[index]];
  if (sizes->each) return agree_with_lengths(sizes, index, array, message);
  if (!is_alike(array, tensor, axes)) return ATTN2C_OK; /* the comparison of the whole shape reports it */
  if (axes->batch >= 0) {
    const int64_t batch = array->shape[axes->batch];
    if (sizes->batch == 0 && batch > 0) sizes->batch = batch, sizes->batch_of = tensor->name;
    if (sizes->batch > 0 && batch != sizes->batch)
      return disagree(tensor->name, batch, "sequences", sizes->batch_of, sizes->batch, message);
  }
  if (axes->rows >= 0) {
    const int64_t seq = array->shape[axes->rows], longest = sizes->lengths->sizes->seq;
    const int64_t least = sizes->model->is_open ? sizes->lengths->least : longest;
    if (seq > longest || seq < least) return wrong_length(sizes, tensor->name, array, seq, message);
    if (sizes->seq == 0) sizes->seq = seq, sizes->seq_of = tensor->name;
    if (seq != sizes->seq) return disagree(tensor->name, seq, "tokens", sizes->seq_of, sizes->seq, message);
  }
  return ATTN2C_OK;
}

int attn2c_sizes_read(attn2c_sizes *sizes, int index, const char *path, void **values,
                      attn2c_message *message) {
  *values = NULL;
  attn2c_npy array;
  ATTN2C_TRY(attn2c_npy_read(path, &array, message));
  int status = agree(sizes, index, &array, message);
  if (status != ATTN2C_OK) {
    attn2c_npy_free(&array);
    return status;
  }
  const attn2c_tensor tensor = attn2c_sizes_tensor(sizes, 1, index);
  return attn2c_array_take(&array, &tensor, values, message);
}

int attn2c_sizes_read_lengths(attn2c_sizes *sizes, const char *path, attn2c_message *message) {
  const attn2c_lengths *lengths = sizes->lengths;
  attn2c_tensor tensor = {.name = "lengths", .type = ATTN2C_I32, .rank = 1, .shape = {1}};
  tensor.minimum = lengths->least, tensor.limit = lengths->sizes->seq + 1;
  void *values;
  sizes->batch = 0;
  ATTN2C_TRY(attn2c_input_read(&tensor, path, &sizes->batch, &values, message));
  sizes->each = values, sizes->batch_of = "lengths";
  for (int64_t i = 0; i < sizes->batch; i++) sizes->rows += sizes->each[i];
  return ATTN2C_OK;
}

void attn2c_sizes_settle(attn2c_sizes *sizes) {
  if (sizes->batch == 0) sizes->batch = sizes->lengths->sizes->batch;
  if (sizes->seq == 0) sizes->seq = sizes->lengths->sizes->seq;
}
