/* host_threads.c - a program around a library with several workers (named `crew`): the caller's
 * environment stays as it was, the child of a fork computes the same bits, and so do threads of the caller's
 * own. Usage: host_threads WEIGHTS. Exit code 1: what is printed failed. */
#define _GNU_SOURCE
#include "crew.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLERS = 4 };

static crew_model *model;
static float input[CREW_IN_HIDDEN], expected[CREW_OUT_HIDDEN];

/* 0 where a context of its own gives the expected bits. */
static int differs(void) {
  crew_ctx *context;
  float *output = calloc(CREW_OUT_HIDDEN, sizeof *output);
  int wrong = crew_create(model, &context);
  crew_forward_in in = {.hidden = input};
  crew_forward_out out = {.hidden = output};
  for (int i = 0; i < 3 && !wrong; i++)
    wrong = crew_forward(context, &in, &out) || memcmp(output, expected, sizeof expected) != 0;
  crew_destroy(context);
  free(output);
  return wrong;
}

static void *caller(void *unused) {
  (void)unused;
  return differs() ? &model : NULL;
}

static int fail(const char *what) {
  printf("%s\n", what);
  return 1;
}

int main(int count, char **arguments) {
  char message[1024] = "";
  char *bind = getenv("OMP_PROC_BIND"), *number = getenv("OMP_NUM_THREADS");
  if (count != 2 || crew_open(arguments[1], &model, message, sizeof message)) return fail(message);
  if (getenv("OMP_PROC_BIND") != bind || getenv("OMP_NUM_THREADS") != number)
    return fail("the environment changed");
  for (int i = 0; i < CREW_IN_HIDDEN; i++) input[i] = (float)(i % 17) / 8 - 1;
  crew_ctx *context;
  crew_forward_in in = {.hidden = input};
  crew_forward_out out = {.hidden = expected};
  if (crew_create(model, &context) || crew_forward(context, &in, &out)) return fail("forward fails");
  if (differs()) return fail("a second context gives other bits");

  const pid_t child = fork();
  if (child == 0) {
    alarm(300);
    _exit(differs());
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail("the child of a fork hangs or gives other bits");

  pthread_t threads[CALLERS];
  for (int i = 0; i < CALLERS; i++) pthread_create(&threads[i], NULL, caller, NULL);
  int wrong = 0;
  for (int i = 0; i < CALLERS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    wrong |= result != NULL;
  }
  if (wrong) return fail("callers side by side give other bits");
  fwrite(expected, sizeof expected, 1, stderr);
  crew_destroy(context);
  crew_close(model);
  return 0;
}
