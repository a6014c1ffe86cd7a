/* readers.h - names the parts of the runtime that read a model's weights. The compiler writes a table for
 * each model, which has those that the model can need. So a library contains no others: nothing else refers
 * to them. */
#pragma once

#include "base/descriptor.h"

/* Members that are NULL are not needed. */
typedef struct attn2c_readers {
  /* Loads weights that are not packed, or packed for another target. NULL: the library opens nothing but
   * weights that are packed for its own targets. */
  const struct attn2c_loader *loader;
  const struct attn2c_format *const *formats; /* of a checkpoint's files, ended by NULL */
  const struct attn2c_coding *coding;         /* of a checkpoint's quantised tensors */
  const struct attn2c_view_reader *resized, *taps;
  const struct attn2c_projector *projector; /* makes tables of projected distances */
  const struct attn2c_order_reader *orders; /* reads the orders of inputs in groups that are apart */
  const struct attn2c_block_reader *blocks; /* reads and packs weights in scale blocks */
  /* Computes rows of a constant of sound (weights/sound_constants.h). */
  int (*sound_constant)(const char *formula, const attn2c_tensor *tensor, int64_t first, int64_t count,
                        float *values);
  /* Checks the orders of inputs in a packed block. Returns ATTN2C_OK, _FORMAT or _MEMORY; says a line. */
  int (*check_packed)(const attn2c_descriptor *model, const float *block, attn2c_message *message);
} attn2c_readers;

extern const struct attn2c_loader attn2c_checkpoint_loader;                      /* model/load.h */
extern const struct attn2c_format attn2c_safetensors_format, attn2c_gguf_format; /* formats/tensors.h */
extern const struct attn2c_coding attn2c_gptq, attn2c_gptq_v2, attn2c_awq, attn2c_compressed_tensors;
extern const struct attn2c_view_reader attn2c_resized_reader, attn2c_taps_reader; /* reading/views.h */
extern const struct attn2c_projector attn2c_distance_projector;                   /* weights/source.h */
extern const struct attn2c_order_reader attn2c_group_order_reader;                /* weights/orders.h */
extern const struct attn2c_block_reader attn2c_scale_block_reader;                /* weights/source.h */
int attn2c_sound_constant(const char *formula, const attn2c_tensor *tensor, int64_t first, int64_t count,
                          float *values);
int attn2c_packed_orders_check(const attn2c_descriptor *model, const float *block, attn2c_message *message);
