#include "speech/transcribe.h"

#include <math.h>

#include "text/unicode.h"

/* Text that was drawn at a higher temperature is not gone on from. */
#define MOST_TEMPERATURE 0.5

typedef enum { READ, LISTEN, TAKE } stage;

struct attn2c_transcriber {
  attn2c_listener *listener;
  int32_t place;
  const attn2c_speech *speech;
  const attn2c_speech_options *options;
  int rate;
  attn2c_speech_rows rows;
  float *window;   /* [rows][width], if a window needs rows of zeros */
  int32_t *before; /* [capacity] the last tokens of what was said */
  size_t before_count, capacity;
  size_t carried, most;     /* tokens of the prompt that stay before the others; the most of `before` */
  attn2c_segment *segments; /* of a window, the first `taken` of which were returned */
  int32_t found, taken;
  int32_t *plain, *places; /* tokens of text of a segment, and which of the answer's they are */
  attn2c_spoken_words words;
  attn2c_said_word *said;      /* [capacity] */
  double *times;               /* [capacity] of tokens */
  const char *name;            /* of the sound */
  int32_t language;            /* index of the sound's; -1: it is not known yet */
  uint64_t windows;            /* of the sound so far */
  attn2c_speech_pieces pieces; /* of speech, if the options are for these; a piece is a sound by itself */
  int64_t end;                 /* of the piece: samples to drop before the next one */
  double begin, length;        /* seconds of the sound before the piece, and of the piece */
  stage stage;
  int64_t row, next; /* of the window; from it to the next one */
};

static int is_plain(const attn2c_transcriber *t) { return t->speech->no_timestamps < 0; }

static int no_memory(const attn2c_transcriber *t, attn2c_message *message) {
  return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory for what is said", t->name ? t->name : "speech");
}

int attn2c_transcriber_create(attn2c_transcriber **made, attn2c_listener *listener, int32_t place,
                              const attn2c_feature_facts *facts, int rate, attn2c_message *message) {
  const attn2c_descriptor *model = attn2c_listener_model(listener);
  const attn2c_tensor *read = &model->tensors[attn2c_encode_entry(model)->inputs[0]];
  attn2c_transcriber *t = *made = calloc(1, sizeof *t);
  if (!t) return attn2c_fail(message, ATTN2C_MEMORY, "no memory for speech");
  t->listener = listener, t->place = place;
  t->speech = model->continued->generation->speech;
  t->options = attn2c_listener_options(listener);
  t->rate = rate;
  t->rows.context = attn2c_listener_context(listener);
  t->rows.window = read->shape[1], t->rows.width = read->shape[2];
  t->capacity = (size_t)model->lengths->sizes[0].seq + 1;
  t->most = (t->capacity - 1) / 2 - 1;
  if (facts)
    t->rows.memory = malloc((size_t)attn2c_speech_rows_room(facts, t->rows.window, t->rows.width) *
                            sizeof *t->rows.memory);
  t->window = malloc((size_t)(t->rows.window * t->rows.width) * sizeof *t->window);
  t->before = malloc(t->capacity * sizeof *t->before);
  t->segments = malloc((t->capacity / 2 + 2) * sizeof *t->segments);
  t->plain = malloc(t->capacity * sizeof *t->plain);
  t->places = malloc(t->capacity * sizeof *t->places);
  t->said = malloc(t->capacity * sizeof *t->said);
  t->times = malloc(t->capacity * sizeof *t->times);
  t->rows.facts = facts;
  const int is_full = t->window && t->before && t->segments && t->plain && t->places && t->said && t->times;
  if (is_full && (!facts || t->rows.memory)) return ATTN2C_OK;
  attn2c_transcriber_free(t);
  *made = NULL;
  return attn2c_fail(message, ATTN2C_MEMORY, "no memory for speech");
}

void attn2c_transcriber_free(attn2c_transcriber *t) {
  if (!t) return;
  attn2c_spoken_words_free(&t->words);
  ATTN2C_FREE(t->rows.memory, t->window, t->before, t->segments, t->plain, t->places, t->said, t->times, t);
}

/* Adds tokens to what was said, of which the last ones are kept after those that are carried. */
static void remember(attn2c_transcriber *t, const int32_t *ids, int64_t count) {
  const size_t most = t->most - t->carried, said = t->before_count - t->carried;
  const size_t more = (size_t)count < most ? (size_t)count : most;
  const size_t room = most - more, kept = said < room ? said : room;
  int32_t *to = t->before + t->carried;
  memmove(to, to + said - kept, kept * sizeof *ids);
  memcpy(to + kept, ids + (size_t)count - more, more * sizeof *ids);
  t->before_count = t->carried + kept + more;
}

int attn2c_transcriber_begin(attn2c_transcriber *t, const char *name, const char *prompt,
                             attn2c_message *message) {
  const int32_t *ids = NULL;
  int64_t count = 0;
  t->name = name, t->language = t->options->language;
  t->before_count = t->carried = 0, t->windows = 0;
  if (!prompt) return ATTN2C_OK;
  size_t length = strlen(prompt);
  char *spaced = malloc(length + 2), lines[400];
  if (!spaced) return no_memory(t, message);
  text_trim(&prompt, &length);
  memcpy(spaced + 1, prompt, length);
  spaced[0] = ' ', spaced[length + 1] = '\0';
  attn2c_message why = attn2c_message_make(lines, sizeof lines);
  const int status = attn2c_listener_tokens(t->listener, spaced, &ids, &count, &why);
  if (status == ATTN2C_OK) remember(t, ids, count);
  if (t->options->carries) t->carried = t->before_count;
  free(spaced);
  return status == ATTN2C_OK ? status : attn2c_fail(message, status, "the prompt: %s", lines);
}

/* Begins rows, of the sound or of a piece of it, which begins after some seconds. */
static void begin_rows(attn2c_transcriber *t, double begin) {
  t->begin = begin;
  t->stage = READ;
  t->row = t->next = 0;
}

void attn2c_transcriber_features(attn2c_transcriber *t, const float *features, int64_t rows) {
  t->rows.features = features, t->rows.first = 0;
  t->rows.room = t->rows.count = t->rows.all = rows;
  t->rows.is_long = rows > t->rows.window;
  t->rows.samples = NULL;
  begin_rows(t, 0);
}

/* Returns the fewest samples that have a row. */
static int64_t least_of(const attn2c_transcriber *t) { return is_plain(t) ? t->rows.facts->length : 1; }

/* Begins the next piece, if there is one. The rest of a sound may be too short for a row; a whole sound that
 * is too short is a fault. */
static int begin_piece(attn2c_transcriber *t, int *is_end, attn2c_message *message) {
  attn2c_samples *samples = t->rows.samples;
  attn2c_speech_piece piece = {0, 0};
  const int64_t least = least_of(t);
  while (piece.end - piece.begin < least) {
    samples->drop(samples, t->end);
    t->end = 0;
    *is_end = samples->is_end && samples->count == 0;
    const int status = *is_end ? ATTN2C_OK : attn2c_speech_next(&t->pieces, &piece, message);
    if (status != ATTN2C_OK || *is_end) return status;
    t->end = piece.end;
    if (t->pieces.is_whole && samples->first == 0 && piece.end < least)
      return attn2c_fail(message, ATTN2C_FORMAT,
                         "%s: %.4f seconds are too short: the model takes %.4f and more", t->name,
                         (double)piece.end / t->rate, (double)least / t->rate);
  }
  begin_rows(t, (double)(samples->first + piece.begin) / t->rate);
  t->length = (double)(piece.end - piece.begin) / t->rate;
  return attn2c_speech_rows_begin(&t->rows, piece.begin, piece.end, t->name, message);
}

int attn2c_transcriber_samples(attn2c_transcriber *t, attn2c_samples *samples, attn2c_message *message) {
  t->rows.samples = samples;
  begin_rows(t, 0);
  if (!t->options->by_pieces) return attn2c_speech_rows_begin(&t->rows, 0, 0, t->name, message);
  /* Samples after the last row of a plain model, which are fewer than make another one, are heard with it. */
  t->pieces = (attn2c_speech_pieces){.samples = samples,
                                     .rate = t->rate,
                                     .most = t->rows.window * t->rows.facts->hop + least_of(t) - 1,
                                     .least = least_of(t),
                                     .is_whole = t->options->is_whole};
  t->end = t->rows.count = t->rows.is_long = 0;
  return ATTN2C_OK;
}

/* Divides an answer into segments. Without timestamps all of it is one, with the tokens of times in it. */
static void divide(attn2c_transcriber *t, const attn2c_heard *heard) {
  const int64_t left = t->rows.count - t->row;
  const int32_t rows = (int32_t)(left < t->rows.window ? left : t->rows.window);
  int32_t next = rows;
  t->found = t->taken = 0;
  if (!heard->is_silent && !is_plain(t) && (t->options->is_timed || t->rows.is_long)) {
    t->found = attn2c_segments(t->speech, heard->ids, heard->count, rows, t->segments, &next);
  } else if (!heard->is_silent) {
    t->segments[0] = (attn2c_segment){0, heard->count, 0, rows};
    t->found = 1;
  }
  t->next = next < 1 ? rows : next;
}

/* Listens to the next window, if there is one. */
static int listen(attn2c_transcriber *t, int *is_end, attn2c_message *message) {
  attn2c_speech_rows *r = &t->rows;
  int64_t row = t->row + t->next;
  int status = r->samples ? attn2c_speech_rows_read(r, row, t->name, message) : ATTN2C_OK;
  *is_end = status == ATTN2C_OK && row >= r->count;
  if (*is_end && r->samples && t->options->by_pieces) {
    status = begin_piece(t, is_end, message);
    row = 0;
  }
  if (status != ATTN2C_OK || *is_end) return status;
  const int64_t count = r->count - row < r->window ? r->count - row : r->window;
  const float *window = r->features + (row - r->first) * r->width;
  t->row = row, t->next = 0;
  if (!r->samples && r->facts && is_plain(t)) { /* a window of features is a piece, too */
    const double seconds_a_row = (double)r->facts->hop / t->rate;
    t->begin = (double)row * seconds_a_row, t->length = (double)count * seconds_a_row;
  }
  if (row - r->first + r->window > r->room && !is_plain(t)) {
    memset(t->window, 0, (size_t)(r->window * r->width) * sizeof *window);
    window = memcpy(t->window, window, (size_t)(count * r->width) * sizeof *window);
  }
  const attn2c_window begun = {.features = window,
                               .rows = (int32_t)count,
                               .before = t->before,
                               .count = is_plain(t) ? 0 : (int32_t)t->before_count,
                               .is_timed = !is_plain(t) && (t->options->is_timed || r->is_long),
                               .language = t->language,
                               .number = t->windows++};
  t->stage = LISTEN;
  return attn2c_listener_begin(t->listener, t->place, &begun, message);
}

/* Returns the seconds of a row of the window. In a piece of a plain model all rows but the first are its end.
 */
static double seconds(const attn2c_transcriber *t, int32_t row) {
  if (is_plain(t)) return t->begin + (row > 0 ? t->length : 0);
  return t->begin + (double)(t->row + row) / ATTN2C_SPEECH_ROWS_A_SECOND;
}

/* Finds the words of a segment. A word begins when the token before it ends. */
static int find_words(attn2c_transcriber *t, const attn2c_heard *heard, const attn2c_segment *segment,
                      attn2c_said *said) {
  int32_t count = 0;
  if (!heard->times) return ATTN2C_OK;
  for (int32_t i = segment->first; i < segment->first + segment->count; i++) {
    t->times[i - segment->first] = seconds(t, heard->times[i]);
    if (heard->ids[i] < t->speech->end) t->plain[count] = heard->ids[i], t->places[count++] = i;
  }
  said->times = t->times, said->words = t->said;
  ATTN2C_TRY(attn2c_listener_words(t->listener, t->plain, count, heard->language, &t->words));
  for (int32_t i = 0; i < t->words.count; i++) {
    const attn2c_spoken *word = &t->words.list[i];
    const int32_t first = t->places[word->first], last = t->places[word->first + word->count - 1];
    t->said[i] = (attn2c_said_word){.text = t->words.text + word->begin,
                                    .length = word->end - word->begin,
                                    .begin = seconds(t, first > 0 ? heard->times[first - 1] : 0),
                                    .end = seconds(t, heard->times[last])};
  }
  said->word_count = t->words.count;
  return ATTN2C_OK;
}

/* Takes a segment of the window; *is_said is 0 if it has no text. */
static int take(attn2c_transcriber *t, const attn2c_heard *heard, attn2c_said *said, int *is_said) {
  const attn2c_segment *segment = &t->segments[t->taken++];
  *said = (attn2c_said){.ids = heard->ids + segment->first,
                        .count = segment->count,
                        .begin = seconds(t, segment->begin),
                        .end = seconds(t, segment->end),
                        .temperature = heard->temperature,
                        .score = heard->score,
                        .compression = heard->compression,
                        .silence = heard->silence};
  if (heard->language >= 0) said->language = t->speech->languages[heard->language].code;
  ATTN2C_TRY(t->options->has_words ? find_words(t, heard, segment, said) : ATTN2C_OK);
  ATTN2C_TRY(attn2c_listener_text(t->listener, said->ids, said->count, &said->text, &said->length));
  const char *text = said->text;
  size_t length = said->length;
  text_trim(&text, &length);
  *is_said = segment->begin != segment->end && length > 0;
  if (*is_said) remember(t, said->ids, said->count);
  return ATTN2C_OK;
}

int attn2c_transcriber_next(attn2c_transcriber *t, attn2c_said_state *state, attn2c_said *said,
                            attn2c_message *message) {
  int is_said = 0, status = ATTN2C_OK;
  if (t->stage == READ) {
    int is_end;
    status = listen(t, &is_end, message);
    *state = is_end ? ATTN2C_SAID_ALL : ATTN2C_SAID_LATER;
    if (status != ATTN2C_OK || is_end) return status;
  }
  const attn2c_heard *heard = attn2c_listener_heard(t->listener, t->place);
  *state = ATTN2C_SAID_LATER;
  if (!heard) return ATTN2C_OK;
  if (t->stage == LISTEN) {
    t->language = heard->language;
    divide(t, heard);
    t->stage = TAKE;
  }
  while (t->taken < t->found && !is_said && status == ATTN2C_OK) status = take(t, heard, said, &is_said);
  if (status != ATTN2C_OK)
    return attn2c_fail(message, status, "%s: no text: %s", t->name, attn2c_strerror(status));
  *state = is_said ? ATTN2C_SAID_SEGMENT : ATTN2C_SAID_WINDOW;
  if (is_said) return ATTN2C_OK;
  if (!heard->is_silent && (!t->options->goes_on || heard->temperature > MOST_TEMPERATURE))
    t->before_count = t->carried;
  t->stage = READ;
  return ATTN2C_OK;
}

int64_t attn2c_transcriber_row(const attn2c_transcriber *t, int64_t *all) {
  *all = t->rows.all;
  return t->row;
}

struct attn2c_transcription {
  attn2c_listener *listener;
  attn2c_transcriber *transcriber;
  attn2c_samples samples;
  char *prompt;
  int is_begun;
};

int attn2c_transcription_create(attn2c_transcription **made, attn2c_context *context,
                                const attn2c_feature_facts *facts, int rate,
                                const attn2c_transcribe_options *given, attn2c_message *message) {
  attn2c_speech_options options;
  *made = NULL;
  int status = attn2c_transcribe_read(context->model->descriptor, given, "", &options, message);
  if (status != ATTN2C_OK) return status;
  attn2c_transcription *t = calloc(1, sizeof *t);
  if (!t) return attn2c_fail(message, ATTN2C_MEMORY, "no memory for speech");
  if (given->prompt) {
    t->prompt = malloc(strlen(given->prompt) + 1);
    status = t->prompt ? ATTN2C_OK : attn2c_fail(message, ATTN2C_MEMORY, "no memory for the prompt");
    if (t->prompt) strcpy(t->prompt, given->prompt);
  }
  if (status == ATTN2C_OK) status = attn2c_listener_create(&t->listener, context, &options, 1, message);
  if (status == ATTN2C_OK)
    status = attn2c_transcriber_create(&t->transcriber, t->listener, 0, facts, rate, message);
  if (status == ATTN2C_OK)
    *made = t;
  else
    attn2c_transcription_free(t);
  return status;
}

void attn2c_transcription_free(attn2c_transcription *t) {
  if (!t) return;
  attn2c_transcriber_free(t->transcriber);
  attn2c_listener_free(t->listener);
  ATTN2C_FREE(t->prompt, t);
}

int attn2c_transcription_begin(attn2c_transcription *t, const float *samples, int64_t count,
                               attn2c_message *message) {
  t->is_begun = 0;
  if (!samples || count < 1) return attn2c_fail(message, ATTN2C_USAGE, "samples: there is none");
  for (int64_t i = 0; i < count; i++)
    if (!(fabsf(samples[i]) <= ATTN2C_LARGEST_SAMPLE))
      return attn2c_fail(message, ATTN2C_FORMAT, "sample %lld is %g, but samples are from -1 to 1",
                         (long long)i, (double)samples[i]);
  t->samples = attn2c_samples_of(samples, count);
  int status = attn2c_transcriber_begin(t->transcriber, "samples", t->prompt, message);
  if (status == ATTN2C_OK) status = attn2c_transcriber_samples(t->transcriber, &t->samples, message);
  t->is_begun = status == ATTN2C_OK;
  return status;
}

int attn2c_transcription_next(attn2c_transcription *t, attn2c_said *said, attn2c_message *message) {
  attn2c_said_state state = ATTN2C_SAID_LATER;
  int status = ATTN2C_OK;
  *said = (attn2c_said){.text = NULL};
  if (!t->is_begun)
    return attn2c_fail(message, ATTN2C_USAGE, "no samples are given, or their last segment is told");
  while (status == ATTN2C_OK && state != ATTN2C_SAID_SEGMENT && state != ATTN2C_SAID_ALL) {
    status = attn2c_transcriber_next(t->transcriber, &state, said, message);
    if (status == ATTN2C_OK && state == ATTN2C_SAID_LATER)
      status = attn2c_listener_step(t->listener, message);
  }
  if (status != ATTN2C_OK || state == ATTN2C_SAID_ALL) *said = (attn2c_said){.text = NULL}, t->is_begun = 0;
  return status;
}
