/* test_guard.c - the allocations of guard.h: their place, and that a touch one byte outside
 * on either side, and of memory that was given back, is a crash. */
#include "base/guard.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdint.h>

enum { PAGE = 4096 };

/* Under AddressSanitizer a crash stays the signal that the tests below expect. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "handle_segv=0:handle_abort=0"; }

Test(guard, zero_and_ends_at_a_page) {
  static const size_t sizes[] = {0, 1, 4, 60, 64, 100, 128, 4092, 4096, 4100, 8192, ((size_t)5 << 20) + 64};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const size_t size = sizes[i] ? sizes[i] : 1;
    unsigned char *memory = attn2c_guard_allocate(sizes[i]);
    cr_assert_not_null(memory, "%zu bytes", size);
    cr_assert_eq(((uintptr_t)memory + size) % PAGE, 0, "%zu bytes", size);
    if (size % 64 == 0) cr_assert_eq((uintptr_t)memory % 64, 0, "%zu bytes", size);
    if (size % 4 == 0) cr_assert_eq((uintptr_t)memory % 4, 0, "%zu bytes", size);
    for (size_t at = 0; at < size; at++) {
      if (memory[at]) cr_assert_fail("%zu bytes: byte %zu is %d", size, at, memory[at]);
      memory[at] = 0xa5;
    }
    attn2c_guard_free(memory);
  }
  attn2c_guard_free(NULL);
}

Test(guard, too_large_is_refused) {
  static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - PAGE, SIZE_MAX - 3 * PAGE, (size_t)PTRDIFF_MAX};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    cr_assert_null(attn2c_guard_allocate(sizes[i]), "%zu bytes", sizes[i]);
}

/* A check of a thousand layers holds that many tensors at once; a process may have 65530 mappings. */
Test(guard, thirty_thousand_at_once) {
  enum { MANY = 30000 };
  static void *all[MANY];
  for (int i = 0; i < MANY; i++) {
    all[i] = attn2c_guard_allocate(256);
    cr_assert_not_null(all[i], "allocation %d", i);
  }
  for (int i = 0; i < MANY; i++) attn2c_guard_free(all[i]);
}

Test(guard, reading_past_the_end_crashes, .signal = SIGSEGV) {
  volatile unsigned char *memory = attn2c_guard_allocate(100);
  cr_assert_eq(memory[99], 0);
  (void)memory[100];
}

Test(guard, writing_past_the_end_crashes, .signal = SIGSEGV) {
  volatile unsigned char *memory = attn2c_guard_allocate(64);
  memory[64] = 1;
}

Test(guard, touching_what_is_before_the_first_page_crashes, .signal = SIGSEGV) {
  volatile unsigned char *memory = attn2c_guard_allocate(PAGE);
  (void)memory[-1];
}

Test(guard, touching_what_was_given_back_crashes, .signal = SIGSEGV) {
  volatile unsigned char *memory = attn2c_guard_allocate(PAGE);
  attn2c_guard_free((void *)memory);
  (void)memory[0];
}

Test(guard, giving_back_twice_aborts, .signal = SIGABRT) {
  void *memory = attn2c_guard_allocate(8);
  attn2c_guard_free(memory);
  attn2c_guard_free(memory);
}

Test(guard, giving_back_the_middle_aborts, .signal = SIGABRT) {
  char *memory = attn2c_guard_allocate(128);
  attn2c_guard_free(memory + 64);
}
