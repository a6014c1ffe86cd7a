/* host_open.c - a program for tests, linked with the library of a model named `hosted`: prints the most
 * memory that the process has had when the model is open, and how long opening took. Usage: host_open
 * file|memory|call WEIGHTS. From memory the caller's own bytes are in it; `call` opens the file and calls the
 * model once before it looks. Exits with the model's status. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hosted.h"

/* VmHWM of /proc/self/status, in bytes; -1 where it is not there. */
static long peak(void) {
  char line[256];
  long kilobytes = -1;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && kilobytes < 0 && fgets(line, sizeof line, file)) sscanf(line, "VmHWM: %ld kB", &kilobytes);
  if (file) fclose(file);
  return kilobytes < 0 ? -1 : kilobytes * 1024;
}

/* Milliseconds that this process has computed, which other processes do not change. */
static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* A whole file; NULL where it cannot be read. */
static char *contents(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) return NULL;
  const long length = ftell(file);
  char *bytes = length > 0 ? malloc((size_t)length) : NULL;
  rewind(file);
  setvbuf(file, NULL, _IONBF, 0);
  *size = bytes ? fread(bytes, 1, (size_t)length, file) : 0;
  fclose(file);
  return bytes;
}

/* One call on zeros. */
static int call(const hosted_model *model) {
  static float states[HOSTED_IN_HIDDEN], results[HOSTED_OUT_HIDDEN];
  const hosted_forward_in in = {.hidden = states};
  hosted_forward_out out = {.hidden = results};
  hosted_ctx *context;
  int status = hosted_create(model, &context);
  if (status == 0) status = hosted_forward(context, &in, &out);
  hosted_destroy(context);
  return status;
}

int main(int argc, char **argv) {
  char message[1000] = "";
  hosted_model *model;
  if (argc != 3) {
    fprintf(stderr, "usage: host_open file|memory|call WEIGHTS\n");
    return 2;
  }
  size_t size = 0;
  const int from_memory = strcmp(argv[1], "memory") == 0;
  char *bytes = from_memory ? contents(argv[2], &size) : NULL;
  const double start = milliseconds();
  int status = from_memory ? hosted_open_memory(bytes, size, &model, message, sizeof message)
                           : hosted_open(argv[2], &model, message, sizeof message);
  const double took = milliseconds() - start;
  if (status == 0 && strcmp(argv[1], "call") == 0) status = call(model);
  if (status != 0)
    fprintf(stderr, "%s\n", message);
  else
    printf("peak %ld bytes %zu ms %.1f\n", peak(), size, took);
  hosted_close(model);
  free(bytes);
  return status;
}
