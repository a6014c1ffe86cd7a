#include "text/budget.h"

/* Steps between two checks: about a millisecond. */
#define STEPS_BETWEEN ((uint64_t)1 << 18)

static void set_look(text_budget *budget) {
  budget->look = budget->steps + STEPS_BETWEEN;
  if (budget->look > budget->most) budget->look = budget->most + 1;
}

void text_budget_begin(text_budget *budget, size_t bytes) {
  budget->steps = 0;
  budget->bytes = bytes;
  budget->most = TEXT_STEPS_LEAST + (uint64_t)bytes * TEXT_STEPS_BYTE;
  budget->longest = TEXT_GROWTH_LEAST + bytes * TEXT_GROWTH_BYTE;
  /* Places have 32 bits, so that no stage may make a longer text. */
  if (bytes >= UINT32_MAX / 2 / TEXT_GROWTH_BYTE || budget->longest > UINT32_MAX / 2)
    budget->longest = UINT32_MAX / 2;
  budget->state = BUDGET_LEFT;
  set_look(budget);
}

int text_budget_look(text_budget *budget) {
  if (budget->steps > budget->most) {
    budget->state = BUDGET_SPENT;
    return ATTN2C_FORMAT;
  }
  if (budget->stops && budget->stops()) {
    budget->state = BUDGET_STOPPED;
    return ATTN2C_USAGE;
  }
  set_look(budget);
  return ATTN2C_OK;
}
