/* picture_facts.h - facts of a model that takes pictures: how pixels become its input, and its answer. */
#pragma once

#include "base/media_facts.h"

typedef enum {
  ATTN2C_RESIZE_NONE,
  ATTN2C_RESIZE_EXACT,    /* to resize_width x resize_height */
  ATTN2C_RESIZE_SHORTEST, /* the shorter edge to resize_height; the longer one keeps the ratio, rounded down
                           */
  ATTN2C_RESIZE_BETWEEN,  /* likewise, but the longer edge has at most resize_width */
  ATTN2C_RESIZE_WITHIN    /* to the largest size of the same ratio in resize_width x resize_height */
} attn2c_resize_kind;

typedef enum {
  ATTN2C_FILTER_NEAREST,
  ATTN2C_FILTER_LANCZOS,
  ATTN2C_FILTER_BILINEAR,
  ATTN2C_FILTER_BICUBIC,
  ATTN2C_FILTER_BOX,
  ATTN2C_FILTER_HAMMING
} attn2c_filter; /* Pillow's numbers */

/* The planes of a picture: red, green, blue. */
#define ATTN2C_PLANES 3

typedef struct attn2c_picture_facts {
  int width, height; /* of the model's input */
  int patch;         /* not 0: the input is rows of patches of the whole picture, whose side this is */
  int most;          /* at most this many of them; two inputs say how many */
  attn2c_resize_kind resize;
  int resize_width, resize_height;
  attn2c_filter filter;
  int keeps_fractions; /* 1: resized values are not rounded to whole numbers, as in torchvision's of floats */
  int crops;           /* 1: the middle of the resized picture, width x height; beyond its edges there is 0 */
  int pads;            /* 1: right of and below the resized picture the input is 0 */
  double scale;        /* factor of a pixel's value, 0 to 255 */
  float mean[ATTN2C_PLANES], deviation[ATTN2C_PLANES]; /* (value - mean) / deviation */
  const attn2c_media_facts *media;
} attn2c_picture_facts;

/* The program's commands for pictures (program/commands.h). In the program of a model that takes
 * pictures, attn2c_the_pictures points to them, and attn2c_the_picture_facts to the model's facts; other
 * programs contain neither. */
typedef struct attn2c_picture_commands attn2c_picture_commands;
extern const attn2c_picture_commands attn2c_picture_program;
extern const attn2c_picture_commands *const attn2c_the_pictures __attribute__((weak));
extern const attn2c_picture_facts *const attn2c_the_picture_facts __attribute__((weak));

/* Embeddings of texts. */
typedef struct attn2c_text_vectors {
  float *values; /* [count][width] */
  size_t cut;    /* texts that were longer than a call takes */
  size_t tokens; /* of all texts, as far as they were read */
  size_t at; /* after a fault: number of the text that it is about, from 0; the count if it is about none */
} attn2c_text_vectors;

/* The functions of a program of pictures that read texts (program/picture/texts.h). */
typedef struct attn2c_texts_reader attn2c_texts_reader;
extern const attn2c_texts_reader attn2c_picture_texts_program;

/* The model of texts in the program of a model of pictures; others have no attn2c_the_texts. */
typedef struct attn2c_texts_model attn2c_texts_model;
typedef struct attn2c_texts {
  /* threads: of attn2c_arguments. The caller closes it in every case. */
  int (*open)(const char *weights, int threads, attn2c_texts_model **opened, char *message, size_t size);
  int (*embed)(attn2c_texts_model *opened, const char *const *texts, const size_t *lengths, size_t count,
               attn2c_text_vectors *result, char *message, size_t size);
  void (*close)(attn2c_texts_model *opened);
  const attn2c_texts_reader *reader;
  const char *name;
  int64_t width;  /* numbers of an embedding */
  int64_t tokens; /* that a call takes */
} attn2c_texts;
extern const attn2c_texts *const attn2c_the_texts __attribute__((weak));
