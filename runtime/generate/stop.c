/* stop.c - keeps for each stop string the number of its bytes that the text ends with. */
#include "generate/stop.h"

#include "base/utf8.h"

/* A stop string. */
typedef struct pattern {
  char *bytes;
  int32_t *borders; /* [i] the longest proper beginning of the first i bytes that is also their end */
  int32_t size;
  /* The longest beginning of the string with which the text ends: with hidden pieces, and without them. */
  int32_t matched[2];
} pattern;

struct attn2c_stop {
  int count, found, is_ended;
  uint64_t size;    /* bytes of the text */
  uint64_t matched; /* bytes of the text that belong to the stop string that was found */
  uint64_t taken;   /* bytes of the text and of hidden pieces */
  int has_hidden;
  unsigned char is_hidden[ATTN2C_STOP_BYTES]; /* of these bytes, the last ones, in a ring */
  int pending;                                /* bytes at the end that may become a character */
  int width;                                  /* bytes of that character */
  unsigned char first;
  pattern patterns[ATTN2C_STOP_STRINGS];
};

/* Adds a line for each string that is not allowed; returns how many there are. */
static int check_strings(const char *const *strings, int count, attn2c_message *message) {
  int faults = 0;
  if (count < 0 || count > ATTN2C_STOP_STRINGS) {
    attn2c_say(message, "stop: %d strings, but 0 to %d are allowed", count, ATTN2C_STOP_STRINGS);
    return 1;
  }
  for (int i = 0; i < count; i++) {
    const size_t size = strings[i] ? strlen(strings[i]) : 0;
    size_t at = 0;
    if (size < 1 || size > ATTN2C_STOP_BYTES) {
      attn2c_say(message, "stop: string %d has %zu bytes, but 1 to %d are allowed", i + 1, size,
                 ATTN2C_STOP_BYTES);
      faults++;
      continue;
    }
    while (at < size) {
      const size_t width = attn2c_utf8_width(strings[i] + at, size - at);
      if (width == 0) break;
      at += width;
    }
    if (at < size) {
      attn2c_say(message, "stop: string %d is not UTF-8 at byte %zu, but only UTF-8 is allowed", i + 1, at);
      faults++;
    }
  }
  return faults;
}

/* Returns how many bytes of the string are matched after one more byte; `matched` must be less than its size.
 */
static int32_t advance(const pattern *p, int32_t matched, char byte) {
  while (matched > 0 && p->bytes[matched] != byte) matched = p->borders[matched];
  return matched + (p->bytes[matched] == byte);
}

static int make_pattern(pattern *p, const char *string) {
  p->size = (int32_t)strlen(string);
  p->bytes = attn2c_reserve((size_t)p->size);
  p->borders = attn2c_reserve(((size_t)p->size + 1) * sizeof *p->borders);
  if (!p->bytes || !p->borders) return 0;
  memcpy(p->bytes, string, (size_t)p->size);
  p->borders[0] = p->borders[1] = 0;
  for (int32_t i = 1; i < p->size; i++) p->borders[i + 1] = advance(p, p->borders[i], p->bytes[i]);
  return 1;
}

int attn2c_stop_create(attn2c_stop **stop, const char *const *strings, int count, attn2c_message *message) {
  *stop = NULL;
  if (check_strings(strings, count, message) > 0) return ATTN2C_USAGE;
  attn2c_stop *s = attn2c_allocate(sizeof *s);
  int is_made = s != NULL;
  for (int i = 0; is_made && i < count; i++) {
    s->count = i + 1;
    is_made = make_pattern(&s->patterns[i], strings[i]);
  }
  if (!is_made) {
    attn2c_stop_free(s);
    return attn2c_fail(message, ATTN2C_MEMORY, "no memory for %d stop strings", count);
  }
  attn2c_stop_reset(s);
  *stop = s;
  return ATTN2C_OK;
}

void attn2c_stop_free(attn2c_stop *s) {
  if (!s) return;
  for (int i = 0; i < s->count; i++) {
    ATTN2C_FREE_ALIGNED(s->patterns[i].bytes, s->patterns[i].borders);
  }
  attn2c_free(s);
}

void attn2c_stop_reset(attn2c_stop *s) {
  s->found = -1;
  s->is_ended = s->pending = s->width = s->has_hidden = 0;
  s->size = s->matched = s->taken = 0;
  for (int i = 0; i < s->count; i++) s->patterns[i].matched[0] = s->patterns[i].matched[1] = 0;
}

/* True if `byte` may be the second byte of a character that begins with `first` (Unicode 15, table 3-7). */
static int is_second(unsigned char first, unsigned char byte) {
  const unsigned char least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned char most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  return byte >= least && byte <= most;
}

/* Counts the bytes at the end that may become a character. */
static void follow_character(attn2c_stop *s, unsigned char byte) {
  if (s->pending > 0) {
    const int continues = s->pending == 1 ? is_second(s->first, byte) : (byte & 0xc0) == 0x80;
    if (continues) {
      s->pending = s->pending + 1 < s->width ? s->pending + 1 : 0;
      return;
    }
  }
  s->first = byte;
  s->width = byte >= 0xc2 && byte <= 0xdf   ? 2
             : (byte & 0xf0) == 0xe0        ? 3
             : byte >= 0xf0 && byte <= 0xf4 ? 4
                                            : 0;
  s->pending = s->width > 0;
}

/* Returns how many of the last `count` bytes that were taken are of the text. */
static uint64_t shown_of(const attn2c_stop *s, int32_t count) {
  uint64_t shown = (uint64_t)count;
  for (int32_t i = 1; s->has_hidden && i <= count; i++)
    shown -= s->is_hidden[(s->taken - (uint64_t)i) % ATTN2C_STOP_BYTES];
  return shown;
}

/* Notes that a stop string ends the text, which has `bytes` of it. */
static void end_by(attn2c_stop *s, int number, uint64_t bytes) {
  s->is_ended = 1;
  if (s->found >= 0 && bytes <= s->matched) return;
  s->matched = bytes;
  s->found = number;
}

static int feed(attn2c_stop *s, const char *piece, size_t size, int is_hidden) {
  for (size_t at = 0; at < size && !s->is_ended; at++) {
    s->is_hidden[s->taken++ % ATTN2C_STOP_BYTES] = (unsigned char)is_hidden;
    s->size += !is_hidden;
    if (!is_hidden) follow_character(s, (unsigned char)piece[at]);
    for (int i = 0; i < s->count; i++) {
      pattern *p = &s->patterns[i];
      p->matched[0] = advance(p, p->matched[0], piece[at]);
      if (!is_hidden) p->matched[1] = advance(p, p->matched[1], piece[at]);
      if (p->matched[1] == p->size) end_by(s, i, (uint64_t)p->size);
      if (p->matched[0] == p->size) end_by(s, i, shown_of(s, p->size));
    }
  }
  return s->found;
}

int attn2c_stop_feed(attn2c_stop *s, const char *piece, size_t size) { return feed(s, piece, size, 0); }

int attn2c_stop_feed_hidden(attn2c_stop *s, const char *piece, size_t size) {
  s->has_hidden = 1;
  return feed(s, piece, size, 1);
}

int attn2c_stop_equal(const attn2c_stop *stop, const char *text, size_t size) {
  int number = stop->count - 1;
  while (number >= 0 && ((size_t)stop->patterns[number].size != size ||
                         memcmp(stop->patterns[number].bytes, text, size) != 0))
    number--;
  return number;
}

int attn2c_stop_has_any(const attn2c_stop *stop) { return stop->count > 0; }

void attn2c_stop_end(attn2c_stop *s) { s->is_ended = 1; }

uint64_t attn2c_stop_shown(const attn2c_stop *s) {
  if (s->found >= 0) return s->size - s->matched;
  uint64_t held = (uint64_t)s->pending;
  for (int i = 0; !s->is_ended && i < s->count; i++) {
    const pattern *p = &s->patterns[i];
    const uint64_t of_text = (uint64_t)p->matched[1], of_all = shown_of(s, p->matched[0]);
    if (of_text > held) held = of_text;
    if (of_all > held) held = of_all;
  }
  return s->size - held;
}
