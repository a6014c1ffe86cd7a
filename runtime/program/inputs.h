/* inputs.h - the arrays that go into and come out of one entry, for the program's
 * commands: which file is meant for which tensor, reading and checking them, random
 * ones, and where the weights come from. */
#ifndef ATTN2C_INPUTS_H
#define ATTN2C_INPUTS_H

#include "program/arguments.h"
#include "weights/weights.h"

/* Text that is enough for any tensor of attn2c_tensor_text. */
#define ATTN2C_TENSOR_TEXT 320

/* Writes "float32 [1][128][768]" or "int32 [32], 1 to 128". */
void attn2c_tensor_text(const attn2c_tensor *tensor, char *text, size_t size);

/* Text that is enough for any index. */
#define ATTN2C_INDEX_TEXT (ATTN2C_MAX_RANK * 24)

/* Writes "[2][17]": where element number `element` of the tensor lies. */
void attn2c_index_text(const attn2c_tensor *tensor, int64_t element, char *text, size_t size);

/* 1 where a model needs weights and none are given, and a line on which. */
int attn2c_lacks_weights(const attn2c_descriptor *model, const char *weights, const char *command,
                         attn2c_message *message);

/* The inputs of all entries, one list behind the other, as attn2c_check takes them: writes their indices
 * where `tensors` is not NULL; their number. */
int attn2c_inputs_of_entries(const attn2c_descriptor *model, int *tensors);

/* The number of the entry of this name; of the last one, the longest, where `name` is NULL; -1, and a line
 * that begins with `--entry`, where there is none. */
int attn2c_entry_find(const attn2c_descriptor *model, const char *name, attn2c_message *message);

/* Sorts [NAME=]PATH words to the tensors listed: paths[i] is that of tensors[i], NULL where none is given. A
 * name that stands in the list more than once is given to all of that name; NAME= may be left out where there
 * is one tensor. Unknown and double names: ATTN2C_USAGE, each a line that begins with `option`. */
int attn2c_bind(const attn2c_descriptor *model, const int *tensors, int count, const char *option,
                const char *const *words, int word_count, const char **paths, attn2c_message *message);

/* The sequences of one call: as the model says, else the leading dimension of the entry's first input that is
 * not shared; 1 where all are. */
int64_t attn2c_batch(const attn2c_descriptor *model, const attn2c_entry *entry);

/* 1 when the leading dimension of an input or output counts sequences, so that there may be more of them than
 * one call takes: never of a shared input, nor of an output of an entry whose inputs are all shared. */
int attn2c_has_batch(const attn2c_descriptor *model, const attn2c_entry *entry, int tensor);

/* Reads the array of `tensor`, whose leading dimension must be *sequences, or, where that is 0, may be
 * anything from 1 and is then written there. Values outside of an i32 tensor's range: ATTN2C_FORMAT, and the
 * first is named. *values is the caller's to attn2c_free; on failure NULL. */
int attn2c_input_read(const attn2c_tensor *tensor, const char *path, int64_t *sequences, void **values,
                      attn2c_message *message);

/* Checks minimum <= value < limit of `sequences` sequences; the first outside is named with its index. */
int attn2c_input_in_range(const attn2c_tensor *tensor, const int32_t *values, int64_t sequences,
                          attn2c_message *message);

/* Bytes of `sequences` slices of the tensor along its leading dimension; 0 where that overflows. */
size_t attn2c_tensor_bytes(const attn2c_tensor *tensor, int64_t sequences);

/* Allocates each array that is still NULL for a whole batch: ATTN2C_OK or _MEMORY. */
int attn2c_arrays_allocate(const attn2c_descriptor *model, const int *tensors, int count, void **arrays,
                           attn2c_message *message);
void attn2c_arrays_free(void **arrays, int count);

/* Fills one input for a whole batch: f32 normal (0, 1); i32 uniform in [minimum, limit). With `full`, one
 * count a sequence (i32, rank 1) is limit - 1, so that no work is left out. */
void attn2c_input_random(const attn2c_tensor *tensor, uint64_t seed, int full, void *values);

/* Opens --weights, or, where it is not given, the weights that are linked in, or else seeded random ones. */
int attn2c_source_choose(const attn2c_arguments *arguments, const attn2c_descriptor *model,
                         attn2c_source **source, attn2c_message *message);

#endif
