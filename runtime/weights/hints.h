/* hints.h - says in at most eleven lines why a checkpoint does not fit a model. The lines say what it looks
 * like, what is wrong with which tensors, and which of its tensors are similar. */
#pragma once

#include "reading/checkpoint.h"

typedef struct {
  const attn2c_descriptor *model;
  const attn2c_checkpoint *file;
  const int *found; /* for each stored tensor its number in the file, or -1 */
  int faults;       /* stored tensors that do not fit */
  attn2c_message *message;
} attn2c_hints;

/* True if a file's tensor has the elements of a stored one in the same order. Its shape is the same, or
 * differs by axes of one, or it has a row as several axes. So a convolution [out][channels][patch][patch] is
 * a matrix. */
int attn2c_hints_shape_fits(const attn2c_file_tensor *tensor, const attn2c_stored *stored);
/* Says a line with the file's unused tensors, if tensors are missing. */
void attn2c_hints_unused(const attn2c_hints *hints);
/* Says a line on what the file looks like, if most tensors are missing and it looks like a known model. */
void attn2c_hints_say(const attn2c_hints *hints);
/* Says the lines on what is wrong with stored tensor number `index`. If `said` earlier faults are enough, it
 * says a line that counts the others, and returns 0. */
int attn2c_hints_fault(const attn2c_hints *hints, int index, int said);
