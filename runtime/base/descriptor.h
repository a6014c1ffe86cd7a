/* descriptor.h - the description that an emitted model carries of itself, as constant data: tensors, graph
 * ops in order, weights, kernels, entries, sizes. Generic code (the reference, the
 * checks, the bench, info, the packing) reads it and knows nothing else of a model. */
#ifndef ATTN2C_DESCRIPTOR_H
#define ATTN2C_DESCRIPTOR_H

#include "base/attn2c.h"

#define ATTN2C_MAX_RANK     6
#define ATTN2C_MAX_OPERANDS 6

/* Tensors of the graph are of the first two; the others are how weights are packed (attn2c_packing). */
typedef enum { ATTN2C_F32, ATTN2C_I32, ATTN2C_BF16, ATTN2C_I8 } attn2c_type;

typedef enum {
  ATTN2C_INPUT,
  ATTN2C_OUTPUT,
  ATTN2C_WEIGHT,
  ATTN2C_CONSTANT, /* made by a formula when the model is opened */
  ATTN2C_SCRATCH,
  ATTN2C_STATE,        /* lives from call to call */
  ATTN2C_SHARED_INPUT, /* an input that has no batch in front: one for all sequences of a call */
  ATTN2C_ROWS_INPUT, /* [batch], how many rows each sequence has: callers need not give it, and then it is all
                      */
  ATTN2C_ZEROS_INPUT,    /* callers need not give it, and then it is all 0 */
  ATTN2C_SQUEEZED_OUTPUT /* an output whose last axis, of one element, callers do not see */
} attn2c_kind;

typedef struct {
  const char *name; /* its path in the graph: "l0.attn.q"; of an input or output: the C member's name */
  attn2c_kind kind;
  attn2c_type type;
  int rank;
  int64_t shape[ATTN2C_MAX_RANK]; /* row-major, the whole batch */
  int64_t minimum, limit;         /* of an i32 input: minimum <= value < limit */
  /* Where the trace variant keeps it: element 0 at this float offset of the trace's arena, rows (all
   * dimensions but the last) leading_dimension floats apart. Offset -1: not in the arena (input, output,
   * weight, constant). */
  int64_t trace_offset, trace_leading_dimension;
} attn2c_tensor;

/* The number of axes of an input or output as callers see it. */
static inline int attn2c_caller_rank(const attn2c_tensor *tensor) {
  return tensor->rank - (tensor->kind == ATTN2C_SQUEEZED_OUTPUT);
}

typedef struct {
  const char *name;
  double number;    /* of a numeric attribute (booleans are 0 and 1) */
  const char *text; /* of a textual one, else NULL */
} attn2c_attribute;

/* What an op makes of an attention's scores, as the class in gen/data/ops.lua says it. A static mask is of
 * the op that makes the scores. */
typedef enum {
  ATTN2C_NO_ROLE,
  ATTN2C_MAKES_SCORES,
  ATTN2C_SCORES_TO_SCORES,
  ATTN2C_SCORES_TO_WEIGHTS,
  ATTN2C_WEIGHTS_TO_WEIGHTS,
  ATTN2C_MEAN_OF_WEIGHTS,
  ATTN2C_READS_WEIGHTS
} attn2c_role;

typedef struct {
  const char *op;                     /* its name in gen/data/ops.lua */
  const char *section;                /* "input", "layer 3", "output" */
  int result;                         /* index into tensors */
  int operands[ATTN2C_MAX_OPERANDS];  /* indices into tensors, in the op table's order; -1: not given */
  const attn2c_attribute *attributes; /* ended by a NULL name */
  double flops; /* 2 x multiply-adds of products, unpadded, without what a mask removes */
  attn2c_role role;
} attn2c_op;

/* A tensor of a checkpoint that weights are taken from. */
typedef struct {
  const char *const *names; /* tried in order, ended by NULL */
  int rank;
  int64_t shape[ATTN2C_MAX_RANK]; /* what it must have; -1: any, as long as all views lie within it */
} attn2c_stored;

/* A box of a stored tensor that a weight takes. The weight is seen as a matrix: its rows are its first axis,
 * a row is all of it but that. For 0 <= i < rows and 0 <= j < columns, element (row + i, column + j) is
 * `factor` times element first + i row_step + j column_step of the tensor, counted row-major; or, where
 * `added` is not 0, that is added to what the views before it gave. A slice, a transposition, a permutation,
 * a scaled table and a sum of two are all boxes. */
typedef struct {
  int stored, added;
  int64_t row, rows, column, columns;
  int64_t first, row_step, column_step;
  double factor;
} attn2c_view;

/* A weight or constant: where it comes from and how it lies in the model's packed block. */
typedef struct {
  int tensor; /* index into tensors; its shape is that of the unpacked weight, [out][in] of a linear */
  int first_view, view_count; /* of views, which cover all of it; none: a constant */
  const char *formula;        /* of a constant, as constants.h has them; else NULL */
  /* Random values, used without a checkpoint: normal with this mean and deviation. */
  double random_mean, random_deviation;
  int64_t offset; /* floats from the start of the packed block */
  /* panel 0: rows as they are. Else W[out][in] lies transposed as panels of `panel` outputs, [in][panel], one
   * behind the other, then up to two tails of tail[] outputs; a panel's leading dimension is its width
   * rounded up to 16 floats, the rest zero. */
  int64_t panel, panel_count, tail[2];
} attn2c_weight;

/* The numbers that a weight is made of. Of a type of which g are one group of 4 bytes (bf16: 2, i8:
 * 4) a panel is [ceil(in / g)][width, whole cache lines][g], inputs behind the last one zero. Before the
 * groups of i8 are two rows of s32, [2][width, whole cache lines]: -128 times the sum of an output's numbers,
 * and the sum of the magnitudes of those below 0. Without panels each row is whole groups, [ceil(in / g)][g].
 */
typedef struct {
  attn2c_type
      type; /* ATTN2C_F32: as above; ATTN2C_BF16: rounded; ATTN2C_I8: whole numbers from -127 to 127 */
  /* Of ATTN2C_I8: the index of the weight that holds what they are multiplied with, one float an output, rows
   * as they are; no source has it: whoever packs makes it, the largest magnitude of an output by 127. Else
   * -1. */
  int scales;
} attn2c_packing;

/* Powers of two that whoever reads a weight multiplies it with, after its views: element (i, j) by 2^(sign
 * powers[j]), element i of a vector by 2^(sign powers[i]). One a column of a weight of int8, whose inputs are
 * divided by them: in the norm before, whose gain and bias have sign -1, or by `quantise`, with a constant of
 * sign -1.
 * They were found with weights of a checkpoint, and are for these: checksum is that of the weight's first
 * rows before it is multiplied, row by row, each begun with the one before (base/checksum.h), the first with
 * 0. */
enum { ATTN2C_FACTORS_ROWS = 16 };
typedef struct {
  const signed char *powers; /* NULL: none */
  int sign;                  /* 1 or -1 */
  uint64_t checksum;         /* of the first ATTN2C_FACTORS_ROWS rows, or of all; 0: for any weights */
} attn2c_factors;

/* C[n][m] (+)= sum over count of B[n][k] . A[k][m], each row-major with its leading dimension in floats; the
 * offsets of the batch's blocks are in bytes. libxsmm's batch-reduce by offsets, for every provider. */
typedef void (*attn2c_kernel)(const float *a, const float *b, float *c, const unsigned long long *count,
                              const unsigned long long *a_offsets, const unsigned long long *b_offsets);

typedef struct {
  int m, n, k, lda, ldb, ldc;
  int beta;           /* 0: C = ..., 1: C += ... */
  attn2c_kernel in_c; /* the same in plain C */
} attn2c_kernel_shape;

/* One call of the model. in and out are arrays of pointers in the order of inputs[] and outputs[]; an output
 * may be NULL. team: those who share the call, for the number of workers that the code is for; NULL: the
 * caller alone. Nothing in it allocates, reads or writes files. ATTN2C_FORMAT: a token id or length out of
 * range. */
typedef struct attn2c_team attn2c_team; /* model/team.h */
typedef int (*attn2c_run)(const attn2c_kernel *kernels, const float *weights, float *arena,
                          const void *const *in, void *const *out, attn2c_team *team);

typedef struct {
  const char *name; /* "forward" */
  const attn2c_op *ops;
  int op_count;
  const int *inputs, *outputs; /* indices into tensors */
  int input_count, output_count;
  double flops;
  attn2c_run run;
} attn2c_entry;

/* What stands in an input where the caller's sequence is shorter than the entry's. */
typedef enum {
  ATTN2C_FILL_LEAST,  /* 0, or the least value of an i32 input */
  ATTN2C_FILL_MASKED, /* for keys behind the caller's: -inf, or 1; 0 elsewhere */
  ATTN2C_FILL_KEPT,   /* for keys behind the caller's: 0, which is masked; 1 elsewhere */
  ATTN2C_FILL_COUNT   /* nothing: it counts the rows of each sequence, at most the caller's; 1 of those behind
                         them */
} attn2c_filling;

/* Which axes of an input or output go with the size of a call; -1: none. */
typedef struct {
  signed char batch, rows, keys;
  unsigned char filling; /* an attn2c_filling */
} attn2c_axes;

typedef struct {
  int64_t batch, seq;
} attn2c_size;

/* How calls of any size are made of a model's entries (model/dispatch.h), which have the same inputs and
 * outputs in the same order. */
typedef struct {
  const attn2c_axes *inputs, *outputs; /* of each */
  const attn2c_size *sizes;            /* of each entry; the last is the largest in both */
  int64_t past;                        /* keys before the first token's, on axes of keys */
  int64_t least;                       /* the fewest tokens that a sequence may have */
  const char *exact; /* why a sequence may not be shorter than an entry; NULL: it may, down to `least` */
} attn2c_lengths;

/* Weights that are linked in: what `pack` writes, or the bytes of a checkpoint, at a multiple of 4096. */
typedef struct {
  const unsigned char *begin, *end; /* NULL: none */
} attn2c_embedded;

typedef struct attn2c_descriptor {
  const char *name, *generator, *description, *description_hash, *target;
  const char *checkpoint; /* the name of the checkpoint folder that it was built from, or NULL */
  int abi;                /* of the model's C interface */
  const attn2c_entry *entries;
  const attn2c_tensor *tensors;
  const attn2c_weight *weights;
  const attn2c_kernel_shape *kernels;
  const attn2c_stored *stored;
  const attn2c_view *views;
  int stored_count;
  int entry_count, tensor_count, weight_count, kernel_count;
  int own_kernel_count;        /* kernels in C, which are functions of the model and not in `kernels` */
  int layers, threads;         /* threads 0: code for 1, 2, 4 and 8 */
  int64_t parameters;          /* elements of all weights */
  int64_t weight_floats;       /* of the packed block */
  int64_t arena_floats;        /* of the entry that needs most */
  const int64_t *entry_arenas; /* of each of several entries; NULL: arena_floats */
  int64_t lines;               /* of emitted steps */
  /* The part of the counted work that a second worker takes off the first: 0 where there is too little
   * between two barriers and one worker does it all, at most a half. */
  double saved_by_two;
  int seq_first; /* arrays are [seq][batch][width], and a call takes exactly one batch */
  int64_t batch; /* sequences of a call; 0: the leading dimension of the first input that has a batch */
  const attn2c_packing *packings;       /* one a weight; NULL: all are ATTN2C_F32 */
  const attn2c_factors *factors;        /* one a weight; NULL: none has any */
  const char *smoothing;                /* what `factors` is, in a line; NULL: none */
  const char *precision;                /* of products: "bf16", "int8, output f32"; NULL: f32 */
  const attn2c_lengths *lengths;        /* of a model whose N_forward takes any length; NULL: it takes one */
  const attn2c_embedded *embedded;      /* NULL: weights are only in files */
  const struct attn2c_text_facts *text; /* text_facts.h; NULL: the model takes no text */
  /* The same model for each of its targets, this one among them, ended by NULL: the one that asks most of a
   * machine first. They differ in code, layout of weights and arena, and agree in all else: entries, ops and
   * the order of weights. NULL: this one alone. */
  const struct attn2c_descriptor *const *variants;
} attn2c_descriptor;

/* A product's tiles, as the compiler divides it (gen/passes/plan/candidates.lua). Parts that are alike and
 * follow each other have one entry with their number; a number of 0 ends a list that is not full. A tile is a
 * panel of outputs by a block of rows; its calls go over the K panels, in each over the strips of the block,
 * in each over the runs. */
typedef struct {
  const char *text; /* "panel 48, K 12 x 64 outer, 128 tokens by 9, fetched ahead" */
  struct {
    int count, width, outputs, ld; /* outputs: what the kernel makes, width of which are wanted */
  } panels[3];
  struct {
    int count, rows;
    struct {
      int count, rows;
    } strips[2];
  } blocks[2];
  struct {
    int count, inputs;
    struct {
      int count, blocks, size; /* calls, each a sum over `blocks` blocks of `size` inputs */
    } runs[2];
  } k_panels[3];
  int ahead; /* inputs between those in use and those that calls fetch, evenly over a K panel's calls; 0: none
              */
} attn2c_candidate;

/* What a call of an entry is made of, for its bound (bound.h), and how often a call runs each. Lists end with
 * a NULL name. */
typedef struct {
  const char *name;            /* "3072x768 n 128 +bias_gelu", as in a tuning file */
  int outputs, inputs, tokens; /* C[tokens][outputs] = B[tokens][inputs] . A[inputs][outputs] */
  int ldb, ldc;                /* ldc is a multiple of 16 */
  double calls;
  const attn2c_candidate *candidates; /* tiles of libxsmm's kernels */
  int candidate_count;
  /* the model's own kernels, where they are in C, on its weights one behind the other; or NULL */
  void (*own)(const float *weights, const float *b, float *c);
  int64_t own_floats; /* of weights */
  const char *own_text;
} attn2c_part_product;

typedef struct {
  const char *name;
  int kernel;                               /* of the model's table */
  unsigned long long count, a_step, b_step; /* its batch: blocks, and the bytes between them */
  double calls;
} attn2c_part_kernel;

typedef struct {
  const char *name;
  int64_t floats;               /* of scratch */
  void (*call)(float *scratch); /* any values but signalling ones; zeros stay finite */
  double calls;
  double flops; /* of a product of attention in C; 0: a row operation */
} attn2c_part_row;

typedef struct {
  const attn2c_part_product *products;
  const attn2c_part_kernel *kernels;
  const attn2c_part_row *rows;
} attn2c_parts;

/* What tells what the machine can do, compiled for the model's target. */
typedef struct {
  const attn2c_kernel_shape *kernels; /* products in C, as roof.h says; the last has m 0 */
  double (*peak)(void); /* one round of multiply-adds on registers (peak.h); how many operations that were */
} attn2c_roofs;

/* The program's own parts, which the library does not carry: the same steps without reuse of memory and with
 * fused tensors written out, and the same steps with a mark before each op. */
typedef struct {
  const attn2c_descriptor *model;
  const attn2c_run *trace; /* one an entry */
  int64_t trace_floats;
  /* one an entry: as run, and adds the nanoseconds spent in graph op i of the entry to nanoseconds[i] */
  int (*const *profile)(const attn2c_kernel *kernels, const float *weights, float *arena,
                        const void *const *in, void *const *out, attn2c_team *team, double *nanoseconds);
  const attn2c_parts *parts;     /* one an entry; NULL: not known, and there is no bound */
  const attn2c_lengths *lengths; /* where the model has none; NULL there too: a call is an entry's */
  const attn2c_roofs *roofs;     /* NULL: none */
} attn2c_program;

/* Helpers that read the above. */

/* The numbers that products multiply, as a text. */
const char *attn2c_precision(const attn2c_descriptor *model);
/* The index of the weight whose scales (attn2c_packing) a weight is; -1: it is none. */
int attn2c_scaled_by(const attn2c_descriptor *model, int weight);
/* 1 where weights are linked in. */
int attn2c_is_embedded(const attn2c_descriptor *model);
/* 1 where a checkpoint is needed: some weight is not a constant, and none are linked in. */
int attn2c_needs_checkpoint(const attn2c_descriptor *model);
/* Floats of the arena that an entry needs. */
int64_t attn2c_entry_arena(const attn2c_descriptor *model, const attn2c_entry *entry);
int64_t attn2c_elements(const attn2c_tensor *tensor);

/* 1 for an input that callers need not give. */
int attn2c_is_optional(const attn2c_tensor *tensor);
/* The number of an attribute, or `otherwise` where the op does not have it. */
double attn2c_number(const attn2c_op *op, const char *name, double otherwise);
/* The text of an attribute, or NULL. */
const char *attn2c_text(const attn2c_op *op, const char *name);

#endif
