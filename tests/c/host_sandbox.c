/* host_sandbox.c - opens, calls and closes a model named `guest` where nearly nothing is allowed: no memory
 * becomes executable (PR_SET_MDWE, from Linux 6.3 on), and a system call that is not in the list
 * below ends the process with SIGSYS. Prints the sum of the output; exit 77 where filters are not possible.
 *   host_sandbox WEIGHTS
 * With -DWITH_MORE, what weights in a folder and a second thread need is allowed, too. */
#define _GNU_SOURCE
#include "guest.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE              65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

/* runtime/README.md has the same list. `write` is for the line that this program prints, `exit_group` for its
 * end. */
#define ALLOWED(each)                                                                                        \
  each(openat) each(newfstatat) each(pread64) each(close) each(mmap) each(munmap) each(brk) each(madvise)    \
      each(sched_getaffinity) each(futex) each(getrandom) each(write) each(exit_group)

#ifdef WITH_MORE
#define ALLOWED_MORE(each)                                                                                   \
  each(access) each(getcwd) each(readlink) each(clone3) each(clock_gettime) each(exit) each(getpid)          \
      each(mprotect) each(rseq) each(rt_sigaction) each(rt_sigprocmask) each(sched_setaffinity)              \
          each(set_robust_list)
#else
#define ALLOWED_MORE(each)
#endif

#define ALLOW(name)                                                                                          \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),

static int confine(void) {
  static struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                      ALLOWED(ALLOW) ALLOWED_MORE(ALLOW)
                                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  const struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
  prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0);
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

static float hidden[GUEST_IN_HIDDEN], output[GUEST_OUT_HIDDEN];

int main(int count, char **arguments) {
  static char line[256];
  guest_model *model;
  guest_ctx *context;
  if (count != 2) return 2;
  for (int i = 0; i < GUEST_IN_HIDDEN; i++) hidden[i] = (float)(i % 17) / 8.0f - 1.0f;
  if (!confine()) return 77;
  if (guest_open(arguments[1], &model, line, sizeof line) != 0) return 1;
  if (guest_create(model, &context) != 0) return 1;
  guest_forward_out out = {output};
  const int status = guest_forward(context, &(guest_forward_in){hidden}, &out);
  double sum = 0.0;
  for (int i = 0; i < GUEST_OUT_HIDDEN; i++) sum += output[i];
  guest_destroy(context);
  guest_close(model);
  if (status != 0) return 1;

  const int length = snprintf(line, sizeof line, "%.9g\n", sum);
  return syscall(SYS_write, 1, line, (size_t)length) == length ? 0 : 1;
}
