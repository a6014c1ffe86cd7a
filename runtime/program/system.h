/* system.h - declares what the program needs of an operating system beyond system/system.h. linux.c and
 * windows.c, beside this file, implement it. Functions set errno as POSIX's do. */
#pragma once

#include "system/system.h"

#include <signal.h>
#include <stdio.h>

/* Prepares the process: its standard streams are open and take bytes, and a write that fails raises no
 * signal. lost: is called if a mapped file cannot be read any more, and does not return. Returns main's
 * words, in UTF-8. */
char **attn2c_program_begin(int *count, char **words, void (*lost)(void));

/* Calls `note` when a signal comes, SIGINT or SIGTERM, unless the process ignores it. is_once: a second one
 * ends the program. restarts: a read goes on after it. */
void attn2c_program_signal(int number, void (*note)(int number), int is_once, int restarts);

/* Prepares the calls below. Returns 0 if the system has no means for them. */
int attn2c_program_may_wake(void);
/* Ends a wait; a handler of signals may call it. */
void attn2c_program_wake(void);
/* Returns 1 if a descriptor can be read; with may_wait it waits for that. Returns 0 if it cannot, or if
 * *noted, which is set before a wake. */
int attn2c_program_await(int descriptor, int may_wait, const volatile sig_atomic_t *noted);

/* Reads what has come, as read() does; a terminal's text is in UTF-8. */
int64_t attn2c_program_read(int descriptor, void *to, size_t bytes);
/* Reads a line of the standard input, as getline does. *is_ended: 1 if it has ended. */
int64_t attn2c_program_line(char **line, size_t *capacity, int *is_ended);

/* Calls `visit` with each name in a folder until it returns other than 0, and returns that. Returns -1 if the
 * folder cannot be read. */
int attn2c_program_names(const char *folder, int (*visit)(void *context, const char *name), void *context);

/* Opens a stream whose bytes are gathered in memory; NULL without memory. */
FILE *attn2c_program_gather(char **text, size_t *size);
/* Closes it. *text, which the caller frees, then has its bytes and a NUL. Returns 0, or EOF. */
int attn2c_program_gathered(FILE *stream, char **text, size_t *size);

/* A file that can be opened by its path, too, until it ends. */
typedef struct {
  int descriptor;
  char path[800];
} attn2c_scratch;
/* Makes one. Returns 0, or -1. */
int attn2c_program_scratch(attn2c_scratch *made);
void attn2c_program_scratch_end(const attn2c_scratch *made);

/* Writes random bytes. Returns 0 if there are none. */
int attn2c_program_random(void *to, size_t bytes);

/* The path of a file that takes everything and has nothing. */
#ifdef _WIN32
#define ATTN2C_NULL_PATH "NUL"
#else
#define ATTN2C_NULL_PATH "/dev/null"
#endif

#ifdef _WIN32
/* What POSIX and GNU have in <string.h>. */
void *memmem(const void *in, size_t size, const void *bytes, size_t length);
char *stpcpy(char *to, const char *from);
#endif
