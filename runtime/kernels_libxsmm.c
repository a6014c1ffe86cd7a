/* kernels_libxsmm.c - kernels generated at run time by libxsmm 1.17; the only file that names
 * the library. Column-major there: our C[n][m] += B[n][k] A[k][m] is its C(m x n) += A(m x k) B(k x n),
 * as a batch-reduce by offsets. */
#define _DEFAULT_SOURCE
#include "kernels.h"

#include <libxsmm.h>
#include <libxsmm_generator.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* What libxsmm_init maps (measured: 10.9 MB) and some room. Where it gets less, 1.17 does not say so, and the
 * first dispatch reads through a null pointer. */
#define INIT_BYTES ((size_t)13 << 20)

/* libxsmm's registry is one a process, and so is its target: the lowest that any model asked for. */
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;

static int architecture_of(const char *target) {
  if (strcmp(target, "avx512") == 0) return LIBXSMM_X86_AVX512_CORE;
  if (strcmp(target, "avx2") == 0) return LIBXSMM_X86_AVX2;
  return LIBXSMM_X86_SSE3;
}

static int has_memory(void) {
  void *room = mmap(NULL, INIT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return 0;
  munmap(room, INIT_BYTES);
  return 1;
}

/* 0 where there is no memory for it. libxsmm_init sets OMP_PROC_BIND in the environment of the calling
 * program; that is put back. */
static int initialise(void) {
  static int done;
  if (done) return 1;
  if (!has_memory()) return 0;
  const char *before = getenv("OMP_PROC_BIND");
  libxsmm_init();
  if (!before) unsetenv("OMP_PROC_BIND");
  /* Where memory may not become executable, 1.17 hands out pointers that crash. With this flag it maps the
   * code anew and returns NULL instead. */
  libxsmm_se = 1;
  done = 1;
  return 1;
}

static attn2c_kernel dispatch(const attn2c_kernel_shape *shape) {
  const libxsmm_blasint lda = shape->lda, ldb = shape->ldb, ldc = shape->ldc;
  const float alpha = 1, beta = (float)shape->beta;
  const int flags = LIBXSMM_GEMM_FLAG_NONE, prefetch = LIBXSMM_GEMM_PREFETCH_NONE;
  union {
    libxsmm_smmfunction_reducebatch_offs of_libxsmm;
    attn2c_kernel ours;
  } kernel;
  kernel.of_libxsmm = libxsmm_smmdispatch_reducebatch_offs(shape->m, shape->n, shape->k, &lda, &ldb, &ldc,
                                                           &alpha, &beta, &flags, &prefetch);
  return kernel.ours;
}

const char *attn2c_kernels_dispatch(const attn2c_kernel_shape *shapes, int count, const char *target,
                                    attn2c_kernel *kernels) {
  int made = 0;
  pthread_mutex_lock(&registry);
  const int ready = initialise();
  if (ready && libxsmm_get_target_archid() > architecture_of(target)) {
    libxsmm_set_target_archid(architecture_of(target));
  }
  for (int i = 0; i < count; i++) {
    kernels[i] = ready ? dispatch(&shapes[i]) : NULL;
    if (kernels[i]) made++;
    if (!kernels[i]) kernels[i] = shapes[i].portable;
  }
  pthread_mutex_unlock(&registry);
  if (made == count) return "libxsmm";
  return made == 0 ? "portable" : "libxsmm and portable";
}
