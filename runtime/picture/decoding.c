/* decoding.c - the failure of a file that is decoded, and the memory of its pixels. */
#include <stdarg.h>

#include "picture/picture.h"
#include "picture/prepare.h"

int attn2c_decoding_fail(attn2c_decoding *of, int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(of->fault, ATTN2C_PICTURE_FAULT, format, arguments);
  va_end(arguments);
  of->status = status;
  return 0;
}

int attn2c_decoding_open(attn2c_decoding *of, uint64_t width, uint64_t height) {
  if (width == 0 || height == 0 || width > ATTN2C_MOST_PIXELS || height > ATTN2C_MOST_PIXELS / width)
    return attn2c_decoding_fail(of, ATTN2C_FORMAT,
                                "has %llu x %llu pixels, but 1 to %d pixels in all are allowed",
                                (unsigned long long)width, (unsigned long long)height, ATTN2C_MOST_PIXELS);
  const int64_t w = (int64_t)width, h = (int64_t)height;
  if (of->facts && !attn2c_picture_fits(of->facts, w, h) && !attn2c_picture_fits(of->facts, h, w))
    return attn2c_decoding_fail(of, ATTN2C_FORMAT, "%lld x %lld pixels cannot become the model's %d x %d",
                                (long long)w, (long long)h, of->facts->width, of->facts->height);
  of->picture.pixels = malloc((size_t)(width * height * 3));
  if (!of->picture.pixels)
    return attn2c_decoding_fail(of, ATTN2C_MEMORY, "no memory for %llu x %llu pixels",
                                (unsigned long long)width, (unsigned long long)height);
  of->picture.width = w, of->picture.height = h;
  return 1;
}
