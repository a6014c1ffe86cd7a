/* weights.c - implements the sources of a model's weights behind one interface. All weights are verified when
 * the source is opened. So a checkpoint that does not fit is refused with all of its faults, and reading
 * meets only faults of the machine. */
#include "base/checksum.h"
#include "base/shape.h"
#include "ops/elementary.h"
#include "system/system.h"
#include "weights/constants.h"
#include "weights/weights.h"
#include "weights/source.h"

void attn2c_source_watch(attn2c_source *source, void (*watch)(int64_t done, int64_t all)) {
  source->watch = watch;
}

void attn2c_source_tell(const attn2c_source *source, int index) {
  if (source->watch) source->watch(source->model->weights[index].offset, source->model->weight_floats);
}

/* Constants. */

/* Fills rows of a constant of sound; returns 0 if it is none. */
static int fill_of_sound(const attn2c_descriptor *model, const attn2c_weight *weight, int64_t first,
                         int64_t count, float *values) {
  const attn2c_tensor *tensor = &model->tensors[weight->tensor];
  return weight->formula && model->readers && model->readers->sound_constant &&
         model->readers->sound_constant(weight->formula, tensor, first, count, values);
}

/* Fills the constant, or only checks it if values is NULL. Says a line if the formula does not fit. */
static int fill_constant(const attn2c_descriptor *model, const attn2c_weight *weight, float *values,
                         attn2c_message *message) {
  const attn2c_tensor *tensor = &model->tensors[weight->tensor];
  const char *formula = weight->formula ? weight->formula : "none";
  if (attn2c_is_projected(weight) && model->readers->projector->fits(model, weight)) return ATTN2C_OK;
  const int64_t rows = tensor->rank > 0 ? tensor->shape[0] : 0;
  if (attn2c_constant_fill(formula, tensor, values) || fill_of_sound(model, weight, 0, rows, values))
    return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_FORMAT,
                     "%s: formula %.100s, but %s, with the numbers of its shape, is expected", tensor->name,
                     formula, attn2c_constant_names);
}

/* Verifying. */

static int is_constant(const attn2c_weight *weight) { return weight->view_count == 0; }

int attn2c_source_of_view(const attn2c_source *source, const attn2c_view *view) {
  const int found = source->found[view->stored];
  return view->flags & ATTN2C_VIEW_IN_GROUPS && !source->is_own
             ? attn2c_checkpoint_in_groups(source->file, found)
             : found;
}

static int is_fitting(const attn2c_source *source, int index) {
  if (source->found[index] < 0) return source->model->stored[index].copy_of != 0; /* said once */
  const attn2c_file_tensor *tensor = attn2c_checkpoint_tensor(source->file, source->found[index]);
  return attn2c_is_readable(tensor->type) && attn2c_hints_shape_fits(tensor, &source->model->stored[index]);
}

static int find_tensor(const attn2c_checkpoint *file, const attn2c_stored *stored) {
  for (int i = 0; stored->names[i]; i++) {
    int found = attn2c_checkpoint_find(file, stored->names[i]);
    if (found >= 0) return found;
  }
  return -1;
}

static int check_constants(const attn2c_source *source, attn2c_message *message) {
  int faults = 0;
  for (int i = 0; i < source->model->weight_count; i++) {
    const attn2c_weight *weight = &source->model->weights[i];
    if (attn2c_scaled_by(source->model, i) >= 0 || attn2c_is_order(source->model, i))
      continue; /* packing makes them */
    if (is_constant(weight)) faults += fill_constant(source->model, weight, NULL, message) != ATTN2C_OK;
  }
  return faults ? ATTN2C_FORMAT : ATTN2C_OK;
}

/* Checks that every view is within its tensor, which matters if the tensor may have any number of rows. */
static int check_views(const attn2c_source *source, attn2c_message *message) {
  const attn2c_descriptor *model = source->model;
  for (int i = 0; i < model->weight_count; i++)
    for (int v = 0; v < model->weights[i].view_count; v++) {
      const attn2c_view *view = &model->views[model->weights[i].first_view + v];
      const attn2c_file_tensor *tensor = attn2c_checkpoint_tensor(source->file, source->found[view->stored]);
      const int64_t last = attn2c_view_last(model->readers, view);
      if (last < tensor->elements) continue;
      return attn2c_fail(message, ATTN2C_FORMAT, "%s: shape %s, but element %lld is expected", tensor->name,
                         attn2c_shape_write(tensor->rank, tensor->shape).text, (long long)last);
    }
  return ATTN2C_OK;
}

/* Checks that tensors in the place of others, such as an output's table of its own, have equal bytes. */
static int check_copies(const attn2c_source *source, attn2c_message *message) {
  for (int i = 0; i < source->model->stored_count; i++) {
    if (!source->model->stored[i].copy_of) continue;
    const int own = source->found[i], other = source->found[source->model->stored[i].copy_of - 1];
    int same;
    ATTN2C_TRY(attn2c_checkpoint_same(source->file, own, other, &same, message));
    if (same) continue;
    return attn2c_fail(message, ATTN2C_FORMAT,
                       "%s: differs from %s, but the model was built with one table for both; build it from "
                       "this checkpoint",
                       attn2c_checkpoint_tensor(source->file, own)->name,
                       attn2c_checkpoint_tensor(source->file, other)->name);
  }
  return ATTN2C_OK;
}

static int check_stored(attn2c_source *source, attn2c_message *message) {
  int faults = 0;
  for (int i = 0; i < source->model->stored_count; i++) {
    source->found[i] = source->file ? find_tensor(source->file, &source->model->stored[i]) : -1;
    faults += source->file && !is_fitting(source, i);
  }
  if (!source->file) return ATTN2C_OK;
  if (faults == 0) {
    ATTN2C_TRY(check_copies(source, message));
    return check_views(source, message);
  }
  attn2c_hints hints = {source->model, source->file, source->found, faults, message};
  attn2c_hints_say(&hints);
  for (int i = 0, said = 0; i < source->model->stored_count; i++) {
    if (is_fitting(source, i)) continue;
    if (!attn2c_hints_fault(&hints, i, said++)) break;
  }
  attn2c_hints_unused(&hints);
  return ATTN2C_FORMAT;
}

/* Computes the checksum of a weight's first rows, for attn2c_factors. */
static int sum_rows(attn2c_source *source, int index, uint64_t *sum, attn2c_message *message) {
  const attn2c_tensor *tensor = &source->model->tensors[source->model->weights[index].tensor];
  const int64_t rows = tensor->shape[0] < ATTN2C_FACTORS_ROWS ? tensor->shape[0] : ATTN2C_FACTORS_ROWS;
  const size_t columns = (size_t)(attn2c_elements(tensor) / tensor->shape[0]);
  ATTN2C_OWN_ALIGNED float *values = attn2c_reserve((size_t)rows * columns * sizeof *values);
  if (!values) return attn2c_say_no_memory(message);
  const int status = attn2c_source_read_plain(source, index, 0, rows, values, message);
  *sum = 0;
  for (int64_t r = 0; r < rows && status == ATTN2C_OK; r++)
    *sum = attn2c_checksum(*sum, values + (size_t)r * columns, columns * sizeof *values);
  return status;
}

/* Checks that the weights are those that the model's factors were calibrated with. */
static int check_factors(attn2c_source *source, attn2c_message *message) {
  const attn2c_descriptor *model = source->model;
  for (int i = 0; source->file && model->factors && i < model->weight_count; i++) {
    if (!model->factors[i].powers || model->factors[i].checksum == 0) continue;
    uint64_t sum;
    ATTN2C_TRY(sum_rows(source, i, &sum, message));
    if (sum == model->factors[i].checksum) continue;
    return attn2c_fail(message, ATTN2C_FORMAT,
                       "%s: the model's factors against outliers were calibrated with other weights; "
                       "calibrate with these weights, or build with --factors=none",
                       model->tensors[model->weights[i].tensor].name);
  }
  return ATTN2C_OK;
}

/* Lists the tensors of the file that no weight is read from; `used` has a zeroed byte for each. */
static void list_unused(attn2c_source *source, char *used) {
  int count = source->file ? attn2c_checkpoint_count(source->file) : 0;
  for (int i = 0; i < source->model->stored_count; i++)
    if (source->found[i] >= 0) used[source->found[i]] = 1;
  for (int i = 0; i < count; i++)
    if (!used[i]) source->unused[source->unused_count++] = i;
}

static int prepare(attn2c_source *source, attn2c_message *message) {
  size_t stored = (size_t)source->model->stored_count;
  size_t tensors = source->file ? (size_t)attn2c_checkpoint_count(source->file) : 0;
  int status = ATTN2C_MEMORY;
  /* one element more, as an allocation of 0 bytes may return NULL */
  char *used = calloc(tensors + 1, 1);
  source->found = calloc(stored + 1, sizeof *source->found);
  source->unused = calloc(tensors + 1, sizeof *source->unused);
  if (used && source->found && source->unused &&
      (!source->file || attn2c_band_make(source->model, &source->band) == ATTN2C_OK)) {
    status = check_constants(source, message);
    const int fits = check_stored(source, message);
    if (!status) status = fits;
    source->orders = (attn2c_orders){source->model, source->file, source->found, source->seed, NULL, 0};
    if (!status && source->model->orders)
      status = source->model->readers->orders->check(&source->orders, message);
    if (!status) status = check_factors(source, message);
    list_unused(source, used);
  } else {
    attn2c_say(message, "weights: out of memory");
  }
  free(used);
  return status;
}

/* Opening. */

int attn2c_source_make(const attn2c_source *given, attn2c_source **source, attn2c_message *message) {
  attn2c_source *made = calloc(1, sizeof *made);
  if (!made) {
    attn2c_say(message, "weights: out of memory");
    attn2c_checkpoint_close(given->file);
    attn2c_packed_release(given->packed);
    return ATTN2C_MEMORY;
  }
  *made = *given;
  const int status = prepare(made, message);
  if (status)
    attn2c_source_close(made);
  else
    *source = made;
  return status;
}

int attn2c_source_open(const attn2c_given *given, const attn2c_descriptor *model, attn2c_source **source,
                       attn2c_message *message) {
  attn2c_checkpoint *file = NULL;
  int status = ATTN2C_OK;
  *source = NULL;
  if (!given->packed && given->path)
    status = attn2c_checkpoint_open(given->path, model->readers, &file, message);
  else if (!given->packed && given->bytes)
    status = attn2c_checkpoint_open_memory(given->bytes, given->size, model->readers, &file, message);
  if (status) return status;
  return attn2c_source_make(&(attn2c_source){.model = model, .file = file, .packed = given->packed}, source,
                            message);
}

/* Opens what was given, packed or not. */
static int open_given(attn2c_given given, const attn2c_descriptor *model, attn2c_source **source,
                      attn2c_message *message) {
  *source = NULL;
  const int status = attn2c_packed_find(&given, model, message);
  return status ? status : attn2c_source_open(&given, model, source, message);
}

void attn2c_source_of_rank(const char *path, int rank, char *own, size_t size) {
  snprintf(own, size, "%s.rank%d", path, rank);
}

int attn2c_source_file(const char *path, const attn2c_descriptor *model, attn2c_source **source,
                       attn2c_message *message) {
  char own[ATTN2C_PATH_SIZE];
  *source = NULL;
  if (model->slices && strlen(path) < sizeof own - 16) {
    attn2c_source_of_rank(path, model->rank, own, sizeof own);
    if (attn2c_system_exists(own)) path = own;
  }
  if (model->divided && !model->slices && strlen(path) < sizeof own - 16 && !attn2c_system_exists(path)) {
    attn2c_source_of_rank(path, 0, own, sizeof own);
    if (attn2c_system_exists(own))
      return attn2c_fail(message, ATTN2C_USAGE,
                         "%s: packed weights of several ranks; the whole model's are expected: a checkpoint",
                         path);
  }
  return open_given((attn2c_given){.path = path}, model, source, message);
}

int attn2c_source_memory(const void *bytes, size_t size, const attn2c_descriptor *model,
                         attn2c_source **source, attn2c_message *message) {
  return open_given((attn2c_given){.bytes = bytes, .size = size}, model, source, message);
}

int attn2c_source_embedded(const attn2c_descriptor *model, attn2c_source **source, attn2c_message *message) {
  return open_given(attn2c_packed_embedded(model), model, source, message);
}

void attn2c_source_close(attn2c_source *source) {
  if (!source) return;
  attn2c_checkpoint_close(source->file);
  attn2c_packed_release(source->packed);
  attn2c_band_free(&source->band);
  attn2c_free(source->table);
  attn2c_orders_end(&source->orders);
  ATTN2C_FREE(source->found, source->unused, source);
}

attn2c_packed *attn2c_source_packed(const attn2c_source *source) { return source->packed; }

int attn2c_source_unused(const attn2c_source *source) { return source->unused_count; }

const char *attn2c_source_unused_name(const attn2c_source *source, int index) {
  return attn2c_checkpoint_tensor(source->file, source->unused[index])->name;
}

/* Reading. */

/* Computes the scales of the rows of the weight that they scale. */
static int read_scales(attn2c_source *source, int scaled, int64_t first, int64_t count, float *scales,
                       attn2c_message *message) {
  const attn2c_tensor *tensor = &source->model->tensors[source->model->weights[scaled].tensor];
  const int64_t columns = attn2c_elements(tensor) / tensor->shape[0];
  ATTN2C_OWN_ALIGNED float *row = attn2c_reserve((size_t)columns * sizeof *row);
  if (!row) return attn2c_say_no_memory(message);
  for (int64_t i = 0; i < count; i++) {
    ATTN2C_TRY(attn2c_source_read_rows(source, scaled, first + i, 1, row, message));
    scales[i] = attn2c_pack_scale(source->model->packings[scaled].type, row, columns);
  }
  return ATTN2C_OK;
}

/* Writes an order of inputs. */
static int read_order(attn2c_source *source, int index, float *values, attn2c_message *message) {
  const int64_t count = attn2c_elements(attn2c_source_tensor(source, index)),
                first = attn2c_source_row_of_all(source, index, 0);
  const int status =
      source->model->readers->orders->read(&source->orders, attn2c_ordered_by(source->model, index), message);
  for (int64_t i = 0; i < count && !status; i++) values[i] = (float)source->orders.inputs[first + i];
  return status;
}

/* Reads rows from the views of a weight. */
static int read_views(attn2c_source *source, int index, int64_t first, int64_t count, int64_t columns,
                      float *values, attn2c_message *message) {
  const attn2c_weight *weight = &source->model->weights[index];
  for (int v = 0; v < weight->view_count; v++) {
    const attn2c_view *view = &source->model->views[weight->first_view + v];
    ATTN2C_TRY(attn2c_view_read(source->file, attn2c_source_of_view(source, view), view, first, count,
                                columns, values, &source->band, message));
  }
  return ATTN2C_OK;
}

/* Reads rows that are in the order of another weight's inputs. */
static int read_ordered_rows(attn2c_source *source, int index, int64_t first, int64_t count, int64_t columns,
                             float *values, attn2c_message *message) {
  int status =
      source->model->readers->orders->read(&source->orders, attn2c_ordered_by(source->model, index), message);
  for (int64_t r = 0; r < count && !status; r++)
    status = read_views(source, index, attn2c_source_ordered_row(source, index, first + r), 1, columns,
                        values + r * columns, message);
  return status;
}

/* Reads rows of a weight as they are stored, in a file or by a formula. */
int attn2c_source_read_plain(attn2c_source *source, int index, int64_t first, int64_t count, float *values,
                             attn2c_message *message) {
  const attn2c_weight *weight = &source->model->weights[index];
  const attn2c_tensor *tensor = &source->model->tensors[weight->tensor];
  const int64_t row = attn2c_elements(tensor) / tensor->shape[0];
  if (attn2c_is_projected(weight))
    return source->model->readers->projector->read(source, index, first, count, values, message);
  if (is_constant(weight)) {
    if (first == 0 && count == tensor->shape[0])
      return attn2c_is_order(source->model, index) ? read_order(source, index, values, message)
                                                   : fill_constant(source->model, weight, values, message);
    if (fill_of_sound(source->model, weight, first, count, values)) return ATTN2C_OK;
    return attn2c_fail(message, ATTN2C_USAGE, "%s: a constant can only be read as a whole", tensor->name);
  }
  if (source->model->slices && source->model->slices[index].is_zero) {
    memset(values, 0, (size_t)(count * row) * sizeof *values);
    return ATTN2C_OK;
  }
  if (!source->file) {
    source->draw(source, index, first, count, row, values);
    return ATTN2C_OK;
  }
  return (attn2c_ordered_by(source->model, index) >= 0 ? read_ordered_rows : read_views)(
      source, index, first, count, row, values, message);
}

/* Returns 2^power, -126 <= power <= 127. */
static float power_of_two(int power) { return attn2c_from_bits((uint32_t)(127 + power) << 23); }

/* Multiplies rows [first, first + count) of a weight by its factors, but not by the importance of its inputs.
 */
static void smooth(const attn2c_descriptor *model, int index, int64_t first, int64_t count, float *values) {
  const attn2c_tensor *tensor = &model->tensors[model->weights[index].tensor];
  const attn2c_factors *factors = model->factors ? &model->factors[index] : NULL;
  if (!factors || !factors->powers || factors->sign == 0) return;
  const int is_vector = tensor->rank == 1;
  const int64_t columns = is_vector ? count : tensor->shape[1], rows = is_vector ? 1 : count;
  const signed char *powers = factors->powers + (is_vector ? first : 0);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) values[i * columns + j] *= power_of_two(factors->sign * powers[j]);
}

int attn2c_source_read_rows(attn2c_source *source, int index, int64_t first, int64_t count, float *values,
                            attn2c_message *message) {
  const int scaled = attn2c_scaled_by(source->model, index);
  const attn2c_weight *weight = &source->model->weights[index];
  const int is_made = is_constant(weight) && !attn2c_is_projected(weight) &&
                      !attn2c_is_order(source->model, index) && scaled < 0;
  attn2c_source_tell(source, index);
  if (source->packed && !is_made) {
    attn2c_unpack(attn2c_packed_model(source->packed), index, attn2c_packed_block(source->packed), first,
                  count, values);
    return ATTN2C_OK;
  }
  if (scaled >= 0) return read_scales(source, scaled, first, count, values, message);
  const int status = attn2c_source_read_plain(source, index, first, count, values, message);
  if (status == ATTN2C_OK) smooth(source->model, index, first, count, values);
  return status;
}

int attn2c_source_read(attn2c_source *source, int index, float *values, attn2c_message *message) {
  const attn2c_tensor *tensor = &source->model->tensors[source->model->weights[index].tensor];
  return attn2c_source_read_rows(source, index, 0, tensor->shape[0], values, message);
}

int attn2c_source_is_file(const attn2c_source *source) { return source->file != NULL; }

int attn2c_source_read_own(attn2c_source *source, int index, float *values, attn2c_message *message) {
  const attn2c_tensor *tensor = attn2c_source_tensor(source, index);
  const int64_t rows = tensor->shape[0];
  source->is_own = 1;
  source->band.view = NULL; /* it may have been read in another order */
  const int status = read_views(source, index, 0, rows, attn2c_elements(tensor) / rows, values, message);
  source->band.view = NULL;
  source->is_own = 0;
  return status;
}

int attn2c_source_order(attn2c_source *source, int index, int32_t *inputs, attn2c_message *message) {
  ATTN2C_TRY(source->model->readers->orders->read(&source->orders, index, message));
  memcpy(inputs, source->orders.inputs,
         (size_t)attn2c_source_tensor(source, index)->shape[1] * sizeof *inputs);
  return ATTN2C_OK;
}
