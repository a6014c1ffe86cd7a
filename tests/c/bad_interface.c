/* bad_interface.c - the C interface of an emitted model named `plain` (token ids [2][4] below 11, lengths,
 * hidden [2][4][16]) under wrong use: bad_interface TEST WEIGHTS.safetensors. Faults are printed, and
 * then the exit code is 1. Built against the static library by tests/spec/whole/faults_spec.lua, with and
 * without sanitizers. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

#include "plain.h"

enum { THREADS = 8, CALLS = 25, BYTES = PLAIN_OUT_HIDDEN * (int)sizeof(float), STATUS_FLAGS = 0x3f };

static int failures;

static void expect(int holds, const char *what, long where) {
  if (holds) return;
  printf("%s (%ld)\n", what, where);
  failures++;
}

/* A condition that must hold, and a number that helps to find out why it does not. */
#define EXPECT(condition, where) expect((condition) != 0, #condition, (long)(where))

static const int32_t ids[PLAIN_IN_IDS] = {1, 2, 3, 4, 10, 0, 5, 5};
static const int32_t lengths[PLAIN_IN_LENGTHS] = {4, 2};

static char *bytes_of(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) exit(2);
  *size = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*size);
  if (!bytes || fread(bytes, 1, *size, file) != *size) exit(2);
  fclose(file);
  return bytes;
}

static plain_model *open_or_leave(const char *path) {
  char message[1000];
  plain_model *model;
  if (plain_open(path, &model, message, sizeof message) == 0) return model;
  printf("%s\n", message);
  exit(1);
}

static plain_ctx *create_or_leave(const plain_model *model) {
  plain_ctx *ctx;
  if (plain_create(model, &ctx) != 0) exit(1);
  return ctx;
}

static int forward(plain_ctx *ctx, float *hidden) {
  const plain_forward_in in = {.ids = ids, .lengths = lengths};
  plain_forward_out out = {.hidden = hidden};
  return plain_forward(ctx, &in, &out);
}

/* Pointers that are not there: status 2, and nothing else happens. */
static void test_null(const char *path) {
  char message[100] = "kept";
  size_t size;
  char *bytes = bytes_of(path, &size);
  plain_model *model = (plain_model *)bytes;
  plain_ctx *ctx = (plain_ctx *)bytes;
  EXPECT(plain_open(NULL, &model, message, sizeof message) == 2 && model == NULL, 0);
  EXPECT(strstr(message, "path") != NULL, 0);
  EXPECT(plain_open(path, NULL, message, sizeof message) == 2, 0);
  EXPECT(plain_open(NULL, NULL, NULL, 0) == 2, 0);
  EXPECT(plain_open_memory(NULL, size, &model, message, sizeof message) == 2 && model == NULL, 0);
  EXPECT(plain_open_memory(bytes, size, NULL, NULL, 0) == 2, 0);
  EXPECT(plain_create(NULL, &ctx) == 2 && ctx == NULL, 0);
  model = open_or_leave(path);
  EXPECT(plain_create(model, NULL) == 2, 0);
  ctx = create_or_leave(model);
  float hidden[PLAIN_OUT_HIDDEN];
  plain_forward_in in = {.ids = ids, .lengths = lengths};
  plain_forward_out out = {.hidden = hidden};
  EXPECT(plain_forward(NULL, &in, &out) == 2, 0);
  EXPECT(plain_forward(ctx, NULL, &out) == 2, 0);
  EXPECT(plain_forward(ctx, &in, NULL) == 2, 0);
  in.lengths = NULL;
  EXPECT(plain_forward(ctx, &in, &out) == 2, 0);
  in.lengths = lengths, in.ids = NULL;
  EXPECT(plain_forward(ctx, &in, &out) == 2, 0);
  in.ids = ids, out.hidden = NULL; /* not wanted */
  EXPECT(plain_forward(ctx, &in, &out) == 0, 0);
  plain_destroy(ctx);
  plain_destroy(NULL);
  plain_close(model);
  plain_close(NULL);
  for (int status = -2; status < 100; status++) EXPECT(plain_strerror(status)[0] != '\0', status);
  free(bytes);
}

/* A missing file: status 4, and a message that names it; however small its buffer is, nothing beyond it
 * changes. */
static void test_message(const char *path) {
  static const size_t sizes[] = {0, 1, 2, 3, 10, 30, 200};
  (void)path;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    char text[256];
    plain_model *model = (plain_model *)text;
    memset(text, '#', sizeof text);
    EXPECT(plain_open("/nonexistent/weights.safetensors", &model, text, sizes[i]) == 4 && model == NULL, i);
    for (size_t at = sizes[i]; at < sizeof text; at++) EXPECT(text[at] == '#', at);
    if (sizes[i] > 0) EXPECT(memchr(text, '\0', sizes[i]) != NULL, i);
    if (sizes[i] == 200) EXPECT(strncmp(text, "/nonexistent/weights.safetensors: ", 34) == 0, i);
  }
  plain_model *model;
  EXPECT(plain_open("/nonexistent/weights.safetensors", &model, NULL, 1000) == 4, 0);
  EXPECT(plain_open_memory("junk", 4, &model, NULL, 0) == 3, 0);
}

/* Cut off at every byte, each time in a block of exactly that size. */
static void test_truncated(const char *path) {
  size_t size;
  char *bytes = bytes_of(path, &size);
  for (size_t kept = 0; kept < size; kept++) {
    char message[200] = "";
    plain_model *model;
    char *cut = malloc(kept ? kept : 1);
    if (!cut) exit(2);
    memcpy(cut, bytes, kept);
    EXPECT(plain_open_memory(cut, kept, &model, message, sizeof message) == 3, kept);
    EXPECT(message[0] != '\0' && model == NULL, kept);
    free(cut);
  }
  char message[200] = "";
  plain_model *model;
  EXPECT(plain_open_memory(bytes, size, &model, message, sizeof message) == 0, size);
  plain_close(model);
  free(bytes);
}

/* Ids and lengths out of range: status 3, and the next call is as good as ever. */
static void test_range(const char *path) {
  static const struct {
    int32_t id, length;
  } cases[] = {{-1, 4}, {11, 4}, {INT32_MAX, 4}, {INT32_MIN, 4}, {0, 0},
               {0, 5},  {0, -1}, {0, INT32_MAX}, {0, INT32_MIN}};
  plain_model *model = open_or_leave(path);
  plain_ctx *ctx = create_or_leave(model);
  float expected[PLAIN_OUT_HIDDEN], got[PLAIN_OUT_HIDDEN];
  EXPECT(forward(ctx, expected) == 0, 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (int place = 0; place < PLAIN_IN_IDS; place += 7) {
      int32_t some_ids[PLAIN_IN_IDS] = {0}, some_lengths[PLAIN_IN_LENGTHS] = {4, 4};
      some_ids[place] = cases[i].id;
      some_lengths[place / 7] = cases[i].length;
      const plain_forward_in in = {.ids = some_ids, .lengths = some_lengths};
      plain_forward_out out = {.hidden = got};
      EXPECT(plain_forward(ctx, &in, &out) == 3, i);
      EXPECT(forward(ctx, got) == 0 && memcmp(got, expected, BYTES) == 0, i);
    }
  }
  plain_destroy(ctx);
  plain_close(model);
}

typedef struct {
  const plain_model *model;
  const float *expected;
  int wrong;
} worker;

static void *work(void *argument) {
  worker *own = argument;
  plain_ctx *ctx;
  float hidden[PLAIN_OUT_HIDDEN];
  if (plain_create(own->model, &ctx) != 0) {
    own->wrong = 1;
    return NULL;
  }
  for (int i = 0; i < CALLS; i++) {
    memset(hidden, 0xff, BYTES);
    if (forward(ctx, hidden) != 0 || memcmp(hidden, own->expected, BYTES) != 0) own->wrong++;
  }
  plain_destroy(ctx);
  return NULL;
}

/* Threads with a context each over one model give the bits of one. */
static void test_threads(const char *path) {
  plain_model *model = open_or_leave(path);
  plain_ctx *ctx = create_or_leave(model);
  float expected[PLAIN_OUT_HIDDEN];
  EXPECT(forward(ctx, expected) == 0, 0);
  pthread_t threads[THREADS];
  worker workers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){model, expected, 0};
    if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0) exit(2);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    EXPECT(workers[i].wrong == 0, i);
  }
  plain_destroy(ctx);
  plain_close(model);
}

static void *open_and_close(void *argument) {
  char message[200];
  plain_model *model = NULL;
  const int status = plain_open(argument, &model, message, sizeof message);
  plain_close(model);
  return status == 0 ? NULL : argument;
}

/* Models opened in several threads at once: the kernels' registry is shared. */
static void test_open_threads(const char *path) {
  pthread_t threads[THREADS];
  char *name = strdup(path);
  for (int i = 0; i < THREADS; i++) {
    if (pthread_create(&threads[i], NULL, open_and_close, name) != 0) exit(2);
  }
  for (int i = 0; i < THREADS; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    EXPECT(failed == NULL, i);
  }
  free(name);
}

/* A child forked after create computes the same bits, and so does the parent afterwards. */
static void test_fork(const char *path) {
  plain_model *model = open_or_leave(path);
  plain_ctx *ctx = create_or_leave(model);
  float expected[PLAIN_OUT_HIDDEN], hidden[PLAIN_OUT_HIDDEN] = {0};
  EXPECT(forward(ctx, expected) == 0, 0);
  const pid_t child = fork();
  if (child < 0) exit(2);
  if (child == 0) {
    plain_ctx *own = create_or_leave(model);
    const int same = forward(ctx, hidden) == 0 && memcmp(hidden, expected, BYTES) == 0 &&
                     forward(own, hidden) == 0 && memcmp(hidden, expected, BYTES) == 0;
    plain_destroy(own);
    _exit(same ? 0 : 9);
  }
  int status;
  EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, status);
  EXPECT(forward(ctx, hidden) == 0 && memcmp(hidden, expected, BYTES) == 0, 0);
  plain_destroy(ctx);
  plain_close(model);
}

/* The rounding mode, the masks and the treatment of denormals belong to the caller. */
static void test_control(const char *path) {
  static const unsigned modes[] = {0x1f80, 0x7f80, 0x3f80, 0x1fc0, 0x9f80, 0x9fc0};
  const unsigned before = _mm_getcsr();
  plain_model *model = open_or_leave(path);
  plain_ctx *ctx = create_or_leave(model);
  float hidden[PLAIN_OUT_HIDDEN];
  EXPECT((_mm_getcsr() & ~(unsigned)STATUS_FLAGS) == (before & ~(unsigned)STATUS_FLAGS), before);
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    _mm_setcsr(modes[i]);
    const int status = forward(ctx, hidden);
    const unsigned after = _mm_getcsr() & ~(unsigned)STATUS_FLAGS;
    _mm_setcsr(before);
    EXPECT(status == 0 && after == modes[i], i);
  }
  plain_destroy(ctx);
  plain_close(model);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(const char *path);
  } tests[] = {{"null", test_null},   {"message", test_message}, {"truncated", test_truncated},
               {"range", test_range}, {"threads", test_threads}, {"open_threads", test_open_threads},
               {"fork", test_fork},   {"control", test_control}};
  if (argc != 3) return 2;
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
    if (strcmp(argv[1], tests[i].name) != 0) continue;
    tests[i].run(argv[2]);
    return failures ? 1 : 0;
  }
  return 2;
}
