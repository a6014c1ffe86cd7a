/* number_types.h - the number types of tensors and of packed weights.
 * `make headers` writes this file from gen/data/types.lua. */
/* clang-format off */
#pragma once

/* Tensors of the graph have one of the first two types. The others are for packed weights. */
typedef enum { ATTN2C_F32, ATTN2C_I32, ATTN2C_BF16, ATTN2C_I8, ATTN2C_Q8, ATTN2C_Q4, ATTN2C_Q4M, ATTN2C_Q4F, ATTN2C_Q8F, ATTN2C_Q8H, ATTN2C_FP4 } attn2c_type;
#define ATTN2C_TYPES 11

typedef struct {
  const char *word; /* in messages */
  int group;        /* elements in 4 bytes: inputs of one output, next to each other in a panel; 0: in scale
                       blocks */
  int start;        /* rows before the groups of a panel */
  int has_scales;   /* 1: each output has a scale, in a weight of its own */
  unsigned bit;     /* in the header of a packed file; 0: no weights have this type */
  /* of a scale block: bits of an integer (0: the type has no blocks), bytes of a scale, scales, whether each has
     a minimum, bytes in all (packing/scale_blocks.h) */
  int bits, scale_bytes, scales, has_minimum, block_bytes;
} attn2c_type_facts;

static inline const attn2c_type_facts *attn2c_facts_of(attn2c_type type) {
  static const attn2c_type_facts facts[ATTN2C_TYPES] = {
    { "f32", 1, 0, 0, 1, 0, 0, 0, 0, 0 },
    { "i32", 1, 0, 0, 0, 0, 0, 0, 0, 0 },
    { "bf16", 2, 0, 0, 2, 0, 0, 0, 0, 0 },
    { "int8", 4, 2, 1, 4, 0, 0, 0, 0, 0 },
    { "int8_blocks", 0, 0, 0, 8, 8, 2, 1, 0, 34 },
    { "int4_blocks", 0, 0, 0, 16, 4, 2, 1, 0, 18 },
    { "int4m_blocks", 0, 0, 0, 32, 4, 2, 1, 1, 20 },
    { "int4f_blocks", 0, 0, 0, 64, 4, 4, 1, 1, 24 },
    { "int8f_blocks", 0, 0, 0, 128, 8, 4, 1, 1, 40 },
    { "int8h_blocks", 0, 0, 0, 256, 8, 4, 2, 0, 40 },
    { "mxfp4_blocks", 0, 0, 0, 512, 4, 1, 1, 0, 17 },
  };
  return &facts[type];
}
/* clang-format on */
