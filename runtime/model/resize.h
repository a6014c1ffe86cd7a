/* resize.h - copies arrays between the caller's shape and an entry's larger one. An array is walked axis by
 * axis; each axis says which of its items are the caller's. */
#ifndef ATTN2C_RESIZE_H
#define ATTN2C_RESIZE_H

#include "base/descriptor.h"

/* A call of an entry for `count` of the caller's `batch` sequences, from `first` on, each of `seq` tokens. */
typedef struct {
  attn2c_size entry;
  int64_t batch, seq, first, count;
} attn2c_entry_call;

/* An axis of the entry's array. It has first `head` items, which are the caller's from `from` on, then `gap`
 * items of padding, then again the caller's. */
typedef struct {
  int64_t entry, caller, from, head, gap;
  int is_masked; /* 1: the gap gets the value that masks */
} attn2c_resize_axis;

/* An array of a call. All arrays have four bytes per element. */
typedef struct {
  int rank; /* number of axes that are walked; the elements below them form one piece */
  attn2c_resize_axis axes[ATTN2C_MAX_RANK];
  int64_t entry_step[ATTN2C_MAX_RANK], caller_step[ATTN2C_MAX_RANK]; /* elements from item to item */
  int64_t piece;
  uint32_t fill, masked; /* values of padding, and of keys in padding */
} attn2c_resize;

attn2c_resize attn2c_resize_of(const attn2c_lengths *lengths, const attn2c_axes *axes,
                               const attn2c_tensor *tensor, const attn2c_entry_call *part);

/* Returns the shape of such an array for the caller: with `batch` sequences (0: the entry's), which are
 * `shorter` tokens shorter than the entry's. */
attn2c_tensor attn2c_resize_tensor(const attn2c_tensor *tensor, const attn2c_axes *axes, int64_t batch,
                                   int64_t shorter);

/* is_same: true if the entry's array has no padding and is contiguous in the caller's. offset: where it
 * begins there, in elements. */
int attn2c_resize_is_same(const attn2c_resize *resize);
int64_t attn2c_resize_offset(const attn2c_resize *resize);

/* pad: copies the caller's array into the entry's and fills the padding. put: copies only. mask: only masks
 * the padding's keys in the entry's array. take: copies the caller's elements out of the entry's array. */
void attn2c_resize_pad(const attn2c_resize *resize, const void *caller, void *entry);
void attn2c_resize_put(const attn2c_resize *resize, const void *caller, void *entry);
void attn2c_resize_mask(const attn2c_resize *resize, void *entry);
void attn2c_resize_take(const attn2c_resize *resize, const void *entry, void *caller);

#endif
