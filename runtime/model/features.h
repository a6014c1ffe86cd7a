/* features.h - declares how the samples of a whole sound become the rows that a model reads. The entry
 * `features` makes rows of a chunk of samples; what depends on the whole sound is done around its calls. */
#pragma once

#include "model/model.h"

/* Energies of larger samples may not be finite. */
#define ATTN2C_LARGEST_SAMPLE 1e9F

typedef struct attn2c_feature_facts {
  int entry;           /* number of the entry `features` */
  int64_t length, hop; /* samples that a row is made of, and from one row to the next */
  int64_t width;       /* numbers of a row */
  int64_t chunk;       /* rows of a call */
  int64_t margin;      /* samples before the first one and after the last, which are reflected */
  int64_t samples;     /* a sound is filled up with zeros to this many, or cut; 0: no */
  int64_t rows; /* of all features, of which further ones are `filler`, or cut off; 0: all that are made */
  float filler;
  float range;        /* what is less than the largest number less this becomes that; 0: no */
  int is_centred;     /* 1: each column loses its mean */
  int is_normalised;  /* 1: samples get the mean 0 and the variance 1 */
  int kernel, stride; /* of a convolution that is normalised over the whole sound; 0: there is none */
  int64_t channels; /* its channels, if each of `groups` equal parts of them has one mean and variance, which
                     * are measured; 0: they follow from the samples' covariance */
  int64_t groups;
  int measuring;    /* number of the entry `channels`, which makes its rows */
  int64_t measured; /* rows of a call of that */
} attn2c_feature_facts;

/* Returns the rows for a number of samples; 0: they are too few. */
int64_t attn2c_feature_rows(const attn2c_feature_facts *facts, int64_t count);

/* Writes the features [rows][width] of `count` samples. Allocates nothing. Returns ATTN2C_USAGE for another
 * number of rows, or the status of a call. */
int attn2c_features(const attn2c_context *context, const attn2c_feature_facts *facts, const float *samples,
                    int64_t count, float *features, int64_t rows);
