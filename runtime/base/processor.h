/* processor.h - what differs from processor to processor, outside the element loops. A file for each has
 * these functions:
 *
 * - attn2c_modes_now, _hold and _set: the floating-point environment of a caller, which a call leaves as it
 * found it. Rounding and the treatment of denormals stay in force, traps are off, and the flags that the call
 * raises are dropped: a NaN or infinity on its way through a masked score must not raise flags that the
 * caller sees. hold turns traps off, clears the flags, and returns what is to be set again.
 *
 * - attn2c_flush_on, _restore: denormals count as zero, going into an operation and coming out, as bf16's
 * instructions have it; and what was before, again. Where the processor has no such mode, nothing.
 *
 * - attn2c_pause: says that this thread waits in a loop.
 *
 * - attn2c_leave: the way out of wide vector code.
 *
 * - attn2c_missing: what this machine lacks of a target's instructions, by name; NULL: nothing. */
#ifndef ATTN2C_PROCESSOR_H
#define ATTN2C_PROCESSOR_H

#ifdef __x86_64__
#include "base/processor_x86_64.h"
#else
#include "base/processor_other.h"
#endif

#endif
