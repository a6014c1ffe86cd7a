/* kernels_c.c - makes no kernels when a model is opened, so its products are those in C. It replaces
 * kernels_libxsmm.c if libxsmm is not linked. */
#include "model/kernels.h"

const char *attn2c_kernels_dispatch(const attn2c_kernel_shape *shapes, const attn2c_type *types, int count,
                                    const char *target, attn2c_kernel *kernels, attn2c_code **code) {
  (void)shapes, (void)types, (void)target;
  *code = NULL;
  for (int i = 0; i < count; i++) kernels[i] = NULL;
  return "c";
}

void attn2c_code_free(attn2c_code *code) { (void)code; }
