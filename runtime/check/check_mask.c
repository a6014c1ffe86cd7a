/* check_mask.c - follows a chain of ops back to the scores at its start. The chain has ops that turn scores
 * into scores, one that turns them into weights, and ops that turn weights into weights. */
#include "check/check_parts.h"
#include "reference/ops.h"

int attn2c_check_maker(const attn2c_entry *entry, int tensor) {
  for (int number = 0; number < entry->op_count; number++)
    if (entry->ops[number].result == tensor) return number;
  return -1;
}

attn2c_masked attn2c_check_masked(const attn2c_entry *entry, int number, const attn2c_op **scores) {
  const attn2c_op *op = &entry->ops[number];
  *scores = NULL;
  if (op->role == ATTN2C_MAKES_SCORES) {
    if (!attn2c_reference_masks(attn2c_reference_mask_of(op))) return ATTN2C_UNMASKED;
    *scores = op;
    return ATTN2C_MASKED_SCORES;
  }
  if (op->role != ATTN2C_SCORES_TO_SCORES && op->role != ATTN2C_SCORES_TO_WEIGHTS &&
      op->role != ATTN2C_WEIGHTS_TO_WEIGHTS)
    return ATTN2C_UNMASKED;
  int before = attn2c_check_maker(entry, op->operands[0]);
  /* An operand is made before it is read, so the numbers decrease and the recursion ends. */
  if (before < 0 || before >= number) return ATTN2C_UNMASKED;
  attn2c_masked operand = attn2c_check_masked(entry, before, scores);
  if (operand == (op->role == ATTN2C_WEIGHTS_TO_WEIGHTS ? ATTN2C_MASKED_WEIGHTS : ATTN2C_MASKED_SCORES))
    return op->role == ATTN2C_SCORES_TO_SCORES ? ATTN2C_MASKED_SCORES : ATTN2C_MASKED_WEIGHTS;
  *scores = NULL;
  return ATTN2C_UNMASKED;
}

const attn2c_op *attn2c_check_mask_of_weights(const attn2c_entry *entry, int number) {
  const attn2c_op *scores;
  if (entry->ops[number].role == ATTN2C_MEAN_OF_WEIGHTS)
    number = attn2c_check_maker(entry, entry->ops[number].operands[0]);
  if (number < 0) return NULL;
  return attn2c_check_masked(entry, number, &scores) == ATTN2C_MASKED_WEIGHTS ? scores : NULL;
}

int attn2c_check_scores_of(const attn2c_entry *entry, const attn2c_op *op) {
  while (op->role == ATTN2C_WEIGHTS_TO_WEIGHTS) {
    int before = attn2c_check_maker(entry, op->operands[0]);
    if (before < 0 || &entry->ops[before] >= op) return -1;
    op = &entry->ops[before];
  }
  return op->role == ATTN2C_SCORES_TO_WEIGHTS ? op->operands[0] : -1;
}
