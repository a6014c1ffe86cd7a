/* machine.c - tests whether this machine has a target's instructions, and chooses a model's target. It is
 * compiled without any of these instructions, so that it can run on machines that lack them. */
#include "base/processor.h"
#include "model/kernels.h"

const char *attn2c_machine_missing(const attn2c_descriptor *model) {
  const char *missing = attn2c_missing(model->target);
  if (!missing && model->is_right && !model->is_right()) return "instructions that compute right results";
  return missing;
}

int attn2c_machine_runs(const attn2c_descriptor *model, attn2c_message *message) {
  const char *missing = attn2c_machine_missing(model);
  if (!missing) return 1;
  attn2c_say(message, "built for %s, but this machine lacks %s; build it again here with target=host",
             model->target, missing);
  return 0;
}

/* Runs a loop some times; returns operations per tick. */
static double rate_of(double (*round)(void), unsigned long long (*ticks)(void)) {
  enum { ROUNDS = 3 };
  double operations = 0.0;
  const unsigned long long start = ticks();
  for (int i = 0; i < ROUNDS; i++) operations += round();
  const unsigned long long elapsed = ticks() - start;
  return elapsed ? operations / (double)elapsed : 0.0;
}

int attn2c_machine_prefers(const attn2c_rival *rival, unsigned long long (*ticks)(void)) {
  enum { SAMPLES = 6, WARM_UP = 2 };
  const double clearly = 1.1; /* that of gen/data/targets.lua */
  double own = 0.0, other = 0.0;
  for (int i = 0; i < WARM_UP + SAMPLES; i++) {
    const double first = rate_of(rival->own, ticks), second = rate_of(rival->other, ticks);
    if (i < WARM_UP) continue; /* wide vectors are slow for some microseconds after a pause */
    if (first > own) own = first;
    if (second > other) other = second;
  }
  return own * clearly < other;
}

/* Returns the processor's counter, which needs no system call: a sandbox may forbid the clock. */
static unsigned long long ticks_now(void) {
#ifdef __x86_64__
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

/* Returns the names of the targets, "avx512, avx2". */
static const char *names_of(const attn2c_descriptor *const *list, char text[128]) {
  size_t used = 0;
  for (int i = 0; list[i] && used < 128; i++)
    used += (size_t)snprintf(text + used, 128 - used, "%s%s", i > 0 ? ", " : "", list[i]->target);
  return text;
}

static int choose_named(const char *asked, const attn2c_descriptor *const *list,
                        const attn2c_descriptor **chosen, attn2c_message *message) {
  char names[128];
  for (int i = 0; list[i]; i++) {
    if (strcmp(asked, list[i]->target) != 0) continue;
    const char *missing = attn2c_machine_missing(list[i]);
    *chosen = list[i];
    if (!missing) return ATTN2C_OK;
    return attn2c_fail(message, ATTN2C_MACHINE, "ATTN2C_TARGET: %s, but this machine lacks %s", asked,
                       missing);
  }
  return attn2c_fail(message, ATTN2C_USAGE, "ATTN2C_TARGET: %.40s, but %s is built for %s", asked,
                     list[0]->name, names_of(list, names));
}

int attn2c_machine_choose(const attn2c_descriptor *model, const attn2c_descriptor **chosen,
                          attn2c_message *message) {
  const attn2c_descriptor *const alone[] = {model, NULL};
  const attn2c_descriptor *const *list = model->variants ? model->variants : alone;
  const char *asked = getenv("ATTN2C_TARGET"), *missing = "";
  char names[128];
  *chosen = list[0];
  if (asked && asked[0] != '\0') return choose_named(asked, list, chosen, message);
  if (!model->variants) return ATTN2C_OK; /* opening the model reports what is missing */
  for (int i = 0; list[i]; i++) {
    missing = attn2c_machine_missing(list[i]);
    if (missing) continue;
    const attn2c_rival *rival = list[i]->rival;
    *chosen = rival && attn2c_machine_prefers(rival, ticks_now) ? rival->instead : list[i];
    return ATTN2C_OK;
  }
  return attn2c_fail(message, ATTN2C_MACHINE,
                     "built for %s, but this machine lacks %s; build it again here with target=host",
                     names_of(list, names), missing);
}
