/* coded.h - tensors that a checkpoint has as codes: integers of 2, 4 or 8 bits, with a scale and a zero point
 * for each group of inputs. GPTQ, AWQ and compressed-tensors write such files. Several tensors of the file
 * are one tensor [out][in] for the model; its values are scale (code - zero). */
#pragma once

#include "reading/checkpoint.h"

typedef struct attn2c_coding attn2c_coding;
typedef struct attn2c_coded attn2c_coded;

/* A tensor's codes: value (i, j) is scales[i][g] (codes[i][j] - zeros[i][g]), g the group of column j. */
typedef struct attn2c_codes {
  int64_t rows, columns, groups;
  int bits;
  const uint8_t *codes;    /* [rows][columns] */
  const float *scales;     /* [rows][groups] */
  const int16_t *zeros;    /* [rows][groups] */
  const int32_t *group_of; /* [columns]; NULL: groups of equal sizes, one after the other */
} attn2c_codes;

/* How a tensor is stored, for the compiler, which chooses a type of weights that holds it. */
typedef struct attn2c_coded_facts {
  int bits;
  int64_t groups;
  int has_halves;    /* 1: scales are f16 */
  int is_centred;    /* 1: scale blocks of its codes have no minimum */
  const char *order; /* the name of the part with the group of each input; NULL: none */
  int is_ordered;    /* 1: groups are not one after the other, but in the order with this checksum */
  uint64_t sum;
  int64_t uneven, inputs; /* a group with another number of inputs than others, and this number; -1: none */
} attn2c_coded_facts;

/* The functions that read coded tensors. `index`: the number of one, in the order of their names. Statuses
 * are ATTN2C_OK, _FORMAT, _IO and _MEMORY; on failure one line says why. */
typedef struct attn2c_coded_reader {
  /* Finds an open checkpoint's coded tensors, and checks that their parts fit. *coded NULL: none. */
  int (*open)(const attn2c_checkpoint *file, const attn2c_coding *coding, attn2c_coded **coded,
              attn2c_message *message);
  void (*close)(attn2c_coded *coded);
  int (*count)(const attn2c_coded *coded);
  const attn2c_file_tensor *(*tensor)(const attn2c_coded *coded, int index);
  int (*find)(const attn2c_coded *coded, const char *name); /* by binary search; -1: there is none */
  /* True if tensor number `plain` of the file is a part of a coded tensor. */
  int (*has_part)(const attn2c_coded *coded, int plain);
  /* Writes the inputs of a tensor in the order of their groups: first group 0's, as they follow each
   * other in the tensor. A tensor "in groups" has its columns in this order. */
  int (*order)(const attn2c_coded *coded, const attn2c_checkpoint *file, int index, int32_t *inputs,
               attn2c_message *message);
  /* Does the same as attn2c_tensor_file_read, of the tensor or, if in_groups is 1, of the tensor in groups.
   * The codes of the tensor that was read last stay in memory. */
  int (*read)(attn2c_coded *coded, const attn2c_checkpoint *file, int index, int in_groups, int64_t first,
              int64_t count, float *values, attn2c_message *message);
  int (*facts)(const attn2c_coded *coded, const attn2c_checkpoint *file, int index, attn2c_coded_facts *facts,
               attn2c_message *message);
  /* True if a tensor's groups are whole scale blocks, one after the other, and so are rows of `columns`
   * elements from element `first` on, `step` elements apart. */
  int (*has_blocks)(const attn2c_coded *coded, int index, int in_groups, int64_t first, int64_t step,
                    int64_t columns);
  /* Reads elements [first, first + count) of such a tensor as scale blocks with exactly its values. They
   * have no minimum if all scales of the tensor are f16 and all zero points in the middle of the codes. */
  int (*read_blocks)(attn2c_coded *coded, const attn2c_checkpoint *file, int index, int in_groups,
                     int64_t first, int64_t count, attn2c_scale_block *blocks, attn2c_message *message);
} attn2c_coded_reader;

/* How a checkpoint has the tensors that its author quantised. */
struct attn2c_coding {
  const attn2c_coded_reader *reader;
  const char *word; /* for messages */
  /* The ends of the names of a tensor's parts. A tensor begins with one that ends in one of the first two. */
  const char *packed, *bytes, *scales, *zeros, *order, *shape;
  int zero_offset; /* what is added to each code of a zero point in a file */
};
