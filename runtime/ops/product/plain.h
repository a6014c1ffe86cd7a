/* plain.h - implements product.h for any processor, by GNU vectors: a multiply-add rounds twice. */
#pragma once

#include "ops/vector.h"

#ifdef __SSE__
#define ATTN2C_HOLD(v) __asm__("" : "+x"(v))
#else
#define ATTN2C_HOLD(v) (void)(v)
#endif

#define ATTN2C_FMADD(a, b, c) ((a) * (b) + (c))
