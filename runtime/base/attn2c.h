/* attn2c.h - what every file of the runtime and every emitted file shares:
 * the version that generator and runtime must agree on, the statuses, which
 * are also the exit codes of emitted programs, and a bounded message. */
#ifndef ATTN2C_H
#define ATTN2C_H

#include <stddef.h>
#include <stdint.h>

/* Emitted code carries an #error that compares this with its generator's (gen/common/version.lua). */
#define ATTN2C_RUNTIME_VERSION 200

/* Bytes. Every packed panel, every tensor of the arena and every row of a padded tensor starts at a multiple.
 */
#define ATTN2C_ALIGNMENT 64

typedef enum attn2c_status {
  ATTN2C_OK = 0,       /* done */
  ATTN2C_MISMATCH = 1, /* a comparison failed */
  ATTN2C_USAGE = 2,    /* wrong usage, or an invalid description */
  ATTN2C_FORMAT = 3,   /* a malformed input: file, array, token id, length */
  ATTN2C_IO = 4,       /* input or output failed: missing, unreadable, full */
  ATTN2C_MEMORY = 5,   /* out of memory */
  ATTN2C_MACHINE = 6   /* this machine cannot run it */
} attn2c_status;

/* A text of what went wrong, written into the caller's buffer: one fault a line, no newline at its end,
 * always terminated; what does not fit is cut. A NULL or empty buffer is allowed, and then nothing is
 * written. */
typedef struct attn2c_message {
  char *text;
  size_t size, used;
} attn2c_message;

attn2c_message attn2c_message_make(char *text, size_t size);
/* Adds one line, made printable (attn2c_printable). */
void attn2c_say(attn2c_message *message, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts '?' in place of each character that a terminal would obey rather than show (controls, marks of
 * direction), or not show at all, and of each byte that is not UTF-8. All text from a file or a command line
 * goes through this before it is printed. */
void attn2c_printable(char *text);

const char *attn2c_strerror(int status);

/* bytes rounded up to the alignment, zeroed; NULL when there is no memory or the rounding overflows. Compiled
 * with -DATTN2C_GUARD_PAGES: exactly bytes, ending at a page without access (guard.h), for tests. */
void *attn2c_allocate(size_t bytes);
/* The same, but of any values: for what is written whole before it is read. */
void *attn2c_reserve(size_t bytes);
void attn2c_free(void *memory);

#endif
