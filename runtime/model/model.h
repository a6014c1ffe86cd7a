/* model.h - declares an opened model and a caller's context, for any descriptor. The emitted N_open, N_create
 * and so on are thin wrappers of these functions. */
#pragma once

#include "model/kernels.h"
#include "weights/weights.h"

#include <stdatomic.h>

struct attn2c_model;

/* Pages of a sequence that are moved to the front, because a window has forgotten those before them. */
typedef struct {
  int32_t window;
  int64_t sequence, moved, pages; /* pages before them, and their number */
} attn2c_forgetting;

/* A sequence whose tokens are copied to another one, but for those that both have. */
typedef struct {
  int64_t from, to;
  int32_t same, tokens;                   /* tokens: the first that both have; all of `from` */
  int32_t forgotten[ATTN2C_MOST_WINDOWS]; /* by window, the first keys that `from` has forgotten */
  int32_t moved[ATTN2C_MOST_WINDOWS];     /* by window, 1: `to` has forgotten others, so all is copied */
} attn2c_copying;

/* The work of a model that is divided among ranks which differs from others'. Functions may be NULL. */
typedef struct {
  /* Return memory for an arena, as attn2c_allocate does, and free it. */
  void *(*allocate)(const struct attn2c_model *model, size_t bytes);
  void (*free)(const struct attn2c_model *model, void *arena);
  /* In a program, rank 0 leads: these make the other ranks do the same. NULL: all make the same calls. */
  int (*run)(const struct attn2c_model *model, attn2c_run run, const attn2c_call *call);
  /* Returns when the outputs of all calls are there, of which other stages have made some. */
  void (*settle)(const struct attn2c_model *model);
  void (*forget)(const struct attn2c_model *model, const float *state, const attn2c_forgetting *what);
  void (*copy)(const struct attn2c_model *model, const float *state, const attn2c_copying *what);
  void (*drop)(const struct attn2c_model *model, const float *state); /* is freed */
  void (*close)(const struct attn2c_model *model);
  /* Returns the first rank's status that is not ATTN2C_OK, for ranks that make the same calls. */
  int (*agree)(const struct attn2c_model *model, int status);
} attn2c_rank_hooks;

typedef struct attn2c_model { /* immutable once open; shared by any number of threads */
  const attn2c_descriptor *descriptor;
  attn2c_kernel *kernels;         /* descriptor->kernel_count kernels */
  const float *weights;           /* the packed block, descriptor->weight_floats */
  float *own;                     /* the same block if it may be written, else NULL */
  attn2c_packed *packed;          /* owner of the block; NULL: `own` */
  const char *provider;           /* "libxsmm", "c" or "libxsmm and c" */
  attn2c_code *code;              /* the kernels' machine code */
  int workers;                    /* of the code that runs */
  int threads;                    /* that share a call, at most */
  attn2c_ranks *ranks;            /* that compute it together; NULL: one process does */
  const attn2c_rank_hooks *hooks; /* of such a model; else NULL */
  void *leader;                   /* of the hooks */
  _Atomic uint64_t *checksum; /* of the block, once attn2c_weights_checksum has computed it; 0: none has */
} attn2c_model;

/* Begins a call, on all ranks. Its inputs may be changed when it returns. Outputs are there when the calls
 * are settled; an output that is not wanted (NULL) is settled before it returns. So stages of a pipeline
 * compute several calls at a time. */
int attn2c_model_begin(const attn2c_model *model, const attn2c_entry *entry, attn2c_run run,
                       const attn2c_call *call);

/* Ends all calls that have begun. */
static inline void attn2c_model_settle(const attn2c_model *model) {
  if (model->hooks && model->hooks->settle) model->hooks->settle(model);
}

/* Makes a call, on all ranks. */
static inline int attn2c_model_run(const attn2c_model *model, attn2c_run run, const attn2c_call *call) {
  const int status = model->hooks && model->hooks->run ? model->hooks->run(model, run, call) : run(call);
  attn2c_model_settle(model);
  return status;
}

typedef struct attn2c_context { /* one caller's state */
  const attn2c_model *model;
  float *arena;             /* size: descriptor->arena_floats */
  attn2c_team *team;        /* shares its calls; NULL for a model with one worker */
  struct attn2c_open *open; /* for calls of a model of any length (sequences.h); NULL: another model */
  attn2c_sequences whole;   /* one new sequence of the most rows of a call, for calls that name no other */
  int32_t first_of_whole[2];
  float *state; /* keys and values of the sequences of a model that continues (continue.h); NULL: another */
  int32_t *positions; /* by symbol of the state, the keys that each of them has: first its tokens */
  int32_t *origins;   /* by sequence, the place in the state of the keys of its source (state.h) */
  int is_dense;       /* 1: the state has huge pages */
  int32_t *forgotten; /* by window of the state, the first keys that each has forgotten (state.h) */
  void (*watch)(int64_t done,
                int64_t all); /* is called with the sequences of a call of any size; NULL: none */
} attn2c_context;

/* Opens a model from a source. It checks that the machine can run the target, dispatches the kernels, and
 * reads and packs every weight, or uses the source's packed block as it is. Returns ATTN2C_MACHINE, _MEMORY,
 * or the source's status; on failure *model is NULL and everything is freed. threads: that pack the weights
 * and share a call, at most, as attn2c_model_set_threads takes them; 0: the number that the code is for. */
int attn2c_model_open(const attn2c_descriptor *descriptor, attn2c_source *source, int threads,
                      attn2c_model **model, attn2c_message *message);
/* Packs a model's weights into model->own. */
typedef int (*attn2c_fill_weights)(const void *context, attn2c_model *model, attn2c_message *message);
/* Does the same with packed weights, or, if they are NULL or for another target, with `fill`. */
int attn2c_model_make(const attn2c_descriptor *descriptor, attn2c_packed *packed, attn2c_fill_weights fill,
                      const void *context, int threads, attn2c_model **model, attn2c_message *message);
/* Do the same for the target that is used here (attn2c_machine_choose), with a checkpoint or packed weights,
 * as a file or in memory. path NULL: the weights that are linked in, or none
 * if the model has none. `text` receives the message. */
int attn2c_model_open_file(const attn2c_descriptor *descriptor, const char *path, attn2c_model **model,
                           char *text, size_t size);
int attn2c_model_open_memory(const attn2c_descriptor *descriptor, const void *bytes, size_t count,
                             attn2c_model **model, char *text, size_t size);
void attn2c_model_close(attn2c_model *model);

/* Returns the most threads that a model's code is for. */
static inline int attn2c_most_threads(const attn2c_descriptor *descriptor) {
  return descriptor->threads > 0 ? descriptor->threads : 8;
}
/* Sets the number of threads that share a call of contexts that are made from now on, at most. Bits do not
 * depend on it. Returns ATTN2C_USAGE, and changes nothing, if the code is for fewer. */
int attn2c_model_set_threads(attn2c_model *model, int threads);

/* Makes the team that shares calls of the model; NULL if the model is for one worker. It has at most one
 * thread per core, and fewer if they cannot be made. Returns ATTN2C_OK or _MEMORY. */
int attn2c_model_team(const attn2c_model *model, attn2c_team **team);

int attn2c_context_create(const attn2c_model *model, attn2c_context **context);
void attn2c_context_destroy(attn2c_context *context);

/* Returns a call with the context's memory and workers. */
attn2c_call attn2c_context_call(const attn2c_context *context, const void *const *in, void *const *out);
/* Makes such a call of an entry. */
int attn2c_context_run(const attn2c_context *context, const attn2c_entry *entry, const void *const *in,
                       void *const *out);

/* Returns the checksum of the packed block, for files that depend on the weights. A file of packed weights
 * states it; else the first call reads all weights. */
uint64_t attn2c_weights_checksum(const attn2c_model *model);
