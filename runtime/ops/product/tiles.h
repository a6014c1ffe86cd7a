/* tiles.h - parts of AMX strips (gen/kernels/tiles.lua): up to 32 rows by 32 outputs, summed in four
 * tiles.
 *
 * Tiles 0 to 3 are sums, [row tile][output tile]. Tiles 4 and 5 are inputs, 16 rows of up to 64 bytes. Tiles
 * 6 and 7 are weights, up to 16 groups of 4 bytes by 16 outputs, which is the layout of panels. A thread
 * configures its own tiles, and releases them at the end of its part of a call (attn2c_leave_tiles). Products
 * leave them as they are for the next one: on a Xeon of 2026, to configure takes as long as five products of
 * four tiles.
 *
 * A product of bf16 tiles sums the even inputs from zero, and the odd ones, each by fused multiply-adds; then
 * it computes sum + (even + odd). Denormals are zeros, whatever the processor's modes. So these sums have
 * other bits than bf16.h. int8 has unsigned inputs, like vpdpbusd (int8.h), and the
 * same sums.
 *
 * Instructions are written as assembly that clobbers all memory: gcc 12's intrinsics do not say that they
 * read memory. */
#pragma once

#include "ops/product/words.h"
#include "ops/quantise.h"

#line __LINE__ "attn2c/runtime/ops/product/tiles.h" /* see base/processor_x86_64.h */

/* The operand of ldtilecfg: for each tile the bytes of a row, and the number of rows. */
typedef struct {
  uint8_t palette, start_row, reserved[14];
  uint16_t bytes[16];
  uint8_t rows[16];
} attn2c_tiles;

#ifdef ATTN2C_TILES_EMULATED
#include "ops/product/tiles_emulated.h"
#else
ATTN2C_INLINE void attn2c_tiles_set(const attn2c_tiles *set) {
  __asm__ volatile("ldtilecfg %0" : : "m"(*set) : "memory");
}
ATTN2C_INLINE void attn2c_tiles_release(void) { __asm__ volatile("tilerelease" : : : "memory"); }
/* True if this thread's tiles are configured so. */
ATTN2C_INLINE int attn2c_tiles_are(const attn2c_tiles *set) {
  uint64_t wanted[sizeof *set / 8], now[sizeof *set / 8], different = 0;
  memcpy(wanted, set, sizeof wanted);
  __asm__ volatile("sttilecfg %0" : "=m"(now) : : "memory");
  for (size_t i = 0; i < sizeof now / sizeof now[0]; i++) different |= wanted[i] ^ now[i];
  return different == 0;
}
/* Tile numbers are literals; strides are in bytes. */
#define attn2c_tile_zero(t) __asm__ volatile("tilezero %%tmm" #t : : : "memory")
#define attn2c_tile_load(t, from, stride)                                                                    \
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #t : : "r"(from), "r"((ptrdiff_t)(stride)) : "memory")
/* The same for what is read once: it does not push other lines out of the first-level cache. */
#define attn2c_tile_load_once(t, from, stride)                                                               \
  __asm__ volatile("tileloaddt1 (%0,%1,1), %%tmm" #t : : "r"(from), "r"((ptrdiff_t)(stride)) : "memory")
#define attn2c_tile_store(t, to, stride)                                                                     \
  __asm__ volatile("tilestored %%tmm" #t ", (%0,%1,1)" : : "r"(to), "r"((ptrdiff_t)(stride)) : "memory")
#define attn2c_tile_bf16(sum, inputs, weights)                                                               \
  __asm__ volatile("tdpbf16ps %%tmm" #weights ", %%tmm" #inputs ", %%tmm" #sum : : : "memory")
#define attn2c_tile_int8(sum, inputs, weights)                                                               \
  __asm__ volatile("tdpbusd %%tmm" #weights ", %%tmm" #inputs ", %%tmm" #sum : : : "memory")
/* The same with signed inputs. */
#define attn2c_tile_signed(sum, inputs, weights)                                                             \
  __asm__ volatile("tdpbssd %%tmm" #weights ", %%tmm" #inputs ", %%tmm" #sum : : : "memory")
#endif

/* Configures tiles for strips of `rows` rows and `outputs` outputs, at most 32 of each. A step takes `bytes`
 * bytes of a row, at most 64. */
ATTN2C_INLINE void attn2c_tiles_configure(int rows, int outputs, int bytes) {
  const int rows_of[2] = {rows < 16 ? rows : 16, rows < 16 ? 0 : rows - 16};
  const int outputs_of[2] = {outputs < 16 ? outputs : 16, outputs < 16 ? 0 : outputs - 16};
  attn2c_tiles set = {.palette = 1};
  for (int i = 0; i < 2; i++) {
    if (rows_of[i]) set.rows[4 + i] = (uint8_t)rows_of[i], set.bytes[4 + i] = (uint16_t)bytes;
    if (outputs_of[i])
      set.rows[6 + i] = (uint8_t)(bytes / 4), set.bytes[6 + i] = (uint16_t)(4 * outputs_of[i]);
    for (int j = 0; j < 2; j++)
      if (rows_of[i] && outputs_of[j])
        set.rows[2 * i + j] = (uint8_t)rows_of[i], set.bytes[2 * i + j] = (uint16_t)(4 * outputs_of[j]);
  }
  if (!attn2c_tiles_are(&set)) attn2c_tiles_set(&set);
}

/* A copy to load a tile from if its source may not be read in place: rows of 64 bytes. */
typedef struct {
  uint32_t row[16][16];
} attn2c_tile_copy;

/* Copies the last `bytes` of each row of inputs, followed by zeros. */
ATTN2C_INLINE void attn2c_tile_inputs(attn2c_tile_copy *copy, const void *b, ptrdiff_t stride, int rows,
                                      int bytes) {
  memset(copy, 0, sizeof *copy);
  for (int i = 0; i < rows; i++) memcpy(copy->row[i], (const char *)b + i * stride, (size_t)bytes);
}

/* Copies the last groups of `outputs` outputs, which have `bytes` bytes of inputs, followed by zeros. */
ATTN2C_INLINE void attn2c_tile_weights(attn2c_tile_copy *copy, const void *a, ptrdiff_t stride, int outputs,
                                       int bytes) {
  memset(copy, 0, sizeof *copy);
  for (int i = 0; 4 * i < bytes; i++) {
    memcpy(copy->row[i], (const char *)a + i * stride, 4 * (size_t)outputs);
    if (4 * i + 4 > bytes)
      for (int j = 0; j < outputs; j++) copy->row[i][j] &= (uint32_t)((1u << 8 * (bytes - 4 * i)) - 1);
  }
}

/* Writes the start of int8 sums that are added to C: the panel's start (int8.h) plus C. */
ATTN2C_INLINE void attn2c_tile_sums(attn2c_tile_copy *copy, const int8_t *start, const int32_t *c,
                                    ptrdiff_t ldc, int rows, int outputs) {
  uint32_t before[16];
  memcpy(before, start, 4 * (size_t)outputs);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < outputs; j++) copy->row[i][j] = before[j] + (uint32_t)c[i * ldc + j];
}

/* How the strips of a product of any number of rows prefetch: bytes after A where the first begins; a step
 * prefetches `run` lines at each of `lines` places that are `apart` bytes apart. */
typedef struct {
  int from, apart, lines, run;
} attn2c_tiles_ahead;

/* Prefetches `run` lines at each of the places from `first` to before `end`, into the second-level cache. */
ATTN2C_INLINE void attn2c_tile_ask(const char *ahead, ptrdiff_t apart, int first, int end, int run) {
  for (int place = first; place < end; place++)
    for (int line = 0; line < run; line++) __builtin_prefetch(ahead + place * apart + 64 * line, 0, 2);
}

#if !ATTN2C_INT8_ZERO
#error tiles of int8 have unsigned inputs
#endif
