/* gguf_grids.h - the codebooks of ggml's types IQ2 and IQ3 (gguf_grids.c). */
#pragma once

#include <stdint.h>

extern const uint16_t attn2c_iq2_xxs_grid[256], attn2c_iq2_xs_grid[512], attn2c_iq2_s_grid[1024];
extern const uint16_t attn2c_iq3_xxs_grid[256], attn2c_iq3_s_grid[512];
