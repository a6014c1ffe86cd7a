/* progress.c - draws the line of progress and erases it. Its form is that of gen/common/progress.lua. */
#include "program/output.h"

#include <unistd.h>

#include "measure/timing.h"

enum { WIDTH = 30 };

#define SHOWN_AFTER 2e9 /* nanoseconds */
#define EVERY       1e8 /* nanoseconds between two drawings */

static struct {
  const char *what; /* NULL: no work has begun */
  int64_t done;
  double begun, drawn; /* times */
  int is_shown;
} line;

int attn2c_progress_is_seen(void) { return isatty(STDERR_FILENO); }

static void write_time(double seconds, char text[32]) {
  snprintf(text, 32, seconds < 90 ? "%.0f s" : "%.0f min", seconds < 90 ? seconds : seconds / 60);
}

static void draw(double seconds, int64_t all) {
  char elapsed[32], left[32];
  const double part = all > 0 ? (double)line.done / (double)all : 0;
  const int filled = part > 1 ? WIDTH : (int)(part * WIDTH);
  write_time(seconds, elapsed);
  if (all > 0)
    fprintf(stderr, "\r[%.*s%.*s] %s", filled, "##############################", WIDTH - filled,
            "..............................", elapsed);
  else
    fprintf(stderr, "\r%" PRId64 " in %s", line.done, elapsed);
  if (part > 0.02 && part <= 1) {
    write_time(seconds / part * (1 - part), left);
    fprintf(stderr, ", %s left", left);
  }
  fprintf(stderr, "  %s\33[K", line.what);
  fflush(stderr);
  line.is_shown = 1;
}

void attn2c_progress(const char *what, int64_t done, int64_t all) {
  const double now = attn2c_now();
  if (what != line.what || (done == 0 && line.done > 0)) line.what = what, line.begun = now;
  line.done = done;
  if (now - line.begun < SHOWN_AFTER || now - line.drawn < EVERY || !attn2c_progress_is_seen()) return;
  line.drawn = now;
  draw((now - line.begun) / 1e9, all);
}

void attn2c_progress_hide(void) {
  if (line.is_shown) fputs("\r\33[K", stderr);
  line.is_shown = 0, line.drawn = 0;
}
