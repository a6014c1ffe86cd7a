/* number_types.h - the number types of tensors and of packed weights.
 * `make headers` writes this file from gen/data/types.lua. */
/* clang-format off */
#ifndef ATTN2C_BASE_NUMBER_TYPES_H
#define ATTN2C_BASE_NUMBER_TYPES_H

/* Tensors of the graph have one of the first two types. The others are those of packed weights. */
typedef enum { ATTN2C_F32, ATTN2C_I32, ATTN2C_BF16, ATTN2C_I8 } attn2c_type;
#define ATTN2C_TYPES 4

typedef struct {
  const char *word; /* in messages */
  int group;        /* elements in 4 bytes: inputs of one output, next to each other in a panel */
  int start;        /* rows before the groups of a panel */
  int has_scales;   /* 1: each output has a scale, in a weight of its own */
  unsigned bit;     /* in the header of a packed file; 0: no weights have this type */
} attn2c_type_facts;

static inline const attn2c_type_facts *attn2c_facts_of(attn2c_type type) {
  static const attn2c_type_facts facts[ATTN2C_TYPES] = {
    { "f32", 1, 0, 0, 1 },
    { "i32", 1, 0, 0, 0 },
    { "bf16", 2, 0, 0, 2 },
    { "int8", 4, 2, 1, 4 },
  };
  return &facts[type];
}

#endif
/* clang-format on */
