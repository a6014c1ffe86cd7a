/* inputs.h - the arrays of one entry, for the program's commands: binds files to tensors, and reads or makes
 * them. It also chooses the source of the weights. */
#pragma once

#include "formats/npy.h"
#include "model/model.h"
#include "program/arguments.h"

/* The shape of an array of a call. `first` is the name of the first size if the call sets it: "rows" or
 * "sequences" in a model of any length; else NULL. The other sizes follow. */
typedef struct {
  const char *first;
  int rank; /* number of `sizes` */
  int64_t sizes[ATTN2C_MAX_RANK];
} attn2c_call_shape;

/* Returns the shape of input (is_input) or output number `index` of an entry. */
attn2c_call_shape attn2c_call_shape_of(const attn2c_descriptor *model, const attn2c_entry *entry,
                                       int is_input, int index);

/* Size of a buffer for any text of attn2c_array_text, in bytes. */
#define ATTN2C_ARRAY_TEXT 320

/* Writes the type, shape and range of input (is_input) or output number `index` of an entry, as a call has
 * it: "float32 [1][128][768]", "int32 [32], 1 to 128"; with any length "float32 [rows, 768]". */
void attn2c_array_text(const attn2c_descriptor *model, const attn2c_entry *entry, int is_input, int index,
                       char *text, size_t size);

/* Size of a buffer for any text of attn2c_index_text, in bytes. */
#define ATTN2C_INDEX_TEXT (ATTN2C_MAX_RANK * 24)

/* Writes "[2][17]": the index of element number `element` of the tensor. */
void attn2c_index_text(const attn2c_tensor *tensor, int64_t element, char *text, size_t size);

/* Returns 1 and adds a line if a model needs weights and none are given. */
int attn2c_lacks_weights(const attn2c_descriptor *model, const char *weights, const char *command,
                         attn2c_message *message);

/* Writes the inputs of all entries, one list after the other, as attn2c_check takes them, if `tensors` is not
 * NULL. Returns their number. */
int attn2c_inputs_of_entries(const attn2c_descriptor *model, int *tensors);

/* Finds the adapter that is asked for, 0 for none. ATTN2C_USAGE: none; a line has all. */
int attn2c_adapter_asked(const attn2c_descriptor *model, const attn2c_arguments *arguments, int32_t *adapter,
                         attn2c_message *message);

/* Returns the number of the entry called `name`. NULL is the last, longest one. If there is no such entry:
 * -1, and a line that begins with `--entry`. */
int attn2c_entry_find(const attn2c_descriptor *model, const char *name, attn2c_message *message);

/* In a list of tensors for attn2c_bind: the array `lengths`, the rows of each sequence of a call. */
enum { ATTN2C_LENGTHS_ARRAY = -1 };

/* Returns the path of a [NAME=]PATH word. */
const char *attn2c_path_of(const char *word);

/* True if a command reads a file of its arguments from a place, or would if it existed. The weights of its
 * own model are left out. */
int attn2c_is_read(const attn2c_arguments *arguments, const attn2c_place *place);

/* Assigns [NAME=]PATH words to the tensors of the list: paths[i] is the path for tensors[i], or NULL. A name
 * that is in the list more than once assigns the path to all of that name. NAME= may be left out if there is
 * one tensor besides `lengths`, which must be the last. Unknown and double names: ATTN2C_USAGE, and one line
 * each that begins with `option`. */
int attn2c_bind(const attn2c_descriptor *model, const int *tensors, int count, const char *option,
                const char *const *words, int word_count, const char **paths, attn2c_message *message);

/* Does the same for names. NAME= may be left out if `plain` is 1: then the first one is meant. */
int attn2c_bind_names(const char *const *names, int count, int plain, const char *option,
                      const char *const *words, int word_count, const char **paths, attn2c_message *message);

/* Returns the sequences of one call. That is the model's own number, or else the leading dimension of the
 * entry's first input that is not shared. Returns 1 if all inputs are shared. */
int64_t attn2c_batch(const attn2c_descriptor *model, const attn2c_entry *entry);

/* Returns 1 if the leading dimension of an input or output counts sequences. A caller may then give more of
 * them than one call takes. It never counts sequences in a shared input, nor in an output of an entry whose
 * inputs are all shared. */
int attn2c_has_batch(const attn2c_descriptor *model, const attn2c_entry *entry, int tensor);

/* Reads the array of `tensor`, whose leading dimension must be *sequences. If *sequences is 0, any number
 * from 1 is allowed and written there. Values outside of an i32 tensor's range: ATTN2C_FORMAT, and the line
 * names the first. The caller frees *values with attn2c_free; on failure it is NULL. */
int attn2c_input_read(const attn2c_tensor *tensor, const char *path, int64_t *sequences, void **values,
                      attn2c_message *message);

/* Converts an array to a tensor's type and shape, checks its range as attn2c_input_read does, and frees the
 * array. The caller frees *values with attn2c_free; on failure it is NULL. */
int attn2c_array_take(attn2c_npy *array, const attn2c_tensor *tensor, void **values, attn2c_message *message);

/* Checks minimum <= value < limit for `sequences` sequences. The line names the first one outside. */
int attn2c_input_in_range(const attn2c_tensor *tensor, const int32_t *values, int64_t sequences,
                          attn2c_message *message);

/* Returns the bytes of `sequences` slices of the tensor along its leading dimension; 0 if that overflows. */
size_t attn2c_tensor_bytes(const attn2c_tensor *tensor, int64_t sequences);

/* Allocates each array that is still NULL for a whole batch. Returns ATTN2C_OK or _MEMORY. */
int attn2c_arrays_allocate(const attn2c_descriptor *model, const int *tensors, int count, void **arrays,
                           attn2c_message *message);
void attn2c_arrays_free(void **arrays, int count);

/* Fills one input for a whole batch: f32 normal (0, 1); i32 uniform in [minimum, limit). With `full`, an
 * input of one count a sequence (i32, rank 1) is limit - 1, so that no work is left out. */
void attn2c_input_random(const attn2c_tensor *tensor, uint64_t seed, int full, void *values);

/* Opens the model, from a source that attn2c_source_choose chose. Each rank opens it from its own source. */
/* Creates a context for calls of the model, whose lengths may be any. Returns ATTN2C_OK or _MEMORY. */
int attn2c_program_context(const attn2c_model *model, attn2c_context **context);

int attn2c_model_choose(const attn2c_arguments *arguments, const attn2c_descriptor *model,
                        attn2c_source *source, attn2c_model **opened, attn2c_message *message);

/* Opens --weights or, without it, the weights that are linked in, or else seeded random ones. */
int attn2c_source_choose(const attn2c_arguments *arguments, const attn2c_descriptor *model,
                         attn2c_source **source, attn2c_message *message);
