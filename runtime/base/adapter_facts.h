/* adapter_facts.h - describes a LoRA adapter (Hu et al. 2021) that is a part of a model. The compiler names
 * its tensors (gen/checkpoints/adapter.lua), and links its file into the model; reading/adapter.c merges it.
 */
#pragma once

#include <stdint.h>

/* A change of one tensor of the checkpoint, W [out][in]: W + scale outputs . inputs. A name is an adapter's
 * tensor; NULL: there is none. */
typedef struct attn2c_merge {
  const char *const *names;     /* of the tensor: the first that the checkpoint has; ended by NULL */
  const char *base;             /* takes the place of W */
  const char *outputs, *inputs; /* [out][rank], [rank][in] */
  const char *
      lengths; /* [out]: each output's weights in the sum are scaled to this length (DoRA, Liu et al. 2024) */
  double scale;
  int64_t rank;
  int is_transposed; /* 1: W is stored [in][out] */
  int64_t part; /* of factors with a part for each of several tasks, which the checkpoint itself has; -1: the
                   adapter's file has them */
} attn2c_merge;

typedef struct attn2c_adapter {
  const struct attn2c_adapter_reader *reader;
  const attn2c_merge *merges;
  int count;
  const unsigned char *begin, *end; /* of the adapter's safetensors file; NULL: none */
} attn2c_adapter;

/* An adapter that is kept next to the weights: its safetensors file. The model's weights are read from its
 * tensors, too, whose names have a prefix. */
typedef struct attn2c_kept_adapter {
  const char *prefix; /* "NAME/"; NULL ends a list */
  const struct attn2c_format *format;
  const unsigned char *begin, *end;
} attn2c_kept_adapter;

extern const struct attn2c_adapter_reader attn2c_lora_reader;
