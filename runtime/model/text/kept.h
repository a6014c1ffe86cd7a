/* kept.h - keeps the first numbers of embeddings of texts (Kusupati et al. 2022, "Matryoshka"). The
 * result of a model that gives unit vectors is a unit vector again. */
#pragma once

#include "model/text/calls.h"

/* Returns the numbers of an output's embedding that are kept, or 0: it is none, or all are kept. */
size_t attn2c_text_kept(const attn2c_reader *reader, int output);

/* Copies the first `kept` numbers of an embedding; scales: 1 to make them a unit vector. */
void attn2c_text_keep(const float *values, size_t kept, int scales, float *to);

/* Computes the reader's texts with whole embeddings by `run`, and writes the numbers that are kept to the
 * outputs. Returns `run`'s status, or ATTN2C_MEMORY. */
typedef int attn2c_text_run(attn2c_reader *reader, attn2c_context *context, int64_t rows,
                            void *const *outputs);
int attn2c_text_kept_run(attn2c_reader *reader, attn2c_context *context, int64_t rows, void *const *outputs,
                         attn2c_text_run *run);
