/* number_types.h - the number types of tensors and of packed weights.
 * `make headers` writes this file from gen/data/types.lua. */
/* clang-format off */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Tensors of the graph have one of the first two types. The others are for packed weights. */
typedef enum { ATTN2C_F32, ATTN2C_I32, ATTN2C_BF16, ATTN2C_I8, ATTN2C_Q8, ATTN2C_Q4, ATTN2C_Q4M, ATTN2C_Q4F, ATTN2C_Q8F, ATTN2C_Q8H, ATTN2C_FP4, ATTN2C_Q2K, ATTN2C_Q3K, ATTN2C_Q4K, ATTN2C_Q5K, ATTN2C_Q6K, ATTN2C_Q5, ATTN2C_Q5M, ATTN2C_V4, ATTN2C_V4K, ATTN2C_V4S, ATTN2C_V4X, ATTN2C_V3, ATTN2C_V3H } attn2c_type;
#define ATTN2C_TYPES 24

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
  /* bits of scales that are integers times a unit of eight blocks; 0: scales are floats; bytes of the units */
  int unit, unit_bytes;
  float step; /* factor of the unit of scales */
  int value_count;      /* of the integers, which are indices of values; 0: they are numbers */
  const int8_t *values; /* ascending */
} attn2c_type_facts;

static inline const attn2c_type_facts *attn2c_facts_of(attn2c_type type) {
  static const int8_t values_of_fp4[] = {-12, -8, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8, 12};
  static const int8_t values_of_v4[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
  static const int8_t values_of_v4s[] = {-15, -13, -11, -9, -7, -5, -3, -1, 1, 3, 5, 7, 9, 11, 13, 15};
  static const int8_t values_of_v4x[] = {-62, -52, -44, -36, -28, -20, -12, -4, 4, 12, 20, 28, 36, 44, 52, 62};
  static const int8_t values_of_v3[] = {-43, -25, -8, 8, 25, 43};
  static const attn2c_type_facts facts[ATTN2C_TYPES] = {
    { "f32", 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL },
    { "i32", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL },
    { "bf16", 2, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL },
    { "int8", 4, 2, 1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL },
    { "int8_blocks", 0, 0, 0, 8, 8, 2, 1, 0, 34, 0, 0, 1, 0, NULL },
    { "int4_blocks", 0, 0, 0, 16, 4, 2, 1, 0, 18, 0, 0, 1, 0, NULL },
    { "int4m_blocks", 0, 0, 0, 32, 4, 2, 1, 1, 20, 0, 0, 1, 0, NULL },
    { "int4f_blocks", 0, 0, 0, 64, 4, 4, 1, 1, 24, 0, 0, 1, 0, NULL },
    { "int8f_blocks", 0, 0, 0, 128, 8, 4, 1, 1, 40, 0, 0, 1, 0, NULL },
    { "int8h_blocks", 0, 0, 0, 256, 8, 4, 2, 0, 40, 0, 0, 1, 0, NULL },
    { "mxfp4_blocks", 0, 0, 0, 512, 4, 1, 1, 0, 17, 0, 0, 1, 15, values_of_fp4 },
    { "int2_blocks", 0, 0, 0, 1024, 2, 1, 2, 1, 10, 4, 4, 1, 0, NULL },
    { "int3_blocks", 0, 0, 0, 2048, 3, 1, 2, 0, 14, 8, 2, 1, 0, NULL },
    { "int4k_blocks", 0, 0, 0, 4096, 4, 1, 1, 1, 18, 8, 4, 1, 0, NULL },
    { "int5k_blocks", 0, 0, 0, 8192, 5, 1, 1, 1, 22, 8, 4, 1, 0, NULL },
    { "int6k_blocks", 0, 0, 0, 16384, 6, 1, 2, 0, 26, 8, 2, 1, 0, NULL },
    { "int5_blocks", 0, 0, 0, 2097152, 5, 2, 1, 0, 22, 0, 0, 1, 0, NULL },
    { "int5m_blocks", 0, 0, 0, 4194304, 5, 2, 1, 1, 24, 0, 0, 1, 0, NULL },
    { "iq4_blocks", 0, 0, 0, 32768, 4, 2, 1, 0, 18, 0, 0, 1, 16, values_of_v4 },
    { "iq4k_blocks", 0, 0, 0, 65536, 4, 1, 1, 0, 17, 8, 2, 1, 16, values_of_v4 },
    { "iq3s_blocks", 0, 0, 0, 131072, 4, 1, 1, 0, 17, 8, 2, 1, 16, values_of_v4s },
    { "iq3_blocks", 0, 0, 0, 262144, 4, 1, 1, 0, 17, 8, 2, 0.25, 16, values_of_v4x },
    { "iq2_blocks", 0, 0, 0, 524288, 3, 1, 1, 0, 13, 8, 2, 0.125, 6, values_of_v3 },
    { "iq2h_blocks", 0, 0, 0, 1048576, 3, 1, 2, 0, 14, 8, 2, 0.125, 6, values_of_v3 },
  };
  return &facts[type];
}

/* Returns the bytes that the units of an output's scale blocks take, before the first of them. */
static inline ptrdiff_t attn2c_units_bytes(const attn2c_type_facts *facts, ptrdiff_t blocks) {
  return ((blocks + 7) / 8 * facts->unit_bytes + 3) / 4 * 4;
}
/* clang-format on */
