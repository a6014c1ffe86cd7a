/* labels.h - answers of texts and pictures that are labels or numbers, as text and as JSON. */
#pragma once

#include <jansson.h>

#include "program/answers/answer.h"

typedef struct {
  const char *const *names; /* NULL: labels are numbers */
  int count;                /* of names */
  attn2c_label_function function;
  int64_t width; /* scores */
  int top;       /* labels that are wanted; 0: the best, or all of at least 0.5 if each is true by itself */
} attn2c_labels;

/* Write the best labels of some scores, "-" if there are none; a label by its index; numbers: each as one
 * line. `picks` has a capacity of ATTN2C_MAX_TOP. */
void attn2c_labels_write(const attn2c_labels *labels, const float *scores, attn2c_pick *picks, FILE *out);
void attn2c_label_write(const attn2c_labels *labels, const float *index, FILE *out);
void attn2c_numbers_write(const float *values, int64_t count, FILE *out);

/* Writes a text with its score. */
void attn2c_pick_write(const char *text, size_t length, double score, FILE *out);

/* Add the same to an object: the best label, or a list if there may be several. Nonzero: no memory. */
int attn2c_labels_json(const attn2c_labels *labels, const float *scores, attn2c_pick *picks, json_t *object);
int attn2c_label_json(const attn2c_labels *labels, const float *index, json_t *object);
