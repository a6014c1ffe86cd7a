/* resize.c - walks arrays to copy between a caller's shape and an entry's. */
#include "model/resize.h"

#include <math.h>
#include <string.h>

/* Actions of a walk: copy the caller's elements, mask the keys or rows of padding, fill other padding. */
enum { COPY = 1, MASK = 2, FILL = 4 };

static attn2c_resize_axis axis_of(const attn2c_lengths *lengths, const attn2c_axes *axes, int64_t extent,
                                  int number, const attn2c_entry_call *part) {
  const int64_t shorter = part->entry.seq - part->seq;
  attn2c_resize_axis a = {extent, extent, 0, extent, 0, 0};
  if (number == axes->batch) {
    a.caller = part->batch, a.from = part->first;
    a.head = part->count, a.gap = part->entry.batch - part->count;
  } else if (number == axes->rows) {
    a.caller = extent - shorter, a.head = part->seq, a.gap = shorter;
    a.is_masked = axes->filling == ATTN2C_FILL_ROWS;
  } else if (number == axes->keys) {
    a.caller = extent - shorter, a.head = lengths->past + part->seq, a.gap = shorter, a.is_masked = 1;
  }
  return a;
}

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static void choose_fillings(attn2c_resize *r, const attn2c_tensor *tensor, int filling) {
  const int is_float = tensor->type == ATTN2C_F32;
  r->fill = r->masked = is_float ? 0 : (uint32_t)tensor->minimum;
  if (filling == ATTN2C_FILL_MASKED) r->fill = 0, r->masked = is_float ? bits_of(-INFINITY) : 1;
  if (filling == ATTN2C_FILL_KEPT) r->fill = 1, r->masked = 0;
}

attn2c_resize attn2c_resize_of(const attn2c_lengths *lengths, const attn2c_axes *axes,
                               const attn2c_tensor *tensor, const attn2c_entry_call *part) {
  attn2c_resize r = {.rank = 0, .piece = 1};
  int64_t entry_step = 1, caller_step = 1;
  for (int i = tensor->rank - 1; i >= 0; i--) {
    r.axes[i] = axis_of(lengths, axes, tensor->shape[i], i, part);
    r.entry_step[i] = entry_step, r.caller_step[i] = caller_step;
    const int grows = i == axes->batch || i == axes->rows || i == axes->keys;
    if (grows && r.rank == 0) r.rank = i + 1, r.piece = entry_step;
    entry_step *= r.axes[i].entry, caller_step *= r.axes[i].caller;
  }
  if (r.rank == 0) r.piece = entry_step;
  choose_fillings(&r, tensor, axes->filling);
  return r;
}

int attn2c_resize_is_same(const attn2c_resize *r) {
  for (int i = 0; i < r->rank; i++) {
    const attn2c_resize_axis *x = &r->axes[i];
    if (x->gap > 0 || (i > 0 && x->caller != x->entry)) return 0;
  }
  return 1;
}

int64_t attn2c_resize_offset(const attn2c_resize *r) {
  int64_t offset = 0;
  for (int i = 0; i < r->rank; i++) offset += r->axes[i].from * r->caller_step[i];
  return offset;
}

static void fill(uint32_t *to, int64_t count, uint32_t value) {
  for (int64_t i = 0; i < count; i++) to[i] = value;
}

/* Walks from axis `number` on; `from` is NULL in padding. */
static void walk(const attn2c_resize *r, int number, int what, uint32_t *to, const uint32_t *from) {
  if (number >= r->rank ||
      number >= ATTN2C_MAX_RANK) { /* the second condition is for compilers, which check bounds */
    if (from && (what & COPY)) memcpy(to, from, (size_t)r->piece * sizeof *to);
    if (!from && (what & FILL)) fill(to, r->piece, r->fill);
    return;
  }
  const attn2c_resize_axis *x = &r->axes[number];
  const int64_t step = r->entry_step[number];
  for (int64_t i = 0; i < x->entry; i++) {
    const int in_gap = i >= x->head && i < x->head + x->gap;
    const int64_t item = x->from + (i < x->head ? i : i - x->gap);
    if (!in_gap || !x->is_masked) {
      walk(r, number + 1, what, to + i * step, from && !in_gap ? from + item * r->caller_step[number] : NULL);
    } else if (what & MASK) {
      fill(to + i * step, step, r->masked);
    }
  }
}

void attn2c_resize_pad(const attn2c_resize *r, const void *caller, void *entry) {
  walk(r, 0, COPY | MASK | FILL, entry, caller);
}

void attn2c_resize_put(const attn2c_resize *r, const void *caller, void *entry) {
  walk(r, 0, COPY, entry, caller);
}

void attn2c_resize_mask(const attn2c_resize *r, void *entry) { walk(r, 0, MASK, entry, NULL); }

static void take(const attn2c_resize *r, int number, const uint32_t *from, uint32_t *to) {
  if (number >= r->rank || number >= ATTN2C_MAX_RANK) {
    memcpy(to, from, (size_t)r->piece * sizeof *to);
    return;
  }
  const attn2c_resize_axis *x = &r->axes[number];
  for (int64_t i = 0; i < x->entry - x->gap; i++) {
    const int64_t item = i < x->head ? i : i + x->gap;
    take(r, number + 1, from + item * r->entry_step[number], to + (x->from + i) * r->caller_step[number]);
  }
}

void attn2c_resize_take(const attn2c_resize *r, const void *entry, void *caller) {
  take(r, 0, entry, caller);
}

attn2c_tensor attn2c_resize_tensor(const attn2c_tensor *tensor, const attn2c_axes *axes, int64_t batch,
                                   int64_t shorter) {
  attn2c_tensor of_call = *tensor;
  if (axes->batch >= 0 && batch > 0) of_call.shape[axes->batch] = batch;
  if (axes->rows >= 0) of_call.shape[axes->rows] -= shorter;
  if (axes->keys >= 0) of_call.shape[axes->keys] -= shorter;
  return of_call;
}
