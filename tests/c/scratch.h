/* scratch.h - a folder of its own for a test that needs files, and whole files as bytes.
 * A failure of these functions ends the test program: it says nothing about the code. */
#ifndef ATTN2C_TEST_SCRATCH_H
#define ATTN2C_TEST_SCRATCH_H

#include <stddef.h>

/* Makes the folder (in TMPDIR, or /tmp) and, at the end, removes it with all that is in it. Fixtures of a
 * suite. */
void scratch_open(void);
void scratch_close(void);

/* The path of a file in the folder; stays until the next call but three. */
const char *scratch_path(const char *name);
void scratch_put(const char *path, const void *bytes, size_t size);
/* At most `room` bytes of a file; how many there were. */
size_t scratch_get(const char *path, void *bytes, size_t room);
/* Files in the folder. */
int scratch_count(void);

#endif
