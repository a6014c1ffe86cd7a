/* kernels_c.c - uses the emitted C kernels, and makes none when a model is opened. It replaces
 * kernels_libxsmm.c if libxsmm is not linked. */
#include "model/kernels.h"

const char *attn2c_kernels_dispatch(const attn2c_kernel_shape *shapes, int count, const char *target,
                                    attn2c_kernel *kernels, attn2c_code **code) {
  (void)target;
  *code = NULL;
  for (int i = 0; i < count; i++) kernels[i] = shapes[i].in_c;
  return "c";
}

void attn2c_code_free(attn2c_code *code) { (void)code; }
