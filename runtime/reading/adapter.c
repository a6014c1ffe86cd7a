/* adapter.c - rows of tensors that a LoRA adapter changes, from the factors of one tensor at a time. */
#include "reading/adapter.h"
#include "base/shape.h"

#include <math.h>
#include <pthread.h>

struct attn2c_merged {
  const attn2c_adapter *adapter;
  attn2c_tensor_file *file; /* the adapter's; NULL: the checkpoint has its tensors */
  int *merge_of;            /* for each tensor of the checkpoint its change, or -1 */
  float **gains; /* for each change what the outputs of its sum are multiplied by; NULL: not found yet */
  pthread_mutex_t lock;
  int held;                        /* the change whose factors are in memory; -1: none */
  int64_t rows, columns;           /* of its tensor, as stored */
  float *left, *right, *row, *sum; /* [rows][rank], [rank][columns], [columns], [columns] */
};

static void drop(attn2c_merged *merged) {
  free(merged->left), free(merged->right), free(merged->row), free(merged->sum);
  merged->left = merged->right = merged->row = merged->sum = NULL;
  merged->held = -1;
}

/* A tensor of the adapter, in its file or in the checkpoint. */
static int find(const attn2c_merged *merged, const attn2c_checkpoint *file, const char *name) {
  return merged->file ? attn2c_tensor_file_find(merged->file, name)
                      : attn2c_checkpoint_find_plain(file, name);
}

static const attn2c_file_tensor *tensor_of(const attn2c_merged *merged, const attn2c_checkpoint *file,
                                           int number) {
  return merged->file ? &merged->file->tensors[number] : attn2c_checkpoint_plain(file, number);
}

static int read_part(const attn2c_merged *merged, const attn2c_checkpoint *file, const char *name,
                     int64_t first, int64_t count, float *values, attn2c_message *message) {
  const int number = find(merged, file, name);
  return merged->file ? attn2c_tensor_file_read(merged->file, number, first, count, values, message)
                      : attn2c_checkpoint_plain_read(file, number, first, count, values, message);
}

/* Checks that a tensor of the adapter is there with `count` elements, in each part that it has. */
static int check(const attn2c_merged *merged, const attn2c_checkpoint *file, const attn2c_merge *merge,
                 const char *name, int64_t count, attn2c_message *message) {
  if (!name) return ATTN2C_OK;
  const int number = find(merged, file, name);
  if (number < 0) return attn2c_fail(message, ATTN2C_FORMAT, "adapter: %s: missing", name);
  const attn2c_file_tensor *tensor = tensor_of(merged, file, number);
  const int64_t parts = merge->part < 0 ? 1 : tensor->rank > 0 ? tensor->shape[0] : 0;
  if (attn2c_is_readable(tensor->type) && parts > (merge->part < 0 ? 0 : merge->part) &&
      tensor->elements == parts * count)
    return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_FORMAT, "adapter: %s: %s %s, but %lld numbers are expected", name,
                     tensor->type->name, attn2c_shape_write(tensor->rank, tensor->shape).text,
                     (long long)count);
}

/* Finds the tensor that a change is for, and checks the change. */
static int open_one(attn2c_merged *merged, const attn2c_checkpoint *file, int number,
                    attn2c_message *message) {
  const attn2c_merge *merge = &merged->adapter->merges[number];
  int plain = -1;
  for (int i = 0; merge->names[i] && plain < 0; i++)
    plain = attn2c_checkpoint_find_plain(file, merge->names[i]);
  if (plain < 0) return ATTN2C_OK; /* the source reports that a weight is missing */
  const attn2c_file_tensor *tensor = attn2c_checkpoint_plain(file, plain);
  const int64_t rows = tensor->rank > 0 ? tensor->shape[0] : 1;
  const int64_t columns = rows > 0 ? tensor->elements / rows : 0;
  const int64_t out = merge->is_transposed ? columns : rows, in = merge->is_transposed ? rows : columns;
  merged->merge_of[plain] = number;
  int status = check(merged, file, merge, merge->outputs, out * merge->rank, message);
  if (!status) status = check(merged, file, merge, merge->inputs, in * merge->rank, message);
  if (!status) status = check(merged, file, merge, merge->lengths, out, message);
  return status ? status : check(merged, file, merge, merge->base, tensor->elements, message);
}

static void close_adapter(attn2c_merged *merged) {
  if (!merged) return;
  drop(merged);
  for (int i = 0; merged->gains && i < merged->adapter->count; i++) free(merged->gains[i]);
  pthread_mutex_destroy(&merged->lock);
  attn2c_tensor_file_close(merged->file);
  ATTN2C_FREE(merged->gains, merged->merge_of, merged);
}

static int open_adapter(const attn2c_checkpoint *file, const attn2c_adapter *adapter, attn2c_merged **merged,
                        attn2c_message *message) {
  const int count = attn2c_checkpoint_plain_count(file);
  attn2c_merged *made = *merged = calloc(1, sizeof *made);
  if (!made) return attn2c_say_no_memory(message);
  pthread_mutex_init(&made->lock, NULL);
  made->adapter = adapter, made->held = -1;
  made->merge_of = malloc(((size_t)count + 1) * sizeof *made->merge_of);
  made->gains = calloc((size_t)adapter->count + 1, sizeof *made->gains);
  int status = made->merge_of && made->gains ? ATTN2C_OK : attn2c_say_no_memory(message);
  for (int i = 0; i < count && !status; i++) made->merge_of[i] = -1;
  if (!status && adapter->begin)
    status = attn2c_tensor_file_open_memory(&attn2c_safetensors_format, adapter->begin,
                                            (size_t)(adapter->end - adapter->begin), &made->file, message);
  for (int i = 0; i < adapter->count && !status; i++) status = open_one(made, file, i, message);
  if (!status) return ATTN2C_OK;
  close_adapter(made);
  *merged = NULL;
  return status;
}

static int changes(const attn2c_merged *merged, int plain) { return merged->merge_of[plain] >= 0; }

/* Reads a factor [rows][columns], and transposes it if it is stored the other way. */
static int read_factor(const attn2c_merged *merged, const attn2c_checkpoint *file, const attn2c_merge *merge,
                       const char *name, int is_turned, int64_t rows, int64_t columns, float *values,
                       attn2c_message *message) {
  const int64_t count = rows * columns, first = merge->part < 0 ? 0 : merge->part * count;
  float *stored = is_turned ? malloc((size_t)count * sizeof *stored) : values;
  if (!stored) return attn2c_say_no_memory(message);
  const int status = read_part(merged, file, name, first, count, stored, message);
  for (int64_t i = 0; is_turned && !status && i < rows; i++)
    for (int64_t j = 0; j < columns; j++) values[i * columns + j] = stored[j * rows + i];
  if (is_turned) free(stored);
  return status;
}

/* Reads the factors of a change in place of those that were read before. */
static int hold(attn2c_merged *merged, const attn2c_checkpoint *file, int plain, attn2c_message *message) {
  const int number = merged->merge_of[plain];
  if (merged->held == number) return ATTN2C_OK;
  const attn2c_merge *merge = &merged->adapter->merges[number];
  const attn2c_file_tensor *tensor = attn2c_checkpoint_plain(file, plain);
  drop(merged);
  merged->rows = tensor->rank > 0 ? tensor->shape[0] : 1;
  merged->columns = tensor->elements / merged->rows;
  if (!merge->inputs) return ATTN2C_OK;
  const size_t rank = (size_t)merge->rank, columns = (size_t)merged->columns;
  merged->left = malloc((size_t)merged->rows * rank * sizeof(float));
  merged->right = malloc(rank * columns * sizeof(float));
  merged->row = malloc(columns * sizeof(float)), merged->sum = malloc(columns * sizeof(float));
  if (!merged->left || !merged->right || !merged->row || !merged->sum) return attn2c_say_no_memory(message);
  const int turned = merge->is_transposed;
  ATTN2C_TRY(read_factor(merged, file, merge, turned ? merge->inputs : merge->outputs, turned, merged->rows,
                         merge->rank, merged->left, message));
  ATTN2C_TRY(read_factor(merged, file, merge, turned ? merge->outputs : merge->inputs, turned, merge->rank,
                         merged->columns, merged->right, message));
  merged->held = number;
  return ATTN2C_OK;
}

/* Adds scale times the product of the factors to columns [first, first + count) of a row. */
static void add_product(attn2c_merged *merged, const attn2c_merge *merge, int64_t row, int64_t first,
                        int64_t count, float *values) {
  const float *left = merged->left + row * merge->rank, scale = (float)merge->scale;
  float *sum = merged->sum;
  for (int64_t j = 0; j < count; j++) sum[j] = 0.0f;
  for (int64_t k = 0; k < merge->rank; k++) {
    const float *right = merged->right + k * merged->columns + first;
    for (int64_t j = 0; j < count; j++) sum[j] += left[k] * right[j];
  }
  for (int64_t j = 0; j < count; j++) values[j] += sum[j] * scale;
}

/* Reads a row before its change. */
static int read_row(const attn2c_merged *merged, const attn2c_checkpoint *file, int plain, int64_t row,
                    float *values, attn2c_message *message) {
  const attn2c_merge *merge = &merged->adapter->merges[merged->merge_of[plain]];
  const int64_t first = row * merged->columns, count = merged->columns;
  return merge->base ? read_part(merged, file, merge->base, first, count, values, message)
                     : attn2c_checkpoint_plain_read(file, plain, first, count, values, message);
}

/* Finds what each output's weights in the sum are multiplied by, so that their length is the one that the
 * adapter has for them. */
static int find_gains(attn2c_merged *merged, const attn2c_checkpoint *file, int plain, float *gains,
                      attn2c_message *message) {
  const attn2c_merge *merge = &merged->adapter->merges[merged->merge_of[plain]];
  const int64_t columns = merged->columns, count = merge->is_transposed ? columns : merged->rows;
  double *squares = calloc((size_t)count, sizeof *squares);
  int status = squares ? read_part(merged, file, merge->lengths, 0, count, gains, message)
                       : attn2c_say_no_memory(message);
  for (int64_t i = 0; i < merged->rows && !status; i++) {
    status = read_row(merged, file, plain, i, merged->row, message);
    if (status) break;
    add_product(merged, merge, i, 0, columns, merged->row);
    for (int64_t j = 0; j < columns; j++)
      squares[merge->is_transposed ? j : i] += (double)merged->row[j] * merged->row[j];
  }
  for (int64_t o = 0; o < count && !status; o++) gains[o] = (float)(gains[o] / sqrt(squares[o]));
  free(squares);
  return status;
}

/* Finds the gains of the change whose factors are in memory, once. */
static int need_gains(attn2c_merged *merged, const attn2c_checkpoint *file, int plain,
                      attn2c_message *message) {
  const int number = merged->merge_of[plain];
  const attn2c_merge *merge = &merged->adapter->merges[number];
  if (!merge->lengths || merged->gains[number]) return ATTN2C_OK;
  float *gains = malloc((size_t)(merge->is_transposed ? merged->columns : merged->rows) * sizeof *gains);
  if (!gains) return attn2c_say_no_memory(message);
  const int status = find_gains(merged, file, plain, gains, message);
  if (status)
    free(gains);
  else
    merged->gains[number] = gains;
  return status;
}

static int apply(attn2c_merged *merged, const attn2c_checkpoint *file, int plain, int64_t first,
                 int64_t count, float *values, attn2c_message *message) {
  const attn2c_merge *merge = &merged->adapter->merges[merged->merge_of[plain]];
  pthread_mutex_lock(&merged->lock);
  int status = hold(merged, file, plain, message);
  if (!status) status = need_gains(merged, file, plain, message);
  const float *gains = merged->gains[merged->merge_of[plain]];
  if (!status && merge->base) status = read_part(merged, file, merge->base, first, count, values, message);
  while (count > 0 && !status && merge->inputs) {
    const int64_t row = first / merged->columns, column = first % merged->columns;
    const int64_t some = count < merged->columns - column ? count : merged->columns - column;
    add_product(merged, merge, row, column, some, values);
    for (int64_t j = 0; gains && j < some; j++) values[j] *= gains[merge->is_transposed ? column + j : row];
    first += some, count -= some, values += some;
  }
  pthread_mutex_unlock(&merged->lock);
  return status;
}

const attn2c_adapter_reader attn2c_lora_reader = {open_adapter, close_adapter, changes, apply};
