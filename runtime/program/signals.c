/* signals.c - notes the signal that ends a command, and ends its waits. */
#include "program/output.h"
#include "program/system.h"

static volatile sig_atomic_t noted;
static int (*asked)(void); /* in place of signals; NULL: they are noted */
static int are_noted;

static void note(int number) {
  noted = number;
  attn2c_program_wake();
}

void attn2c_signals_note(void) {
  if (are_noted || asked || !attn2c_program_may_wake()) return;
  are_noted = 1;
  attn2c_program_signal(SIGINT, note, 1, 1);
  attn2c_program_signal(SIGTERM, note, 1, 1);
}

void attn2c_signals_ask(int (*stops)(void)) { asked = stops; }

int attn2c_signal(void) { return asked && asked() ? SIGTERM : noted; }

int attn2c_signals_status(attn2c_message *message) {
  const int signal = attn2c_signal();
  if (!signal) return ATTN2C_OK;
  attn2c_say(message, "interrupted");
  return 128 + signal;
}

int attn2c_signals_wait(int descriptor, int may_wait) {
  return attn2c_program_await(descriptor, may_wait, &noted);
}
