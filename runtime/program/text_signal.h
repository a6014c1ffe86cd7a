/* text_signal.h - how Ctrl-C ends a run of texts: between two answers. The first signal is noted, and waiting
 * for input ends; a second one ends the program at once. */
#ifndef ATTN2C_TEXT_SIGNAL_H
#define ATTN2C_TEXT_SIGNAL_H

/* Notes SIGINT and SIGTERM from here on; where that cannot be done they act as always. */
void attn2c_signals_note(void);
/* The signal that came, or 0. */
int attn2c_signal(void);
/* Waits until the descriptor can be read: 1; or, with may_wait 0, whether it can be: 1 or 0. 0 where a signal
 * came. */
int attn2c_signals_wait(int descriptor, int may_wait);

#endif
