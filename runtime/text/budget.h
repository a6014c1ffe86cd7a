/* budget.h - limits the work for one text. Every stage counts its steps: about one for each byte that it
 * reads or writes. A text that takes more than its budget is refused, and a caller may stop it. */
#pragma once

#include "base/attn2c.h"

/* Steps for each byte of a text, and for a text of any length. Real tokenizers take 10 to 60 steps a byte. */
#define TEXT_STEPS_BYTE  1024u
#define TEXT_STEPS_LEAST ((uint64_t)1 << 27)
/* Bytes of a stage's result for each byte of a text, and for a text of any length. */
#define TEXT_GROWTH_BYTE  32u
#define TEXT_GROWTH_LEAST ((size_t)1 << 18)

enum text_budget_state { BUDGET_LEFT, BUDGET_SPENT, BUDGET_STOPPED };

typedef struct text_budget {
  uint64_t steps, most; /* counted steps, and allowed steps */
  uint64_t look;        /* the count at which the limit and `stops` are checked next */
  size_t bytes;         /* bytes of the text */
  size_t longest;       /* limit of the text in any stage, in bytes */
  int (*stops)(void);   /* returns other than 0 to stop the call; NULL: no call is stopped */
  enum text_budget_state state;
} text_budget;

/* Starts the count for a text of `bytes` bytes. */
void text_budget_begin(text_budget *budget, size_t bytes);

/* Checks the limit and `stops`. Returns ATTN2C_FORMAT for too many steps, ATTN2C_USAGE if stopped. */
int text_budget_look(text_budget *budget);

/* Counts steps, and checks the budget from time to time. */
static inline int text_spend(text_budget *budget, uint64_t steps) {
  budget->steps += steps;
  return budget->steps < budget->look ? ATTN2C_OK : text_budget_look(budget);
}
