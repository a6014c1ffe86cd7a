/* resized.h - reads the positions of an image's patches from the positions in another grid of patches, by
 * bicubic interpolation as torch.nn.functional.interpolate has it, align_corners false. */
#ifndef ATTN2C_RESIZED_H
#define ATTN2C_RESIZED_H

#include "base/descriptor.h"
#include "weights/checkpoint.h"

/* Reads rows [row, row + count) of a view with ATTN2C_VIEW_RESIZED to values[count][columns]. Statuses: those
 * of attn2c_view_read. */
int attn2c_resized_read(const attn2c_checkpoint *checkpoint, int tensor, const attn2c_view *view, int64_t row,
                        int64_t count, int64_t columns, float *values, attn2c_message *message);

/* The number of elements of the view's grid in the tensor. */
int64_t attn2c_resized_elements(const attn2c_view *view);

#endif
