/* state.h - the memory of a context's sequences: keys and values by pages; a window keeps the last. */
#pragma once

#include "model/model.h"

/* Allocates a new context's state if its model continues. Returns ATTN2C_OK or _MEMORY. */
int attn2c_state_create(attn2c_context *context);
void attn2c_state_destroy(attn2c_context *context);

/* Makes room for the rows of a call in the state of each of its sequences, which forget keys that none of
 * their next queries sees. Returns what is forgotten of each, for n->forgotten; valid until the next call. */
const int32_t *attn2c_state_room(attn2c_context *context, const attn2c_sequences *n);

/* True if the keys are there that tokens from `position` on of a sequence see. */
int attn2c_state_has(const attn2c_context *context, int64_t sequence, int64_t position);

/* Returns the place of the number of keys that a sequence has of a symbol of the state. */
static inline int32_t *attn2c_state_grown(const attn2c_context *context, int symbol, int64_t sequence) {
  return &context->positions[symbol * context->model->descriptor->continued->sequences + sequence];
}

/* Returns the place of a part of a sequence. Copies of a sequence have the place of their source's keys in
 * common, which is that of any sequence. */
static inline float *attn2c_state_part_of(const attn2c_context *context, int64_t sequence,
                                          const attn2c_state_part *part) {
  const int64_t place = part->grows_with > 0 ? context->origins[sequence] : sequence;
  return context->state + place * context->model->descriptor->continued->state_floats + part->offset;
}

/* Finds places for the keys of new sources of different sequences: no other sequence reads origins[i]. */
void attn2c_state_origins(const attn2c_context *context, int64_t count, const int32_t *sequences,
                          int32_t *origins);

/* Begins a sequence anew, with a source of `rows` rows whose keys have just been written to `origin`. */
void attn2c_state_begin(attn2c_context *context, int64_t sequence, int32_t origin, int64_t rows);

/* Makes a sequence a copy of another, with all that its state has. The keys of the first `same` tokens, which
 * both have, are left as they are. most: the first tokens that the copy has at least; with windows it has
 * all. */
void attn2c_state_copy(attn2c_context *context, int64_t from, int64_t to, int64_t same, int64_t most);

/* Do the two parts of this that move memory, in the state of this process. */
void attn2c_state_forget(const attn2c_continued *of, float *state, const attn2c_forgetting *what);
void attn2c_state_copy_part(const attn2c_continued *of, float *state, const attn2c_copying *what);

/* Keys that are stored by turns are in groups of at most this number. A page has whole groups. */
enum { ATTN2C_KEY_GROUP = 4 };

/* Copies the keys of a page from `first` to `end`, counted from its first; also those before `first` in its
 * group. The places of others stay as they are. */
void attn2c_state_copy_keys(const attn2c_state_part *part, int64_t page, int64_t first, int64_t end,
                            const float *from, float *to);
