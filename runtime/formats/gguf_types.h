/* gguf_types.h - the types of GGUF's tensors, which gen/common/gguf_types.lua reads here, too. */
/* clang-format off */
#pragma once

/* X(number, name, elements, bytes, widen, split, type)
 *
 *   number, name      in the file; the format's own
 *   elements, bytes   of a block, whose elements are next to each other in a row
 *   widen             the function of base/floats.h that converts elements to f32
 *   split             the function of formats/gguf_blocks.h that converts blocks to scale blocks. A type with neither
 *                     function is refused by name
 *   type              the type of weights in scale blocks (gen/data/types.lua) that holds the same numbers */
#define ATTN2C_GGUF_TYPES(X) \
  X(0, F32, 1, 4, attn2c_floats_from_f32, NULL, none) \
  X(1, F16, 1, 2, attn2c_floats_from_f16, NULL, none) \
  X(2, Q4_0, 32, 18, NULL, attn2c_split_q4_0, q4) \
  X(3, Q4_1, 32, 20, NULL, attn2c_split_q4_1, q4m) \
  X(6, Q5_0, 32, 22, NULL, attn2c_split_q5_0, q5) \
  X(7, Q5_1, 32, 24, NULL, attn2c_split_q5_1, q5m) \
  X(8, Q8_0, 32, 34, NULL, attn2c_split_q8_0, q8) \
  X(9, Q8_1, 32, 40, NULL, NULL, none) \
  X(10, Q2_K, 256, 84, NULL, attn2c_split_q2_k, q2k) \
  X(11, Q3_K, 256, 110, NULL, attn2c_split_q3_k, q3k) \
  X(12, Q4_K, 256, 144, NULL, attn2c_split_q4_k, q4k) \
  X(13, Q5_K, 256, 176, NULL, attn2c_split_q5_k, q5k) \
  X(14, Q6_K, 256, 210, NULL, attn2c_split_q6_k, q6k) \
  X(15, Q8_K, 256, 292, NULL, NULL, none) \
  X(16, IQ2_XXS, 256, 66, NULL, attn2c_split_iq2_xxs, v3) \
  X(17, IQ2_XS, 256, 74, NULL, attn2c_split_iq2_xs, v3h) \
  X(18, IQ3_XXS, 256, 98, NULL, attn2c_split_iq3_xxs, v4x) \
  X(19, IQ1_S, 256, 50, NULL, NULL, none) \
  X(20, IQ4_NL, 32, 18, NULL, attn2c_split_iq4_nl, v4) \
  X(21, IQ3_S, 256, 110, NULL, attn2c_split_iq3_s, v4s) \
  X(22, IQ2_S, 256, 82, NULL, attn2c_split_iq2_s, v3h) \
  X(23, IQ4_XS, 256, 136, NULL, attn2c_split_iq4_xs, v4k) \
  X(24, I8, 1, 1, NULL, NULL, none) \
  X(25, I16, 1, 2, NULL, NULL, none) \
  X(26, I32, 1, 4, NULL, NULL, none) \
  X(27, I64, 1, 8, NULL, NULL, none) \
  X(28, F64, 1, 8, attn2c_floats_from_f64, NULL, none) \
  X(29, IQ1_M, 256, 56, NULL, NULL, none) \
  X(30, BF16, 1, 2, attn2c_floats_from_bf16, NULL, none) \
  X(34, TQ1_0, 256, 54, NULL, NULL, none) \
  X(35, TQ2_0, 256, 66, NULL, NULL, none) \
  X(39, MXFP4, 32, 17, NULL, attn2c_split_mxfp4, fp4) \
  X(40, NVFP4, 64, 36, NULL, NULL, none) \
  X(41, Q1_0, 128, 18, NULL, NULL, none)

/* Types with one of the functions. */
#define ATTN2C_GGUF_READABLE \
  "F32, F16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, " \
  "IQ2_XXS, IQ2_XS, IQ3_XXS, IQ4_NL, IQ3_S, IQ2_S, IQ4_XS, F64, BF16 or MXFP4"
/* clang-format on */
