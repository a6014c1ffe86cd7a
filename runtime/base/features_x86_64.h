/* features_x86_64.h - the features of x86-64 processors that targets need.
 * `make headers` writes this file from gen/data/targets.lua. */
/* clang-format off */
#pragma once

/* X(bit, test: NULL, or the name of the missing feature) */
#define ATTN2C_FEATURES(X) \
  X(0x1, __builtin_cpu_supports("avx2") ? NULL : "AVX2") \
  X(0x2, __builtin_cpu_supports("fma") ? NULL : "FMA") \
  X(0x8, attn2c_has_avx_vnni() ? NULL : "AVX-VNNI") \
  X(0x10, __builtin_cpu_supports("avx512f") ? NULL : "AVX-512 F") \
  X(0x20, __builtin_cpu_supports("avx512bw") ? NULL : "AVX-512 BW") \
  X(0x40, __builtin_cpu_supports("avx512dq") ? NULL : "AVX-512 DQ") \
  X(0x80, __builtin_cpu_supports("avx512vl") ? NULL : "AVX-512 VL") \
  X(0x100, __builtin_cpu_supports("avx512vnni") ? NULL : "AVX-512 VNNI") \
  X(0x200, __builtin_cpu_supports("avx512bf16") ? NULL : "AVX-512 BF16") \
  X(0x400, attn2c_missing_amx())

/* Targets, with the bits of the features that they need. */
#define ATTN2C_TARGETS \
  {"amx", 0x1ff3}, \
  {"avx512bf16", 0x3f3}, \
  {"avx512vnni", 0x1f3}, \
  {"avx512", 0xf3}, \
  {"avxvnni", 0xf}, \
  {"avx2", 0x7}, \
  {"x86_64", 0x0}, \
  {"aarch64", 0x0}, \
  {"generic", 0x0}
/* clang-format on */
