/* sizes.h - inputs and outputs of the caller's size: the shapes that arrays of an entry have for it, and
 * reading inputs, whose shapes say how many sequences there are and how long they are. */
#ifndef ATTN2C_SIZES_H
#define ATTN2C_SIZES_H

#include "base/descriptor.h"

/* A call's size and what bounds it. */
typedef struct {
  const attn2c_descriptor *model;
  const attn2c_lengths *lengths;
  int number;                    /* of the entry that is called; -1: any */
  int64_t batch, seq;            /* 0: not known yet */
  const char *batch_of, *seq_of; /* the inputs that said so */
  attn2c_axes *own_axes;         /* of a program that does not know its axes; and what else belongs to that */
  attn2c_lengths own;
  attn2c_size own_size;
} attn2c_sizes;

/* For the entry of this number; -1: whichever fits. Where the program does not say how arrays grow, only
 * their leading dimension may differ. ATTN2C_OK or _MEMORY. */
int attn2c_sizes_open(const attn2c_program *program, int number, attn2c_sizes *sizes,
                      attn2c_message *message);
void attn2c_sizes_close(attn2c_sizes *sizes);

/* The entry whose inputs and outputs these are: the one that is called, or else the last; all have the same.
 */
const attn2c_entry *attn2c_sizes_entry(const attn2c_sizes *sizes);

/* Input (is_input) or output number `index` of the entry with the caller's shape and, where it counts
 * rows, the caller's limit. A size that is not known yet is the entry's. */
attn2c_tensor attn2c_sizes_tensor(const attn2c_sizes *sizes, int is_input, int index);

/* Reads input number `index`. Its shape sets the sizes that are not known yet. If it contradicts the known
 * ones, or is too long or too short: ATTN2C_FORMAT, and a line that says what is allowed. The caller has to
 * attn2c_free *values. */
int attn2c_sizes_read(attn2c_sizes *sizes, int index, const char *path, void **values,
                      attn2c_message *message);

/* Sets the sizes that no input has set to the entry's. */
void attn2c_sizes_settle(attn2c_sizes *sizes);

#endif
