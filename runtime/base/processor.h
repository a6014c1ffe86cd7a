/* processor.h - includes the functions that differ from processor to processor, outside the element loops.
 * Each processor's file has these functions:
 *
 * - attn2c_modes_now, _hold and _set: the caller's floating-point environment, which a call restores.
 * Rounding and the treatment of denormals stay in force, traps are off, and flags that the call raises are
 * dropped: a NaN or infinity in a masked score must not raise flags that the caller sees. _hold turns traps
 * off, clears the flags, and returns the environment to restore.
 *
 * - attn2c_flush_on, _restore: denormals count as zero, as operands and as results, like in bf16's
 * instructions. _restore sets the earlier mode. Without such a mode in the processor they do nothing.
 *
 * - attn2c_pause: tells the processor that this thread waits in a loop.
 *
 * - attn2c_leave: ends wide vector code. attn2c_leave_tiles, on x86-64: the same after products in tiles.
 *
 * - attn2c_missing: returns the name of an instruction set that the target needs and this machine lacks, or
 * NULL. */
#pragma once

#ifdef __x86_64__
#include "base/processor_x86_64.h"
#else
#include "base/processor_other.h"
#endif
