/* check_mask.h - finds the elements of scores, and of tensors made from them, that a static mask removes.
 * Emitted steps need not compute these elements, since nothing reads them; the reference has -inf in scores
 * and 0 in weights. */
#ifndef ATTN2C_CHECK_MASK_H
#define ATTN2C_CHECK_MASK_H

#include "base/descriptor.h"

typedef enum {
  ATTN2C_UNMASKED,
  ATTN2C_MASKED_SCORES, /* -inf where masked */
  ATTN2C_MASKED_WEIGHTS /* 0 where masked */
} attn2c_masked;

/* Returns whether the result of the entry's op number `number` is scores with a static mask, or made from
 * such scores by a chain of ops. *scores is then the op that has the mask, else NULL. */
attn2c_masked attn2c_check_masked(const attn2c_entry *entry, int number, const attn2c_op **scores);

/* Returns the op whose static mask applies to the result of op number `number`, if that is weights or their
 * mean over the heads; else NULL. */
const attn2c_op *attn2c_check_mask_of_weights(const attn2c_entry *entry, int number);

/* Returns the tensor of the scores that an op's weights, of the same shape, are made from; -1 if its result
 * is not weights. */
int attn2c_check_scores_of(const attn2c_entry *entry, const attn2c_op *op);

/* Returns the number of the entry's op whose result is the tensor; -1: none. */
int attn2c_check_maker(const attn2c_entry *entry, int tensor);

#endif
