/* faults_no_jit.c - runs a program that may not make memory executable:
 *   faults_no_jit PROGRAM ARGUMENT...
 * Exit 77 where the kernel (before Linux 6.3) cannot deny it, 127 where PROGRAM cannot be run. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE              65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s PROGRAM ARGUMENT...\n", argv[0]);
    return 2;
  }
  if (prctl(PR_SET_MDWE, (unsigned long)PR_MDWE_REFUSE_EXEC_GAIN, 0UL, 0UL, 0UL) != 0) return 77;
  execv(argv[1], argv + 1);
  perror(argv[1]);
  return 127;
}
