/* budget.h - the work that one text may take. Every stage counts its steps here: about one for each byte that
 * it reads or writes. A text that takes more than its budget is refused, and a caller may stop it. */
#ifndef ATTN2C_TEXT_BUDGET_H
#define ATTN2C_TEXT_BUDGET_H

#include "base/attn2c.h"

/* Steps for each byte of a text, and for a text without any. Real tokenizers take 10 to 60 a byte.
 */
#define TEXT_STEPS_BYTE  1024u
#define TEXT_STEPS_LEAST ((uint64_t)1 << 27)
/* Bytes that a stage may make of each byte of a text, and of a text without any. */
#define TEXT_GROWTH_BYTE  32u
#define TEXT_GROWTH_LEAST ((size_t)1 << 18)

enum text_budget_state { BUDGET_LEFT, BUDGET_SPENT, BUDGET_STOPPED };

typedef struct text_budget {
  uint64_t steps, most; /* counted, and allowed */
  uint64_t look;        /* the count at which the limit and `stops` are looked at next */
  size_t bytes;         /* of the text */
  size_t longest;       /* bytes of the text in any stage, at most */
  int (*stops)(void);   /* not 0: the caller wants no result. NULL: it always does */
  enum text_budget_state state;
} text_budget;

/* Starts the count for a text of so many bytes. */
void text_budget_begin(text_budget *budget, size_t bytes);

/* Looks at the limit and at `stops`; ATTN2C_FORMAT: too many steps, ATTN2C_USAGE: stopped. */
int text_budget_look(text_budget *budget);

/* Counts steps. */
static inline int text_spend(text_budget *budget, uint64_t steps) {
  budget->steps += steps;
  return budget->steps < budget->look ? ATTN2C_OK : text_budget_look(budget);
}

#endif
