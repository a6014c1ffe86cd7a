/* kept_ids.c - finds the longest beginning of a text among the sequences, takes it over, and reads the rest.
 */
#include "generate/kept_ids.h"

enum {
  PART = 256,    /* ids that are read at a time; stops() is asked between parts */
  LEAST_COPY = 8 /* ids that must be saved before another sequence is copied */
};

struct attn2c_kept_ids {
  const attn2c_calls *calls;
  int32_t *ids;      /* [sequences][tokens] */
  int32_t *counts;   /* [sequences] */
  int32_t *adapters; /* [sequences] */
};

int attn2c_kept_ids_create(const attn2c_calls *calls, attn2c_kept_ids **kept) {
  attn2c_kept_ids *made = *kept = attn2c_allocate(sizeof *made);
  if (!made) return ATTN2C_MEMORY;
  const size_t sequences = (size_t)calls->sequences;
  made->calls = calls;
  made->ids = attn2c_reserve(sequences * (size_t)calls->tokens * sizeof *made->ids);
  made->counts = attn2c_allocate(2 * sequences * sizeof *made->counts);
  made->adapters = made->counts ? made->counts + sequences : NULL;
  if (made->ids && made->counts) return ATTN2C_OK;
  attn2c_kept_ids_free(made);
  *kept = NULL;
  return ATTN2C_MEMORY;
}

void attn2c_kept_ids_free(attn2c_kept_ids *kept) {
  if (!kept) return;
  ATTN2C_FREE_ALIGNED(kept->ids, kept->counts, kept);
}

static int32_t *ids_of(const attn2c_kept_ids *kept, int32_t sequence) {
  return kept->ids + (size_t)sequence * (size_t)kept->calls->tokens;
}

/* Returns how many of the ids a sequence begins with. The last one is always read, for its logits. */
static int32_t common(const attn2c_kept_ids *kept, int32_t sequence, const int32_t *ids, int32_t count) {
  const int32_t *own = ids_of(kept, sequence);
  const int32_t most = kept->counts[sequence] < count - 1 ? kept->counts[sequence] : count - 1;
  int32_t n = 0;
  while (n < most && own[n] == ids[n]) n++;
  return n;
}

int32_t attn2c_kept_ids_common(const attn2c_kept_ids *kept, int32_t sequence, int32_t other) {
  const int32_t *ids = ids_of(kept, sequence), *others = ids_of(kept, other);
  const int32_t most =
      kept->counts[sequence] < kept->counts[other] ? kept->counts[sequence] : kept->counts[other];
  int32_t n = 0;
  if (kept->adapters[sequence] != kept->adapters[other]) return 0;
  while (n < most && ids[n] == others[n]) n++;
  return n;
}

/* Copies at least the first `most` ids that a sequence keeps. */
static int copy(attn2c_kept_ids *kept, int32_t from, int32_t to, int32_t most) {
  const attn2c_calls *calls = kept->calls;
  const int32_t same = attn2c_kept_ids_common(kept, from, to);
  ATTN2C_TRY(calls->copy(calls->context, from, to, same, most));
  attn2c_kept_ids_adopt(kept, to, ids_of(kept, from), calls->position(calls->context, to));
  return ATTN2C_OK;
}

int attn2c_kept_ids_copy(attn2c_kept_ids *kept, int32_t from, int32_t to) {
  return copy(kept, from, to, kept->counts[from]);
}

int attn2c_kept_ids_take(attn2c_kept_ids *kept, int32_t sequence, const int32_t *ids, int32_t count) {
  const attn2c_calls *calls = kept->calls;
  int32_t from = sequence, n = common(kept, sequence, ids, count);
  for (int32_t i = 0; i < calls->sequences; i++) {
    const int is_alike = i != sequence && kept->adapters[i] == kept->adapters[sequence];
    const int32_t other = is_alike ? common(kept, i, ids, count) : 0;
    if (other < n + LEAST_COPY) continue;
    from = i;
    n = other;
  }
  int status = from == sequence ? ATTN2C_OK : copy(kept, from, sequence, n);
  /* A sequence that other calls have used before has tokens of which nothing is known. */
  if (status != ATTN2C_OK || calls->position(calls->context, sequence) == n) return status;
  status = calls->rewind(calls->context, sequence, n);
  /* A model with windows may have dropped the keys before position n: all is read again. */
  if (status != ATTN2C_OK && n > 0) status = calls->rewind(calls->context, sequence, n = 0);
  if (status == ATTN2C_OK) kept->counts[sequence] = n;
  return status;
}

int attn2c_kept_ids_adapt(attn2c_kept_ids *kept, int32_t sequence, int32_t adapter) {
  const attn2c_calls *calls = kept->calls;
  if (kept->adapters[sequence] == adapter) return ATTN2C_OK;
  int status = calls->rewind(calls->context, sequence, 0);
  if (status == ATTN2C_OK) kept->counts[sequence] = 0;
  if (status == ATTN2C_OK) status = calls->adapt(calls->context, sequence, adapter);
  if (status == ATTN2C_OK) kept->adapters[sequence] = adapter;
  return status;
}

int32_t attn2c_kept_ids_adapter(const attn2c_kept_ids *kept, int32_t sequence) {
  return kept->adapters[sequence];
}

int attn2c_kept_ids_read(attn2c_kept_ids *kept, int32_t sequence, const int32_t *ids, int32_t count,
                         float *logits, int (*stops)(void)) {
  const attn2c_calls *calls = kept->calls;
  ATTN2C_TRY(attn2c_kept_ids_take(kept, sequence, ids, count));
  while (kept->counts[sequence] < count) {
    const int32_t at = kept->counts[sequence], rest = count - at, part = rest < PART ? rest : PART;
    if (stops && stops()) return ATTN2C_USAGE;
    ATTN2C_TRY(calls->extend(calls->context, 1, &sequence, &part, ids + at, 0, part == rest ? logits : NULL));
    memcpy(ids_of(kept, sequence) + at, ids + at, (size_t)part * sizeof *ids);
    kept->counts[sequence] += part;
  }
  return ATTN2C_OK;
}

int attn2c_kept_ids_extend(attn2c_kept_ids *kept, int32_t count, const int32_t *sequences,
                           const int32_t *counts, const int32_t *ids, int all, float *logits) {
  const attn2c_calls *calls = kept->calls;
  const int status = calls->extend(calls->context, count, sequences, counts, ids, all, logits);
  for (int32_t i = 0; i < count && status == ATTN2C_OK; i++) {
    const int32_t more = counts ? counts[i] : 1, sequence = sequences[i];
    memcpy(ids_of(kept, sequence) + kept->counts[sequence], ids, (size_t)more * sizeof *ids);
    kept->counts[sequence] += more;
    ids += more;
  }
  return status;
}

int attn2c_kept_ids_decode(attn2c_kept_ids *kept, int32_t count, const int32_t *sequences, const int32_t *ids,
                           float *logits) {
  return attn2c_kept_ids_extend(kept, count, sequences, NULL, ids, 0, logits);
}

int attn2c_kept_ids_rewind(attn2c_kept_ids *kept, int32_t sequence, int32_t count) {
  const attn2c_calls *calls = kept->calls;
  if (kept->counts[sequence] == count) return ATTN2C_OK;
  const int status = calls->rewind(calls->context, sequence, count);
  if (status == ATTN2C_OK) kept->counts[sequence] = count;
  return status;
}

void attn2c_kept_ids_adopt(attn2c_kept_ids *kept, int32_t sequence, const int32_t *ids, int32_t count) {
  memcpy(ids_of(kept, sequence), ids, (size_t)count * sizeof *ids);
  kept->counts[sequence] = count;
}

void attn2c_kept_ids_forget(attn2c_kept_ids *kept, int32_t sequence) { kept->counts[sequence] = 0; }

const int32_t *attn2c_kept_ids_of(const attn2c_kept_ids *kept, int32_t sequence) {
  return ids_of(kept, sequence);
}

int32_t attn2c_kept_ids_count(const attn2c_kept_ids *kept, int32_t sequence) {
  return kept->counts[sequence];
}
