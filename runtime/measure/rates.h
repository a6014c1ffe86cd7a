/* rates.h - declares the loops of one target that tools/machine.c times: multiply-adds of each number type,
 * and reading. Code made from templates/rates.c.in, compiled for that target, defines them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { ATTN2C_RATES_TYPES = 3 };

typedef struct {
  const char *type;      /* "f32", "bf16" or "int8" */
  double (*round)(void); /* runs the loop once; returns its floating-point or integer operations */
  int (*is_right)(void); /* compares the instructions' results with plain C; NULL: nothing to compare */
} attn2c_rate_loop;

typedef struct {
  const char *target;
  attn2c_rate_loop loops[ATTN2C_RATES_TYPES];
  /* Reads `bytes` bytes, a multiple of 1,024 at a cache line, and returns a number that depends on all. */
  uint32_t (*read)(const void *from, size_t bytes);
} attn2c_rates;
