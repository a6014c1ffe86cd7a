/* pictures.c - a program that makes PNG files of grey values, with libpng: `pictures FROM TO`. FROM has, for
 * each picture, a line "WIDTH HEIGHT" and WIDTH * HEIGHT bytes, row by row, 255 white; TO gets for each a
 * line with its bytes, and these. No part of any model: gen/attn2c report --attention compiles it. */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIDE = 16384 };

/* The exit codes of all programs here. */
enum { DONE = 0, USAGE = 2, FORMAT = 3, IO = 4, MEMORY = 5 };

static int failed(int code, const char *what) {
  fprintf(stderr, "pictures: %s\n", what);
  return code;
}

/* One picture from its values. */
static int convert(const unsigned char *grey, unsigned width, unsigned height, FILE *to) {
  png_image image = {
      .version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = PNG_FORMAT_GRAY};
  png_alloc_size_t bytes = 0;
  if (!png_image_write_to_memory(&image, NULL, &bytes, 0, grey, 0, NULL))
    return failed(MEMORY, image.message);
  unsigned char *memory = malloc(bytes);
  if (!memory) return failed(MEMORY, "no memory");
  int code = DONE;
  if (!png_image_write_to_memory(&image, memory, &bytes, 0, grey, 0, NULL))
    code = failed(MEMORY, image.message);
  if (code == DONE && (fprintf(to, "%zu\n", (size_t)bytes) < 0 || fwrite(memory, 1, bytes, to) != bytes))
    code = failed(IO, "cannot write");
  free(memory);
  return code;
}

static int convert_all(FILE *from, FILE *to) {
  unsigned width, height;
  char line[64];
  while (fgets(line, sizeof line, from)) {
    if (sscanf(line, "%u %u", &width, &height) != 2 || width < 1 || height < 1 || width > MOST_SIDE ||
        height > MOST_SIDE)
      return failed(FORMAT, "a line WIDTH HEIGHT is expected");
    const size_t count = (size_t)width * height;
    unsigned char *grey = malloc(count);
    if (!grey) return failed(MEMORY, "no memory");
    const int code = fread(grey, 1, count, from) == count ? convert(grey, width, height, to)
                                                          : failed(FORMAT, "a picture ends too early");
    free(grey);
    if (code != DONE) return code;
  }
  return DONE;
}

int main(int argc, char **argv) {
  if (argc != 3) return failed(USAGE, "FROM and TO are expected");
  FILE *from = fopen(argv[1], "rb");
  if (!from) return failed(IO, "cannot read FROM");
  FILE *to = fopen(argv[2], "wb");
  int code = to ? convert_all(from, to) : failed(IO, "cannot write TO");
  if (to && fclose(to) != 0 && code == DONE) code = failed(IO, "cannot write TO");
  fclose(from);
  return code;
}
