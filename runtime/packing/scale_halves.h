/* scale_halves.h - the floats that scale blocks have for their scales and minimums. */
#pragma once

#include <stdint.h>

#include "base/number_types.h"

/* Returns the bits of the nearest f16, ties to even; finite numbers beyond its range become the largest. */
uint16_t attn2c_to_half(float x);
/* Returns x rounded to the floats of a type's scales. */
float attn2c_to_scale(const attn2c_type_facts *facts, float x);
