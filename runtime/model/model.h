/* model.h - an opened model and a caller's context, for any descriptor. The emitted
 * N_open, N_create and so on are thin wrappers of these. */
#ifndef ATTN2C_MODEL_H
#define ATTN2C_MODEL_H

#include "base/descriptor.h"
#include "model/kernels.h"
#include "weights/weights.h"

typedef struct attn2c_model { /* immutable once open; shared by any number of threads */
  const attn2c_descriptor *descriptor;
  attn2c_kernel *kernels; /* descriptor->kernel_count of them */
  const float *weights;   /* the packed block, descriptor->weight_floats */
  float *own;             /* the same, where it may be written; else NULL */
  attn2c_packed *packed;  /* what it is in; NULL: in `own` */
  const char *provider;   /* "libxsmm", "c" or "libxsmm and c" */
  attn2c_code *code;      /* what the kernels are in */
  int workers;            /* that calls are divided among */
} attn2c_model;

typedef struct attn2c_context { /* one caller's */
  const attn2c_model *model;
  float *arena;             /* descriptor->arena_floats */
  attn2c_team *team;        /* who shares its calls; NULL where the model is for one worker */
  struct attn2c_room *room; /* for calls that fill no entry (dispatch.h); NULL: none */
} attn2c_context;

/* Checks that the machine can run the target, dispatches the kernels, and reads and packs every weight of the
 * source, or takes its packed block as it is. ATTN2C_MACHINE, _MEMORY, or what the source says; on failure
 * *model is NULL and nothing is left behind. */
int attn2c_model_open(const attn2c_descriptor *descriptor, attn2c_source *source, attn2c_model **model,
                      attn2c_message *message);
/* The same for the target that is used here (attn2c_machine_choose), with a source of its own: a checkpoint
 * or packed weights, as a file (NULL: those that are linked in, or none, where the model has none) or in
 * memory. `text` takes the message. */
int attn2c_model_open_file(const attn2c_descriptor *descriptor, const char *path, attn2c_model **model,
                           char *text, size_t size);
int attn2c_model_open_memory(const attn2c_descriptor *descriptor, const void *bytes, size_t count,
                             attn2c_model **model, char *text, size_t size);
void attn2c_model_close(attn2c_model *model);

/* Those who share calls of the model, on as many threads as can be made, at most one a core; NULL where it is
 * for one worker. ATTN2C_OK or _MEMORY. */
int attn2c_model_team(const attn2c_model *model, attn2c_team **team);

int attn2c_context_create(const attn2c_model *model, attn2c_context **context);
void attn2c_context_destroy(attn2c_context *context);

#endif
