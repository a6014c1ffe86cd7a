/* number_types.h - the number types of tensors and of packed weights, as gen/data/types.lua has them. */
#pragma once

#include "base/tables.h"

#include <stddef.h>
#include <stdint.h>

/* Tensors of the graph have one of the first two types. The others are for packed weights. */
#define ATTN2C_TYPE(type, ...) type,
typedef enum { ATTN2C_NUMBER_TYPES(ATTN2C_TYPE) } attn2c_type;
#undef ATTN2C_TYPE

typedef struct {
  const char *word; /* in messages */
  int group;        /* elements in 4 bytes: inputs of one output, next to each other in a panel; 0: in scale
                       blocks */
  int start;        /* rows before the groups of a panel */
  int has_scales;   /* 1: each output has a scale, in a weight of its own */
  unsigned bit;     /* in the header of a packed file; 0: no weights have this type */
  /* of a scale block: bits of an integer (0: the type has no blocks), bytes of a scale, scales, whether each
   * has a minimum, bytes in all (packing/scale_blocks.h) */
  int bits, scale_bytes, scales, has_minimum, block_bytes;
  /* bits of scales that are integers times a unit of several blocks; 0: scales are floats; bytes of the units
   */
  int unit, unit_bytes;
  float step;        /* factor of the unit of scales */
  int value_count;   /* of the integers, which are indices of values; 0: they are numbers */
  int8_t values[16]; /* ascending */
} attn2c_type_facts;

#define ATTN2C_COUNT(...) +1
enum { ATTN2C_TYPES = 0 ATTN2C_NUMBER_TYPES(ATTN2C_COUNT) };
#undef ATTN2C_COUNT

static inline const attn2c_type_facts *attn2c_facts_of(attn2c_type type) {
#define ATTN2C_FACTS(type, ...) {__VA_ARGS__},
  static const attn2c_type_facts facts[ATTN2C_TYPES] = {ATTN2C_NUMBER_TYPES(ATTN2C_FACTS)};
#undef ATTN2C_FACTS
  return &facts[type];
}

/* Returns the bytes that the units of an output's scale blocks take, before the first of them. */
static inline ptrdiff_t attn2c_units_bytes(const attn2c_type_facts *facts, ptrdiff_t blocks) {
  return ((blocks + ATTN2C_UNIT_BLOCKS - 1) / ATTN2C_UNIT_BLOCKS * facts->unit_bytes + 3) / 4 * 4;
}
