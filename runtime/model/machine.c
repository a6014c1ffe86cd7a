/* machine.c - whether this machine has the instructions that a target's code uses. Compiled
 * without any of them, so that the answer can be given where they are missing. */
#include "base/processor.h"
#include "model/kernels.h"

int attn2c_machine_runs(const char *target, attn2c_message *message) {
  const char *missing = attn2c_missing(target);
  if (!missing) return 1;
  attn2c_say(message, "made for %s, and this machine lacks %s; make it again with target=host here", target,
             missing);
  return 0;
}
