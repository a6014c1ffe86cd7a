/* faults_interface.c - the C interface of an emitted model named `plain` (see bad_interface.c) while
 * allocations and reads fail, by faults.c: faults_interface WEIGHTS.safetensors. Faults are printed,
 * and then the exit code is 1. Statuses are the interface's; blocks and opened files are counted. */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "faults.h"
#include "plain.h"

enum { BYTES = PLAIN_OUT_HIDDEN * (int)sizeof(float), MOST = 1000 };

static int failures;

static void expect(int holds, const char *what, long where) {
  if (holds) return;
  printf("%s (%ld)\n", what, where);
  failures++;
}

#define EXPECT(condition, where) expect((condition) != 0, #condition, (long)(where))

static float expected[PLAIN_OUT_HIDDEN];

static int forward(plain_ctx *ctx, float *hidden) {
  static const int32_t ids[PLAIN_IN_IDS] = {1, 2, 3, 4, 10, 0, 5, 5}, lengths[PLAIN_IN_LENGTHS] = {4, 2};
  const plain_forward_in in = {.ids = ids, .lengths = lengths};
  plain_forward_out out = {.hidden = hidden};
  return plain_forward(ctx, &in, &out);
}

/* Opens, creates, computes twice and releases. 0, or the first status that is not. */
static int whole_life(const char *path, char *message, size_t size) {
  plain_model *model = (plain_model *)message;
  int status = plain_open(path, &model, message, size);
  if (status != 0) {
    EXPECT(model == NULL, status);
    return status;
  }
  plain_ctx *ctx = (plain_ctx *)message;
  status = plain_create(model, &ctx);
  if (status != 0) {
    EXPECT(ctx == NULL, status);
    faults_allocation(0, 0); /* the model is as good as it was */
    if (plain_create(model, &ctx) != 0) ctx = NULL;
    EXPECT(ctx != NULL, status);
  }
  if (ctx) {
    float hidden[PLAIN_OUT_HIDDEN];
    const long before = faults_allocations();
    for (int i = 0; i < 2; i++) {
      memset(hidden, 0xff, BYTES);
      EXPECT(forward(ctx, hidden) == 0 && memcmp(hidden, expected, BYTES) == 0, i);
    }
    EXPECT(faults_allocations() == before, faults_allocations() - before);
  }
  plain_destroy(ctx);
  plain_close(model);
  return status;
}

static int open_files(void) {
  int count = 0;
  DIR *folder = opendir("/proc/self/fd");
  while (folder && readdir(folder)) count++;
  if (folder) closedir(folder);
  return count;
}

/* The nth allocation fails, by itself or with all that follow: status 5 and a message, or, where it was not
 * needed, 0. */
static void test_allocations(const char *path) {
  const int files = open_files();
  for (int persistent = 0; persistent < 2; persistent++) {
    int nth = 1, refused = 0;
    for (; nth < MOST; nth++) {
      char message[400] = "";
      faults_clear();
      faults_allocation(nth, persistent);
      const int status = whole_life(path, message, sizeof message);
      const long met = faults_met();
      faults_allocation(0, 0);
      EXPECT(status == 0 || status == 5, nth);
      EXPECT(faults_live_blocks() == 0, nth);
      if (status == 5) refused++;
      if (met == 0) break;
      EXPECT(status == 5, nth);
    }
    EXPECT(nth < MOST && refused > 5, refused);
  }
  EXPECT(open_files() == files, open_files());
}

/* The nth read fails, ends, is interrupted or is short. */
static void test_reads(const char *path) {
  static const struct {
    fault_kind kind;
    int status;
  } cases[] = {{FAULT_ERROR, 4}, {FAULT_END, 3}, {FAULT_INTERRUPTED, 0}, {FAULT_SHORT, 0}};
  const int files = open_files();
  for (int i = 0; i < 4; i++) {
    int nth = 1;
    for (; nth < MOST; nth++) {
      char message[400] = "";
      faults_clear();
      faults_read(nth, cases[i].kind, 0);
      const int status = whole_life(path, message, sizeof message);
      const long met = faults_met();
      faults_clear();
      EXPECT(status == (met ? cases[i].status : 0), nth);
      EXPECT((status != 0) == (message[0] != '\0'), nth);
      if (met == 0) break;
    }
    EXPECT(nth > 3 && nth < MOST, nth);
  }
  EXPECT(open_files() == files, open_files());
}

int main(int argc, char **argv) {
  char message[400];
  plain_model *model;
  plain_ctx *ctx;
  if (argc != 2 || plain_open(argv[1], &model, message, sizeof message) != 0 ||
      plain_create(model, &ctx) != 0)
    return 2;
  if (forward(ctx, expected) != 0) return 2;
  plain_destroy(ctx);
  plain_close(model);
  test_allocations(argv[1]);
  test_reads(argv[1]);
  return failures ? 1 : 0;
}
