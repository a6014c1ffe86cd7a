/* select.h - finds the logit at which the largest logits have a given mass together. It counts by the bits of
 * the logits and never sorts, so its time grows as the number of tokens, whatever the logits are. */
#pragma once

#include <stdint.h>

enum { ATTN2C_SELECT_SUMS = 2048 };

/* A place in the logits in descending order. */
typedef struct attn2c_border {
  uint32_t order; /* attn2c_order of the logit at the border */
  uint64_t above; /* the mass of all larger logits */
  uint64_t equal; /* the mass of all logits that equal it */
} attn2c_border;

/* Returns the largest border such that the logits from it on have at least the mass `target` together. target
 * must be from 1 to the mass of all.
 * index: the tokens, or NULL for 0 to count - 1.
 * mass: by token, or NULL, if each has the mass 1.
 * sums: memory for ATTN2C_SELECT_SUMS numbers. */
attn2c_border attn2c_select(const float *logits, const uint64_t *mass, const int32_t *index, int32_t count,
                            uint64_t target, uint64_t *sums);
