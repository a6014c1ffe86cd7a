/* allows.h - tells whether a grammar allows a text. */
#pragma once

#include "grammar/states.h"

#include <criterion/criterion.h>

/* Returns 1 if a grammar in GBNF allows a text, byte by byte, and frees it. what: for faults. */
static inline int grammar_allows(char *written, const char *text, const char *what) {
  char note[500] = "";
  attn2c_message message = attn2c_message_make(note, sizeof note);
  attn2c_grammar *grammar;
  grammar_states states;
  cr_assert_eq(attn2c_grammar_read(written, strlen(written), "g", &grammar, &message), ATTN2C_OK,
               "%s: %s\n%s", what, note, written);
  cr_assert_eq(grammar_states_create(&states, grammar, 1 << 20), ATTN2C_OK);
  uint32_t state = grammar_states_first(&states);
  for (; *text && state != STATE_DEAD; text++) state = state_step(&states, state, (uint8_t)*text);
  const int result = state != STATE_DEAD && state_accepts(&states, state);
  grammar_states_free(&states);
  attn2c_grammar_free(grammar);
  free(written);
  return result;
}
