/* attn2c.h - declares what all runtime and emitted files share: version, statuses, messages, allocation.
 * Generator and runtime must agree on the version. The statuses are also the exit codes of emitted
 * programs. */
#pragma once

/* The headers of the C library that most files need, with what Linux has besides C11. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The compiler's name for formats as C99 has them. */
#ifdef __MINGW_PRINTF_FORMAT
#define ATTN2C_PRINTF __MINGW_PRINTF_FORMAT
#else
#define ATTN2C_PRINTF printf
#endif

/* The name of a symbol that is declared as weak, where it is defined. Windows' linker does not find weak
 * definitions everywhere. */
#ifdef _WIN32
#define ATTN2C_DEFINES(symbol) symbol##_here __asm__(#symbol)
#else
#define ATTN2C_DEFINES(symbol) symbol
#endif

/* The runtime's version. Emitted code compares it with its generator's (gen/common/version.lua) in an
 * #error. */
#define ATTN2C_RUNTIME_VERSION 201

/* Alignment in bytes of every packed panel, every tensor of the arena and every row of a padded tensor. */
#define ATTN2C_ALIGNMENT 64

typedef enum attn2c_status {
  ATTN2C_OK = 0,       /* done */
  ATTN2C_MISMATCH = 1, /* a comparison failed */
  ATTN2C_USAGE = 2,    /* wrong usage, or an invalid description */
  ATTN2C_FORMAT = 3,   /* a malformed input: file, array, token id, length */
  ATTN2C_IO = 4,       /* input or output failed: missing, unreadable, full */
  ATTN2C_MEMORY = 5,   /* out of memory */
  ATTN2C_MACHINE = 6   /* this machine cannot run the model */
} attn2c_status;

/* An error text in the caller's buffer: one fault per line, no newline at its end, always terminated. Text
 * that does not fit is cut. The buffer may be NULL or empty; then nothing is written. */
typedef struct attn2c_message {
  char *text;
  size_t size, used;
} attn2c_message;

attn2c_message attn2c_message_make(char *text, size_t size);
/* Adds one line, made printable (attn2c_printable). */
void attn2c_say(attn2c_message *message, const char *format, ...)
    __attribute__((format(ATTN2C_PRINTF, 2, 3)));
/* Does the same and returns `status`. A macro, so that the compiler sees that a constant is no ATTN2C_OK. */
#define attn2c_fail(message, status, ...) (attn2c_say((message), __VA_ARGS__), (int)(status))

/* Replaces characters that a terminal would obey or not show by '?'. These are controls, marks of direction
 * and bytes that are not UTF-8. All text from a file or a command line goes through this before it is
 * printed. */
void attn2c_printable(char *text);

/* Returns from the function around it with the status of a call that fails. */
#define ATTN2C_TRY(call)                                                                                     \
  do {                                                                                                       \
    const int attn2c_tried = (call);                                                                         \
    if (attn2c_tried != ATTN2C_OK) return attn2c_tried;                                                      \
  } while (0)

const char *attn2c_strerror(int status);

/* Returns `bytes` rounded up to the alignment, zeroed; NULL if there is no memory or the rounding overflows.
 * Tests link programs in which attn2c_guard_allocate (guard.h) takes its place. */
void *attn2c_allocate(size_t bytes);
/* Returns the same without zeroing it, for memory that is written whole before it is read. */
void *attn2c_reserve(size_t bytes);
/* Returns the same in small pages, for memory of which few parts may ever be used. */
void *attn2c_reserve_sparse(size_t bytes);
/* Gives such memory huge pages, also where it is used already. */
void attn2c_make_dense(void *memory, size_t bytes);
void attn2c_free(void *memory);

/* Gives a variable to a function, by its address, when its block ends. */
#define ATTN2C_ENDS_BY(function) __attribute__((cleanup(function)))
/* Frees the memory of a pointer when its block ends: from malloc, or from attn2c_allocate. */
#define ATTN2C_OWN         ATTN2C_ENDS_BY(attn2c_end_malloc)
#define ATTN2C_OWN_ALIGNED ATTN2C_ENDS_BY(attn2c_end_aligned)
static inline void *attn2c_pointer_at(const void *variable) {
  void *pointer;
  memcpy(&pointer, variable, sizeof pointer);
  return pointer;
}
/* Frees the memory of several pointers, in the same two ways. NULL is allowed. */
#define ATTN2C_FREE(...) attn2c_free_each(free, (void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}))
#define ATTN2C_FREE_ALIGNED(...)                                                                             \
  attn2c_free_each(attn2c_free, (void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}))
static inline void attn2c_free_each(void (*end)(void *), void *const *list, size_t bytes) {
  for (size_t i = 0; i < bytes / sizeof *list; i++) end(list[i]);
}
static inline void attn2c_end_malloc(void *variable) { free(attn2c_pointer_at(variable)); }
static inline void attn2c_end_aligned(void *variable) { attn2c_free(attn2c_pointer_at(variable)); }

/* Gives a variable with a list from malloc room for an element after its `count` ones. It grows to powers of
 * two. Returns ATTN2C_OK, or ATTN2C_MEMORY, with which the list stays as it is. */
#define ATTN2C_MORE(list, count) attn2c_more(&(list), (size_t)(count), sizeof *(list))
int attn2c_more(void *variable, size_t count, size_t size);
/* Gives a list from malloc room for `need` elements of `size` bytes; *capacity: those that it has room for.
 * There is a list also if need is 0. Returns ATTN2C_OK, or ATTN2C_MEMORY, with which the list stays as it is.
 */
int attn2c_grow(void **list, size_t *capacity, size_t need, size_t size);
static inline int64_t attn2c_lesser(int64_t a, int64_t b) { return a < b ? a : b; }
/* Returns a copy from malloc that ends with a NUL; NULL: there is no memory. */
void *attn2c_copied(const void *from, size_t bytes);
