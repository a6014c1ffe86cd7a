/* kept_ids.h - the ids that each sequence of a context keeps, so that a text is read only from its first
 * token that differs. Bits do not depend on where a text is divided, so they are the same as after reading
 * all of it.
 */
#pragma once

#include "generate/calls.h"

typedef struct attn2c_kept_ids attn2c_kept_ids;

/* Sequences keep nothing at first. `calls` must stay. Returns ATTN2C_OK or _MEMORY. */
int attn2c_kept_ids_create(const attn2c_calls *calls, attn2c_kept_ids **kept);
void attn2c_kept_ids_free(attn2c_kept_ids *kept);

/* Makes a sequence keep exactly these ids, from 1 to calls->tokens, and writes the logits [vocabulary] after
 * the last one. The longest beginning that this or another sequence keeps is not read again. stops: asked
 * between parts of a long text; nonzero ends the call with ATTN2C_USAGE. NULL: never. After a failure the
 * sequence keeps a beginning of the ids. */
int attn2c_kept_ids_read(attn2c_kept_ids *kept, int32_t sequence, const int32_t *ids, int32_t count,
                         float *logits, int (*stops)(void));

/* Makes a sequence keep the longest beginning of these ids that any sequence keeps, but not the last id.
 * attn2c_kept_ids_count says how many that are. */
int attn2c_kept_ids_take(attn2c_kept_ids *kept, int32_t sequence, const int32_t *ids, int32_t count);

/* Gives a sequence an adapter, 0: none. It then keeps nothing of another one, and takes only from sequences
 * that have the same. */
int attn2c_kept_ids_adapt(attn2c_kept_ids *kept, int32_t sequence, int32_t adapter);

/* Returns the adapter that a sequence has been given. */
int32_t attn2c_kept_ids_adapter(const attn2c_kept_ids *kept, int32_t sequence);

/* Reads counts[i] ids of each of `count` sequences, which are there one after the other; counts NULL: one of
 * each. logits: [count][vocabulary], or of all ids if `all`. */
int attn2c_kept_ids_extend(attn2c_kept_ids *kept, int32_t count, const int32_t *sequences,
                           const int32_t *counts, const int32_t *ids, int all, float *logits);

/* Reads one id of each of `count` sequences; logits [count][vocabulary]. */
int attn2c_kept_ids_decode(attn2c_kept_ids *kept, int32_t count, const int32_t *sequences, const int32_t *ids,
                           float *logits);

/* Makes a sequence forget its ids from number `count` on. */
int attn2c_kept_ids_rewind(attn2c_kept_ids *kept, int32_t sequence, int32_t count);

/* Says that a sequence keeps these ids, from 1 to calls->tokens, in a state that came by other calls. */
void attn2c_kept_ids_adopt(attn2c_kept_ids *kept, int32_t sequence, const int32_t *ids, int32_t count);

/* Forgets the ids of a sequence, so that nothing is taken from it. */
void attn2c_kept_ids_forget(attn2c_kept_ids *kept, int32_t sequence);

/* Returns how many ids two sequences begin with alike. */
int32_t attn2c_kept_ids_common(const attn2c_kept_ids *kept, int32_t sequence, int32_t other);

/* Makes sequence `to` keep what `from` keeps. Only what follows their common beginning is copied. */
int attn2c_kept_ids_copy(attn2c_kept_ids *kept, int32_t from, int32_t to);

/* Return the ids that a sequence keeps, and their number. */
const int32_t *attn2c_kept_ids_of(const attn2c_kept_ids *kept, int32_t sequence);
int32_t attn2c_kept_ids_count(const attn2c_kept_ids *kept, int32_t sequence);
