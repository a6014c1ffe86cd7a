/* check_mask.h - which elements of scores, and of tensors made of them, a static mask removes. Emitted steps
 * need not compute these elements, since nothing reads them; the reference has -inf in scores and 0 in
 * weights. */
#ifndef ATTN2C_CHECK_MASK_H
#define ATTN2C_CHECK_MASK_H

#include "base/descriptor.h"

typedef enum {
  ATTN2C_UNMASKED,
  ATTN2C_MASKED_SCORES, /* -inf where masked */
  ATTN2C_MASKED_WEIGHTS /* 0 where masked */
} attn2c_masked;

/* What the result of the entry's op number `number` is: scores with a static mask, or what a chain of ops on
 * such scores has made of them. *scores is then the op that has the mask, else NULL. */
attn2c_masked attn2c_check_masked(const attn2c_entry *entry, int number, const attn2c_op **scores);

/* The op whose static mask holds for the result of op number `number`, where that is weights or their mean
 * over the heads; else NULL. */
const attn2c_op *attn2c_check_mask_of_weights(const attn2c_entry *entry, int number);

/* The tensor of the scores that an op's weights, of the same shape, are made of; -1 where its result is no
 * weights. */
int attn2c_check_scores_behind(const attn2c_entry *entry, const attn2c_op *op);

/* The number of the op of the entry whose result the tensor is; -1: none. */
int attn2c_check_maker(const attn2c_entry *entry, int tensor);

#endif
