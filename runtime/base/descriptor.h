/* descriptor.h - the data that describe an emitted model: tensors, ops, weights, entries, sizes. Generic code
 * (the reference, the checks, the bench, info, packing) reads it and knows nothing else about a model. */
#pragma once

#include "base/attn2c.h"
#include "base/number_types.h"

#define ATTN2C_MAX_RANK     6
#define ATTN2C_MAX_OPERANDS 6

typedef enum {
  ATTN2C_INPUT,
  ATTN2C_OUTPUT,
  ATTN2C_WEIGHT,
  ATTN2C_CONSTANT, /* made by a formula when the model is opened */
  ATTN2C_SCRATCH,
  ATTN2C_STATE,          /* keeps its value from call to call */
  ATTN2C_SHARED_INPUT,   /* an input without a batch axis: one for all sequences of a call */
  ATTN2C_ZEROS_INPUT,    /* optional, default: all 0 */
  ATTN2C_SHAPES_INPUT,   /* [sequences][2], rows and columns, whose product is below the limit, too */
  ATTN2C_SQUEEZED_OUTPUT /* an output whose last axis has one element, which callers do not see */
} attn2c_kind;

typedef struct {
  const char *name; /* its path in the graph: "l0.attn.q"; for inputs and outputs the C member's name */
  attn2c_kind kind;
  attn2c_type type;
  int rank;
  int64_t shape[ATTN2C_MAX_RANK]; /* row-major, with the whole batch */
  int64_t minimum, limit;         /* for an i32 input: minimum <= value < limit */
  /* The tensor's place in the trace's arena. Element 0 is at this float offset, and rows (all dimensions but
   * the last) are leading_dimension apart. Offset -1: not in the arena. */
  int64_t trace_offset, trace_leading_dimension;
} attn2c_tensor;

/* Returns the number of axes of an input or output as callers see it. */
static inline int attn2c_caller_rank(const attn2c_tensor *tensor) {
  return tensor->rank - (tensor->kind == ATTN2C_SQUEEZED_OUTPUT);
}

typedef struct {
  const char *name;
  double number;    /* value of a numeric attribute (booleans are 0 and 1) */
  const char *text; /* value of a textual attribute, else NULL */
} attn2c_attribute;

/* An op's role in attention (gen/data/ops.lua). A static mask belongs to the op that makes the scores. */
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
  double flops; /* 2 x multiply-adds of products, without padding and without masked positions */
  attn2c_role role;
} attn2c_op;

/* A tensor of a checkpoint that weights are read from. */
typedef struct {
  const char *const *names; /* tried in order, ended by NULL */
  int rank;
  int64_t shape[ATTN2C_MAX_RANK]; /* expected shape; -1: any size that contains all views */
  int copy_of; /* 1 + the number of the stored tensor whose bytes it must have: no view reads it; 0: none */
} attn2c_stored;

/* A box of a stored tensor that becomes part of a weight. The weight is seen as a matrix: its first axis
 * gives the rows, the other axes the columns. For 0 <= i < rows and 0 <= j < columns, element (row + i,
 * column + j) is `factor` times element first + i row_step + j column_step of the tensor, counted row-major.
 * With ATTN2C_VIEW_PLUS_ONE it is `factor` times the element plus 1. With ATTN2C_VIEW_ADDED this value is
 * added to the result of the views before it; with ATTN2C_VIEW_TIMES that result is multiplied by it. A
 * slice, a transposition, a permutation, a scaled table and a sum of two are all boxes.
 *
 * With ATTN2C_VIEW_RESIZED the rows are the patches of an image, row by row, whose values are interpolated
 * between the values of another grid (reading/resized.h), which begins at element first. row_step is then
 * that grid's rows times 2^16 plus its columns, and column_step the image's columns of patches. SMOOTH: with
 * antialiasing.
 *
 * With ATTN2C_VIEW_TAPS the tensor is a convolution's, [out][in][taps], and the columns are tap by tap:
 * column t in + c is element c taps + t of a row. column_step is the number of taps. If row_step is 0, the
 * tensor has one number for each tap. UNIT: instead of the tensor's elements, the inverse of the length of
 * their tap, the root of the sum of its squares over all rows (reading/taps.h).
 *
 * With ATTN2C_VIEW_IN_GROUPS the tensor's columns are in the order of their groups (reading/coded.h). */
enum {
  ATTN2C_VIEW_ADDED = 1,
  ATTN2C_VIEW_PLUS_ONE = 2,
  ATTN2C_VIEW_TIMES = 4,
  ATTN2C_VIEW_RESIZED = 8,
  ATTN2C_VIEW_SMOOTH = 16,
  ATTN2C_VIEW_TAPS = 32,
  ATTN2C_VIEW_UNIT = 64,
  ATTN2C_VIEW_IN_GROUPS = 128
};
typedef struct {
  int stored, flags;
  int64_t row, rows, column, columns;
  int64_t first, row_step, column_step;
  double factor;
} attn2c_view;

/* A weight or constant: its source and its layout in the model's packed block. */
typedef struct {
  int tensor; /* index into tensors; the shape there is that of the unpacked weight, [out][in] for a linear */
  int first_view, view_count; /* range in views, which covers the whole weight; none: a constant */
  const char *formula;        /* a constant's formula (constants.h), else NULL */
  /* Mean and deviation of normal random values, which are used without a checkpoint. */
  double random_mean, random_deviation;
  int64_t offset; /* floats from the start of the packed block */
  /* panel 0: rows as they are. Otherwise W[out][in] is transposed into consecutive panels of `panel` outputs,
   * [in][panel], followed by up to two tails of tail[] outputs. A panel's leading dimension is its width
   * rounded up to 16 floats; the rest is zero. */
  int64_t panel, panel_count, tail[2];
} attn2c_weight;

/* The number type of a packed weight. g numbers are one group of 4 bytes (bf16: 2, i8: 4). A panel is
 * [ceil(in / g)][width, whole cache lines][g], and inputs after the last one are zero. Before the groups of
 * i8 are two rows of s32, [2][width, whole cache lines]: -128 times the sum of an output's numbers, and the
 * sum of the magnitudes of those below 0. Without panels each row is whole groups, [ceil(in / g)][g]. */
typedef struct {
  attn2c_type
      type; /* ATTN2C_F32: as in attn2c_weight; ATTN2C_BF16: rounded; ATTN2C_I8: integers from -127 to 127 */
  /* For ATTN2C_I8: the index of the weight that holds the scales, a float for each output. No source contains
   * them: packing makes them, the largest magnitude of an output divided by 127. Otherwise -1. */
  int scales;
} attn2c_packing;

/* Where a weight meets the order of another weight's inputs, in which these are grouped in a checkpoint
 * (reading/coded.h). The numbers are indices into weights, or -1. */
typedef struct {
  int of;   /* the weight's rows are in the order of this weight's inputs; a constant has this order itself */
  int like; /* the weight has its own inputs in the order of this one's, which must be the same */
} attn2c_input_order;

/* Powers of two that packing multiplies a weight with, after its views. The factors are: element (i, j) by
 * 2^(sign powers[j]), element i of a vector by 2^(sign powers[i]). A weight of int8 has one per column. Its
 * inputs are divided by them: in the norm before, whose gain and bias have sign -1, or by `quantise`, with a
 * constant of sign -1. With sign 0 no number is multiplied: the powers are the importance of a weight's
 * inputs, by which packing weighs the errors of rounding (packing/scale_search.h). The powers fit the weights
 * of one checkpoint. `checksum` identifies it: the checksum of the weight's first rows before multiplication,
 * row by row, each begun with the checksum before (base/checksum.h), the first with 0. */
enum { ATTN2C_FACTORS_ROWS = 16 };
typedef struct {
  const signed char *powers; /* NULL: none */
  int sign;                  /* 1, -1 or 0 */
  uint64_t checksum; /* of the first ATTN2C_FACTORS_ROWS rows, or of all if fewer; 0: for any weights */
} attn2c_factors;

/* A matrix kernel: C[n][m] (+)= B[n][k] . A[k][m], each row-major with its leading dimension in elements; A
 * of bf16 is [k/2][lda][2]. */
typedef void (*attn2c_kernel)(const void *a, const void *b, void *c);

typedef struct {
  int m, n, k, lda, ldb, ldc;
  int beta;           /* 0: C = ..., 1: C += ... */
  attn2c_kernel in_c; /* the same kernel in plain C; NULL: none */
} attn2c_kernel_shape;

typedef struct attn2c_team attn2c_team;   /* model/team.h */
typedef struct attn2c_ranks attn2c_ranks; /* ranks/ranks.h */

/* The sequences of a call of an entry of any length. Their rows follow each other without padding. In a model
 * that continues, they are the new rows of sequences that a caller's state keeps. */
typedef struct {
  ptrdiff_t rows;       /* of all sequences */
  ptrdiff_t count;      /* sequences */
  const int32_t *first; /* [count + 1], the first row of each sequence, then `rows` */
  const int32_t *past;  /* [count], the rows that each has had before; NULL: the model does not continue */
  const int32_t *slot;  /* [count], the place of each in the state */
  const int32_t
      *source; /* [count], the rows of what `encode` has read for each; NULL: the model has no encoder */
  const int32_t *origin; /* [count], the place in the state of the keys of what it has read */
  /* [windows][count], for each window of the state the first rows of each sequence that it has forgotten */
  const int32_t *forgotten;
  ptrdiff_t wanted; /* the first row whose outputs are wanted; outputs begin with it */
} attn2c_sequences;

/* One call of an entry. */
typedef struct {
  const attn2c_kernel *kernels; /* libxsmm's, in the order of the descriptor's shapes; NULL: not made */
  const float *weights;         /* the packed block */
  float *arena;                 /* scratch memory: no call reads what an earlier one left there */
  float *state;                 /* keys and values of earlier calls; NULL: the model does not continue */
  const void *const *in;        /* pointers in the order of the entry's inputs */
  void *const *out;             /* pointers in the order of its outputs; NULL: not wanted */
  attn2c_team *team;   /* shares the call among the code's workers; NULL: the caller does all of it */
  attn2c_ranks *ranks; /* which compute the model together; NULL: one process does */
  const attn2c_sequences *sequences; /* for an entry of any length; NULL for others */
  double *nanoseconds;               /* only of a profile, which adds the time spent in op i to [i] */
} attn2c_call;

/* Makes a call. No memory or file is used. ATTN2C_FORMAT: a token id or length is out of range. */
typedef int (*attn2c_run)(const attn2c_call *call);

typedef struct {
  const char *name; /* "forward" */
  const attn2c_op *ops;
  int op_count;
  const int *inputs, *outputs; /* indices into tensors */
  int input_count, output_count;
  double flops;
  attn2c_run run;
} attn2c_entry;

/* How an input says which keys of a sequence are padding. */
typedef enum {
  ATTN2C_HIDES_NOTHING, /* it does not */
  ATTN2C_HIDES_AFTER,   /* it counts those that are not */
  ATTN2C_HIDES_ONES,    /* 1 is one of padding */
  ATTN2C_HIDES_ZEROS    /* 0 is one of padding */
} attn2c_hiding;

/* Axes of an input or output that scale with the size of a call; -1: none. */
typedef struct {
  signed char batch, rows, keys;
  unsigned char hides; /* an attn2c_hiding */
} attn2c_axes;

typedef struct {
  int64_t batch, seq;
} attn2c_size;

/* How a tensor of an entry of any length depends on the length of a sequence. The tensor's shape is that of
 * the longest sequence; each row less takes axes[i] from axis i. A shorter sequence has the first rows of an
 * axis with 1, and the middle of one with 2, which is of distances. An axis with ATTN2C_OF_SOURCE has a row
 * for each row of the sequence's source. In the trace, sequences follow each other. */
enum { ATTN2C_OF_SOURCE = 4 };
typedef struct {
  signed char axes[ATTN2C_MAX_RANK];
  signed char is_shared; /* 1: all sequences of a call have one, as weights */
} attn2c_growth;

/* The sizes of calls: how many sequences, and how many tokens each. */
typedef struct attn2c_lengths {
  const attn2c_axes *inputs, *outputs; /* one per input or output */
  const attn2c_size *sizes;            /* the entry's; a model of any length takes up to sizes->seq tokens */
  int64_t least;                       /* the fewest tokens that a sequence may have */
  const char *exact; /* why a text may have no fewer tokens than the entry; NULL: it may, down to `least` */
} attn2c_lengths;

/* The most sequences that a caller's state keeps. */
#define ATTN2C_MOST_SEQUENCES 128
/* The most different windows of layers. */
#define ATTN2C_MOST_WINDOWS 16
/* The most symbols that parts of a state grow with. */
#define ATTN2C_MOST_SYMBOLS 4

struct attn2c_context; /* model/model.h */

/* A number of keys of a sequence. The first symbol of a state is the sequence's tokens, which each call adds
 * to. The keys of others, such as a source's, are written whole, stay when tokens are forgotten, and are
 * shared by the copies of a sequence. */
typedef struct {
  const char *name;
  int64_t most;
} attn2c_state_symbol;

/* Keys or values of a head in the state of a sequence, `page_floats` for each page of keys. */
typedef struct {
  int tensor;                  /* whose rows they are */
  int64_t column;              /* the head's first in the tensor's rows */
  int64_t offset, page_floats; /* offset: floats from the sequence's first */
  int is_transposed;           /* 1: a page is [columns][keys of a page], as keys are; 0: [keys][columns] */
  int window;                  /* of which the state keeps the last ones; -1: it keeps all */
  /* of its numbers; bf16 is in pairs: of columns if the page is transposed, else of keys; a page of
   * integers (ops/kept.h) begins with a scale in f32 for each key */
  attn2c_type type;
  int grows_with; /* the number of the symbol that says how many keys there are; 0 for those with a window */
  int bits;       /* of integers, 8 or 4; 0: the numbers are floats */
} attn2c_state_part;

/* Keys and values of layers whose queries see `left` keys before themselves. The state keeps only the last
 * `keys` of them; both are the same for all layers of a window. */
typedef struct {
  int64_t left, keys;
} attn2c_state_window;

/* How a model of any length continues sequences of earlier calls. */
typedef struct attn2c_continued {
  int64_t call_rows;    /* the most rows of a call */
  int64_t sequences;    /* that a caller's state keeps, at most ATTN2C_MOST_SEQUENCES */
  int64_t state_floats; /* of each of them */
  int64_t page;         /* keys of a page */
  const attn2c_state_part *kept;
  int kept_count;
  const attn2c_state_symbol *symbols;
  int symbol_count;
  const attn2c_state_window *windows;
  int window_count;
  int source;  /* the number of the symbol of a source's rows, which the entry `encode` sets; 0: none */
  int adapter; /* the number of the symbol that says which adapter a sequence has; 0: none */
  /* reads sources (model/sequences.h); NULL: the model has no encoder */
  int (*encode)(struct attn2c_context *context, int64_t count, const int32_t *sequences, const int32_t *each,
                const void *const *inputs);
  const struct attn2c_lengths *source_lengths; /* of that entry */
  int logits; /* number of the output that calls give for tokens; the one input has their ids */
  /* runs whole sequences (model/continue.h) */
  int (*run_anew)(struct attn2c_context *context, int64_t count, const int32_t *each, int64_t seq,
                  const void *const *inputs, void *const *outputs);
  /* row = row - max - log(sum of e^(row - max)), with the instructions of the model's target */
  void (*log_softmax)(float *row, int32_t count);
  const struct attn2c_generation *generation; /* generation.h: the defaults */
} attn2c_continued;

/* Weights that are linked in: the output of `pack`, or the bytes of a checkpoint, at a multiple of 4096. */
typedef struct {
  const unsigned char *begin, *end; /* NULL: none */
} attn2c_embedded;

/* Another variant with the same bits, which is used in place of one whose instructions are slower here.
 * own, other: loops that run once and return their operations, with the instructions of each variant's
 * products. */
typedef struct {
  const struct attn2c_descriptor *instead;
  double (*own)(void), (*other)(void);
} attn2c_rival;

/* The place of a rank's weight in the whole one, which has `columns` columns (all axes but the first). A
 * weight of experts has `rows` rows of each of them, which begin `apart` rows apart in the whole one. */
typedef struct {
  int64_t row, column, columns, rows, apart;
  int is_zero; /* 1: another rank adds the weight; this one has zeros in its place */
} attn2c_slice;

/* How ranks divide a tensor of the whole model. */
typedef struct {
  int axis; /* the rank's elements of this axis are first[rank] to first[rank + 1] - 1; or one of: */
#define ATTN2C_UNDIVIDED (-1) /* every rank has all of it */
#define ATTN2C_TERMS     (-2) /* the tensor is the sum of all ranks' */
  int stage;                  /* whose ranks make it, from 0 */
  int own;                    /* index into the tensors of a rank, the same for all of its stage */
  const int64_t *first;       /* [ranks of a stage + 1]; NULL for an axis below 0 */
} attn2c_division;

/* A model that is divided among ranks, each of which has a descriptor of its own. */
typedef struct {
  int count;            /* of ranks: rank r is number r % (count / stages) of stage r / (count / stages) */
  int stages;           /* each of which has some of the layers, in a row; 1: none are divided */
  int64_t passed_bytes; /* the most that a rank passes to the next stage in a call */
  const struct attn2c_descriptor *whole;
  const struct attn2c_descriptor *const *ranks;
  const attn2c_division *divisions; /* one per tensor of the whole */
} attn2c_divided;

typedef struct attn2c_descriptor {
  const char *name, *generator, *description, *description_hash, *target;
  const char *checkpoint; /* name of the folder or GGUF file that the model was built from, or NULL */
  int abi;                /* version of the model's C interface */
  const attn2c_entry *entries;
  const attn2c_tensor *tensors;
  const attn2c_weight *weights;
  const attn2c_kernel_shape *kernels; /* of libxsmm */
  const attn2c_type *kernel_types;    /* one per kernel, of A and B; NULL: all are ATTN2C_F32 */
  const attn2c_stored *stored;
  const attn2c_view *views;
  int stored_count;
  const struct attn2c_readers *readers; /* readers.h */
  int coding;       /* the number of the readers' coding, which is a part of the layout; 0: none */
  uint64_t adapter; /* identifies the adapters that are merged into or kept next to the weights; 0: none */
  const char *const *adapters; /* the names of those next to the weights, ended by NULL; a sequence that has
                                  one has its number, from 1 on. NULL: there are none */
  int entry_count, tensor_count, weight_count, kernel_count;
  int own_kernel_count;        /* products that call none of `kernels` */
  int layers, threads;         /* threads 0: code for 1, 2, 4 and 8 workers */
  int64_t parameters;          /* elements of all weights */
  int64_t weight_floats;       /* size of the packed block */
  int64_t arena_floats;        /* size of the arena, for the entry that needs most */
  const int64_t *entry_arenas; /* arena_floats of each entry; NULL: all have arena_floats */
  int64_t lines;               /* number of emitted steps */
  /* Fraction of the counted work that a second worker takes from the first, at most a half. 0: too little
   * work between two barriers, so one worker does all of it. */
  double saved_by_two;
  int seq_first; /* 1: arrays are [seq][batch][width], and a call takes exactly one batch */
  int64_t batch; /* sequences per call; 0: the leading dimension of the first input that has a batch */
  const attn2c_packing *packings;   /* one per weight; NULL: all are ATTN2C_F32 */
  const attn2c_input_order *orders; /* one per weight; NULL: none meets any */
  const attn2c_factors *factors;    /* one per weight; NULL: none has any */
  const char *smoothing;            /* one line that describes `factors`; NULL: none */
  const char *precision;            /* number types of products: "bf16", "int8, output f32"; NULL: f32 */
  const attn2c_lengths *lengths;    /* for a model whose N_forward takes any length; NULL: it takes one */
  int is_open; /* 1: the primary entry takes sequences of any length, up to lengths->sizes[0].seq */
  const struct attn2c_continued *continued; /* NULL: a call begins sequences anew */
  const attn2c_growth *growth;              /* one per tensor of a model of any length; NULL for others */
  const attn2c_embedded *embedded;          /* NULL: weights are only in files */
  const struct attn2c_text_facts *text;     /* text_facts.h; NULL: the model takes no text */
  /* The model's variants for each of its targets, including this one, ended by NULL. The most demanding
   * target comes first. They differ in code, weight layout and arena; entries, ops and the order of weights
   * are the same. NULL: only this one. */
  const struct attn2c_descriptor *const *variants;
  const attn2c_rival *rival; /* NULL: none */
  /* The whole model, which no single process runs, and each rank have it; NULL: one process has the model. */
  const attn2c_divided *divided;
  int rank;                   /* of divided->ranks; 0 for others */
  const attn2c_slice *slices; /* one per weight of a rank; NULL for others */
  int (*is_right)(void); /* compares the target's instructions with plain C; NULL: they are taken as right */
} attn2c_descriptor;

/* A product's tiles, as the compiler divides it (gen/passes/plan/candidates.lua). Equal consecutive parts
 * share one entry with their count; a count of 0 ends a list that is not full. A tile is a panel of outputs
 * by a block of rows. Its calls loop over the strips of the block, and within these over blocks of inputs. */
typedef struct {
  const char *text; /* "panel 48, 128 tokens, fetched ahead" */
  struct {
    int count, width, outputs, ld; /* outputs: the kernel's, of which `width` are wanted */
  } panels[3];
  struct {
    int count, rows;
    struct {
      int count, rows;
    } strips[2];
  } blocks[2];
  struct {
    int size, count, tail; /* inputs of a block, number of blocks, inputs after them */
  } k;
  int ahead; /* prefetch distance in inputs, spread evenly over a tile's calls; 0: none */
} attn2c_candidate;

/* The parts of an entry's call, for its bound (bound.h), and how often a call runs each. Lists end with a
 * NULL name. The functions take the model's kernels of libxsmm. */
typedef struct {
  const char *name;            /* "3072x768 n 128 +bias_gelu", as in a tuning file */
  int outputs, inputs, tokens; /* C[tokens][outputs] = B[tokens][inputs] . A[inputs][outputs] */
  int ldb, ldc;                /* ldc is a multiple of 16 */
  double calls;
  const attn2c_candidate *candidates; /* tiles of libxsmm's kernels */
  int candidate_count;
  /* the model's own functions, on consecutive weights; NULL: none */
  void (*own)(const attn2c_kernel *kernels, const float *weights, const float *b, float *c);
  int64_t own_floats; /* floats in `weights` */
  const char *own_text;
} attn2c_part_product;

typedef struct {
  const char *name;
  int64_t floats; /* size of `scratch` */
  /* accepts any values but signalling NaNs; zeros stay finite */
  void (*call)(const attn2c_kernel *kernels, float *scratch);
  double calls;
  double flops; /* operations of an attention's product; 0: a row operation */
} attn2c_part_row;

typedef struct {
  const attn2c_part_product *products;
  const attn2c_part_row *rows;
} attn2c_parts;

/* Code that measures the machine's peak, compiled for the model's target. */
typedef struct {
  const attn2c_kernel_shape *kernels; /* products in C for roof.h; the last has m 0 */
  double (*peak)(void); /* runs one round of multiply-adds on registers (peak.h); returns their number */
} attn2c_roofs;

/* Parts of the program that the library does not contain. The trace runs the same steps without reuse of
 * memory, and stores fused tensors. The profile runs the same steps with a mark before each op. */
typedef struct {
  const attn2c_descriptor *model;
  const attn2c_run *trace; /* one per entry */
  int64_t trace_floats;
  const attn2c_run *profile;     /* one per entry */
  const attn2c_parts *parts;     /* one per entry; NULL: not known, and there is no bound */
  const attn2c_lengths *lengths; /* used if the model has none; NULL there too: a call has an entry's size */
  const attn2c_roofs *roofs;     /* NULL: none */
} attn2c_program;

/* Runs the trace of the caller's rank, and gathers all tensors of a call of entry number `entry` of the whole
 * model in call->arena, of twice `floats`; all ranks do so together. `floats` after an element that is a sum
 * of the ranks' terms is the sum of their magnitudes. programs: the ranks' (check/ranks_trace.c). */
int attn2c_ranks_trace(const attn2c_call *call, const attn2c_program *const *programs, int entry,
                       int64_t floats);

/* Functions that read the structs above. */

/* Returns the number types that products multiply, as a text. */
const char *attn2c_precision(const attn2c_descriptor *model);
/* Returns the index of the weight whose scales (attn2c_packing) `weight` holds, or -1. */
int attn2c_scaled_by(const attn2c_descriptor *model, int weight);
/* Returns the weight whose order of inputs rows of a weight, or elements of a constant, have; or -1. */
int attn2c_ordered_by(const attn2c_descriptor *model, int weight);
/* Returns the number of a weight's inputs, of all ranks. */
int64_t attn2c_inputs_of_all(const attn2c_descriptor *model, int weight);
/* True if a weight is a constant that is the order of another one's inputs. */
int attn2c_is_order(const attn2c_descriptor *model, int weight);
/* True if weights are linked in. */
int attn2c_is_embedded(const attn2c_descriptor *model);
/* True if a checkpoint is needed: some weight is not a constant, and none are linked in. */
int attn2c_needs_checkpoint(const attn2c_descriptor *model);
/* Returns the floats of the arena that an entry needs. */
int64_t attn2c_entry_arena(const attn2c_descriptor *model, const attn2c_entry *entry);
int64_t attn2c_elements(const attn2c_tensor *tensor);
/* Returns the number of the primary entry, whose inputs and outputs are the model's: the last. */
int attn2c_primary(const attn2c_descriptor *model);
/* Returns the most rows of a call of a model of any length. */
int64_t attn2c_call_rows(const attn2c_descriptor *model);
/* Returns the width of the logits of a model that continues; 0 if it has none. */
int64_t attn2c_logits_width(const attn2c_descriptor *model);
/* Returns the primary entry itself. */
const attn2c_entry *attn2c_primary_entry(const attn2c_descriptor *model);
/* Returns the entry that reads sources, or NULL: the first of a model whose state keeps its results. */
const attn2c_entry *attn2c_encode_entry(const attn2c_descriptor *model);
/* Returns the entry before the primary one, or before the one that reads sources, which adds adapters to what
 * that computes; NULL: there is none. */
const attn2c_entry *attn2c_adapted_entry(const attn2c_descriptor *model, const attn2c_entry *entry);
/* Returns the entry whose results an entry adds adapters to, or the entry itself. */
const attn2c_entry *attn2c_plain_entry(const attn2c_descriptor *model, const attn2c_entry *entry);
/* Returns the number of the primary entry's input that has the adapters of sequences: its last; or -1. */
int attn2c_adapters_input(const attn2c_descriptor *model);
/* Returns the entry that makes a call of `count` sequences: the adapted one if some sequence has an adapter,
 * else the entry itself. */
const attn2c_entry *attn2c_entry_of_call(const attn2c_descriptor *model, const attn2c_entry *entry,
                                         const void *const *inputs, int64_t count);
/* Returns the number of the adapter called `name`, 0 for "none", or -1. */
int attn2c_adapter_number(const attn2c_descriptor *model, const char *name);
/* Returns the sizes of the calls of an entry that takes sequences of any length; NULL for others. */
const attn2c_lengths *attn2c_lengths_of(const attn2c_descriptor *model, const attn2c_entry *entry);

/* True for an input that callers need not give. */
int attn2c_is_optional(const attn2c_tensor *tensor);
/* Returns the number of an attribute, or `otherwise` if the op does not have it. */
double attn2c_number(const attn2c_op *op, const char *name, double otherwise);
/* Returns the text of an attribute, or NULL. */
const char *attn2c_text(const attn2c_op *op, const char *name);
