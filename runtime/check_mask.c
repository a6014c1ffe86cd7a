/* check_mask.c - follows a chain of ops back to the scores that it began with: through ops that turn scores
 * into scores, one that turns them into weights, and ops that turn weights into weights. */
#include "check_mask.h"
#include "reference_ops.h"

#include <string.h>

typedef enum { OTHER, MAKES_SCORES, SCORES_TO_SCORES, SCORES_TO_WEIGHTS, WEIGHTS_TO_WEIGHTS } role;

static role role_of(const attn2c_op *op) {
  static const struct {
    const char *name;
    role role;
  } roles[] = {
      {"scores", MAKES_SCORES},           {"additive_scores", MAKES_SCORES},
      {"scale", SCORES_TO_SCORES},        {"add_relative", SCORES_TO_SCORES},
      {"add_distance", SCORES_TO_SCORES}, {"add_array", SCORES_TO_SCORES},
      {"block_array", SCORES_TO_SCORES},  {"add_length", SCORES_TO_SCORES},
      {"softcap", SCORES_TO_SCORES},      {"softmax", SCORES_TO_WEIGHTS},
      {"weigh", SCORES_TO_WEIGHTS},       {"head_scale", WEIGHTS_TO_WEIGHTS},
  };
  for (size_t row = 0; row < sizeof roles / sizeof roles[0]; row++)
    if (strcmp(roles[row].name, op->op) == 0) return roles[row].role;
  return OTHER;
}

int attn2c_check_maker(const attn2c_entry *entry, int tensor) {
  for (int number = 0; number < entry->op_count; number++)
    if (entry->ops[number].result == tensor) return number;
  return -1;
}

attn2c_masked attn2c_check_masked(const attn2c_entry *entry, int number, const attn2c_op **scores) {
  const attn2c_op *op = &entry->ops[number];
  role made = role_of(op);
  *scores = NULL;
  if (made == OTHER) return ATTN2C_UNMASKED;
  if (made == MAKES_SCORES) {
    if (!attn2c_reference_masks(attn2c_reference_mask_of(op))) return ATTN2C_UNMASKED;
    *scores = op;
    return ATTN2C_MASKED_SCORES;
  }
  int before = attn2c_check_maker(entry, op->operands[0]);
  /* An operand is made before it is read: the numbers fall, and this ends. */
  if (before < 0 || before >= number) return ATTN2C_UNMASKED;
  attn2c_masked operand = attn2c_check_masked(entry, before, scores);
  if (operand == (made == WEIGHTS_TO_WEIGHTS ? ATTN2C_MASKED_WEIGHTS : ATTN2C_MASKED_SCORES))
    return made == SCORES_TO_SCORES ? ATTN2C_MASKED_SCORES : ATTN2C_MASKED_WEIGHTS;
  *scores = NULL;
  return ATTN2C_UNMASKED;
}

const attn2c_op *attn2c_check_mask_of_weights(const attn2c_entry *entry, int number) {
  const attn2c_op *scores;
  if (strcmp(entry->ops[number].op, "mean_heads") == 0)
    number = attn2c_check_maker(entry, entry->ops[number].operands[0]);
  if (number < 0) return NULL;
  return attn2c_check_masked(entry, number, &scores) == ATTN2C_MASKED_WEIGHTS ? scores : NULL;
}

int attn2c_check_scores_behind(const attn2c_entry *entry, const attn2c_op *op) {
  while (role_of(op) == WEIGHTS_TO_WEIGHTS) {
    int before = attn2c_check_maker(entry, op->operands[0]);
    if (before < 0 || &entry->ops[before] >= op) return -1;
    op = &entry->ops[before];
  }
  return role_of(op) == SCORES_TO_WEIGHTS ? op->operands[0] : -1;
}
