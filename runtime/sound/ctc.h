/* ctc.h - text from the scores of a model with connectionist temporal classification (Graves et al. 2006).
 * The best token of each row counts; equal neighbours are one, and blanks are left out. */
#pragma once

#include "base/sound_facts.h"

/* A word: bytes [begin, end) of the text, from row `first` to before row `last`. */
typedef struct attn2c_ctc_word {
  int64_t begin, end, first, last;
} attn2c_ctc_word;

/* Returns the capacity of the text of `rows` rows. */
int64_t attn2c_ctc_bytes(const attn2c_ctc *ctc, int64_t rows);

/* Writes the text of logits [rows][count], without spaces at its ends, and ends it with a NUL; then its words
 * (words NULL: none are wanted), at most one a row. Returns the bytes of the text, without the NUL. It is
 * what transformers' Wav2Vec2CTCTokenizer.decode makes of the best tokens. */
int64_t attn2c_ctc_text(const attn2c_ctc *ctc, const float *logits, int64_t rows, char *text,
                        attn2c_ctc_word *words, int64_t *word_count);
