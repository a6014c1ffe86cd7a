/* precompiled.c - Precompiled: the character map of sentencepiece. The map is a double array of
 * bytes (in the format of Darts-clone). Its values are offsets in a block of texts, each ended by NUL. A
 * grapheme cluster of fewer than 6 bytes is looked up whole, and the shortest entry that it begins with
 * replaces all of it. Other clusters are mapped character by character. sentencepiece itself takes the
 * longest entry at each place. */
#include "text/stages.h"
#include "text/unicode.h"

#define LONGEST_CLUSTER 5

static uint32_t number(const uint8_t *bytes) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

typedef struct charsmap {
  const uint8_t *units;
  size_t count;
  text_span texts;
} charsmap;

static int unit_at(const charsmap *map, size_t index, uint32_t *unit) {
  if (index >= map->count) return 0;
  *unit = number(map->units + 4 * index);
  return 1;
}

static size_t offset(uint32_t unit) { return (size_t)(unit >> 10) << ((unit & 0x200) >> 6); }

/* Finds the text for the shortest entry at `key`'s start, or the longest. Returns the entry's bytes, or 0. */
static size_t look_up(const charsmap *map, const uint8_t *key, size_t length, int is_longest,
                      text_span *text) {
  size_t node = 0, found = 0;
  uint32_t unit;
  if (!unit_at(map, 0, &unit)) return 0;
  node ^= offset(unit);
  for (size_t i = 0; i < length && key[i] && (is_longest || !found); i++) {
    node ^= key[i];
    if (!unit_at(map, node, &unit) || (unit & 0x800000ffu) != key[i]) break;
    node ^= offset(unit);
    if (!(unit >> 8 & 1)) continue;
    if (!unit_at(map, node, &unit)) break;
    size_t begin = unit & 0x7fffffffu;
    if (begin > map->texts.length) break;
    const uint8_t *from = map->texts.bytes + begin;
    const uint8_t *end = begin < map->texts.length ? memchr(from, 0, map->texts.length - begin) : NULL;
    *text = (text_span){from, end ? (size_t)(end - from) : map->texts.length - begin};
    found = i + 1;
  }
  return found;
}

static size_t characters(const uint8_t *bytes, size_t length) {
  size_t count = 0;
  for (size_t i = 0; i < length; i++) count += (bytes[i] & 0xc0) != 0x80;
  return count;
}

/* Replaces `old` characters by a text. If the text has more, the last ones are inserted after those before.
 * If it has fewer, the last one removes the rest; if it has none, the character before does. */
static int replace(text_changes *changes, size_t old, text_span text) {
  size_t made = 0;
  for (size_t at = 0; at < text.length;) {
    int valid;
    size_t width = text_part(text.bytes + at, text.length - at, &valid), read;
    uint32_t point = valid ? text_read(text.bytes + at, &read) : TEXT_REPLACEMENT;
    ATTN2C_TRY(text_change_add(changes, point, made >= old));
    made++;
    at += width;
  }
  if (made < old && changes->count) changes->list[changes->count - 1].change -= (int32_t)(old - made);
  return ATTN2C_OK;
}

static int map_cluster(const charsmap *map, const uint8_t *cluster, size_t length, text_changes *changes,
                       int *changed) {
  text_span text;
  size_t width;
  if (length <= LONGEST_CLUSTER && look_up(map, cluster, length, 0, &text)) {
    *changed = 1;
    return replace(changes, characters(cluster, length), text);
  }
  for (size_t at = 0; at < length; at += width) {
    uint32_t point = text_read(cluster + at, &width);
    int status;
    if (look_up(map, cluster + at, width, 0, &text)) {
      *changed = 1;
      status = replace(changes, 1, text);
    } else {
      status = text_change_add(changes, point, 0);
    }
    if (status != ATTN2C_OK) return status;
  }
  return ATTN2C_OK;
}

/* Returns the end of the cluster at `begin`. Two characters of ASCII are always two clusters, except \r\n. */
static size_t cluster_end(const text_buffer *in, size_t begin) {
  int32_t state = 0;
  size_t width, end;
  uint32_t before = text_read(in->bytes + begin, &width);
  for (end = begin + width; end < in->length; end += width) {
    uint32_t after = text_read(in->bytes + end, &width);
    if (before < 0x80 && after < 0x80 ? before != '\r' || after != '\n'
                                      : text_cluster_break(before, after, &state))
      break;
    before = after;
  }
  return end;
}

/* Maps the character or the longest entry at the start of some bytes, and sets *width to what it is. */
static int map_longest(const charsmap *map, const uint8_t *bytes, size_t length, text_changes *changes,
                       int *changed, size_t *width) {
  text_span text;
  const size_t found = look_up(map, bytes, length, 1, &text);
  if (!found) return text_change_add(changes, text_read(bytes, width), 0);
  *width = found;
  *changed = 1;
  return replace(changes, characters(bytes, found), text);
}

int text_normalize_precompiled(attn2c_text_work *work, const text_component *component, const text_buffer *in,
                               text_buffer *out) {
  text_span blob = component->a;
  size_t bytes = blob.length >= 4 ? number(blob.bytes) / 4 * 4 : 0;
  int changed = 0;
  if (blob.length < 4 || bytes > blob.length - 4) return text_copy(out, in, 0, in->length);
  charsmap map = {blob.bytes + 4, bytes / 4, {blob.bytes + 4 + bytes, blob.length - 4 - bytes}};
  work->changes.count = 0;
  const int is_longest = (int)(component->flags & 1);
  size_t at = 0, width = 0;
  for (size_t end; at < in->length; at = end) {
    int status;
    if (is_longest) {
      status = map_longest(&map, in->bytes + at, in->length - at, &work->changes, &changed, &width);
      end = at + width;
    } else {
      end = cluster_end(in, at);
      if (work->is_open && end == in->length) break;
      status = map_cluster(&map, in->bytes + at, end - at, &work->changes, &changed);
    }
    if (status != ATTN2C_OK) return status;
  }
  return changed ? text_apply(in, &work->changes, out) : text_copy(out, in, 0, at);
}
