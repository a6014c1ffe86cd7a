/* processors.c - each processor is one function. The order of their calls matters, since a forced token
 * undoes what those before have forbidden. */
#include "generate/processors.h"

#include "generate/bits.h"

#include <float.h>

enum { LISTS = 5 };

/* A list of options, and its number of ids. */
typedef struct {
  const char *name;
  const int32_t **ids;
  int32_t *count;
} option_list;

static void lists_of(attn2c_beam_options *o, option_list lists[LISTS]) {
  const option_list all[LISTS] = {{"forced_eos", &o->forced_eos, &o->forced_eos_count},
                                  {"suppressed", &o->suppressed, &o->suppressed_count},
                                  {"begin_suppressed", &o->begin_suppressed, &o->begin_suppressed_count},
                                  {"stop_tokens", &o->stop_tokens, &o->stop_count},
                                  {"bad_words", &o->bad_words, &o->bad_words_count}};
  memcpy(lists, all, sizeof all);
}

attn2c_beam_options attn2c_beam_stated(const attn2c_generation *stated) {
  attn2c_beam_options options = {.beams = 1, .length_penalty = 1, .forced_bos = -1};
  if (stated->beam) options = *stated->beam;
  options.repetition_penalty = stated->is_usual ? 1 : stated->repetition_penalty;
  options.stop_tokens = stated->stop_tokens;
  options.stop_count = stated->stop_count;
  return options;
}

/* Reports a number outside its range; NaN is outside every range. Returns the number of faults. */
static int check_range(const char *name, double value, double least, double most, attn2c_message *message) {
  if (value >= least && value <= most && !attn2c_is_nan_double(value)) return 0;
  attn2c_say(message, "%s: %g, but %g to %g is allowed", name, value, least, most);
  return 1;
}

/* Reports the first number of a list that is not a token. Each number of tokens among bad words must fit. */
static int check_list(const option_list *list, int is_words, int64_t vocabulary, attn2c_message *message) {
  int32_t word = 0; /* where the next number of tokens is */
  for (int32_t i = 0; i < *list->count; i++) {
    const int32_t id = (*list->ids)[i];
    if (is_words && i == word) {
      if (id < 1 || id >= *list->count - i) {
        attn2c_say(message, "%s: a sequence of %d tokens, but 1 to %d are left", list->name, id,
                   *list->count - i - 1);
        return 1;
      }
      word += 1 + id;
    } else if (id < 0 || id >= vocabulary) {
      attn2c_say(message, "%s: token %d, but 0 to %lld is allowed", list->name, id,
                 (long long)vocabulary - 1);
      return 1;
    }
  }
  return 0;
}

int attn2c_beam_check(const attn2c_beam_options *options, int32_t sequences, int64_t vocabulary,
                      attn2c_message *message) {
  attn2c_beam_options o = *options;
  option_list lists[LISTS];
  int faults = 0;
  if (o.beams < 1 || o.beams > sequences) {
    attn2c_say(message,
               "beams: %d, but 1 to %d is allowed: the model keeps %d sequences (sequences=N of build)",
               o.beams, sequences, sequences);
    faults++;
  }
  faults += check_range("length_penalty", o.length_penalty, -8, 8, message);
  faults += check_range("early_stopping", o.early_stopping, 0, 2, message);
  faults += check_range("repetition_penalty", o.repetition_penalty, FLT_MIN, FLT_MAX, message);
  faults += check_range("no_repeat_ngram", o.no_repeat_ngram, 0, INT32_MAX, message);
  faults += check_range("min_length", o.min_length, 0, INT32_MAX, message);
  faults += check_range("min_tokens", o.min_tokens, 0, INT32_MAX, message);
  if (o.forced_bos != -1)
    faults += check_range("forced_bos", o.forced_bos, 0, (double)vocabulary - 1, message);
  lists_of(&o, lists);
  for (int i = 0; i < LISTS; i++) faults += check_list(&lists[i], i == LISTS - 1, vocabulary, message);
  if (o.stop_count >= vocabulary) {
    attn2c_say(message, "stop_tokens: %d, but fewer than the %lld tokens are allowed", o.stop_count,
               (long long)vocabulary);
    faults++;
  }
  return faults ? ATTN2C_USAGE : ATTN2C_OK;
}

int attn2c_beam_copy(attn2c_beam_options *own, const attn2c_beam_options *options, int32_t **memory) {
  option_list lists[LISTS];
  size_t count = 0;
  *own = *options;
  lists_of(own, lists);
  for (int i = 0; i < LISTS; i++) count += (size_t)*lists[i].count;
  int32_t *to = *memory = attn2c_allocate(count * sizeof **memory + 1);
  if (!to) return ATTN2C_MEMORY;
  for (int i = 0; i < LISTS; i++) {
    const size_t ids = (size_t)*lists[i].count;
    if (ids > 0) memcpy(to, *lists[i].ids, ids * sizeof *to);
    *lists[i].ids = to;
    to += ids;
  }
  return ATTN2C_OK;
}

static int is_listed(const int32_t *ids, int32_t count, int32_t token) {
  for (int32_t i = 0; i < count; i++)
    if (ids[i] == token) return 1;
  return 0;
}

int attn2c_beam_stops(const attn2c_beam_options *options, int32_t token) {
  return is_listed(options->stop_tokens, options->stop_count, token);
}

void attn2c_penalise(double penalty, const attn2c_history *history, float *scores, int32_t vocabulary,
                     float *values) {
  const float by = (float)penalty;
  if (penalty == 1) return;
  /* All values are read before one is written: a token that occurs twice is changed once. */
  for (int32_t i = 0; i < history->count; i++) {
    const int32_t id = history->ids[i];
    const float score = id < vocabulary ? scores[id] : 0;
    values[i] = score < 0 ? score * by : score / by;
  }
  for (int32_t i = 0; i < history->count; i++)
    if (history->ids[i] < vocabulary) scores[history->ids[i]] = values[i];
}

static void forbid(float *scores, const int32_t *ids, int32_t count) {
  for (int32_t i = 0; i < count; i++) scores[ids[i]] = attn2c_bits_float(ATTN2C_NEGATIVE_INFINITE_BITS);
}

/* Forbids all tokens but these. */
static void force(float *scores, int32_t vocabulary, const int32_t *ids, int32_t count) {
  for (int32_t i = 0; i < vocabulary; i++) scores[i] = attn2c_bits_float(ATTN2C_NEGATIVE_INFINITE_BITS);
  for (int32_t i = 0; i < count; i++) scores[ids[i]] = 0;
}

/* True if the last `count` tokens before the next one are these. */
static int ends_with(const attn2c_history *h, const int32_t *ids, int32_t count) {
  return h->count >= count && memcmp(h->ids + h->count - count, ids, (size_t)count * sizeof *ids) == 0;
}

/* Forbids the tokens with which the last n - 1 tokens go on where they occurred before. */
static void forbid_ngrams(const attn2c_history *h, int32_t n, float *scores, int32_t vocabulary) {
  for (int32_t i = 0; n > 0 && i <= h->count - n; i++)
    if (h->ids[i + n - 1] < vocabulary && ends_with(h, h->ids + i, n - 1))
      forbid(scores, h->ids + i + n - 1, 1);
}

/* Forbids the last token of each sequence whose other tokens are there. A stop token by itself stays. */
static void forbid_words(const attn2c_beam_options *o, const attn2c_history *h, float *scores) {
  for (int32_t at = 0; at < o->bad_words_count; at += 1 + o->bad_words[at]) {
    const int32_t count = o->bad_words[at], *word = o->bad_words + at + 1;
    if (count == 1 && attn2c_beam_stops(o, *word)) continue;
    if (ends_with(h, word, count - 1)) forbid(scores, word + count - 1, 1);
  }
}

const char *attn2c_process(const attn2c_beam_options *o, const attn2c_history *h, float *scores,
                           int32_t vocabulary) {
  const int32_t begin = h->prompt + (h->prompt == 1 && o->forced_bos >= 0);
  forbid_ngrams(h, o->no_repeat_ngram, scores, vocabulary);
  forbid_words(o, h, scores);
  if (h->count < o->min_length || h->count - h->prompt < o->min_tokens)
    forbid(scores, o->stop_tokens, o->stop_count);
  if (h->count == 1 && o->forced_bos >= 0) force(scores, vocabulary, &o->forced_bos, 1);
  if (h->count == h->most - 1 && o->forced_eos_count > 0)
    force(scores, vocabulary, o->forced_eos, o->forced_eos_count);
  forbid(scores, o->suppressed, o->suppressed_count);
  if (h->count == begin) forbid(scores, o->begin_suppressed, o->begin_suppressed_count);
  return h->rule ? h->rule->apply(h->rule, h, scores, vocabulary) : NULL;
}
