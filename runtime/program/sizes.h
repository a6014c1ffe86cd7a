/* sizes.h - inputs and outputs of the caller's size: the shapes of their arrays, and reading inputs. The
 * shapes of the inputs say how many sequences there are and how long they are; a model of any length may have
 * an array with the length of each. */
#pragma once

#include "base/descriptor.h"

/* The size of a call and its bounds. */
typedef struct {
  const attn2c_descriptor *model;
  const attn2c_entry *entry; /* whose inputs and outputs they are; the primary one at first */
  const attn2c_lengths *lengths;
  int64_t batch, seq;            /* sequences, and tokens of each; 0: not known yet */
  const char *batch_of, *seq_of; /* names of the inputs that set them */
  int32_t *each;                 /* [batch], the rows of each sequence; NULL: all have `seq` */
  int64_t rows;                  /* their sum */
  attn2c_axes *own_axes;         /* these three are set if the program does not state its axes */
  attn2c_lengths own;
  attn2c_size own_size;
} attn2c_sizes;

/* Prepares the sizes. Unless the program says how arrays grow, only leading dimensions may differ. ATTN2C_OK
 * or _MEMORY. */
int attn2c_sizes_open(const attn2c_program *program, attn2c_sizes *sizes, attn2c_message *message);
void attn2c_sizes_close(attn2c_sizes *sizes);

/* Returns input (is_input) or output number `index` of the entry, as a tensor of the caller's shape. A size
 * that is not known yet is the entry's. */
attn2c_tensor attn2c_sizes_tensor(const attn2c_sizes *sizes, int is_input, int index);

/* Reads input number `index`. Its shape sets the sizes that are not known yet. If it contradicts the known
 * ones, or is too long or too short: ATTN2C_FORMAT, and a line that says which sizes are allowed. The caller
 * frees *values with attn2c_free. */
int attn2c_sizes_read(attn2c_sizes *sizes, int index, const char *path, void **values,
                      attn2c_message *message);

/* Reads the lengths of the sequences of a call of any length. Arrays then have the rows of all sequences, one
 * after the other. ATTN2C_FORMAT: a length out of range, which the line names. */
int attn2c_sizes_read_lengths(attn2c_sizes *sizes, const char *path, attn2c_message *message);

/* Sets the sizes that no input has set to the entry's. */
void attn2c_sizes_settle(attn2c_sizes *sizes);
