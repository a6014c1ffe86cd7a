/* file_fuzz.c - damaged files of GGUF, torch.save(), PNG and JPEG: file_fuzz SEED FIRST COUNT FILE... Each
 * case is one of the files with some changes, read by the runtime's own reader in memory of exactly its size.
 * Nothing may crash, read outside or run on; the sanitizers and a clock watch. A case depends only on its
 * number and the seed. */
#define _DEFAULT_SOURCE
#include "base/readers.h"
#include "formats/gguf.h"
#include "picture/picture.h"

#include <sanitizer/common_interface_defs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { SECONDS = 20, MOST_FILES = 200, MOST_READ = 1024 /* elements of a tensor */ };

static uint64_t state;
static long number; /* of the case */
static const char *name;

static void tell(void) { fprintf(stderr, "case %ld, %s\n", number, name); }

static void fail(const char *what) {
  fprintf(stderr, "%s: ", what);
  tell();
  exit(1);
}

static uint64_t draw(uint64_t below) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return below ? (state >> 11) % below : 0;
}

static void put(uint8_t *to, uint64_t value, size_t bytes, int is_large_first) {
  for (size_t b = 0; b < bytes; b++) to[b] = (uint8_t)(value >> 8 * (is_large_first ? bytes - 1 - b : b));
}

/* Changes bits, bytes, and numbers of 16, 32 and 64 bits of both orders; or removes or repeats a stretch.
 * Half of the places are among the first bytes. Returns the size, which is at most `size` + 40. */
static size_t damage(uint8_t *bytes, size_t size) {
  static const uint64_t words[] = {0,          1,          2,          0x7f,          0x80,
                                   0xff,       0x7fff,     0xffff,     0x7fffffff,    0x80000000,
                                   0xffffffff, UINT64_MAX, 1ull << 40, INT64_MAX,     1ull << 63,
                                   65536,      1 << 24,    12,         0x100000001ull};
  for (uint64_t n = 1 + draw(4); n && size > 8; n--) {
    const size_t at = draw(2) ? draw(size) : draw(size < 700 ? size : 700);
    const size_t width = 2ull << draw(3), count = 1 + draw(40), kind = draw(10);
    if (kind < 2)
      bytes[at] = (uint8_t)(bytes[at] ^ (1 << draw(8)));
    else if (kind < 4)
      bytes[at] = (uint8_t)draw(256);
    else if (kind < 8 && size - at >= width)
      put(bytes + at, draw(4) ? words[draw(sizeof words / sizeof *words)] : draw(UINT64_MAX), width,
          (int)draw(2));
    else if (kind == 8 && size - at > count)
      memmove(bytes + at, bytes + at + count, size - at - count), size -= count;
    else if (kind == 9 && n == 1 && size - at > count)
      memmove(bytes + at + count, bytes + at, size - at), size += count;
    if (draw(30) == 0) size = draw(size);
  }
  return size;
}

/* Makes the checksums of a PNG file's chunks right, so that more than the checksum is read. */
static void mend_png(uint8_t *bytes, size_t size) {
  for (size_t at = 8; at + 12 <= size;) {
    const size_t length = (size_t)bytes[at] << 24 | (size_t)bytes[at + 1] << 16 | (size_t)bytes[at + 2] << 8 |
                          (size_t)bytes[at + 3];
    if (length > size - at - 12) return;
    put(bytes + at + 8 + length, crc32(0, bytes + at + 4, (uInt)length + 4), 4, 1);
    at += length + 12;
  }
}

static int read_tensors(const attn2c_format *format, const uint8_t *bytes, size_t size,
                        attn2c_message *message) {
  static float values[MOST_READ];
  attn2c_tensor_file *file;
  const int status = attn2c_tensor_file_open_memory(format, bytes, size, &file, message);
  for (int i = 0; status == ATTN2C_OK && i < file->count; i++) {
    const attn2c_file_tensor *tensor = &file->tensors[i];
    const int64_t most = tensor->elements < MOST_READ ? tensor->elements : MOST_READ;
    if (attn2c_tensor_file_find(file, tensor->name) != i) fail("a tensor is not found");
    if (!attn2c_is_readable(tensor->type)) continue;
    attn2c_tensor_file_read(file, i, tensor->elements - most, most, values, message);
    attn2c_tensor_file_read(file, i, (int64_t)draw((uint64_t)tensor->elements), 1, values, message);
  }
  attn2c_tensor_file_close(file);
  return status;
}

static int read_picture(const uint8_t *bytes, size_t size, attn2c_message *message) {
  char fault[ATTN2C_PICTURE_FAULT];
  attn2c_picture picture;
  const int status = attn2c_picture_decode(bytes, size, NULL, &picture, fault);
  if (status != ATTN2C_OK) attn2c_say(message, "%s", fault);
  if ((status == ATTN2C_OK) != (picture.pixels != NULL)) fail("pixels and status differ");
  attn2c_picture_free(&picture);
  return status;
}

static uint8_t *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  uint8_t *bytes = malloc(1 << 20);
  if (!file || !bytes) exit(4);
  *size = fread(bytes, 1, 1 << 20, file);
  fclose(file);
  return bytes;
}

int main(int count, char **words) {
  static uint8_t *files[MOST_FILES], changed[(1 << 20) + 40];
  static size_t sizes[MOST_FILES];
  if (count < 5 || count - 4 > MOST_FILES) return 2;
  for (int i = 4; i < count; i++) files[i - 4] = read_file(words[i], &sizes[i - 4]);
  const uint64_t seed = strtoull(words[1], NULL, 10);
  const long first = atol(words[2]), past = first + atol(words[3]);
  static const struct {
    const char *name, *end;
    const attn2c_format *format;
  } kinds[] = {{"gguf", ".gguf", &attn2c_gguf_format},
               {"torch", ".bin", &attn2c_torch_format},
               {"pictures", "", NULL}};
  long taken[3] = {0}, cases[3] = {0};
  __sanitizer_set_death_callback(tell);
  for (number = first; number < past; number++) {
    state = (seed * 0x9e3779b97f4a7c15u ^ (uint64_t)number * 0xd1342543de82ef95u) | 1;
    for (int i = 0; i < 8; i++) draw(2);
    const size_t which = draw((uint64_t)count - 4);
    name = words[4 + which];
    const int is_png = strstr(name, ".png") != NULL;
    int kind = 0;
    while (!strstr(name, kinds[kind].end)) kind++;
    memcpy(changed, files[which], sizes[which]);
    const size_t size = damage(changed, sizes[which]);
    if (is_png && draw(4)) mend_png(changed, size);
    uint8_t *bytes = malloc(size ? size : 1); /* of exactly this size, so that a read after it is seen */
    if (!bytes) return 5;
    memcpy(bytes, changed, size);
    char note[2000] = "";
    attn2c_message message = attn2c_message_make(note, sizeof note);
    alarm(SECONDS);
    const int status = kinds[kind].format ? read_tensors(kinds[kind].format, bytes, size, &message)
                                          : read_picture(bytes, size, &message);
    if (status != ATTN2C_OK && status != ATTN2C_FORMAT && status != ATTN2C_MEMORY) fail("another status");
    if (status != ATTN2C_OK && !*note) fail("no line says what is wrong");
    for (const char *c = note; *c; c++)
      if ((unsigned char)*c < ' ' && *c != '\n') fail("raw bytes on a terminal");
    cases[kind]++, taken[kind] += status == ATTN2C_OK;
    free(bytes);
  }
  for (int k = 0; k < 3; k++)
    printf("%s %ld taken %ld refused\n", kinds[k].name, taken[k], cases[k] - taken[k]);
  for (int i = 4; i < count; i++) free(files[i - 4]);
  return 0;
}
