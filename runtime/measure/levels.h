/* levels.h - the memory that one core sees: the caches, as the system lists them, and memory after them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { ATTN2C_LEVELS = 4, ATTN2C_LINE_BYTES = 64 };

typedef struct {
  int number;         /* 1, 2 and 3: caches; 0: memory */
  size_t bytes;       /* size; 0 for memory */
  size_t sample;      /* bytes that a measurement reads; 0: none is possible */
  double gigabytes;   /* GB/s (10^9 bytes) that one core reads; 0: not measured */
  double nanoseconds; /* from one load's address to its value */
} attn2c_level;

/* Reads `bytes` bytes, a multiple of 1,024, and returns a number that depends on all of them. */
typedef uint32_t (*attn2c_level_reader)(const void *from, size_t bytes);

/* Returns the bytes of a size as the system writes it: "48K", "32M", "2048"; 0 if it is none. */
size_t attn2c_level_size(const char *text);

/* Finds the caches of data or of both kinds in a folder with the files index0/level, type and size; it is
 * /sys/devices/system/cpu/cpu0/cache except in tests. Adds memory as the last. Returns the number of levels.
 * memory_bytes: what a measurement may use at most. */
int attn2c_levels_find(const char *folder, size_t memory_bytes, attn2c_level levels[ATTN2C_LEVELS]);

/* Returns the line after line `i` in a closed walk through all `lines` lines, a power of two. The order is
 * irregular, so that a processor cannot load lines ahead. */
size_t attn2c_level_next(size_t i, size_t lines);

/* Measures a level in a block of at least `sample` bytes at a cache line, which it overwrites. */
void attn2c_level_measure(attn2c_level *level, void *block, attn2c_level_reader read);
