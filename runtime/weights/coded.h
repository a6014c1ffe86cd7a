/* coded.h - tensors that a checkpoint has as codes: integers of 2, 4 or 8 bits, with a scale and a zero point
 * for each group of inputs. GPTQ, AWQ and compressed-tensors write such files. Several tensors of the file
 * are one tensor [out][in] for the model; its values are scale (code - zero). */
#ifndef ATTN2C_CODED_H
#define ATTN2C_CODED_H

#include "base/descriptor.h"
#include "weights/checkpoint.h"

typedef struct attn2c_coded attn2c_coded;

/* Finds the coded tensors of an open checkpoint, and checks that their parts fit together. *coded is NULL if
 * there are none. Returns ATTN2C_OK, _FORMAT, _IO or _MEMORY; on failure one line says why. */
int attn2c_coded_open(const attn2c_checkpoint *file, attn2c_coding coding, attn2c_coded **coded,
                      attn2c_message *message);
void attn2c_coded_close(attn2c_coded *coded);

/* The coded tensors, in the order of their names. */
int attn2c_coded_count(const attn2c_coded *coded);
const attn2c_file_tensor *attn2c_coded_tensor(const attn2c_coded *coded, int index);
/* Returns the index of a tensor, by binary search, or -1. */
int attn2c_coded_find(const attn2c_coded *coded, const char *name);
/* True if tensor number `plain` of the file is a part of a coded tensor. */
int attn2c_coded_has_part(const attn2c_coded *coded, int plain);

/* Writes the inputs of a tensor in the order of their groups: first those of group 0, as they follow each
 * other in the tensor. A tensor "in groups" has its columns in this order. */
int attn2c_coded_order(const attn2c_coded *coded, const attn2c_checkpoint *file, int index, int32_t *inputs,
                       attn2c_message *message);

/* The codes of one tensor: value (i, j) is scales[i][g] times (codes[i][j] - zeros[i][g]), g the group of
 * column j. */
typedef struct attn2c_codes {
  int64_t rows, columns, groups;
  int bits;
  const uint8_t *codes;    /* [rows][columns] */
  const float *scales;     /* [rows][groups] */
  const int16_t *zeros;    /* [rows][groups] */
  const int32_t *group_of; /* [columns]; NULL: groups of equal sizes, one after the other */
} attn2c_codes;

/* Does the same as attn2c_file_tensor_read, of the tensor or, if in_groups is 1, of the tensor in groups. The
 * codes of the tensor that was read last stay in memory. */
int attn2c_coded_read(attn2c_coded *coded, const attn2c_checkpoint *file, int index, int in_groups,
                      int64_t first, int64_t count, float *values, attn2c_message *message);

/* True if a tensor's groups are whole scale blocks, one after the other, and so are rows of `columns`
 * elements from element `first` on, `step` elements apart. */
int attn2c_coded_has_blocks(const attn2c_coded *coded, int index, int in_groups, int64_t first, int64_t step,
                            int64_t columns);
/* Reads elements [first, first + count) of such a tensor as scale blocks with exactly its values. They
 * have no minimum if all scales of the tensor are f16 and all zero points in the middle of the codes. */
int attn2c_coded_read_blocks(attn2c_coded *coded, const attn2c_checkpoint *file, int index, int in_groups,
                             int64_t first, int64_t count, attn2c_scale_block *blocks,
                             attn2c_message *message);

#endif
