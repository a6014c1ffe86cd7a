/* media_facts.h - facts of a model whose inputs are files, such as pictures or sounds: which input they fill,
 * how many become calls, and the answer. */
#pragma once

#include "base/text_facts.h"

typedef struct attn2c_media_facts {
  int input;                     /* index of the entry's input */
  int has_shapes;                /* 1: two more inputs have the items' shapes and lengths */
  int shape_input, length_input; /* indices of these */
  attn2c_answer answer;
  int output;                /* index of the output that answers */
  int has_similarity;        /* 1: the output `similarity` makes scores of cosines */
  int similarity;            /* [batch][1 or 2]: a score is exp(first number) cosine + second number */
  const char *const *labels; /* NULL: labels are numbers */
  int label_count;
  attn2c_label_function function;
  const attn2c_lengths *calls; /* how a number of files becomes calls; NULL: the model takes any length */
} attn2c_media_facts;
