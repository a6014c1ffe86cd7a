/* pictures.c - a program that makes PNG files of grey values, with libpng: `pictures FROM TO`. FROM has, for
 * each picture, a line "WIDTH HEIGHT" and WIDTH * HEIGHT bytes, row by row, where 255 is white. TO gets, for
 * each picture, a line with its number of bytes, and the bytes. It is not a part of any model. gen/attn2c
 * report --attention compiles it. */
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

/* A file in memory. */
typedef struct bytes {
  unsigned char *at;
  size_t count, capacity;
} bytes;

/* libpng reports errors by longjmp; `leave` prints the message first. */
static void leave(png_structp png, png_const_charp message) {
  fprintf(stderr, "pictures: %s\n", message);
  png_longjmp(png, 1);
}

static void append(png_structp png, png_bytep data, png_size_t count) {
  bytes *to = png_get_io_ptr(png);
  if (to->capacity - to->count < count) {
    const size_t capacity = 2 * (to->count + count);
    unsigned char *grown = realloc(to->at, capacity);
    if (!grown) png_error(png, "no memory");
    to->at = grown;
    to->capacity = capacity;
  }
  memcpy(to->at + to->count, data, count);
  to->count += count;
}

static void flush(png_structp png) { (void)png; }

/* Writes one picture, with its maker after its size, by which gen/attn2c knows its own pictures. */
static void write_picture(png_structp png, png_infop info, const unsigned char *grey, unsigned width,
                          unsigned height) {
  png_text made_by = {.compression = PNG_TEXT_COMPRESSION_NONE,
                      .key = "Software",
                      .text = "attn2c report",
                      .text_length = 13};
  png_set_IHDR(png, info, width, height, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_text(png, info, &made_by, 1);
  png_write_info(png, info);
  for (unsigned y = 0; y < height; y++) png_write_row(png, grey + (size_t)y * width);
  png_write_end(png, NULL);
}

/* Encodes one picture in memory; the caller frees made->at. */
static int encode(const unsigned char *grey, unsigned width, unsigned height, bytes *made) {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, leave, NULL);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  if (!info) {
    if (png) png_destroy_write_struct(&png, NULL);
    return failed(MEMORY, "no memory");
  }
  if (setjmp(png_jmpbuf(png))) {
    png_destroy_write_struct(&png, &info);
    return MEMORY;
  }
  png_set_write_fn(png, made, append, flush);
  write_picture(png, info, grey, width, height);
  png_destroy_write_struct(&png, &info);
  return DONE;
}

static int convert(const unsigned char *grey, unsigned width, unsigned height, FILE *to) {
  bytes made = {NULL, 0, 0};
  int code = encode(grey, width, height, &made);
  if (code == DONE &&
      (fprintf(to, "%zu\n", made.count) < 0 || fwrite(made.at, 1, made.count, to) != made.count))
    code = failed(IO, "cannot write");
  free(made.at);
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
