/* attn2c.c - implements the texts of statuses, the bounded message and the aligned allocation. Text from a
 * file or a command line may hold anything, so a message removes control characters and broken UTF-8. */
#include "base/attn2c.h"
#include "base/utf8.h"
#include "system/system.h"

#include <stdarg.h>

/* Blocks of at least HUGE_BLOCK bytes are aligned to huge pages. A model's weights are streamed once per
 * call: each miss of the address translation costs time. Smaller blocks would waste most of a page. */
#define PAGE       ((size_t)4096)
#define HUGE_PAGE  ((size_t)2 << 20)
#define HUGE_BLOCK ((size_t)4 << 20)

/* Bytes from which it pays to take a block's pages by a system call. */
#define POPULATED_BLOCK ((size_t)128 << 10)

attn2c_message attn2c_message_make(char *text, size_t size) {
  attn2c_message message = {text, text ? size : 0, 0};
  if (message.size) text[0] = '\0';
  return message;
}

/* Replaces characters as attn2c_printable does. `cut`: the last character may be incomplete. */
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
  static const char *const texts[] = {[ATTN2C_OK] = "done",
                                      [ATTN2C_MISMATCH] = "a comparison failed",
                                      [ATTN2C_USAGE] = "wrong usage, or an invalid description",
                                      [ATTN2C_FORMAT] = "a malformed input",
                                      [ATTN2C_IO] = "input or output failed",
                                      [ATTN2C_MEMORY] = "out of memory",
                                      [ATTN2C_MACHINE] = "this machine cannot run it"};
  return status >= 0 && status <= ATTN2C_MACHINE ? texts[status] : "unknown status";
}

/* Returns memory for bytes that are rounded up to an alignment, which it has; NULL if there is none. A block
 * aligned to pages gets advice, which must come before its pages are touched. */
static void *reserve_at(size_t bytes, size_t alignment, attn2c_advice advice) {
  size_t rounded;
  if (bytes == 0) bytes = 1;
  /* Overflow is checked before rounding: a sum that wrapped would round to a small number and pass. */
  if (__builtin_add_overflow(bytes, alignment - 1, &rounded)) return NULL;
  rounded -= rounded % alignment;
  if (rounded > PTRDIFF_MAX) return NULL;
  void *memory = attn2c_system_allocate(alignment, rounded);
  if (memory && alignment > ATTN2C_ALIGNMENT) (void)attn2c_system_advise(memory, rounded, advice);
  return memory;
}

void *attn2c_reserve(size_t bytes) {
  return reserve_at(bytes, bytes >= HUGE_BLOCK ? HUGE_PAGE : ATTN2C_ALIGNMENT, ATTN2C_HUGE_PAGES);
}

void *attn2c_reserve_sparse(size_t bytes) {
  return reserve_at(bytes, bytes >= HUGE_BLOCK ? HUGE_PAGE : ATTN2C_ALIGNMENT, ATTN2C_SMALL_PAGES);
}

void attn2c_make_dense(void *memory, size_t bytes) {
  if (bytes < HUGE_BLOCK || attn2c_system_advise(memory, bytes, ATTN2C_HUGE_PAGES) != 0) return;
  (void)attn2c_system_advise(memory, bytes, ATTN2C_COLLAPSE);
}

/* Gives a block its pages at once: each would be given when it is zeroed, by a fault of its own. */
static void take_pages(void *memory, size_t bytes) {
  const size_t over = (uintptr_t)memory % PAGE;
  if (bytes >= POPULATED_BLOCK)
    (void)attn2c_system_advise((char *)memory - over, bytes + over, ATTN2C_POPULATE);
}

void *attn2c_allocate(size_t bytes) {
  void *memory = attn2c_reserve(bytes);
  if (!memory) return NULL;
  take_pages(memory, bytes);
  size_t used = (bytes + ATTN2C_ALIGNMENT - 1) / ATTN2C_ALIGNMENT * ATTN2C_ALIGNMENT;
  return memset(memory, 0, used ? used : ATTN2C_ALIGNMENT);
}

void attn2c_free(void *memory) { attn2c_system_free(memory); }

int attn2c_more(void *variable, size_t count, size_t size) {
  if (count & (count - 1)) return ATTN2C_OK; /* no power of two, nor 0 */
  size_t bytes;
  void *list = __builtin_mul_overflow(count ? 2 * count : 1, size, &bytes)
                   ? NULL
                   : realloc(attn2c_pointer_at(variable), bytes);
  if (!list) return ATTN2C_MEMORY;
  memcpy(variable, &list, sizeof list);
  return ATTN2C_OK;
}

int attn2c_grow(void **list, size_t *capacity, size_t need, size_t size) {
  if (need <= *capacity && *list) return ATTN2C_OK;
  size_t wanted = *capacity < 32 ? 32 : *capacity, bytes;
  while (wanted < need)
    if (__builtin_mul_overflow(wanted, 2, &wanted)) return ATTN2C_MEMORY;
  if (__builtin_mul_overflow(wanted, size, &bytes) || bytes > PTRDIFF_MAX) return ATTN2C_MEMORY;
  void *moved = realloc(*list, bytes);
  if (!moved) return ATTN2C_MEMORY;
  *list = moved;
  *capacity = wanted;
  return ATTN2C_OK;
}

void *attn2c_copied(const void *from, size_t bytes) {
  char *copy = malloc(bytes + 1);
  if (!copy) return NULL;
  if (bytes) memcpy(copy, from, bytes);
  copy[bytes] = '\0';
  return copy;
}
