/* levels.c - implements levels.h. Each figure is the best of short samples: others may take the core. */
#include "measure/levels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/timing.h"

enum { SAMPLES = 9, STEPS = 1 << 15, READ_UNIT = 1024 };

#define SAMPLE_BYTES ((size_t)32 << 20) /* read from a level in one sample */
#define MOST_BYTES   ((size_t)256 << 20)

size_t attn2c_level_size(const char *text) {
  char *end;
  if (*text < '0' || *text > '9') return 0;
  const unsigned long long number = strtoull(text, &end, 10);
  const int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
  if (shift) end++;
  if (*end != '\0' && *end != '\n') return 0;
  return number < (SIZE_MAX >> shift) ? (size_t)number << shift : 0;
}

/* Reads the first line of a file; an empty one if there is none. */
static void read_line(const char *folder, int index, const char *name, char line[32]) {
  char path[256];
  snprintf(path, sizeof path, "%s/index%d/%s", folder, index, name);
  FILE *file = fopen(path, "r");
  if (!file || !fgets(line, 32, file)) line[0] = '\0';
  if (file) fclose(file);
}

/* Returns the largest power of two that is not larger. */
static size_t power_below(size_t bytes) {
  size_t power = bytes ? 1 : 0;
  while (power && power <= bytes / 2) power *= 2;
  return power;
}

int attn2c_levels_find(const char *folder, size_t memory_bytes, attn2c_level levels[ATTN2C_LEVELS]) {
  size_t bytes[ATTN2C_LEVELS] = {0}, largest = (size_t)8 << 20;
  for (int index = 0; index < 8; index++) {
    char level[32], type[32], size[32];
    read_line(folder, index, "level", level);
    read_line(folder, index, "type", type);
    read_line(folder, index, "size", size);
    const int number = level[0] - '0';
    if (number >= 1 && number < ATTN2C_LEVELS && strncmp(type, "Instruction", 11) != 0)
      bytes[number] = attn2c_level_size(size);
  }
  int count = 0;
  for (int number = 1; number < ATTN2C_LEVELS; number++) {
    if (!bytes[number]) continue;
    /* The sample fills the level in part, since others may use it too, and is larger than the level below. */
    const size_t below = count ? levels[count - 1].bytes : 0;
    size_t sample = power_below(number == 1 ? bytes[number] / 4 * 3 : bytes[number] / 4);
    while (sample && sample < 3 * below) sample = sample < bytes[number] ? 2 * sample : 0;
    if (sample > bytes[number] || sample > memory_bytes || sample > MOST_BYTES) sample = 0;
    levels[count++] = (attn2c_level){.number = number, .bytes = bytes[number], .sample = sample};
    if (bytes[number] > largest) largest = bytes[number];
  }
  /* Four times the last cache, or as much as is allowed. A virtual machine may list more cache than it has.
   */
  const size_t most = power_below(memory_bytes < MOST_BYTES ? memory_bytes : MOST_BYTES);
  const size_t wanted = power_below(4 * largest);
  levels[count++] = (attn2c_level){.number = 0, .sample = wanted < most ? wanted : most};
  return count;
}

/* i a + c modulo a power of two visits all numbers once if a is 1 modulo 4 and c is odd (Hull and Dobell). */
size_t attn2c_level_next(size_t i, size_t lines) { return (i * 1664525u + 1013904223u) & (lines - 1); }

static double read_rate(const attn2c_level *level, const void *block, attn2c_level_reader read) {
  const size_t turns = level->sample < SAMPLE_BYTES / 8 ? SAMPLE_BYTES / 8 / level->sample : 1;
  const size_t bytes = level->sample < SAMPLE_BYTES ? level->sample : SAMPLE_BYTES;
  double best = 0.0;
  volatile uint32_t sink;
  for (int i = 0; i < SAMPLES; i++) {
    /* Memory's samples follow each other, so that none reads what the one before left in a cache. */
    const size_t first = (size_t)i * SAMPLE_BYTES % (level->sample - bytes + READ_UNIT);
    const double start = attn2c_now();
    for (size_t turn = 0; turn < turns; turn++)
      sink = read((const char *)block + first / READ_UNIT * READ_UNIT, bytes);
    const double rate = (double)(turns * bytes) / (attn2c_now() - start);
    if (rate > best) best = rate;
  }
  (void)sink;
  return best;
}

/* The block's lines hold the addresses of the next ones. */
static double chase(const attn2c_level *level, char *block) {
  const size_t lines = level->sample / ATTN2C_LINE_BYTES;
  for (size_t i = 0; i < lines; i++) {
    void *next = block + attn2c_level_next(i, lines) * ATTN2C_LINE_BYTES;
    memcpy(block + i * ATTN2C_LINE_BYTES, &next, sizeof next);
  }
  void **at = (void **)(void *)block;
  const int steps = lines > STEPS ? STEPS / 2 : STEPS;
  double best = 0.0;
  for (int i = 0; i < SAMPLES; i++) {
    const double start = attn2c_now();
    for (int step = 0; step < steps; step++) at = *at;
    __asm__ volatile("" : "+r"(at));
    const double time = (attn2c_now() - start) / steps;
    if (i == 0 || time < best) best = time;
  }
  return best;
}

void attn2c_level_measure(attn2c_level *level, void *block, attn2c_level_reader read) {
  if (!level->sample) return;
  level->nanoseconds = chase(level, block);
  level->gigabytes = read_rate(level, block, read);
}
