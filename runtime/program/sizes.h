/* sizes.h - inputs and outputs of the caller's size: what shape an array of an entry then has, and reading
 * one whose shape says how many sequences there are, and how long they are. */
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

/* The entry whose arrays are looked at: the one that is called, or the last, which has the same ones. */
const attn2c_entry *attn2c_sizes_entry(const attn2c_sizes *sizes);

/* Input (is_input) or output number `index` of the entry as the caller has it: its shape, and the limit of
 * what counts rows; an unknown size is the entry's. */
attn2c_tensor attn2c_sizes_tensor(const attn2c_sizes *sizes, int is_input, int index);

/* Reads input number `index`. What the sizes do not say yet it says; where it does not agree, or is too long
 * or too short: ATTN2C_FORMAT, and a line that says what is allowed. *values is the caller's to attn2c_free.
 */
int attn2c_sizes_read(attn2c_sizes *sizes, int index, const char *path, void **values,
                      attn2c_message *message);

/* What the inputs left open: the entry's own size. */
void attn2c_sizes_settle(attn2c_sizes *sizes);

#endif
