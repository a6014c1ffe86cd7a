/* work.h - counts the floating-point operations of a sequence of a model of any length, whose ops state those
 * of the longest. */
#ifndef ATTN2C_WORK_H
#define ATTN2C_WORK_H

#include "base/descriptor.h"

/* Return the operations of an op, and of all ops of an entry, for one sequence of `length` tokens; 0: for the
 * entry's own size. */
double attn2c_op_work(const attn2c_descriptor *model, const attn2c_op *op, int64_t length);
double attn2c_entry_work(const attn2c_descriptor *model, const attn2c_entry *entry, int64_t length);

#endif
