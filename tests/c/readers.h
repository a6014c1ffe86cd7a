/* readers.h - tables of all readers of weights, for tests whose models may need any. */
#ifndef READERS_H
#define READERS_H

#include "base/readers.h"

static const struct attn2c_format *const all_formats[] = {&attn2c_gguf_format, &attn2c_torch_format,
                                                          &attn2c_safetensors_format, NULL};

#define ALL_READERS(of_coding)                                                                               \
  {                                                                                                          \
    .loader = &attn2c_checkpoint_loader, .formats = all_formats, .coding = of_coding,                        \
    .resized = &attn2c_resized_reader, .taps = &attn2c_taps_reader, .projector = &attn2c_distance_projector, \
    .orders = &attn2c_group_order_reader, .blocks = &attn2c_scale_block_reader,                              \
    .check_packed = attn2c_packed_orders_check                                                               \
  }

static const attn2c_readers all_readers = ALL_READERS(NULL);

/* Returns the table with a coding, or NULL for none. */
static inline const attn2c_readers *readers_with(const struct attn2c_coding *coding) {
  static const attn2c_readers of_coding[] = {ALL_READERS(&attn2c_gptq), ALL_READERS(&attn2c_gptq_v2),
                                             ALL_READERS(&attn2c_awq),
                                             ALL_READERS(&attn2c_compressed_tensors)};
  for (int i = 0; i < 4; i++)
    if (of_coding[i].coding == coding) return &of_coding[i];
  return &all_readers;
}

#endif
