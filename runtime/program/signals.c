/* signals.c - signals wake a wait through a pipe, so that no signal is lost between a check and the
 * wait. */
#include "program/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t noted;
static int (*asked)(void); /* in place of signals; NULL: they are noted */
static int ends[2] = {-1, -1};

static void note(int number) {
  const int kept = errno;
  noted = number;
  /* A full pipe wakes the wait, too. */
  if (write(ends[1], "", 1) < 0) errno = kept;
  errno = kept;
}

void attn2c_signals_note(void) {
  static const int numbers[] = {SIGINT, SIGTERM};
  if (ends[0] >= 0 || asked) return;
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  for (int i = 0; i < 2; i++) {
    struct sigaction old, action = {.sa_handler = note, .sa_flags = SA_RESTART | SA_RESETHAND};
    /* A signal that the shell set to be ignored stays ignored. */
    if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue;
    sigaction(numbers[i], &action, NULL);
  }
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
  struct pollfd watched[2] = {{.fd = descriptor, .events = POLLIN}, {.fd = ends[0], .events = POLLIN}};
  while (!noted) {
    const int ready = poll(watched, 2, may_wait ? -1 : 0);
    if (ready < 0 && errno != EINTR) return 1; /* read() reports the error */
    if (ready > 0 && watched[0].revents) return !noted;
    if (ready == 0) return 0;
  }
  return 0;
}
