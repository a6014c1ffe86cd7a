/* test_attn2c.c - the statuses, the bounded message and the aligned allocation of
 * attn2c.h, and the helpers of descriptor.h. */
#define _DEFAULT_SOURCE
#include "base/descriptor.h"
#include "faults.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

Test(message, one_fault_a_line) {
  char text[64];
  attn2c_message message = attn2c_message_make(text, sizeof text);
  cr_assert_str_eq(text, "");
  attn2c_say(&message, "%s: %d", "heads", 3);
  attn2c_say(&message, "second");
  cr_assert_str_eq(text, "heads: 3\nsecond");
  cr_assert_eq(message.used, strlen(text));
}

Test(message, without_a_buffer_nothing_is_written) {
  attn2c_message none = attn2c_message_make(NULL, 100);
  attn2c_say(&none, "lost");
  attn2c_say(NULL, "lost");
  char guard = 'g';
  attn2c_message empty = attn2c_message_make(&guard, 0);
  attn2c_say(&empty, "lost");
  cr_assert_eq(guard, 'g');
}

Test(message, what_does_not_fit_is_cut_at_every_size) {
  char room[40];
  for (size_t size = 1; size < 30; size++) {
    memset(room, 'g', sizeof room);
    attn2c_message message = attn2c_message_make(room, size);
    for (int i = 0; i < 5; i++) attn2c_say(&message, "ab\xc3\xa4\xe2\x82\xac%s", "x");
    cr_assert_lt(strlen(room), size, "size %zu", size);
    cr_assert_eq(message.used, strlen(room), "size %zu", size);
    for (size_t i = size; i < sizeof room; i++) cr_assert_eq(room[i], 'g', "size %zu", size);
    /* No half of a character is left, and none was taken for a broken one. */
    cr_assert_null(strchr(room, '?'), "size %zu: %s", size, room);
    size_t length = strlen(room);
    if (length) cr_assert_neq((unsigned char)room[length - 1] & 0xc0, 0xc0, "size %zu", size);
  }
}

Test(message, controls_and_broken_utf8_are_made_visible) {
  static const struct {
    const char *argument, *shown;
  } cases[] = {
      {"a\nb\tc\x7f", "a?b?c?"},
      {"\x1b[31mred", "?[31mred"},
      {"\xc2\x9b"
       "31m",
       "?31m"},
      {"a\xe2\x80\xaegnp.exe", "a?gnp.exe"},                                     /* U+202E: right to left */
      {"\xc2\xad|\xd8\x9c|\xe1\xa0\x8e|\xe2\x80\x8b|\xe2\x80\xa8", "?|?|?|?|?"}, /* AD 61C 180E 200B 2028 */
      {"\xe2\x81\xa6|\xef\xbb\xbf|\xef\xbf\xb9|\xf3\xa0\x81\x81", "?|?|?|?"},    /* 2066 FEFF FFF9 E0041 */
      {"\xe2\x80\x8a\xe2\x80\x90\xe2\x80\xaf", "\xe2\x80\x8a\xe2\x80\x90\xe2\x80\xaf"}, /* 200A 2010 202F */
      {"\x80 \xff", "? ?"},
      {"caf\xc3\xa9", "caf\xc3\xa9"},
      {"\xc0\xaf", "??"},
      {"\xe0\x80\x80", "???"},
      {"\xe0\x9f\xbf", "???"},
      {"\xed\xa0\x80", "???"},
      {"\xe2\x82\xac", "\xe2\x82\xac"},
      {"\xf4\x90\x80\x80", "????"},
      {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[64];
    attn2c_message message = attn2c_message_make(text, sizeof text);
    attn2c_say(&message, "%s", cases[i].argument);
    cr_assert_str_eq(text, cases[i].shown, "case %zu: %s", i, text);
  }
}

Test(status, each_has_a_text) {
  for (int status = ATTN2C_OK; status <= ATTN2C_MACHINE; status++) {
    cr_assert_str_neq(attn2c_strerror(status), attn2c_strerror(-1), "status %d", status);
    for (int other = ATTN2C_OK; other < status; other++)
      cr_assert_str_neq(attn2c_strerror(status), attn2c_strerror(other));
  }
  cr_assert_str_eq(attn2c_strerror(7), "unknown status");
}

Test(allocate, aligned_and_zero) {
  static const size_t sizes[] = {
      0, 1, 63, 64, 65, 4096, ((size_t)4 << 20) - 1, (size_t)4 << 20, ((size_t)6 << 20) + 5};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    size_t size = sizes[i], rounded = (size + 63) / 64 * 64;
    unsigned char *memory = attn2c_allocate(size);
    cr_assert_not_null(memory, "%zu bytes", size);
    cr_assert_eq((uintptr_t)memory % (size >= (size_t)4 << 20 ? (size_t)2 << 20 : ATTN2C_ALIGNMENT), 0);
    for (size_t at = 0; at < rounded; at++)
      if (memory[at]) cr_assert_fail("%zu bytes: byte %zu is %d", size, at, memory[at]);
    attn2c_free(memory);
  }
  attn2c_free(NULL);
}

Test(allocate, memory_in_small_pages_keeps_its_bytes_when_it_gets_huge_ones) {
  static const size_t sizes[] = {100, ((size_t)9 << 20) + 5};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const size_t size = sizes[i], step = size / 7;
    unsigned char *memory = attn2c_reserve_sparse(size);
    cr_assert_not_null(memory, "%zu bytes", size);
    cr_assert_eq((uintptr_t)memory % ATTN2C_ALIGNMENT, 0);
    for (size_t at = 0; at < size; at += step) memory[at] = (unsigned char)(1 + at % 251);
    attn2c_make_dense(memory, size);
    for (size_t at = 0; at < size; at += step) cr_assert_eq(memory[at], (unsigned char)(1 + at % 251));
    memset(memory, 1, size);
    attn2c_make_dense(memory, size);
    for (size_t at = 0; at < size; at += step) cr_assert_eq(memory[at], 1);
    attn2c_free(memory);
  }
  cr_assert_null(attn2c_reserve_sparse((size_t)PTRDIFF_MAX));
}

Test(allocate, what_would_wrap_is_refused_before_the_allocator_sees_it) {
  static const size_t sizes[] = {SIZE_MAX,
                                 SIZE_MAX - 3,
                                 SIZE_MAX - 62,
                                 SIZE_MAX - 63,
                                 SIZE_MAX - ((size_t)2 << 20),
                                 (size_t)PTRDIFF_MAX + 1,
                                 (size_t)PTRDIFF_MAX};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    faults_clear();
    cr_assert_null(attn2c_allocate(sizes[i]), "%zu bytes", sizes[i]);
    cr_assert_eq(faults_allocations(), 0, "%zu bytes", sizes[i]);
  }
}

Test(allocate, no_memory) {
  faults_clear();
  faults_allocation(1, 0);
  cr_assert_null(attn2c_allocate(64));
  cr_assert_eq(faults_met(), 1);
}

Test(descriptor, elements_and_attributes) {
  const attn2c_tensor tensor = {.rank = 3, .shape = {2, (int64_t)1 << 32, 5}}, scalar = {.rank = 0};
  cr_assert_eq(attn2c_elements(&tensor), (int64_t)10 << 32);
  cr_assert_eq(attn2c_elements(&scalar), 1);
  const attn2c_attribute attributes[] = {{"eps", 1e-5, NULL}, {"activation", 0, "gelu"}, {NULL, 0, NULL}};
  const attn2c_op op = {.op = "norm", .attributes = attributes}, bare = {.op = "add"};
  cr_assert_eq(attn2c_number(&op, "eps", 7), 1e-5);
  cr_assert_eq(attn2c_number(&op, "scale", 7), 7);
  cr_assert_str_eq(attn2c_text(&op, "activation"), "gelu");
  cr_assert_null(attn2c_text(&op, "eps"));
  cr_assert_null(attn2c_text(&op, "mode"));
  cr_assert_eq(attn2c_number(&bare, "eps", 3), 3);
  cr_assert_null(attn2c_text(&bare, "mode"));
}
