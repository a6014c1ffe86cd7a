/* kernels_portable.c - kernels in plain C only: the emitted ones, one a shape. It serves where
 * libxsmm is not wanted, and sanitizers see into it. */
#include "model/kernels.h"

const char *attn2c_kernels_dispatch(const attn2c_kernel_shape *shapes, int count, const char *target,
                                    attn2c_kernel *kernels, attn2c_code **code) {
  (void)target;
  *code = NULL;
  for (int i = 0; i < count; i++) kernels[i] = shapes[i].portable;
  return "portable";
}

void attn2c_code_free(attn2c_code *code) { (void)code; }
