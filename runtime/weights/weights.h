/* weights.h - opens the source of a model's weights: a checkpoint, packed weights or seeded random numbers.
 * Files, memory and linked-in bytes are supported. A source returns one unpacked tensor at a time, so that
 * opening a model never holds a second copy of all of them. */
#pragma once

#include "packing/packed.h"
#include "reading/checkpoint.h"

typedef struct attn2c_source attn2c_source;

/* Opens a source of what was given, and takes the packed weights. Statuses as below. */
int attn2c_source_open(const attn2c_given *given, const attn2c_descriptor *model, attn2c_source **source,
                       attn2c_message *message);
/* Opens a source for `model` and verifies all of its weights at once. Every missing, misshapen and mistyped
 * tensor is a line of message. Returns ATTN2C_OK, _FORMAT, _IO or _MEMORY; on failure *source is NULL. */
int attn2c_source_file(const char *path, const attn2c_descriptor *model, attn2c_source **source,
                       attn2c_message *message);
/* Writes the path of a rank's packed weights, "PATH.rank1". A rank's source of PATH is that if it exists. */
void attn2c_source_of_rank(const char *path, int rank, char *own, size_t size);
/* Opens bytes in memory, which must stay valid until the source is closed. */
int attn2c_source_memory(const void *bytes, size_t size, const attn2c_descriptor *model,
                         attn2c_source **source, attn2c_message *message);
/* Opens the weights that are linked into the model, model->embedded. */
int attn2c_source_embedded(const attn2c_descriptor *model, attn2c_source **source, attn2c_message *message);
/* Opens random values, the same on every machine for the same seed, tensor name and shape. */
int attn2c_source_random(uint64_t seed, const attn2c_descriptor *model, attn2c_source **source,
                         attn2c_message *message);
/* Writes weight number `index` of the model as f32, unpacked and row-major. f64, f16 and bf16 of a file are
 * converted. `values` holds attn2c_elements() floats. A constant is computed from its formula. */
int attn2c_source_read(attn2c_source *source, int index, float *values, attn2c_message *message);
/* Writes `count` of its rows, from row `first` on (of the first axis). A constant gives all or none. */
int attn2c_source_read_rows(attn2c_source *source, int index, int64_t first, int64_t count, float *values,
                            attn2c_message *message);
/* True if the source is a file, which may have the inputs of weights in an order of its own. */
int attn2c_source_is_file(const attn2c_source *source);
/* Does the same as attn2c_source_read, of a weight of a file, with rows and columns as the file has them:
 * not in the order of any weight's inputs. */
int attn2c_source_read_own(attn2c_source *source, int index, float *values, attn2c_message *message);
/* Writes the inputs of a weight in the order in which the model has them (weights/orders.h). */
int attn2c_source_order(attn2c_source *source, int index, int32_t *inputs, attn2c_message *message);
/* Writes the same rows as scale blocks, [count][blocks of a row], if the source has the weight in blocks: a
 * file of a format that has them, or packed weights. Else *found is 0, and blocks may be overwritten. */
int attn2c_source_stored_blocks(attn2c_source *source, int index, int64_t first, int64_t count,
                                attn2c_scale_block *blocks, int *found, attn2c_message *message);
/* Returns the packed weights that the source holds, for any variant; NULL for other sources. */
attn2c_packed *attn2c_source_packed(const attn2c_source *source);
/* Return the number, and (index < number) the names, of the file's tensors that the model does not use. */
int attn2c_source_unused(const attn2c_source *source);
const char *attn2c_source_unused_name(const attn2c_source *source, int index);
/* Sets a function that is called before each read, with the place of the weight and the end of all, in
 * floats of the packed block. */
void attn2c_source_watch(attn2c_source *source, void (*watch)(int64_t done, int64_t all));
void attn2c_source_close(attn2c_source *source);
static inline void attn2c_source_end(attn2c_source **source) { attn2c_source_close(*source); }

/* Says in at most eleven lines why a checkpoint does not fit a model. The lines say what it looks like, what
 * is wrong with which tensors, and which of its tensors are similar. */

typedef struct {
  const attn2c_descriptor *model;
  const attn2c_checkpoint *file;
  const int *found; /* for each stored tensor its number in the file, or -1 */
  int faults;       /* stored tensors that do not fit */
  attn2c_message *message;
} attn2c_hints;

/* True if a file's tensor has the elements of a stored one in the same order. Its shape is the same, or
 * differs by axes of one, or it has a row as several axes. So a convolution [out][channels][patch][patch] is
 * a matrix. */
int attn2c_hints_shape_fits(const attn2c_file_tensor *tensor, const attn2c_stored *stored);
/* Says a line with the file's unused tensors, if tensors are missing. */
void attn2c_hints_unused(const attn2c_hints *hints);
/* Says a line on what the file looks like, if most tensors are missing and it looks like a known model. */
void attn2c_hints_say(const attn2c_hints *hints);
/* Says the lines on what is wrong with stored tensor number `index`. If `said` earlier faults are enough, it
 * says a line that counts the others, and returns 0. */
int attn2c_hints_fault(const attn2c_hints *hints, int index, int said);
