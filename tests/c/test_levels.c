/* test_levels.c - the levels of memory: sizes as the system writes them, the caches of a folder made for the
 * test, a walk through all lines, and figures that any machine has. */
#define _DEFAULT_SOURCE
#include "measure/levels.h"
#include "base/attn2c.h"
#include "faults.h"
#include "scratch.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

Test(levels, sizes_are_read_as_the_system_writes_them) {
  cr_assert_eq(attn2c_level_size("48K\n"), 48u << 10);
  cr_assert_eq(attn2c_level_size("32M"), 32u << 20);
  cr_assert_eq(attn2c_level_size("1G\n"), (size_t)1 << 30);
  cr_assert_eq(attn2c_level_size("2048"), 2048u);
  const char *const bad[] = {"", "K", "-1K", " 48K", "48T", "48KB", "0x10", "99999999999999999999G"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    cr_assert_eq(attn2c_level_size(bad[i]), 0u, "%s", bad[i]);
}

Test(levels, a_walk_visits_every_line_once_and_closes) {
  for (size_t lines = 1; lines <= 1 << 12; lines *= 2) {
    unsigned char *seen = calloc(lines, 1);
    size_t at = 0;
    for (size_t i = 0; i < lines; i++) {
      cr_assert(at < lines && !seen[at], "%zu of %zu", i, lines);
      seen[at] = 1, at = attn2c_level_next(at, lines);
    }
    cr_assert_eq(at, 0u);
    free(seen);
  }
}

Test(levels, a_walk_has_no_constant_step) {
  enum { LINES = 4096 };
  int same = 0;
  for (size_t i = 0, last = 0; i < LINES; i++) {
    const size_t step = (attn2c_level_next(i, LINES) - i) & (LINES - 1);
    same += i > 0 && step == last, last = step;
  }
  cr_assert(same < LINES / 64, "%d", same);
}

static void put(const char *folder, int index, const char *name, const char *text) {
  char path[300];
  snprintf(path, sizeof path, "%s/index%d", folder, index);
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/index%d/%s", folder, index, name);
  FILE *file = fopen(path, "w");
  cr_assert(file != NULL);
  fputs(text, file);
  fclose(file);
}

static void put_cache(const char *folder, int index, const char *level, const char *type, const char *size) {
  put(folder, index, "level", level);
  put(folder, index, "type", type);
  put(folder, index, "size", size);
}

/* A new folder for the caches of a test. */
static const char *new_folder(void) {
  static char path[64];
  snprintf(path, sizeof path, "/tmp/attn2c-levels-XXXXXX");
  cr_assert(mkdtemp(path) != NULL);
  return path;
}

static void remove_folder(const char *path) {
  char command[100];
  snprintf(command, sizeof command, "rm -r %s", path);
  cr_assert_eq(system(command), 0);
}

Test(levels, caches_are_those_of_data_and_memory_is_the_last) {
  const char *folder = new_folder();
  put_cache(folder, 0, "1\n", "Data\n", "48K\n");
  put_cache(folder, 1, "1\n", "Instruction\n", "32K\n");
  put_cache(folder, 2, "2\n", "Unified\n", "1024K\n");
  put_cache(folder, 3, "3\n", "Unified\n", "32768K\n");
  attn2c_level levels[ATTN2C_LEVELS];
  cr_assert_eq(attn2c_levels_find(folder, (size_t)1 << 30, levels), 4);
  const size_t bytes[] = {48u << 10, 1u << 20, 32u << 20, 0};
  for (int i = 0; i < 4; i++) {
    cr_assert_eq(levels[i].bytes, bytes[i]);
    cr_assert_eq(levels[i].number, i < 3 ? i + 1 : 0);
    cr_assert(levels[i].sample > (i ? levels[i - 1].bytes : 0));
    cr_assert(i == 3 || levels[i].sample <= levels[i].bytes);
    cr_assert_eq(levels[i].sample & (levels[i].sample - 1), 0u);
  }
  cr_assert_eq(levels[3].sample, 128u << 20);
  cr_assert_eq(attn2c_levels_find(folder, (size_t)16 << 20, levels), 4);
  for (int i = 0; i < 4; i++) cr_assert(levels[i].sample <= (size_t)16 << 20);
  cr_assert_eq(attn2c_levels_find(folder, (size_t)4 << 20, levels), 4);
  for (int i = 0; i < 4; i++) cr_assert(levels[i].sample <= (size_t)4 << 20);
  put(folder, 3, "size", "266240K\n"); /* that of a whole socket, in a virtual machine */
  cr_assert_eq(attn2c_levels_find(folder, (size_t)1 << 32, levels), 4);
  cr_assert(levels[3].sample == (size_t)256 << 20 && levels[2].sample <= (size_t)256 << 20);
  put(folder, 2, "size", "none\n");
  cr_assert_eq(attn2c_levels_find(folder, (size_t)1 << 30, levels), 3);
  cr_assert(levels[1].number == 3);
  remove_folder(folder);
}

Test(levels, memory_is_all_that_is_known_without_files) {
  attn2c_level levels[ATTN2C_LEVELS];
  cr_assert_eq(attn2c_levels_find("/nowhere", (size_t)1 << 30, levels), 1);
  cr_assert(levels[0].number == 0 && levels[0].bytes == 0 && levels[0].sample == (size_t)32 << 20);
  cr_assert_eq(attn2c_levels_find("/nowhere", 0, levels), 1);
  cr_assert_eq(levels[0].sample, 0u);
}

static size_t most_read;
static uint32_t read_bytes(const void *from, size_t bytes) {
  uint32_t all = 0;
  if (bytes > most_read) most_read = bytes;
  for (size_t i = 0; i < bytes; i += 1024) all |= *((const unsigned char *)from + i);
  return all;
}

Test(levels, figures_are_measured_within_the_block_alone) {
  enum { BYTES = 1 << 16 };
  attn2c_level level = {.number = 1, .bytes = BYTES, .sample = BYTES};
  char *block = attn2c_allocate(BYTES + 64);
  memset(block + BYTES, 7, 64);
  attn2c_level_measure(&level, block, read_bytes);
  cr_assert(level.nanoseconds > 0.1 && level.nanoseconds < 1e4, "%g", level.nanoseconds);
  cr_assert(level.gigabytes > 0.01, "%g", level.gigabytes);
  cr_assert_eq(most_read, (size_t)BYTES);
  for (int i = 0; i < 64; i++) cr_assert_eq(block[BYTES + i], 7);
  attn2c_free(block);
  level = (attn2c_level){.number = 0};
  attn2c_level_measure(&level, NULL, read_bytes);
  cr_assert(level.gigabytes == 0.0 && level.nanoseconds == 0.0);
}
