/* check_mask.h - finds the elements of scores, and of tensors made from them, that a static mask removes.
 * Emitted steps need not compute these elements, since nothing reads them; the reference has -inf in scores
 * and 0 in weights. */
#pragma once

#include "base/descriptor.h"

typedef enum {
  ATTN2C_UNMASKED,
  ATTN2C_MASKED_SCORES, /* -inf where masked */
  ATTN2C_MASKED_WEIGHTS /* 0 where masked */
} attn2c_masked;

/* Tells whether the result of op number `number` has a static mask. Such a result is scores with a mask, or
 * made from them by a chain of ops. *scores is then the op that has the mask, else NULL. */
attn2c_masked attn2c_check_masked(const attn2c_entry *entry, int number, const attn2c_op **scores);

/* Returns the op whose static mask applies to the result of op number `number`, or NULL. The result must be
 * weights or their mean over the heads. */
const attn2c_op *attn2c_check_mask_of_weights(const attn2c_entry *entry, int number);

/* Returns the tensor of the scores, of the same shape, that an op's weights are made from. Returns -1 if its
 * result is not weights. */
int attn2c_check_scores_of(const attn2c_entry *entry, const attn2c_op *op);

/* Returns the number of the entry's op whose result is the tensor; -1: none. */
int attn2c_check_maker(const attn2c_entry *entry, int tensor);
