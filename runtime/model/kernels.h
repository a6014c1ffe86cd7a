/* kernels.h - creates a model's matrix kernels, and tells whether this machine can run a target. Two files
 * implement attn2c_kernels_dispatch: kernels_libxsmm.c and kernels_c.c; a program links one of them. */
#pragma once

#include "base/descriptor.h"

/* Machine code that is made at run time. */
typedef struct attn2c_code attn2c_code;

/* Fills kernels[i] with the provider's kernel for shapes[i], or with NULL if the provider makes none. types:
 * of A and B, as in the descriptor. Returns the providers: "libxsmm", "c" or "libxsmm and c". target: a name
 * of gen/data/targets.lua; no kernel uses instructions beyond it. *code holds the kernels' machine code, or
 * NULL if there is none. */
const char *attn2c_kernels_dispatch(const attn2c_kernel_shape *shapes, const attn2c_type *types, int count,
                                    const char *target, attn2c_kernel *kernels, attn2c_code **code);
/* Frees the machine code; the kernels cannot be called after this. */
void attn2c_code_free(attn2c_code *code);

/* Returns what this machine lacks for a model's target, or NULL. */
const char *attn2c_machine_missing(const attn2c_descriptor *model);

/* True if this machine has the target's instructions, and they prove right; else says a line. */
int attn2c_machine_runs(const attn2c_descriptor *model, attn2c_message *message);

/* True if `other` clearly runs faster than `own`: the best of samples in turn, in 0.3 ms. ticks: a clock. */
int attn2c_machine_prefers(const attn2c_rival *rival, unsigned long long (*ticks)(void));

/* Chooses the variant of the model that is used here. It is the one that ATTN2C_TARGET names in the
 * environment, else the first that this machine can run, or its rival if that is faster here. For a model
 * with one target it does not test the machine. ATTN2C_USAGE: the model is not for the named target.
 * ATTN2C_MACHINE: this machine can run no variant, and *chosen is the first, or not the named one, and
 * *chosen is that one. Each failure says a line. */
int attn2c_machine_choose(const attn2c_descriptor *model, const attn2c_descriptor **chosen,
                          attn2c_message *message);
