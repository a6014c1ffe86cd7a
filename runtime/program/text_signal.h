/* text_signal.h - ends a run of texts after Ctrl-C, between two answers. The first signal is noted, and
 * waiting for input ends. A second signal ends the program at once. */
#ifndef ATTN2C_TEXT_SIGNAL_H
#define ATTN2C_TEXT_SIGNAL_H

/* Notes SIGINT and SIGTERM from now on. If that fails, they end the program as always. */
void attn2c_signals_note(void);
/* Returns the signal that came, or 0. */
int attn2c_signal(void);
/* Returns 1 if the descriptor can be read; with may_wait it waits for that. Returns 0 if it cannot, or if a
 * signal came. */
int attn2c_signals_wait(int descriptor, int may_wait);

#endif
