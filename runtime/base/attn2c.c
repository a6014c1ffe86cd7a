/* attn2c.c - implements the texts of statuses, the bounded message and the aligned allocation. Text from a
 * file or a command line may hold anything, so a message removes control characters and broken UTF-8. */
#define _DEFAULT_SOURCE
#include "base/attn2c.h"
#ifdef ATTN2C_GUARD_PAGES
#include "base/guard.h"
#endif
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Blocks of at least HUGE_BLOCK bytes are aligned to huge pages. A model's weights are streamed once per
 * call, and each miss of the address translation then costs time. Smaller blocks would waste most of a
 * page. */
#define HUGE_PAGE  ((size_t)2 << 20)
#define HUGE_BLOCK ((size_t)4 << 20)

attn2c_message attn2c_message_make(char *text, size_t size) {
  attn2c_message message = {text, text ? size : 0, 0};
  if (message.size) text[0] = '\0';
  return message;
}

/* Replaces characters as attn2c_printable does. `cut`: the text did not fit, so its last character may be
 * incomplete. */
static void make_printable(char *text, size_t length, int cut) {
  size_t to = 0;
  for (size_t at = 0; at < length;) {
    const size_t width = attn2c_utf8_width(text + at, length - at);
    if (width == 0 && cut && length - at < 4 && (unsigned char)text[at] >= 0xc0) break;
    if (width && attn2c_is_seen(attn2c_utf8_point(text + at, width))) {
      memmove(text + to, text + at, width);
      to += width;
    } else {
      text[to++] = '?';
    }
    at += width ? width : 1;
  }
  text[to] = '\0';
}

void attn2c_printable(char *text) { make_printable(text, strlen(text), 0); }

void attn2c_say(attn2c_message *message, const char *format, ...) {
  if (!message || !message->text || message->size == 0) return;
  size_t capacity = message->size - message->used;
  if (message->used) {
    if (capacity < 3) return; /* a newline, one character and the terminator */
    message->text[message->used] = '\n';
    message->used++, capacity--;
  }
  char *line = message->text + message->used;
  va_list arguments;
  va_start(arguments, format);
  int wanted = vsnprintf(line, capacity, format, arguments);
  va_end(arguments);
  if (wanted < 0) line[0] = '\0';
  make_printable(line, strlen(line), wanted >= 0 && (size_t)wanted >= capacity);
  message->used += strlen(line);
}

const char *attn2c_strerror(int status) {
  switch (status) {
  case ATTN2C_OK:
    return "done";
  case ATTN2C_MISMATCH:
    return "a comparison failed";
  case ATTN2C_USAGE:
    return "wrong usage, or an invalid description";
  case ATTN2C_FORMAT:
    return "a malformed input";
  case ATTN2C_IO:
    return "input or output failed";
  case ATTN2C_MEMORY:
    return "out of memory";
  case ATTN2C_MACHINE:
    return "this machine cannot run it";
  default:
    return "unknown status";
  }
}

#ifdef ATTN2C_GUARD_PAGES

void *attn2c_reserve(size_t bytes) { return attn2c_guard_allocate(bytes); }
void *attn2c_allocate(size_t bytes) { return attn2c_guard_allocate(bytes); }
void attn2c_free(void *memory) { attn2c_guard_free(memory); }

#else

void *attn2c_reserve(size_t bytes) {
  size_t alignment = bytes >= HUGE_BLOCK ? HUGE_PAGE : ATTN2C_ALIGNMENT, rounded;
  if (bytes == 0) bytes = 1;
  /* The overflow check comes before the rounding: a sum that wrapped would round to a small number and
   * pass. */
  if (__builtin_add_overflow(bytes, alignment - 1, &rounded)) return NULL;
  rounded -= rounded % alignment;
  if (rounded > PTRDIFF_MAX) return NULL;
  void *memory = aligned_alloc(alignment, rounded);
  if (!memory) return NULL;
  /* This advice must come before the pages are touched. A kernel without huge pages refuses it, which costs
   * speed only. */
  if (alignment == HUGE_PAGE) (void)madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

void *attn2c_allocate(size_t bytes) {
  void *memory = attn2c_reserve(bytes);
  if (!memory) return NULL;
  size_t used = (bytes + ATTN2C_ALIGNMENT - 1) / ATTN2C_ALIGNMENT * ATTN2C_ALIGNMENT;
  return memset(memory, 0, used ? used : ATTN2C_ALIGNMENT);
}

void attn2c_free(void *memory) { free(memory); }

#endif
