/* guard.h - allocations between two pages without access, so that a read or write past
 * either end crashes at once, also in generated machine code, which sanitizers cannot check.
 * attn2c_allocate hands these out where it is compiled with -DATTN2C_GUARD_PAGES. */
#ifndef ATTN2C_GUARD_H
#define ATTN2C_GUARD_H

#include <stddef.h>

/* bytes, zeroed, whose end is exactly the end of a page: sizes that are multiples of 64 begin at a multiple
 * of 64, all others where their end puts them. Of 0 bytes one is given. NULL when there is no memory. */
void *attn2c_guard_allocate(size_t bytes);
/* Gives it back; NULL is allowed. Aborts where the pointer is none of these or was given back before. */
void attn2c_guard_free(void *memory);

#endif
