/* system.h - declares what attn2c needs of an operating system beyond C, POSIX threads and POSIX's clocks.
 * Each system has one file that implements it: linux.c, macos.c, windows.c. Where a system lacks what only
 * saves time, its function does nothing. Functions of files set errno as POSIX's do, and take paths in UTF-8.
 */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#ifdef _WIN32
#define O_CLOEXEC  _O_NOINHERIT
#define O_NONBLOCK 0
#define O_NOCTTY   0
#undef PATH_MAX /* 260: of paths without a prefix, which attn2c_system_wide adds */
#define PATH_MAX 4096
/* Writes a path of UTF-8 as Windows takes it, of any length. Returns 0 with errno if it is none. */
int attn2c_system_wide(const char *path, wchar_t wide[PATH_MAX]);
#endif

/* Memory whose address and size are multiples of a power of two; NULL if there is none. */
void *attn2c_system_allocate(size_t alignment, size_t bytes);
void attn2c_system_free(void *memory);

typedef enum attn2c_advice {
  ATTN2C_HUGE_PAGES,  /* map it by huge pages from the first touch on */
  ATTN2C_SMALL_PAGES, /* do not */
  ATTN2C_COLLAPSE,    /* make huge pages of what was touched already */
  ATTN2C_POPULATE,    /* give it all its pages now */
  ATTN2C_WILL_READ    /* read the mapped file ahead */
} attn2c_advice;
/* Returns 0, or -1 if the system does not follow the advice. */
int attn2c_system_advise(void *memory, size_t bytes, attn2c_advice advice);

/* Bytes of a page, and of the machine's memory; 0: unknown. */
size_t attn2c_system_page(void);
size_t attn2c_system_memory(void);

/* Reserves pages without access; NULL if there are none. Bytes are whole pages. */
void *attn2c_system_reserve(size_t bytes);
typedef enum attn2c_access { ATTN2C_NO_ACCESS, ATTN2C_READ_ONLY, ATTN2C_READ_WRITE } attn2c_access;
/* Returns 0, or -1. */
int attn2c_system_protect(void *pages, size_t bytes, attn2c_access access);
void attn2c_system_release(void *pages, size_t bytes);

/* Returns the descriptor that a path stands for (/dev/stdout) where the system has no such files, or -1. */
int attn2c_system_stream(const char *path);
/* Returns the last slash of a path, or NULL. */
const char *attn2c_system_slash(const char *path);
/* Opens a file as open does, for bytes; a new one gets the usual permissions. */
int attn2c_system_open(const char *path, int flags);
/* Opens a new file without a name in a folder; -1 if that is not supported. Gives such a file a name. */
int attn2c_system_open_unnamed(const char *folder);
int attn2c_system_name(int descriptor, const char *path);
/* Opens a second descriptor of what is open. */
int attn2c_system_again(int descriptor);
int64_t attn2c_system_read(int descriptor, void *to, size_t bytes, int64_t offset);
/* Writes zeros into a new file of `size` bytes from `offset` on, in units in which it is mapped well. Returns
 * the offset after them, or -1. */
int64_t attn2c_system_write_zeros(int descriptor, int64_t offset, int64_t size);
int attn2c_system_sync(int descriptor);
/* Makes a change of the names in a folder durable, where that is supported. */
void attn2c_system_sync_folder(const char *folder);
int attn2c_system_permit(int descriptor, unsigned permissions);
/* Waits until a stream that is full takes more; true if it does. */
int attn2c_system_await_output(int descriptor);
/* Gives a file another name, in place of the file that has it. */
int attn2c_system_rename(const char *from, const char *to);
int attn2c_system_unlink(const char *path);
/* True if the path exists. */
int attn2c_system_exists(const char *path);

typedef enum attn2c_file_kind {
  ATTN2C_REGULAR,
  ATTN2C_FOLDER,
  ATTN2C_CHARACTER, /* a character device */
  ATTN2C_PIPE,
  ATTN2C_LINK,
  ATTN2C_OTHER_KIND
} attn2c_file_kind;
typedef struct attn2c_about {
  attn2c_file_kind kind;
  unsigned permissions;    /* 0 to 0777 */
  int64_t size, changed;   /* bytes; seconds */
  uint64_t device, number; /* the file, whatever its names */
} attn2c_about;
/* Tells what is open, or at a path: of what links lead to, or (is_link) of a link itself. Returns 0, or -1.
 */
int attn2c_system_about_open(int descriptor, attn2c_about *about);
int attn2c_system_about(const char *path, int is_link, attn2c_about *about);
/* Writes the path that a link has, without a terminator, and returns its length, or -1. */
int64_t attn2c_system_read_link(const char *path, char *to, size_t bytes);
/* Writes the path without links; NULL if it does not exist. to: PATH_MAX bytes. */
char *attn2c_system_real_path(const char *path, char *to);
/* Maps a file's bytes read-only; NULL with errno. */
void *attn2c_system_map(int descriptor, size_t bytes);
void attn2c_system_unmap(void *mapping, size_t bytes);

/* Returns the processors that this process may use, 1 or more. */
int attn2c_system_processors(void);
/* Returns the processor of this thread; -1: unknown. */
int attn2c_system_core(void);

/* A set of processors. */
#ifdef __linux__
#include <sched.h>
typedef cpu_set_t attn2c_cores;
#else
typedef int attn2c_cores;
#endif
/* Reads the processors that a thread may use; 0: the system does not tell. */
int attn2c_system_cores(pthread_t thread, attn2c_cores *cores);
/* Lets a thread use some of them only: all but `core`, or `core` itself. Returns 0 if it cannot, or none is
 * left. used: what it then may use. */
int attn2c_system_use_cores(pthread_t thread, const attn2c_cores *of, int core, int is_only,
                            attn2c_cores *used);
int attn2c_system_same_cores(const attn2c_cores *a, const attn2c_cores *b);

/* Nanoseconds that a thread has computed; 0: unknown. */
int64_t attn2c_system_computed(pthread_t thread);

/* Waits until `count` is not `seen` any more and somebody wakes, at most `nap` nanoseconds (-1: any time);
 * may return sooner. */
void attn2c_system_wait(atomic_uint *count, unsigned seen, long nap);
/* Wakes all that wait for the count. */
void attn2c_system_wake(atomic_uint *count);

/* Starts a thread that handles no signal of the process. stack: bytes at least. Returns 0, or an error number
 * as pthread_create does. */
int attn2c_system_start(pthread_t *thread, size_t stack, void *(*body)(void *), void *argument);

/* Sets the C locale of this thread for reading numbers, and what it was. */
typedef struct attn2c_locale {
  void *plain, *before;
} attn2c_locale;
attn2c_locale attn2c_system_plain_locale(void);
void attn2c_system_restore_locale(attn2c_locale locale);
