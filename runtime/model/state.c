#include "model/state.h"

static const attn2c_continued *continued_of(const attn2c_context *context) {
  return context->model->descriptor->continued;
}

int attn2c_state_create(attn2c_context *context) {
  static const int32_t zeros[ATTN2C_MOST_WINDOWS];
  const attn2c_continued *of = continued_of(context);
  if (!of) return ATTN2C_OK;
  const size_t sequences = (size_t)of->sequences, windows = (size_t)of->window_count;
  const size_t symbols = (size_t)of->symbol_count;
  context->state = attn2c_reserve_sparse(sequences * (size_t)of->state_floats * sizeof(float));
  context->positions = calloc(sequences * (symbols + 1 + 2 * windows), sizeof *context->positions);
  if (!context->state || !context->positions) return ATTN2C_MEMORY;
  context->origins = context->positions + sequences * symbols;
  for (size_t i = 0; i < sequences; i++) context->origins[i] = (int32_t)i;
  context->forgotten = context->origins + sequences;
  context->whole.past = context->whole.slot = context->whole.forgotten = zeros;
  if (of->source) context->whole.source = attn2c_state_grown(context, of->source, 0);
  context->whole.origin = context->origins;
  return ATTN2C_OK;
}

void attn2c_state_destroy(attn2c_context *context) {
  const attn2c_rank_hooks *hooks = context->model->hooks;
  if (hooks && hooks->drop && context->state) hooks->drop(context->model, context->state);
  attn2c_free(context->state);
  free(context->positions);
}

static float *part_of(const attn2c_continued *of, float *state, int64_t sequence,
                      const attn2c_state_part *part) {
  return state + sequence * of->state_floats + part->offset;
}

static int32_t *forgotten_of(const attn2c_context *context, int window, int64_t sequence) {
  return &context->forgotten[window * continued_of(context)->sequences + sequence];
}

/* Returns the keys before the first page that a query at `position` sees. */
static int64_t hidden(const attn2c_continued *of, int window, int64_t position) {
  const int64_t first = position - of->windows[window].left;
  return first > 0 ? first / of->page * of->page : 0;
}

/* Returns the pages of some keys; 0 for a sequence that began anew after it had forgotten keys. */
static int64_t pages_of(const attn2c_continued *of, int64_t keys) {
  return keys > 0 ? (keys + of->page - 1) / of->page : 0;
}

void attn2c_state_forget(const attn2c_continued *of, float *state, const attn2c_forgetting *what) {
  for (int i = 0; i < of->kept_count; i++) {
    const attn2c_state_part *part = &of->kept[i];
    float *keys = part_of(of, state, what->sequence, part);
    if (part->window == what->window)
      memmove(keys, keys + what->moved * part->page_floats,
              (size_t)(what->pages * part->page_floats) * sizeof *keys);
  }
}

/* Copies keys of a page's numbers, of size bytes, from `first` on, the first of a group, to `end`. Keys that
 * are transposed have `unit` bytes each, one after the other, in every row of a page. Others are in groups of
 * `group` keys, `unit` bytes of each by turns. */
static void copy_numbers(const unsigned char *from, unsigned char *to, int64_t size, int64_t page,
                         int64_t first, int64_t end, int64_t unit, int64_t group, int is_transposed) {
  if (is_transposed) {
    for (int64_t at = first * unit; at < size; at += page * unit)
      memcpy(to + at, from + at, (size_t)((end - first) * unit));
    return;
  }
  const int64_t row = size / page * group, begin = first / group * row, whole = end / group * row;
  if (begin < whole) memcpy(to + begin, from + begin, (size_t)(whole - begin));
  for (int64_t i = whole; end % group != 0 && i < whole + row; i += unit * group)
    memcpy(to + i, from + i, (size_t)(unit * (end % group)));
}

void attn2c_state_copy_keys(const attn2c_state_part *part, int64_t page, int64_t first, int64_t end,
                            const float *from, float *to) {
  const unsigned char *in = (const unsigned char *)from;
  unsigned char *out = (unsigned char *)to;
  const int64_t size = part->page_floats * (int64_t)sizeof(float), scales = page * (int64_t)sizeof(float);
  const int64_t word = part->is_transposed ? (int64_t)sizeof(float) : 0; /* of a key of any type */
  first -= first % ATTN2C_KEY_GROUP;
  if (part->bits) {
    memcpy(to + first, from + first, (size_t)(end - first) * sizeof(float));
    copy_numbers(in + scales, out + scales, size - scales, page, first, end, word ? word : 1, 4,
                 part->is_transposed);
  } else if (part->type == ATTN2C_BF16) {
    copy_numbers(in, out, size, page, first, end, word ? word : (int64_t)sizeof(uint16_t), 2,
                 part->is_transposed);
  } else {
    copy_numbers(in, out, size, page, first, end, (int64_t)sizeof(float), 1, part->is_transposed);
  }
}

/* Copies the keys from `first` to `end` of a part. A group that is begun is copied whole: a token that comes
 * next completes it. */
static void copy_pages(const attn2c_state_part *part, int64_t page, int64_t first, int64_t end,
                       const float *from, float *to) {
  end += (ATTN2C_KEY_GROUP - end % ATTN2C_KEY_GROUP) % ATTN2C_KEY_GROUP;
  while (first < end) {
    const int64_t at = first / page, last = end / page;
    const int64_t floats = part->page_floats;
    if (first % page == 0 && at < last) {
      memcpy(to + at * floats, from + at * floats, (size_t)((last - at) * floats) * sizeof *to);
      first = last * page;
    } else {
      const int64_t next = at < last ? (at + 1) * page : end;
      attn2c_state_copy_keys(part, page, first - at * page, next - at * page, from + at * floats,
                             to + at * floats);
      first = next;
    }
  }
}

void attn2c_state_copy_part(const attn2c_continued *of, float *state, const attn2c_copying *what) {
  for (int i = 0; i < of->kept_count && what->from != what->to; i++) {
    const attn2c_state_part *part = &of->kept[i];
    const int64_t forgotten = part->window < 0 ? 0 : what->forgotten[part->window];
    const int64_t end = part->grows_with > 0 ? 0 : what->tokens - forgotten;
    const int64_t same = part->window >= 0 && what->moved[part->window] ? 0 : what->same - forgotten;
    const int64_t first = same > 0 ? same : 0;
    if (first < end)
      copy_pages(part, of->page, first, end, part_of(of, state, what->from, part),
                 part_of(of, state, what->to, part));
  }
}

/* Forgets what no query sees from `position` on, nor after going back by the tokens of a call. */
static void forget(attn2c_context *context, int window, int64_t sequence, int64_t position) {
  const attn2c_continued *of = continued_of(context);
  int32_t *forgotten = forgotten_of(context, window, sequence);
  const int64_t before = hidden(of, window, position - of->call_rows);
  const attn2c_forgetting what = {window, sequence, (before - *forgotten) / of->page,
                                  pages_of(of, position - before)};
  const attn2c_rank_hooks *hooks = context->model->hooks;
  if (hooks && hooks->forget) hooks->forget(context->model, context->state, &what);
  attn2c_state_forget(of, context->state, &what);
  *forgotten = (int32_t)before;
}

/* Gives the state huge pages when a sequence has many keys. The heads of all layers are far from each other:
 * with huge pages the first keys of a sequence would take as much memory and time as a long one, with small
 * pages long ones are read slower. */
static void make_dense(attn2c_context *context, const attn2c_sequences *n) {
  enum { MANY = 256 }; /* some 100 tokens more then pay for the pages */
  const attn2c_continued *of = continued_of(context);
  if (context->is_dense) return;
  for (ptrdiff_t i = 0; i < n->count; i++) context->is_dense |= n->past[i] > MANY;
  if (context->is_dense)
    attn2c_make_dense(context->state,
                      (size_t)of->sequences * (size_t)of->state_floats * sizeof *context->state);
}

const int32_t *attn2c_state_room(attn2c_context *context, const attn2c_sequences *n) {
  const attn2c_continued *of = continued_of(context);
  make_dense(context, n);
  int32_t *of_call = context->forgotten + of->window_count * of->sequences;
  for (int window = 0; window < of->window_count; window++)
    for (ptrdiff_t i = 0; i < n->count; i++) {
      const int64_t past = n->past[i], keys = past + n->first[i + 1] - n->first[i];
      int32_t *forgotten = forgotten_of(context, window, n->slot[i]);
      if (past == 0) *forgotten = 0;
      if (keys - *forgotten > of->windows[window].keys) forget(context, window, n->slot[i], past);
      of_call[window * n->count + i] = *forgotten;
    }
  return of_call;
}

int attn2c_state_has(const attn2c_context *context, int64_t sequence, int64_t position) {
  const attn2c_continued *of = continued_of(context);
  for (int window = 0; window < of->window_count; window++)
    if (hidden(of, window, position) < *forgotten_of(context, window, sequence)) return position == 0;
  return 1;
}

void attn2c_state_origins(const attn2c_context *context, int64_t count, const int32_t *sequences,
                          int32_t *origins) {
  uint8_t is_read[ATTN2C_MOST_SEQUENCES] = {0};
  int32_t unread = 0;
  for (int64_t i = 0, all = continued_of(context)->sequences; i < all; i++) {
    int is_new = 0;
    for (int64_t k = 0; k < count; k++) is_new = is_new || sequences[k] == i;
    if (!is_new) is_read[context->origins[i]] = 1;
  }
  for (int64_t i = 0; i < count; i++) {
    const int32_t own = context->origins[sequences[i]];
    origins[i] = is_read[own]++ ? -1 : own;
  }
  for (int64_t i = 0; i < count; i++) {
    if (origins[i] >= 0) continue;
    while (is_read[unread]) unread++;
    origins[i] = unread++;
  }
}

void attn2c_state_begin(attn2c_context *context, int64_t sequence, int32_t origin, int64_t rows) {
  context->origins[sequence] = origin;
  *attn2c_state_grown(context, 0, sequence) = 0;
  *attn2c_state_grown(context, continued_of(context)->source, sequence) = (int32_t)rows;
}

void attn2c_state_copy(attn2c_context *context, int64_t from, int64_t to, int64_t same, int64_t most) {
  const attn2c_continued *of = continued_of(context);
  attn2c_copying what = {
      .from = from, .to = to, .same = (int32_t)same, .tokens = *attn2c_state_grown(context, 0, from)};
  /* A window has forgotten keys that fewer tokens would see. */
  if (of->window_count == 0 && most < what.tokens) what.tokens = (int32_t)most;
  for (int window = 0; window < of->window_count; window++) {
    what.forgotten[window] = *forgotten_of(context, window, from);
    what.moved[window] = what.forgotten[window] != *forgotten_of(context, window, to);
  }
  const attn2c_rank_hooks *hooks = context->model->hooks;
  if (hooks && hooks->copy) hooks->copy(context->model, context->state, &what);
  attn2c_state_copy_part(of, context->state, &what);
  for (int symbol = 0; symbol < of->symbol_count; symbol++)
    *attn2c_state_grown(context, symbol, to) = *attn2c_state_grown(context, symbol, from);
  *attn2c_state_grown(context, 0, to) = what.tokens;
  context->origins[to] = context->origins[from];
  for (int window = 0; window < of->window_count; window++)
    *forgotten_of(context, window, to) = what.forgotten[window];
}
