/* coded.h - tensors that a checkpoint has as codes: integers of 2, 4 or 8 bits, with a scale and a zero point
 * for each group of inputs. GPTQ, AWQ and compressed-tensors write such files. Several tensors of the file
 * are one tensor [out][in] for the model; its values are scale (code - zero). */
#pragma once

#include "reading/checkpoint.h"

#include <pthread.h>

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

/* A coded tensor and its parts. */
typedef struct coded_tensor {
  attn2c_file_tensor tensor;        /* as the model sees it */
  int packed, scales, zeros, order; /* numbers of the parts in the file; -1: none */
  int packing;                      /* how words have codes: its reader's number for it */
  int bits;
  int64_t groups;
  int is_ordered; /* 1: groups are not one after the other */
  int is_equal;   /* 1: all groups have the same number of inputs */
  int has_halves; /* 1: scales are f16 */
} coded_tensor;

/* A checkpoint's coded tensors, in the order of their names, and the codes of the one that was read last. */
struct attn2c_coded {
  const attn2c_coding *coding;
  coded_tensor *tensors;
  int count;
  char *is_part; /* one for each tensor of the file */
  pthread_mutex_t lock;
  int held;      /* the tensor whose codes are in memory; -1: none */
  int in_groups; /* 1: its columns are in the order of their groups */
  attn2c_codes codes;
  void *memory[4]; /* that the codes are in */
  int is_centred;  /* 1: scale blocks of these codes have no minimum */
};

/* Returns the number of a part of a tensor, whose name before its end has `length` bytes, or -1. A part that
 * is needed is reported. */
int attn2c_coded_part(attn2c_coded *coded, const attn2c_checkpoint *file, const char *name, int length,
                      const char *end, int is_needed, attn2c_message *message);

/* The functions that read coded tensors. `index`: the number of one. Statuses are ATTN2C_OK, _FORMAT, _IO and
 * _MEMORY; on failure one line says why. */
typedef struct attn2c_coded_reader {
  /* Finds the parts of a tensor that has a name and its first part, checks that they fit, and describes it.
   * `length`: of the parts' names before their ends. is_bytes: the first part is the coding's of bytes. */
  int (*find)(attn2c_coded *coded, const attn2c_checkpoint *file, coded_tensor *made, int length,
              int is_bytes, attn2c_message *message);
  /* Writes the inputs of a tensor in the order of their groups: first group 0's, as they follow each
   * other in the tensor. A tensor "in groups" has its columns in this order. */
  int (*order)(const attn2c_coded *coded, const attn2c_checkpoint *file, int index, int32_t *inputs,
               attn2c_message *message);
  /* Does the same as attn2c_tensor_file_read, of the tensor or, if in_groups is 1, of the tensor in groups.
   * The elements are within the tensor. */
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
  const char *word;   /* for messages */
  const char *weight; /* the end of a tensor's name for the model */
  /* The ends of the names of a tensor's parts. A tensor begins with one that ends in one of the first two. */
  const char *packed, *bytes, *scales, *zeros, *order, *shape;
  int zero_offset; /* what is added to each code of a zero point in a file */
};
