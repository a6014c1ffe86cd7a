/* neon.h - implements product.h for aarch64. */
#pragma once

#include <arm_neon.h>

#include "ops/vector.h"

#define ATTN2C_HOLD(v) __asm__("" : "+w"(v))

#define ATTN2C_FMADD(a, b, c) vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b))
