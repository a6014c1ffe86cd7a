/* denied.c - runs a program that the kernel denies something, as a sandbox does:
 *   denied WHAT PROGRAM ARGUMENT...
 * WHAT: code - to make memory executable (mprotect, and mmap of anonymous memory); threads - clone and
 * clone3; writing - to open any file for writing or creating, to make, rename or remove one; tiles - to
 * use tiles of AMX. A denied call fails with EPERM (threads: EAGAIN); writing ends the process with SIGSYS.
 * Exit 77 where filters are not possible, 127 where PROGRAM cannot be run. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field)             BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ARGUMENT(n)             LOAD(args[n]) /* its low half, on a little-endian machine */
#define ANSWER(value)           BPF_STMT(BPF_RET | BPF_K, (value))
#define FAIL(error)             ANSWER(SECCOMP_RET_ERRNO | (error))
#define END                     ANSWER(SECCOMP_RET_KILL_PROCESS)
#define ALLOW                   ANSWER(SECCOMP_RET_ALLOW)
#define UNLESS(number, skip)    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, (skip))
#define UNLESS_BITS(bits, skip) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, (skip))

/* A system call that is denied whatever its arguments, and one that is by some bits of one. */
#define DENY(number, answer) LOAD(nr), UNLESS(number, 1), answer
#define DENY_BITS(number, which, bits, answer)                                                               \
  LOAD(nr), UNLESS(number, 3), ARGUMENT(which), UNLESS_BITS(bits, 1), answer

static struct sock_filter code[] = {DENY_BITS(SYS_mprotect, 2, PROT_EXEC, FAIL(EPERM)),
                                    DENY_BITS(SYS_pkey_mprotect, 2, PROT_EXEC, FAIL(EPERM)),
                                    /* The loader maps files so; code that was generated has none. */
                                    LOAD(nr), UNLESS(SYS_mmap, 5), ARGUMENT(3), UNLESS_BITS(MAP_ANONYMOUS, 3),
                                    ARGUMENT(2), UNLESS_BITS(PROT_EXEC, 1), FAIL(EPERM), ALLOW};

static struct sock_filter threads[] = {DENY(SYS_clone, FAIL(EAGAIN)), DENY(SYS_clone3, FAIL(EAGAIN)), ALLOW};

static struct sock_filter writing[] = {DENY_BITS(SYS_openat, 2, O_CREAT | O_WRONLY | O_RDWR, END),
#ifdef SYS_open
                                       DENY_BITS(SYS_open, 1, O_CREAT | O_WRONLY | O_RDWR, END),
                                       DENY(SYS_creat, END),
                                       DENY(SYS_mknod, END),
                                       DENY(SYS_mkdir, END),
                                       DENY(SYS_unlink, END),
                                       DENY(SYS_rename, END),
                                       DENY(SYS_symlink, END),
                                       DENY(SYS_link, END),
#endif
                                       DENY(SYS_openat2, END),
                                       DENY(SYS_mknodat, END),
                                       DENY(SYS_mkdirat, END),
                                       DENY(SYS_unlinkat, END),
                                       DENY(SYS_renameat, END),
                                       DENY(SYS_renameat2, END),
                                       DENY(SYS_symlinkat, END),
                                       DENY(SYS_linkat, END),
                                       DENY(SYS_memfd_create, END),
                                       ALLOW};

#ifdef SYS_arch_prctl
enum { REQUEST_PERMISSION = 0x1023 }; /* ARCH_REQ_XCOMP_PERM, which older headers lack */

static struct sock_filter tiles[] = {
    LOAD(nr), UNLESS(SYS_arch_prctl, 3), ARGUMENT(0), UNLESS(REQUEST_PERMISSION, 1), FAIL(EPERM), ALLOW};
#endif

static int deny(struct sock_filter *filter, size_t length) {
  const struct sock_fprog program = {.len = (unsigned short)length, .filter = filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

#define DENY_ALL(filter) deny(filter, sizeof filter / sizeof *filter)

int main(int count, char **arguments) {
  int done = -1;
  if (count > 2 && strcmp(arguments[1], "code") == 0) done = DENY_ALL(code);
  if (count > 2 && strcmp(arguments[1], "threads") == 0) done = DENY_ALL(threads);
  if (count > 2 && strcmp(arguments[1], "writing") == 0) done = DENY_ALL(writing);
#ifdef SYS_arch_prctl
  if (count > 2 && strcmp(arguments[1], "tiles") == 0) done = DENY_ALL(tiles);
#endif
  if (done < 0) {
    fprintf(stderr, "usage: denied code|threads|writing|tiles PROGRAM ARGUMENT...\n");
    return 2;
  }
  if (!done) return 77;
  execv(arguments[2], arguments + 2);
  perror(arguments[2]);
  return 127;
}
