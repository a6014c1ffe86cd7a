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

/* A file that is decoded, for all decoders. The metadata are in the decoder's or the file's memory. */
typedef struct attn2c_decoding {
  const uint8_t *bytes;
  size_t size, at;                   /* `at`: the next byte */
  const attn2c_picture_facts *facts; /* of the model; NULL: none */
  attn2c_picture picture;
  int orientation; /* 1 to 8, as Exif numbers them */
  int status;      /* of a failure */
  char *fault;     /* [ATTN2C_PICTURE_FAULT] */
} attn2c_decoding;

/* Return 1 if a whole picture was decoded. */
int attn2c_decode_png(attn2c_decoding *of);
int attn2c_decode_jpeg(attn2c_decoding *of);

/* Writes the reason of a failure. Returns 0. */
int attn2c_decoding_fail(attn2c_decoding *of, int status, const char *format, ...)
    __attribute__((format(ATTN2C_PRINTF, 3, 4)));

/* Allocates the pixels of a picture of this size. Returns 0 if it is too large, the model does not take it,
 * upright or turned, or there is no memory. */
int attn2c_decoding_open(attn2c_decoding *of, uint64_t width, uint64_t height);

/* Returns the orientation that Exif data say, or, if they say none, a packet of XMP; 1: neither. */
int attn2c_orientation(const uint8_t *exif, size_t exif_size, const uint8_t *xmp, size_t xmp_size);
