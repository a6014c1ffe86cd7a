/* gguf_blocks.h - converts the block types of GGUF files to scale blocks. The formats are ggml's: a
 * block has integers of few bits, and scales of f16 that they share. */
#pragma once

#include "formats/scale_block.h"

/* Convert the block at `at`, 32 elements for each of y: 32 elements a block for the types whose names end in
 * _0, _1 and _nl and for MXFP4, 256 for the others. The bytes need no alignment. A number is the product of
 * scales and an integer, which f32 holds exactly; types with a minimum round the sum once. NaN and infinity
 * of a scale spread. */
void attn2c_split_q4_0(const uint8_t *at, attn2c_scale_block *y);
void attn2c_split_q4_1(const uint8_t *at, attn2c_scale_block *y);
void attn2c_split_q5_0(const uint8_t *at, attn2c_scale_block *y);
void attn2c_split_q5_1(const uint8_t *at, attn2c_scale_block *y);
void attn2c_split_q8_0(const uint8_t *at, attn2c_scale_block *y);
void attn2c_split_iq4_nl(const uint8_t *at, attn2c_scale_block *y);
void attn2c_split_q2_k(const uint8_t *at, attn2c_scale_block *y);
void attn2c_split_q3_k(const uint8_t *at, attn2c_scale_block *y);
void attn2c_split_q4_k(const uint8_t *at, attn2c_scale_block *y);
void attn2c_split_q5_k(const uint8_t *at, attn2c_scale_block *y);
void attn2c_split_q6_k(const uint8_t *at, attn2c_scale_block *y);
void attn2c_split_iq4_xs(const uint8_t *at, attn2c_scale_block *y);
void attn2c_split_iq2_xxs(const uint8_t *at, attn2c_scale_block *y);
void attn2c_split_iq2_xs(const uint8_t *at, attn2c_scale_block *y);
void attn2c_split_iq2_s(const uint8_t *at, attn2c_scale_block *y);
void attn2c_split_iq3_xxs(const uint8_t *at, attn2c_scale_block *y);
void attn2c_split_iq3_s(const uint8_t *at, attn2c_scale_block *y);
void attn2c_split_mxfp4(const uint8_t *at, attn2c_scale_block *y);

/* Converts 32 codes of E2M1 in 16 bytes whose scale is 2^(exponent - 127); 255 is NaN. Byte i has element
 * i * step in its low bits, and in its high ones the element `apart` after it. */
void attn2c_split_e2m1(uint8_t exponent, const uint8_t *codes, int step, int apart, attn2c_scale_block *y);
