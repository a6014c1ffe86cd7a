/* readers.h - names the parts of the runtime that read a model's weights. The compiler writes a table for
 * each model, of those that it can need. So a library contains no others: nothing else refers to them. */
#pragma once

#include "base/descriptor.h"

/* Members that are NULL are not needed. */
typedef struct attn2c_readers {
  /* Loads weights that are not packed, or packed for another target. NULL: the library opens nothing but
   * weights that are packed for its own targets. */
  const struct attn2c_loader *loader;
  const struct attn2c_format *const *formats; /* of a checkpoint's files, ended by NULL */
  const struct attn2c_coding *coding;         /* of a checkpoint's quantised tensors */
  const struct attn2c_adapter *adapter;       /* changes a checkpoint's tensors (reading/adapter.h) */
  const struct attn2c_kept_adapter *kept;     /* files of more tensors, which are linked in */
  const struct attn2c_view_reader *resized, *taps;
  const struct attn2c_projector *projector; /* makes tables of projected distances */
  const struct attn2c_order_reader *orders; /* reads the orders of inputs in groups that are apart */
  const struct attn2c_block_reader *blocks; /* reads and packs weights in scale blocks */
  /* Computes rows of a constant of sound; see attn2c_sound_constant. */
  int (*sound_constant)(const char *formula, const attn2c_tensor *tensor, int64_t first, int64_t count,
                        float *values);
  /* Checks the orders of inputs in a packed block. Returns ATTN2C_OK, _FORMAT or _MEMORY; says a line. */
  int (*check_packed)(const attn2c_descriptor *model, const float *block, attn2c_message *message);
} attn2c_readers;

extern const struct attn2c_loader attn2c_checkpoint_loader; /* model/load.h */
extern const struct attn2c_format attn2c_safetensors_format, attn2c_gguf_format,
    attn2c_torch_format; /* formats/tensors.h */
extern const struct attn2c_coding attn2c_gptq, attn2c_gptq_v2, attn2c_awq, attn2c_compressed_tensors,
    attn2c_mxfp4;
extern const struct attn2c_view_reader attn2c_resized_reader, attn2c_taps_reader; /* reading/views.h */
extern const struct attn2c_projector attn2c_distance_projector;                   /* weights/source.h */
extern const struct attn2c_order_reader attn2c_group_order_reader;                /* weights/orders.h */
extern const struct attn2c_block_reader attn2c_scale_block_reader;                /* weights/source.h */
int attn2c_packed_orders_check(const attn2c_descriptor *model, const float *block, attn2c_message *message);

/* Writes rows [first, first + count) of a constant and returns 1. If the formula is none of these, does not
 * parse or does not fit the tensor's shape, returns 0 and writes nothing. values may be NULL, to check the
 * formula only.
 *
 *   spectrum FFT WINDOW PREEMPHASIS MEAN SCALE FIRST
 *                  [2 bins][n]: what turns n samples of a frame, times SCALE, into the real parts of bins
 * FIRST on, then their imaginary ones, of a transform of FFT points. Before it the frame loses its mean (MEAN
 * 1), each sample PREEMPHASIS times the one before it (the first: itself), and it is multiplied by a window:
 * 0 none, 1 Hann, 2 Hann, periodic, 3 Hamming, 4 the same, periodic, 5 Povey's mels SCALE NORM RATE FFT LOW
 * HIGH FIRST [filters][2 bins]: triangles from LOW to HIGH hertz, evenly spaced on a scale: 0 HTK's, 1
 *                  Slaney's, 2 Kaldi's, whose triangles are straight on the scale; NORM 1: of equal areas.
 * Both halves of a row are the same */
int attn2c_sound_constant(const char *formula, const attn2c_tensor *tensor, int64_t first, int64_t count,
                          float *values);
