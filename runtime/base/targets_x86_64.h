/* targets_x86_64.h - targets, with the features of x86-64 processors that they need.
 * `make headers` writes this file from gen/data/targets.lua. */
/* clang-format off */
#pragma once

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
