/* linux.c - implements system.h with POSIX. A wait is woken through a pipe, so that no signal is lost between
 * a check and the wait. */
#include "program/system.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>

/* Opens /dev/null for standard descriptors that are closed at the start. Otherwise the first file that is
 * opened would get such a number, and messages would be written into that file. /dev/null is opened in the
 * direction in which the program's reads or writes fail, as they do on a closed descriptor. */
static void hold_standard_descriptors(void) {
  for (int descriptor = 0; descriptor <= 2; descriptor++) {
    if (fcntl(descriptor, F_GETFD) == -1 && errno == EBADF) {
      if (open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) != descriptor) return;
    }
  }
}

static void (*end_by)(void);

/* Mapped weights are read when they are used, and a failed read raises SIGBUS. */
static void note_lost(int number) {
  (void)number;
  end_by();
}

char **attn2c_program_begin(int *count, char **words, void (*lost)(void)) {
  (void)count;
  hold_standard_descriptors();
  /* A reader that closed its pipe and a full quota are failures of output, exit 4. */
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  end_by = lost;
  signal(SIGBUS, note_lost);
  return words;
}

void attn2c_program_signal(int number, void (*note)(int number), int is_once, int restarts) {
  struct sigaction old,
      action = {.sa_handler = note, .sa_flags = (is_once ? SA_RESETHAND : 0) | (restarts ? SA_RESTART : 0)};
  /* A signal that the shell set to be ignored stays ignored. */
  if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN) return;
  sigaction(number, &action, NULL);
}

static int ends[2] = {-1, -1};

int attn2c_program_may_wake(void) { return pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0; }

void attn2c_program_wake(void) {
  const int kept = errno;
  /* A full pipe wakes the wait, too. */
  if (write(ends[1], "", 1) < 0) errno = kept;
  errno = kept;
}

int attn2c_program_await(int descriptor, int may_wait, const volatile sig_atomic_t *noted) {
  struct pollfd watched[2] = {{.fd = descriptor, .events = POLLIN}, {.fd = ends[0], .events = POLLIN}};
  while (!*noted) {
    const int ready = poll(watched, 2, may_wait ? -1 : 0);
    if (ready < 0 && errno != EINTR) return 1; /* read() reports the error */
    if (ready > 0 && watched[0].revents) return !*noted;
    if (ready == 0) return 0;
  }
  return 0;
}

int64_t attn2c_program_read(int descriptor, void *to, size_t bytes) { return read(descriptor, to, bytes); }

int64_t attn2c_program_line(char **line, size_t *capacity, int *is_ended) {
  const int64_t count = getline(line, capacity, stdin);
  *is_ended = count < 0 && feof(stdin);
  if (count < 0) clearerr(stdin);
  return count;
}

int attn2c_program_names(const char *folder, int (*visit)(void *context, const char *name), void *context) {
  DIR *opened = opendir(folder);
  int result = 0;
  if (!opened) return -1;
  for (struct dirent *each; result == 0 && (each = readdir(opened));) result = visit(context, each->d_name);
  closedir(opened);
  return result;
}

FILE *attn2c_program_gather(char **text, size_t *size) { return open_memstream(text, size); }

int attn2c_program_gathered(FILE *stream, char **text, size_t *size) {
  (void)text, (void)size;
  return fclose(stream);
}

/* It is in memory. */
int attn2c_program_scratch(attn2c_scratch *made) {
  made->descriptor = memfd_create("scratch", MFD_CLOEXEC);
  snprintf(made->path, sizeof made->path, "/proc/self/fd/%d", made->descriptor);
  return made->descriptor < 0 ? -1 : 0;
}

void attn2c_program_scratch_end(const attn2c_scratch *made) { close(made->descriptor); }

int attn2c_program_random(void *to, size_t bytes) { return getrandom(to, bytes, 0) == (ssize_t)bytes; }
