/* signals.h - ends a command after Ctrl-C where its output is whole: between two answers, or at the end of a
 * line. The first signal is noted, and waiting for input ends. A second signal ends the program at once. */
#pragma once

#include "base/attn2c.h"

/* Notes SIGINT and SIGTERM from now on. If that fails, they end the program as always. */
void attn2c_signals_note(void);
/* Notes none from now on: another part of the program takes them. A command ends as by SIGTERM once `stops`
 * returns other than 0. */
void attn2c_signals_ask(int (*stops)(void));
/* Returns the signal that came, or 0. */
int attn2c_signal(void);
/* Returns ATTN2C_OK, or 128 and the number of the signal that came, with a line. */
int attn2c_signals_status(attn2c_message *message);
/* Returns 1 if the descriptor can be read; with may_wait it waits for that. Returns 0 if it cannot, or if a
 * signal came. */
int attn2c_signals_wait(int descriptor, int may_wait);
