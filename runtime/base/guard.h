/* guard.h - allocates memory between two pages without access, so that an access past either end crashes.
 * This also checks generated machine code, which sanitizers cannot. Tests link programs whose attn2c_allocate
 * returns such memory (tests/guard.lua). */
#pragma once

#include <stddef.h>

/* Returns `bytes`, zeroed, that end exactly at the end of a page. Sizes that are multiples of 64 begin at a
 * multiple of 64. A size of 0 counts as 1. Returns NULL if there is no memory. */
void *attn2c_guard_allocate(size_t bytes);
/* Frees the memory; NULL is allowed. Aborts if the pointer is not one of these or was freed before. */
void attn2c_guard_free(void *memory);
