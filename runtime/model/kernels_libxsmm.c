/* kernels_libxsmm.c - makes kernels at run time with libxsmm 1.17; the only file that names this library.
 * libxsmm is column-major: our C[n][m] += B[n][k] A[k][m] is its C(m x n) += A(m x k) B(k x n).
 *
 * Only the generator is used (libxsmmgen), which writes machine code into our memory. A model's kernels are
 * in one mapping of its own. libxsmm's dispatch could do the same, but
 * - it opens a file of predictable name in /tmp, changes the environment, and needs 145 KB of stack;
 * - it maps memory that is writable and executable at once, and never frees it;
 * - it returns pointers that crash if memory may not become executable. */
#include "model/kernels.h"

#include <libxsmm_generator.h>
#include <libxsmm_cpuid.h>
#include <pthread.h>
#include <sys/mman.h>

enum { KERNEL_BYTES = 131072 /* libxsmm's limit for a kernel */, LINE = 64, BINARY = 2, SMALL = 16 };

struct attn2c_code {
  void *map;
  size_t bytes;
};

/* Code that is being made: kernel i of the list begins at offsets[i]; NONE: not made. */
typedef struct {
  unsigned char *bytes;
  size_t used, capacity;
  size_t *offsets;
} draft;

#define NONE ((size_t)-1)

/* Protects libxsmm's last error, which is in static memory. */
static pthread_mutex_t generator = PTHREAD_MUTEX_INITIALIZER;

static unsigned architecture_of(const char *target, const attn2c_kernel_shape *shape, attn2c_type type) {
  if (type == ATTN2C_BF16) return LIBXSMM_X86_AVX512_CPX;
  /* libxsmm makes the same choice: the smallest products are faster with the shorter vectors. */
  const int small =
      shape->m * shape->k <= SMALL || shape->k * shape->n <= SMALL || shape->m * shape->n <= SMALL;
  const int is_wide = strncmp(target, "avx512", 6) == 0 || strcmp(target, "amx") == 0;
  if (is_wide && !small) return LIBXSMM_X86_AVX512_CORE;
  if (is_wide || strncmp(target, "avx", 3) == 0) return LIBXSMM_X86_AVX2;
  return LIBXSMM_X86_SSE3;
}

static int reserve(draft *d) {
  if (d->capacity - d->used >= KERNEL_BYTES + LINE) return 1;
  const size_t capacity = 2 * d->capacity + KERNEL_BYTES + LINE;
  unsigned char *bytes = realloc(d->bytes, capacity);
  if (!bytes) return 0;
  d->bytes = bytes;
  d->capacity = capacity;
  return 1;
}

/* Appends one kernel. If libxsmm makes none, or there is no memory, its offset stays NONE. */
static void generate(draft *d, const attn2c_kernel_shape *shape, attn2c_type type, const char *target,
                     size_t *offset) {
  libxsmm_descriptor_blob blob;
  if (!reserve(d)) return;
  const libxsmm_gemm_descriptor *description =
      type == ATTN2C_BF16
          ? libxsmm_bsgemm_descriptor_init(&blob, shape->m, shape->n, shape->k, shape->lda, shape->ldb,
                                           shape->ldc, 1, (float)shape->beta, LIBXSMM_GEMM_FLAG_VNNI_A,
                                           LIBXSMM_GEMM_PREFETCH_NONE)
          : libxsmm_sgemm_descriptor_init(&blob, shape->m, shape->n, shape->k, shape->lda, shape->ldb,
                                          shape->ldc, 1, (float)shape->beta, LIBXSMM_GEMM_FLAG_NONE,
                                          LIBXSMM_GEMM_PREFETCH_NONE);
  if (!description) return;
  libxsmm_generated_code code = {.generated_code = d->bytes + d->used,
                                 .buffer_size = KERNEL_BYTES,
                                 .code_type = BINARY,
                                 .arch = architecture_of(target, shape, type)};
  libxsmm_generator_gemm_kernel(&code, description);
  if (code.last_error != 0 || code.code_size == 0) return;
  *offset = d->used;
  d->used += (code.code_size + LINE - 1) / LINE * LINE;
}

static int same(const attn2c_kernel_shape *x, const attn2c_kernel_shape *y) {
  return x->m == y->m && x->n == y->n && x->k == y->k && x->lda == y->lda && x->ldb == y->ldb &&
         x->ldc == y->ldc && x->beta == y->beta;
}

static void generate_all(draft *d, const attn2c_kernel_shape *shapes, const attn2c_type *types, int count,
                         const char *target) {
  pthread_mutex_lock(&generator);
  for (int i = 0; i < count; i++) {
    const attn2c_type type = types ? types[i] : ATTN2C_F32;
    int first = 0;
    while (!same(&shapes[first], &shapes[i]) || (types && types[first] != type)) first++;
    d->offsets[i] = first < i ? d->offsets[first] : NONE;
    if (first == i) generate(d, &shapes[i], type, target, &d->offsets[i]);
  }
  pthread_mutex_unlock(&generator);
}

/* Returns the draft as executable, read-only code; NULL if the system forbids it, or without memory. */
static attn2c_code *make_executable(const draft *d) {
  attn2c_code *code = d->used > 0 ? malloc(sizeof *code) : NULL;
  if (!code) return NULL;
  code->bytes = d->used;
  code->map = mmap(NULL, d->used, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code->map != MAP_FAILED) {
    memcpy(code->map, d->bytes, d->used);
    if (mprotect(code->map, d->used, PROT_READ | PROT_EXEC) == 0) return code;
    munmap(code->map, d->used);
  }
  free(code);
  return NULL;
}

static attn2c_kernel kernel_at(const attn2c_code *code, size_t offset) {
  union {
    void *of_bytes;
    attn2c_kernel kernel;
  } pointer;
  pointer.of_bytes = (char *)code->map + offset;
  return pointer.kernel;
}

const char *attn2c_kernels_dispatch(const attn2c_kernel_shape *shapes, const attn2c_type *types, int count,
                                    const char *target, attn2c_kernel *kernels, attn2c_code **code) {
  draft d = {.offsets = malloc(((size_t)count + 1) * sizeof *d.offsets)};
  int made = 0;
  if (d.offsets) generate_all(&d, shapes, types, count, target);
  *code = d.offsets ? make_executable(&d) : NULL;
  for (int i = 0; i < count; i++) {
    const int is_made = *code && d.offsets[i] != NONE;
    kernels[i] = is_made ? kernel_at(*code, d.offsets[i]) : NULL;
    made += is_made;
  }
  ATTN2C_FREE(d.bytes, d.offsets);
  if (made == 0) return "c";
  return made == count ? "libxsmm" : "libxsmm and c";
}

void attn2c_code_free(attn2c_code *code) {
  if (!code) return;
  munmap(code->map, code->bytes);
  free(code);
}
