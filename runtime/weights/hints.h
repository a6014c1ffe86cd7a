/* hints.h - what to say of a checkpoint that does not fit a model, in eleven lines: what it
 * looks like, what is wrong with which tensors, and which tensors of it come near. */
#ifndef ATTN2C_HINTS_H
#define ATTN2C_HINTS_H

#include "base/descriptor.h"
#include "weights/checkpoint.h"

typedef struct {
  const attn2c_descriptor *model;
  const attn2c_checkpoint *file;
  const int *found; /* of each stored tensor: the file's, or -1 */
  int faults;       /* stored tensors that do not fit */
  attn2c_message *message;
} attn2c_hints;

/* Whether a file's tensor has the elements of a stored one in its order: its shape is the same, or differs by
 * axes of one, or it has a row as several axes: a convolution [out][channels][patch][patch] is a matrix. */
int attn2c_hints_shape_fits(const attn2c_safetensor *tensor, const attn2c_stored *stored);
/* Where tensors are missing, a line with those of the file that are not used. */
void attn2c_hints_unused(const attn2c_hints *hints);
/* A line on what the file looks like, where most tensors are missing and it looks like something. */
void attn2c_hints_say(const attn2c_hints *hints);
/* The lines on what is wrong with stored tensor number `index`, or, where `said` faults before it are enough,
 * a line that counts the others, and 0. */
int attn2c_hints_fault(const attn2c_hints *hints, int index, int said);

#endif
