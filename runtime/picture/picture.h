/* picture.h - decodes PNG and JPEG files to red, green and blue, as Pillow's convert("RGB") gives them,
 * turned as their Exif orientation says. Only programs link this, with libpng and libjpeg-turbo. */
#pragma once

#include "base/picture_facts.h"

/* The most pixels of a picture: Pillow refuses larger ones as decompression bombs. */
#define ATTN2C_MOST_PIXELS 178956970

typedef struct attn2c_picture {
  int64_t width, height;
  uint8_t *pixels; /* [height][width][3]; of malloc */
} attn2c_picture;

/* A buffer for the reason of a failure, in one line. */
#define ATTN2C_PICTURE_FAULT 200

/* Decodes the bytes of a file. Returns ATTN2C_OK; _MEMORY; _FORMAT: not such a file, damaged, cut, or of a
 * size that a model with these facts (NULL: any) does not take, which is found before its pixels are read. */
int attn2c_picture_decode(const uint8_t *bytes, size_t size, const attn2c_picture_facts *facts,
                          attn2c_picture *picture, char fault[ATTN2C_PICTURE_FAULT]);
void attn2c_picture_free(attn2c_picture *picture);
