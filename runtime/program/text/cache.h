/* cache.h - `run --query --cache F.npy`: keeps the embeddings of texts in a file, so that later runs
 * compute only new ones, also if this run is ended before its last text. NumPy reads the file as an array
 * [texts][numbers] of float32. After the array come a key of each text and a footer, which says of which
 * model, weights, prompt and size the embeddings are, and has a checksum of all bytes. */
#pragma once

#include "model/text/calls.h"

typedef struct attn2c_cache attn2c_cache;

/* Reads the file `path` if there is one. A file that this program made is not used if anything that decides
 * an embedding is different, or if it is damaged; then *why says so, in memory of the cache. width: numbers
 * of an embedding, made with the reader's present prompt. Returns ATTN2C_OK; _FORMAT: the file is of another
 * kind, and is not written over; _IO; _MEMORY. */
int attn2c_cache_open(const char *path, const attn2c_model *model, const attn2c_reader *reader, int64_t width,
                      attn2c_cache **cache, const char **why, attn2c_message *message);
void attn2c_cache_close(attn2c_cache *cache);

/* Returns the embedding of a text, or NULL if the file does not have it. */
const float *attn2c_cache_find(attn2c_cache *cache, const char *text, size_t length);

/* Adds a text and its embedding, in the order in which the next file has them. values NULL: the text has
 * none; zeros are written, and are never found. Returns ATTN2C_OK or _MEMORY. */
int attn2c_cache_add(attn2c_cache *cache, const char *text, size_t length, const float *values);

/* Writes the texts that were added, atomically, unless the file has just them. is_all: 0 if more texts would
 * have come; then the texts of the file that were not found are written, too, and a line says how many new
 * ones are kept. Returns ATTN2C_OK, _IO or _MEMORY. */
int attn2c_cache_write(attn2c_cache *cache, int is_all, attn2c_message *message);

/* Does so for a run that goes on, now and then: writing takes a small part of the time. Says nothing. */
int attn2c_cache_keep(attn2c_cache *cache, attn2c_message *message);
