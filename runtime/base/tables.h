/* tables.h - the number types and targets of the compiler.
 * `make headers` writes this file from gen/data/types.lua and gen/data/targets.lua. */
/* clang-format off */
#pragma once

/* X(type, its facts) */
#define ATTN2C_NUMBER_TYPES(X) \
  X(ATTN2C_F32, "f32", 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}) \
  X(ATTN2C_I32, "i32", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}) \
  X(ATTN2C_BF16, "bf16", 2, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}) \
  X(ATTN2C_I8, "int8", 4, 2, 1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}) \
  X(ATTN2C_Q8, "int8_blocks", 0, 0, 0, 8, 8, 2, 1, 0, 34, 0, 0, 1, 0, {0}) \
  X(ATTN2C_Q4, "int4_blocks", 0, 0, 0, 16, 4, 2, 1, 0, 18, 0, 0, 1, 0, {0}) \
  X(ATTN2C_Q4M, "int4m_blocks", 0, 0, 0, 32, 4, 2, 1, 1, 20, 0, 0, 1, 0, {0}) \
  X(ATTN2C_Q4F, "int4f_blocks", 0, 0, 0, 64, 4, 4, 1, 1, 24, 0, 0, 1, 0, {0}) \
  X(ATTN2C_Q8F, "int8f_blocks", 0, 0, 0, 128, 8, 4, 1, 1, 40, 0, 0, 1, 0, {0}) \
  X(ATTN2C_Q8H, "int8h_blocks", 0, 0, 0, 256, 8, 4, 2, 0, 40, 0, 0, 1, 0, {0}) \
  X(ATTN2C_FP4, "mxfp4_blocks", 0, 0, 0, 512, 4, 1, 1, 0, 17, 0, 0, 1, 15, {-12, -8, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8, 12}) \
  X(ATTN2C_Q2K, "int2_blocks", 0, 0, 0, 1024, 2, 1, 2, 1, 10, 4, 4, 1, 0, {0}) \
  X(ATTN2C_Q3K, "int3_blocks", 0, 0, 0, 2048, 3, 1, 2, 0, 14, 8, 2, 1, 0, {0}) \
  X(ATTN2C_Q4K, "int4k_blocks", 0, 0, 0, 4096, 4, 1, 1, 1, 18, 8, 4, 1, 0, {0}) \
  X(ATTN2C_Q5K, "int5k_blocks", 0, 0, 0, 8192, 5, 1, 1, 1, 22, 8, 4, 1, 0, {0}) \
  X(ATTN2C_Q6K, "int6k_blocks", 0, 0, 0, 16384, 6, 1, 2, 0, 26, 8, 2, 1, 0, {0}) \
  X(ATTN2C_Q5, "int5_blocks", 0, 0, 0, 2097152, 5, 2, 1, 0, 22, 0, 0, 1, 0, {0}) \
  X(ATTN2C_Q5M, "int5m_blocks", 0, 0, 0, 4194304, 5, 2, 1, 1, 24, 0, 0, 1, 0, {0}) \
  X(ATTN2C_V4, "iq4_blocks", 0, 0, 0, 32768, 4, 2, 1, 0, 18, 0, 0, 1, 16, {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}) \
  X(ATTN2C_V4K, "iq4k_blocks", 0, 0, 0, 65536, 4, 1, 1, 0, 17, 8, 2, 1, 16, {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}) \
  X(ATTN2C_V4S, "iq3s_blocks", 0, 0, 0, 131072, 4, 1, 1, 0, 17, 8, 2, 1, 16, {-15, -13, -11, -9, -7, -5, -3, -1, 1, 3, 5, 7, 9, 11, 13, 15}) \
  X(ATTN2C_V4X, "iq3_blocks", 0, 0, 0, 262144, 4, 1, 1, 0, 17, 8, 2, 0.25, 16, {-62, -52, -44, -36, -28, -20, -12, -4, 4, 12, 20, 28, 36, 44, 52, 62}) \
  X(ATTN2C_V3, "iq2_blocks", 0, 0, 0, 524288, 3, 1, 1, 0, 13, 8, 2, 0.125, 6, {-43, -25, -8, 8, 25, 43}) \
  X(ATTN2C_V3H, "iq2h_blocks", 0, 0, 0, 1048576, 3, 1, 2, 0, 14, 8, 2, 0.125, 6, {-43, -25, -8, 8, 25, 43})

/* How many scale blocks share a unit. */
#define ATTN2C_UNIT_BLOCKS 8

/* Targets, with the features of x86-64 processors that they need. */
#define ATTN2C_TARGETS \
  {"amx", " avx2 fma avx512f avx512bw avx512dq avx512vl avx512_vnni avx512_bf16 amx_tile amx_bf16 amx_int8 "}, \
  {"avx512bf16", " avx2 fma avx512f avx512bw avx512dq avx512vl avx512_vnni avx512_bf16 "}, \
  {"avx512vnni", " avx2 fma avx512f avx512bw avx512dq avx512vl avx512_vnni "}, \
  {"avx512", " avx2 fma avx512f avx512bw avx512dq avx512vl "}, \
  {"avxvnni", " avx2 fma f16c avx_vnni "}, \
  {"avx2", " avx2 fma f16c "}, \
  {"x86_64", "  "}, \
  {"aarch64", "  "}, \
  {"generic", "  "}
/* clang-format on */
