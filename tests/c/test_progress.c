/* test_progress.c - the line of progress: when it is drawn, what it says, and that it goes; only on
 * a terminal. The clock is the test's. */
#define _XOPEN_SOURCE 700
#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/timing.h"

static double clock_seconds;
static double test_now(void) { return 1e9 * clock_seconds; }
#define attn2c_now test_now
#include "program/progress.c"

static int terminal, kept;

/* Gives the process a terminal as its standard error. */
static void open_terminal(void) {
  terminal = posix_openpt(O_RDWR | O_NOCTTY);
  cr_assert(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
  const int other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  kept = dup(STDERR_FILENO);
  cr_assert(other >= 0 && kept >= 0 && dup2(other, STDERR_FILENO) == STDERR_FILENO);
  close(other);
  clock_seconds = 100;
}

static void close_terminal(void) {
  dup2(kept, STDERR_FILENO);
  close(terminal);
}

/* Returns the text that has come to the terminal since the last call. */
static const char *seen(void) {
  static char text[1000];
  size_t used = 0;
  struct pollfd ready = {terminal, POLLIN, 0};
  fflush(stderr);
  while (used < sizeof text - 1 && poll(&ready, 1, 50) > 0) {
    const ssize_t count = read(terminal, text + used, sizeof text - 1 - used);
    if (count <= 0) break;
    used += (size_t)count;
  }
  text[used] = '\0';
  return text;
}

#define SAID(wanted) cr_assert_str_eq(seen(), wanted)

TestSuite(progress, .init = open_terminal, .fini = close_terminal);

Test(progress, is_shown_after_two_seconds_ten_times_a_second_and_erased) {
  attn2c_progress("texts", 0, 4);
  clock_seconds = 101.9;
  attn2c_progress("texts", 1, 4);
  SAID("");
  clock_seconds = 104;
  attn2c_progress("texts", 1, 4);
  SAID("\r[#######.......................] 4 s, 12 s left  texts\33[K");
  clock_seconds = 104.05;
  attn2c_progress("texts", 2, 4);
  SAID("");
  attn2c_progress_hide();
  SAID("\r\33[K");
  attn2c_progress_hide();
  SAID("");
  attn2c_progress("texts", 4, 4);
  SAID("\r[##############################] 4 s, 0 s left  texts\33[K");
}

Test(progress, begins_anew_with_other_work_and_where_nothing_is_done) {
  attn2c_progress("texts", 0, 4);
  clock_seconds = 110;
  attn2c_progress("tokens", 0, 4);
  SAID("");
  clock_seconds = 112;
  attn2c_progress("tokens", 1, 4);
  SAID("\r[#######.......................] 2 s, 6 s left  tokens\33[K");
  attn2c_progress("tokens", 0, 4);
  SAID("");
  clock_seconds = 300;
  attn2c_progress("tokens", 1, 4);
  SAID("\r[#######.......................] 3 min, 9 min left  tokens\33[K");
}

Test(progress, of_unknown_length_says_how_much_is_done) {
  attn2c_progress("texts", 0, 0);
  clock_seconds = 105;
  attn2c_progress("texts", 1024, 0);
  SAID("\r1024 in 5 s  texts\33[K");
}

Test(progress, is_not_shown_where_standard_error_is_no_terminal) {
  int ends[2];
  cr_assert(pipe(ends) == 0);
  dup2(ends[1], STDERR_FILENO);
  attn2c_progress("texts", 0, 4);
  clock_seconds = 200;
  attn2c_progress("texts", 1, 4);
  attn2c_progress_hide();
  fflush(stderr);
  struct pollfd ready = {ends[0], POLLIN, 0};
  cr_assert(poll(&ready, 1, 50) == 0 && !attn2c_progress_is_seen());
  SAID("");
}
