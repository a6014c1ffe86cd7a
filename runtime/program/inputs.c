/* inputs.c - binds names to files, and reads, checks or makes the arrays of one entry. It also chooses the
 * source of the weights. */
#include "program/inputs.h"
#include "program/commands.h"
#include "program/output.h"
#include "program/ranks/program.h"

#include "model/sequences.h"
#include "weights/random.h"
#include "base/shape.h"

enum { KNOWN_NAMES = 1000 };

static void tensor_text(const attn2c_tensor *tensor, const char *shape, char *text, size_t size) {
  const char *type = tensor->type == ATTN2C_F32 ? "float32" : "int32";
  if (tensor->type == ATTN2C_I32 && tensor->minimum < tensor->limit)
    snprintf(text, size, "%s %s, %" PRId64 " to %" PRId64, type, shape, tensor->minimum, tensor->limit - 1);
  else
    snprintf(text, size, "%s %s", type, shape);
}

attn2c_call_shape attn2c_call_shape_of(const attn2c_descriptor *model, const attn2c_entry *entry,
                                       int is_input, int index) {
  const attn2c_tensor *tensor = &model->tensors[is_input ? entry->inputs[index] : entry->outputs[index]];
  attn2c_call_shape made = {NULL, 0, {0}};
  int first = 0;
  const attn2c_lengths *lengths = attn2c_lengths_of(model, entry);
  if (lengths) {
    const attn2c_axes *axes = is_input ? &lengths->inputs[index] : &lengths->outputs[index];
    const int has_rows = axes->rows >= 0 && lengths->least < lengths->sizes->seq;
    if (axes->batch >= 0) first = has_rows ? 2 : 1, made.first = has_rows ? "rows" : "sequences";
  }
  for (int i = first; i < attn2c_caller_rank(tensor); i++) made.sizes[made.rank++] = tensor->shape[i];
  return made;
}

void attn2c_array_text(const attn2c_descriptor *model, const attn2c_entry *entry, int is_input, int index,
                       char *text, size_t size) {
  const attn2c_call_shape shape = attn2c_call_shape_of(model, entry, is_input, index);
  const attn2c_shape_text rest = attn2c_shape_write(shape.rank, shape.sizes);
  char whole[ATTN2C_ARRAY_TEXT];
  if (shape.first)
    snprintf(whole, sizeof whole, "[%s%s%s", shape.first, shape.rank ? ", " : "]",
             shape.rank ? rest.text + 1 : "");
  else
    snprintf(whole, sizeof whole, "%s", rest.text);
  tensor_text(&model->tensors[is_input ? entry->inputs[index] : entry->outputs[index]], whole, text, size);
}

void attn2c_index_text(const attn2c_tensor *tensor, int64_t element, char *text, size_t size) {
  int64_t slice = 1; /* elements of a slice along the axis */
  for (int i = 1; i < tensor->rank; i++) slice *= tensor->shape[i];
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < tensor->rank && used < size; i++) {
    used += (size_t)snprintf(text + used, size - used, "[%" PRId64 "]", element / slice);
    element %= slice;
    if (i + 1 < tensor->rank) slice /= tensor->shape[i + 1];
  }
}

int attn2c_lacks_weights(const attn2c_descriptor *model, const char *weights, const char *command,
                         attn2c_message *message) {
  if (weights != NULL || !attn2c_needs_checkpoint(model)) return 0;
  if (model->checkpoint != NULL)
    attn2c_say(message, "%s: --weights F is needed; this model was built from %s: --weights PATH/%s", command,
               model->checkpoint, model->checkpoint);
  else
    attn2c_say(message, "%s: --weights F.safetensors is needed", command);
  return 1;
}

int attn2c_inputs_of_entries(const attn2c_descriptor *model, int *tensors) {
  int count = 0;
  for (int e = 0; e < model->entry_count; e++) {
    const attn2c_entry *entry = &model->entries[e];
    for (int i = 0; i < entry->input_count; i++, count++) {
      if (tensors != NULL) tensors[count] = entry->inputs[i];
    }
  }
  return count;
}

int attn2c_entry_find(const attn2c_descriptor *model, const char *name, attn2c_message *message) {
  char known[KNOWN_NAMES] = "";
  size_t used = 0;
  if (name == NULL) return attn2c_primary(model);
  for (int e = 0; e < model->entry_count; e++) {
    if (strcmp(model->entries[e].name, name) == 0) return e;
    if (used < sizeof known)
      used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", e > 0 ? ", " : "",
                               model->entries[e].name);
  }
  attn2c_say(message, "--entry %s: no such entry; known: %s", name, known);
  return -1;
}

int attn2c_adapter_asked(const attn2c_descriptor *model, const attn2c_arguments *arguments, int32_t *adapter,
                         attn2c_message *message) {
  char known[KNOWN_NAMES] = "";
  size_t used = 0;
  *adapter = arguments->adapter ? attn2c_adapter_number(model, arguments->adapter) : 0;
  if (*adapter >= 0) return ATTN2C_OK;
  for (int i = 0; model->adapters && model->adapters[i] && used < sizeof known; i++)
    used += (size_t)snprintf(known + used, sizeof known - used, ", %s", model->adapters[i]);
  return attn2c_fail(message, ATTN2C_USAGE, "--adapter %s: no such adapter; known: none%s",
                     arguments->adapter, known);
}

static const char *name_of(const attn2c_descriptor *model, int tensor) {
  return tensor == ATTN2C_LENGTHS_ARRAY ? "lengths" : model->tensors[tensor].name;
}

/* Writes "hidden, lengths, mask" for a message, each name once. */
static void list_names(const char *const *names, int count, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < count && used < size; i++) {
    int before = 0;
    while (before < i && strcmp(names[before], names[i]) != 0) before++;
    if (before < i) continue;
    const int length = snprintf(text + used, size - used, "%s%s", used == 0 ? "" : ", ", names[i]);
    if (length < 0) return;
    used += (size_t)length;
  }
}

/* Returns the length of NAME in NAME=PATH, or -1. A text with a slash before '=' is of the path. */
static ptrdiff_t name_length(const char *word) {
  const char *equals = strchr(word, '='), *slash = strpbrk(word, "/\\");
  if (equals == NULL || (slash != NULL && slash < equals)) return -1;
  return equals - word;
}

const char *attn2c_path_of(const char *word) { return word + name_length(word) + 1; }

int attn2c_bind_names(const char *const *names, int count, int plain, const char *option,
                      const char *const *words, int word_count, const char **paths, attn2c_message *message) {
  char known[KNOWN_NAMES];
  int status = ATTN2C_OK;
  list_names(names, count, known, sizeof known);
  for (int i = 0; i < count; i++) paths[i] = NULL;
  for (int w = 0; w < word_count; w++) {
    const ptrdiff_t length = name_length(words[w]);
    const char *path = words[w] + length + 1;
    int found = 0, twice = 0;
    for (int i = 0; i < count; i++) {
      const int named = length >= 0 && strlen(names[i]) == (size_t)length &&
                        strncmp(names[i], words[w], (size_t)length) == 0;
      if (!named && (length >= 0 || plain > 1 || i >= plain)) continue;
      twice |= paths[i] != NULL;
      paths[i] = path;
      found = 1;
    }
    if (!found && length < 0)
      attn2c_say(message, "%s %s: a name is needed, NAME=PATH; known: %s", option, words[w], known);
    else if (!found)
      attn2c_say(message, "%s %s: no such name; known: %s", option, words[w], known);
    else if (twice)
      attn2c_say(message, "%s %s: this one is given twice, but once is allowed", option, words[w]);
    else if (*path == '\0')
      attn2c_say(message, "%s '%s': a path is needed", option, words[w]);
    else
      continue;
    status = ATTN2C_USAGE;
  }
  return status;
}

/* True if one of the words that give texts names a place. */
static int are_read(const attn2c_place *place, const attn2c_text_word *words, int count) {
  for (int i = 0; i < count; i++)
    if (words[i].kind != ATTN2C_TEXT_STRING && attn2c_place_is_at(place, words[i].word)) return 1;
  return 0;
}

/* True if one of the [NAME=]PATH words names a place. */
static int are_at(const attn2c_place *place, const char *const *words, int count) {
  for (int i = 0; i < count; i++)
    if (attn2c_place_is_at(place, attn2c_path_of(words[i]))) return 1;
  return 0;
}

int attn2c_is_read(const attn2c_arguments *arguments, const attn2c_place *place) {
  const attn2c_generate_arguments *generate = &arguments->generate;
  const char *const files[] = {generate->perplexity_file, generate->grammar, generate->json_schema,
                               arguments->against, arguments->cache};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (attn2c_place_is_at(place, files[i])) return 1;
  return attn2c_place_has_weights(place, arguments->text_weights) ||
         attn2c_place_has_weights(place, generate->draft) ||
         are_read(place, arguments->texts, arguments->text_count) ||
         are_read(place, arguments->pairs, arguments->pair_count) ||
         are_read(place, arguments->boxes, arguments->box_count) ||
         are_read(place, arguments->queries, arguments->query_count) ||
         (&attn2c_the_pictures && attn2c_the_pictures->reads(arguments, place)) ||
         (&attn2c_the_sounds && attn2c_the_sounds->reads(arguments, place)) ||
         are_at(place, generate->features, generate->feature_count) ||
         are_at(place, arguments->inputs, arguments->input_count);
}

int attn2c_bind(const attn2c_descriptor *model, const int *tensors, int count, const char *option,
                const char *const *words, int word_count, const char **paths, attn2c_message *message) {
  const int plain = count - (count > 0 && tensors[count - 1] == ATTN2C_LENGTHS_ARRAY);
  ATTN2C_OWN const char **names = calloc((size_t)count + 1, sizeof *names);
  if (!names) return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory", option);
  for (int i = 0; i < count; i++) names[i] = name_of(model, tensors[i]);
  return attn2c_bind_names(names, count, plain, option, words, word_count, paths, message);
}

int64_t attn2c_batch(const attn2c_descriptor *model, const attn2c_entry *entry) {
  if (model->batch > 0) return model->batch;
  for (int i = 0; i < entry->input_count; i++) {
    const attn2c_tensor *tensor = &model->tensors[entry->inputs[i]];
    if (tensor->kind != ATTN2C_SHARED_INPUT) return tensor->rank > 0 ? tensor->shape[0] : 1;
  }
  return 1;
}

int attn2c_has_batch(const attn2c_descriptor *model, const attn2c_entry *entry, int tensor) {
  const attn2c_tensor *shape = &model->tensors[tensor];
  if (shape->kind == ATTN2C_SHARED_INPUT || shape->rank == 0) return 0;
  int batched_inputs = 0;
  for (int i = 0; i < entry->input_count; i++)
    batched_inputs += model->tensors[entry->inputs[i]].kind != ATTN2C_SHARED_INPUT;
  return batched_inputs > 0 && shape->shape[0] == attn2c_batch(model, entry);
}

size_t attn2c_tensor_bytes(const attn2c_tensor *tensor, int64_t sequences) {
  int64_t shape[ATTN2C_MAX_RANK], elements;
  memcpy(shape, tensor->shape, sizeof shape);
  if (tensor->rank > 0) shape[0] = sequences;
  size_t bytes;
  if (!attn2c_shape_count(tensor->rank, shape, &elements)) return 0;
  /* f32 and i32 both have four bytes. */
  if (__builtin_mul_overflow((uint64_t)elements, sizeof(float), &bytes)) return 0;
  return bytes;
}

int attn2c_input_in_range(const attn2c_tensor *tensor, const int32_t *values, int64_t sequences,
                          attn2c_message *message) {
  int64_t count = tensor->rank > 0 ? sequences : 1;
  for (int i = 1; i < tensor->rank; i++) count *= tensor->shape[i];
  for (int64_t e = 0; e < count; e++) {
    if (values[e] >= tensor->minimum && values[e] < tensor->limit) continue;
    char index[ATTN2C_INDEX_TEXT];
    attn2c_index_text(tensor, e, index, sizeof index);
    return attn2c_fail(message, ATTN2C_FORMAT, "%s%s: %" PRId32 ", but %" PRId64 " to %" PRId64 " is allowed",
                       tensor->name, index, values[e], tensor->minimum, tensor->limit - 1);
  }
  for (int64_t e = 0; e < count && tensor->kind == ATTN2C_SHAPES_INPUT; e += 2)
    if ((int64_t)values[e] * values[e + 1] >= tensor->limit)
      return attn2c_fail(message, ATTN2C_FORMAT,
                         "%s[%" PRId64 "]: %" PRId32 " x %" PRId32 " patches, but at most %" PRId64
                         " are allowed",
                         tensor->name, e / 2, values[e], values[e + 1], tensor->limit - 1);
  return ATTN2C_OK;
}

int attn2c_array_take(attn2c_npy *array, const attn2c_tensor *tensor, void **values,
                      attn2c_message *message) {
  const int64_t leading = tensor->rank > 0 ? tensor->shape[0] : 1;
  const size_t bytes = attn2c_tensor_bytes(tensor, leading);
  int status = ATTN2C_OK;
  *values = bytes > 0 ? attn2c_allocate(bytes) : NULL;
  if (*values == NULL)
    status = attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory for %s", tensor->name, array->path);
  else
    status = attn2c_npy_as(array, tensor->type, tensor->rank, tensor->shape, tensor->name, *values, message);
  if (status == ATTN2C_OK && tensor->type == ATTN2C_I32 && tensor->minimum < tensor->limit)
    status = attn2c_input_in_range(tensor, *values, leading, message);
  attn2c_npy_free(array);
  if (status == ATTN2C_OK) return status;
  attn2c_free(*values);
  *values = NULL;
  return status;
}

int attn2c_input_read(const attn2c_tensor *tensor, const char *path, int64_t *sequences, void **values,
                      attn2c_message *message) {
  attn2c_npy array;
  *values = NULL;
  ATTN2C_TRY(attn2c_npy_read(path, &array, message));
  attn2c_tensor expected = *tensor;
  if (*sequences > 0)
    expected.shape[0] = *sequences;
  else if (tensor->rank > 0 && array.rank == tensor->rank && array.shape[0] > 0)
    expected.shape[0] = array.shape[0];
  int status = attn2c_array_take(&array, &expected, values, message);
  if (status == ATTN2C_OK) *sequences = tensor->rank > 0 ? expected.shape[0] : 1;
  return status;
}

int attn2c_arrays_allocate(const attn2c_descriptor *model, const int *tensors, int count, void **arrays,
                           attn2c_message *message) {
  for (int i = 0; i < count; i++) {
    if (arrays[i] != NULL) continue;
    const attn2c_tensor *tensor = &model->tensors[tensors[i]];
    const size_t bytes = attn2c_tensor_bytes(tensor, tensor->shape[0]);
    arrays[i] = bytes > 0 ? attn2c_allocate(bytes) : NULL;
    if (arrays[i] == NULL)
      return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory for %zu bytes", tensor->name, bytes);
  }
  return ATTN2C_OK;
}

void attn2c_arrays_free(void **arrays, int count) {
  for (int i = 0; arrays != NULL && i < count; i++) attn2c_free(arrays[i]);
  free(arrays);
}

void attn2c_input_random(const attn2c_tensor *tensor, uint64_t seed, int full, void *values) {
  const int64_t count = attn2c_elements(tensor);
  if (tensor->type == ATTN2C_F32) {
    attn2c_random_fill(seed, tensor->name, values, count, 0.0, 1.0);
  } else if (full && tensor->rank == 1) {
    int32_t *lengths = values;
    for (int64_t i = 0; i < count; i++)
      lengths[i] = attn2c_is_optional(tensor) ? 0 : (int32_t)(tensor->limit - 1);
  } else {
    attn2c_random_integers(seed, tensor->name, values, count, tensor->minimum, tensor->limit);
    int32_t *shapes = values; /* with fewer columns if there are many rows */
    for (int64_t i = 0; i < count && tensor->kind == ATTN2C_SHAPES_INPUT; i += 2)
      shapes[i + 1] = (int32_t)(1 + shapes[i + 1] % ((tensor->limit - 1) / shapes[i]));
  }
}

int attn2c_model_choose(const attn2c_arguments *arguments, const attn2c_descriptor *model,
                        attn2c_source *source, attn2c_model **opened, attn2c_message *message) {
  const int status = &attn2c_the_ranks
                         ? attn2c_the_ranks->open_model(arguments, opened, message)
                         : attn2c_model_open(model, source, arguments->threads, opened, message);
  attn2c_progress_hide();
  return status;
}

int attn2c_program_context(const attn2c_model *model, attn2c_context **context) {
  return (model->descriptor->is_open ? attn2c_sequences_create : attn2c_context_create)(model, context);
}

static void show_reading(int64_t done, int64_t all) { attn2c_progress("reading weights", done, all); }

int attn2c_source_choose(const attn2c_arguments *arguments, const attn2c_descriptor *model,
                         attn2c_source **source, attn2c_message *message) {
  ATTN2C_TRY(arguments->weights          ? attn2c_source_file(arguments->weights, model, source, message)
             : attn2c_is_embedded(model) ? attn2c_source_embedded(model, source, message)
                                         : attn2c_source_random(arguments->seed, model, source, message));
  attn2c_source_watch(*source, show_reading);
  return ATTN2C_OK;
}
