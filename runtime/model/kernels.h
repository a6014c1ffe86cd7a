/* kernels.h - who makes the matrix kernels, and whether this machine can run a target. Two
 * files implement attn2c_kernels_dispatch: kernels_libxsmm.c and kernels_c.c; a
 * program links one of them. */
#ifndef ATTN2C_KERNELS_H
#define ATTN2C_KERNELS_H

#include "base/descriptor.h"

/* Machine code that was made at run time. */
typedef struct attn2c_code attn2c_code;

/* Fills kernels[i] with the provider's kernel for shapes[i], or, where it makes none, with shapes[i].in_c
 * (which may be NULL). Returns who made them: "libxsmm", "c" or "libxsmm and c".
 * target: a name of gen/data/targets.lua; no kernel uses instructions beyond it. *code holds the kernels'
 * machine code; NULL: there is none. */
const char *attn2c_kernels_dispatch(const attn2c_kernel_shape *shapes, int count, const char *target,
                                    attn2c_kernel *kernels, attn2c_code **code);
/* The kernels cannot be called after this. */
void attn2c_code_free(attn2c_code *code);

/* 1 when this machine has the instructions of the target, else 0 and a line of message. */
int attn2c_machine_runs(const char *target, attn2c_message *message);

/* The model for the target that is used here: the one that ATTN2C_TARGET names in the environment, else the
 * first of its variants that this machine can run; a model for one target is not asked whether it can.
 * ATTN2C_USAGE: it is not for the target that is named; ATTN2C_MACHINE: this machine can run none, or not
 * that one, and *chosen is the first, or that one. A line of message each. */
int attn2c_machine_choose(const attn2c_descriptor *model, const attn2c_descriptor **chosen,
                          attn2c_message *message);

#endif
