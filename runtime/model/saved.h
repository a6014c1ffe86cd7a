/* saved.h - saves the keys and values of a sequence in a file, and loads them. The file is for one build and
 * one set of weights. A header of 4096 bytes says which, and how many tokens there are; then come the pages
 * of keys and values that have tokens. Token ids are not kept. */
#pragma once

#include "model/model.h"

/* Writes a sequence of a context as the file `path`, atomically (file.h). The first save or load with a model
 * whose weights were packed when it was opened reads them all, for their checksum. Returns ATTN2C_USAGE for a
 * model that does not continue, a sequence that the context does not have, or no path; _MEMORY; _IO. */
int attn2c_sequence_save(const attn2c_context *context, int64_t sequence, const char *path,
                         attn2c_message *message);

/* Reads such a file into a sequence, in place of its tokens. Returns a status like attn2c_sequence_save, or
 * ATTN2C_FORMAT with one line if the file is of another build or other weights, damaged or cut. The sequence
 * is unchanged on a failure. */
int attn2c_sequence_load(attn2c_context *context, int64_t sequence, const char *path,
                         attn2c_message *message);
