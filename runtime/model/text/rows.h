/* rows.h - calls a model of any length with texts one after the other, without padding. */
#pragma once

#include "model/text/reader.h"

/* Computes the reader's texts, and copies the rows of each to its place in the outputs, as attn2c_reader_run
 * does. Texts are called in their order; a call takes texts that have the rows of the longest sequence at
 * most. Returns ATTN2C_OK, _USAGE, _FORMAT or _MEMORY, with the reason in reader->fault. */
int attn2c_text_rows_run(attn2c_reader *reader, attn2c_context *context, int64_t rows, void *const *outputs);
