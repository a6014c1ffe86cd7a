/* host_guest.c - a program for tests that loads a model's shared library as a plug-in does, and holds it to
 * what it promises its host. Usage: host_guest MODE LIBRARY WEIGHTS; the model is named `guest`. Modes:
 *   rounds N  load, open, create, forward, destroy, close, unload, N times: no descriptor, map or byte more
 *   stack     open, create, forward, destroy and close on a thread with 64 KB of stack
 *   flags     floating-point flags, rounding and MXCSR are after a load, an open and a call what they were
 * before; traps of invalid, divide-by-zero and overflow are not met, for every length bits      writes the
 * bits of one call to standard error What is wrong is printed, and then the exit code is 1; else it is the
 * model's status. */
#define _GNU_SOURCE
#include "base/descriptor.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 16, STACK = 64 << 10, PAGE = 4096 };

typedef struct guest_model guest_model;
typedef struct guest_ctx guest_ctx;

static struct {
  void *library;
  int (*open)(const char *, guest_model **, char *, size_t);
  int (*create)(const guest_model *, guest_ctx **);
  /* The structs of inputs and outputs hold pointers only. */
  int (*forward)(guest_ctx *, const void *const *, void *const *);
  void (*destroy)(guest_ctx *);
  void (*close)(guest_model *);
  const struct attn2c_descriptor *descriptor;
} guest;

static void *inputs[MOST], *outputs[MOST];
static const char *library, *weights;

static void fail(const char *what, long number) {
  printf("%s (%ld)\n", what, number);
  exit(1);
}

static void find(const char *name, void *pointer) {
  void *found = dlsym(guest.library, name);
  if (!found) fail(dlerror(), 0);
  memcpy(pointer, &found, sizeof found);
}

static void load(void) {
  guest.library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!guest.library) fail(dlerror(), 0);
  find("guest_open", &guest.open);
  find("guest_create", &guest.create);
  find("guest_forward", &guest.forward);
  find("guest_destroy", &guest.destroy);
  find("guest_close", &guest.close);
  find("guest_descriptor", &guest.descriptor);
}

static int64_t elements(const attn2c_tensor *tensor) {
  int64_t count = 1;
  for (int i = 0; i < tensor->rank; i++) count *= tensor->shape[i];
  return count;
}

/* Arrays for one entry; integers take turns through their range, from `shift` on. A mask of floats hides
 * some. */
static void fill(int shift) {
  const attn2c_entry *entry = guest.descriptor->entries;
  for (int i = 0; i < entry->input_count; i++) {
    const attn2c_tensor *tensor = &guest.descriptor->tensors[entry->inputs[i]];
    const int64_t count = elements(tensor);
    const int hides = strstr(tensor->name, "mask") != NULL;
    if (!inputs[i]) inputs[i] = malloc((size_t)count * 4);
    for (int64_t j = 0; j < count; j++) {
      if (tensor->type == ATTN2C_I32)
        ((int32_t *)inputs[i])[j] =
            (int32_t)(tensor->minimum + (j + shift) % (tensor->limit - tensor->minimum));
      else
        ((float *)inputs[i])[j] = hides && j % 5 == 4 ? -INFINITY : (float)(j * 7 % 23) / 8 - 1.4f;
    }
  }
  for (int i = 0; i < entry->output_count; i++) {
    const attn2c_tensor *tensor = &guest.descriptor->tensors[entry->outputs[i]];
    if (!outputs[i]) outputs[i] = malloc((size_t)elements(tensor) * 4);
  }
}

static void release(void) {
  for (int i = 0; i < MOST; i++) {
    free(inputs[i]);
    free(outputs[i]);
    inputs[i] = outputs[i] = NULL;
  }
}

static guest_model *open_model(void) {
  static char message[1000];
  guest_model *model = NULL;
  const int status = guest.open(weights, &model, message, sizeof message);
  if (status != 0) {
    fprintf(stderr, "%s\n", message);
    exit(status);
  }
  return model;
}

static void call(guest_ctx *context) {
  const int status = guest.forward(context, (const void *const *)inputs, outputs);
  if (status != 0) fail("forward", status);
}

static void life(void) {
  guest_ctx *context;
  guest_model *model = open_model();
  if (guest.create(model, &context) != 0) fail("create", 0);
  fill(0);
  call(context);
  guest.destroy(context);
  guest.close(model);
}

static int count_entries(const char *path) {
  int count = 0;
  DIR *folder = opendir(path);
  while (readdir(folder)) count++;
  closedir(folder);
  return count;
}

/* Mappings, and the pages of all of them in *pages. */
static int count_maps(long *pages) {
  int count = 0;
  char line[1000];
  FILE *file = fopen("/proc/self/maps", "r");
  *pages = 0;
  while (fgets(line, sizeof line, file)) {
    unsigned long begin, end;
    if (sscanf(line, "%lx-%lx", &begin, &end) != 2) continue;
    *pages += (long)((end - begin) / PAGE);
    count++;
  }
  fclose(file);
  return count;
}

static void rounds(int count) {
  int descriptors = 0, maps = 0;
  long pages = 0;
  for (int i = 0; i < count; i++) {
    load();
    life();
    release();
    dlclose(guest.library);
    long now_pages;
    const int now = count_maps(&now_pages), files = count_entries("/proc/self/fd");
    /* The first rounds warm the C library up: its heap, its cache of threads' stacks. */
    if (i == 10) maps = now, pages = now_pages, descriptors = files;
    if (i > 10 && files > descriptors) fail("more descriptors", i);
    if (i > 10 && now > maps + 1) fail("more maps", i);
    if (i > 10 && now_pages > pages + 300) fail("more memory", i);
  }
}

static void *on_little_stack(void *unused) {
  life();
  return unused;
}

static void stack(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  load();
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, STACK) != 0) fail("stack size", STACK);
  if (pthread_create(&thread, &attributes, on_little_stack, NULL) != 0) fail("thread", 0);
  pthread_join(thread, NULL);
}

static unsigned mxcsr(void) {
#ifdef __x86_64__
  return __builtin_ia32_stmxcsr();
#else
  return 0;
#endif
}

static void same_modes(unsigned control, int round, int raised, const char *what) {
  if (mxcsr() != control) fail(what, (long)mxcsr());
  if (fegetround() != round) fail(what, fegetround());
  if (fetestexcept(FE_ALL_EXCEPT) != raised) fail(what, fetestexcept(FE_ALL_EXCEPT));
}

static void flags(void) {
  guest_ctx *context;
  fesetround(FE_UPWARD);
  feclearexcept(FE_ALL_EXCEPT);
  feraiseexcept(FE_DIVBYZERO); /* the caller's, which must stay */
  const unsigned loading = mxcsr();
  load();
  same_modes(loading, FE_UPWARD, FE_DIVBYZERO, "loading changes the floating-point environment");
  guest_model *model = open_model();
  if (guest.create(model, &context) != 0) fail("create", 0);
  fesetround(FE_TONEAREST);
  feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
  const unsigned calling = mxcsr();
  guest.close(open_model());
  same_modes(calling, FE_TONEAREST, 0, "open changes the floating-point environment");
  for (int shift = 0; shift < 40; shift++) {
    fill(shift);
    call(context);
    same_modes(calling, FE_TONEAREST, 0, "forward changes the floating-point environment");
  }
  guest.destroy(context);
  guest.close(model);
  dlclose(guest.library);
  same_modes(calling, FE_TONEAREST, 0, "unloading changes the floating-point environment");
}

static void bits(void) {
  load();
  life();
  const attn2c_entry *entry = guest.descriptor->entries;
  for (int i = 0; i < entry->output_count; i++)
    fwrite(outputs[i], 4, (size_t)elements(&guest.descriptor->tensors[entry->outputs[i]]), stderr);
}

int main(int count, char **arguments) {
  if (count < 4) return 2;
  library = arguments[2];
  weights = arguments[3];
  if (strcmp(arguments[1], "rounds") == 0)
    rounds(count > 4 ? atoi(arguments[4]) : 1000);
  else if (strcmp(arguments[1], "stack") == 0)
    stack();
  else if (strcmp(arguments[1], "flags") == 0)
    flags();
  else if (strcmp(arguments[1], "bits") == 0)
    bits();
  else
    return 2;
  return 0;
}
