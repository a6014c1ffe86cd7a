/* machine.c - whether this machine has the instructions that a target's code uses. Compiled
 * without any of them, so that the answer can be given where they are missing. */
#include "model/kernels.h"

#include <string.h>

int attn2c_machine_runs(const char *target, attn2c_message *message) {
  __builtin_cpu_init();
  const char *missing = NULL;
  int wide = strcmp(target, "avx512") == 0;
  if (wide || strcmp(target, "avx2") == 0) {
    if (!__builtin_cpu_supports("avx2"))
      missing = "AVX2";
    else if (!__builtin_cpu_supports("fma"))
      missing = "FMA";
  }
  if (wide && !missing) {
    if (!__builtin_cpu_supports("avx512f"))
      missing = "AVX-512 F";
    else if (!__builtin_cpu_supports("avx512bw"))
      missing = "AVX-512 BW";
    else if (!__builtin_cpu_supports("avx512dq"))
      missing = "AVX-512 DQ";
    else if (!__builtin_cpu_supports("avx512vl"))
      missing = "AVX-512 VL";
  }
  if (!missing) return 1;
  attn2c_say(message, "made for %s, and this machine lacks %s; make it again with target=host here", target,
             missing);
  return 0;
}
