/* fortified.c - functions of glibc that Debian's archive of Jansson, and libopus for Windows, call. They are
 * compiled with _FORTIFY_SOURCE. Programs that are linked with another C library (musl, Windows') use these
 * functions. They end the process if a buffer would overflow, as glibc's do. With glibc this file is empty.
 */
#include <stdio.h>

#ifndef __GLIBC__
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* `level` asks glibc to refuse %n in formats that can be written to. Jansson's are constants. */
int __vsnprintf_chk(char *text, size_t size, int level, size_t capacity, const char *format, va_list values);
int __snprintf_chk(char *text, size_t size, int level, size_t capacity, const char *format, ...);
char *__strncpy_chk(char *text, const char *from, size_t size, size_t capacity);
void *__memcpy_chk(void *to, const void *from, size_t size, size_t capacity);
void *__memmove_chk(void *to, const void *from, size_t size, size_t capacity);
void *__memset_chk(void *to, int value, size_t size, size_t capacity);

int __vsnprintf_chk(char *text, size_t size, int level, size_t capacity, const char *format, va_list values) {
  (void)level;
  if (size > capacity) abort();
  return vsnprintf(text, size, format, values);
}

int __snprintf_chk(char *text, size_t size, int level, size_t capacity, const char *format, ...) {
  va_list values;
  va_start(values, format);
  const int length = __vsnprintf_chk(text, size, level, capacity, format, values);
  va_end(values);
  return length;
}

char *__strncpy_chk(char *text, const char *from, size_t size, size_t capacity) {
  if (size > capacity) abort();
  return strncpy(text, from, size);
}

void *__memcpy_chk(void *to, const void *from, size_t size, size_t capacity) {
  if (size > capacity) abort();
  return memcpy(to, from, size);
}

void *__memmove_chk(void *to, const void *from, size_t size, size_t capacity) {
  if (size > capacity) abort();
  return memmove(to, from, size);
}

void *__memset_chk(void *to, int value, size_t size, size_t capacity) {
  if (size > capacity) abort();
  return memset(to, value, size);
}
#else
typedef int attn2c_is_not_empty; /* ISO C forbids an empty translation unit */
#endif
