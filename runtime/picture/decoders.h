/* decoders.h - what the decoders share: their results, the limits of sizes, and the orientation in a file's
 * metadata. */
#pragma once

#include "picture/picture.h"

/* A file that is decoded. The metadata are in the decoder's or the file's memory. */
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
    __attribute__((format(printf, 3, 4)));

/* Allocates the pixels of a picture of this size. Returns 0 if it is too large, the model does not take it,
 * upright or turned, or there is no memory. */
int attn2c_decoding_open(attn2c_decoding *of, uint64_t width, uint64_t height);

/* Returns the orientation that Exif data say, or, if they say none, a packet of XMP; 1: neither. */
int attn2c_orientation(const uint8_t *exif, size_t exif_size, const uint8_t *xmp, size_t xmp_size);
