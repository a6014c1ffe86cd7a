/* sounds.c - sounds become features: up to a window as transformers prepares one, a longer one window by
 * window, of which only the current one is kept. A longer file is read twice, first for its largest number.
 */
#include "base/sound_facts.h"
#include "generate/bits.h"
#include "model/features.h"
#include "program/sound/cues.h"
#include "program/sound/pieces.h"
#include "program/speech/job.h"

typedef struct {
  attn2c_speech_job *job;
  attn2c_sound_pieces pieces;
  float *features; /* rows of a window, after the rows of a margin */
  float largest;   /* number of the whole sound; -inf: each window's own counts */
  int64_t rows;    /* of the whole sound; 0: not known */
} sounds;

static attn2c_feature_facts facts(void) { return *attn2c_the_sound_facts->made; }

static int no_features(const sounds *s, int status) {
  return status == ATTN2C_OK ? status
                             : attn2c_fail(s->job->message, status, "%s: no features: %s", s->job->name,
                                           attn2c_strerror(status));
}

static float largest_of(const float *features, int64_t count, float largest) {
  for (int64_t i = 0; i < count; i++) largest = features[i] > largest ? features[i] : largest;
  return largest;
}

/* Makes the features from a row of a long sound on, up to a window, whose samples it reads. Numbers are not
 * limited. */
static int read_rows(sounds *s, attn2c_speech_part *part, int64_t row) {
  attn2c_feature_facts made = facts();
  const attn2c_sound *sound = &s->pieces.sound;
  /* Rows near the beginning are made of reflected samples, with all before them. */
  const int64_t from = row * made.hop < made.margin ? 0 : row, before = row - from;
  made.margin = from > 0 ? 0 : made.margin;
  const int64_t first = from * made.hop - (from > 0 ? facts().margin : 0);
  if (first > sound->first) attn2c_sound_drop(s->pieces.source, first - sound->first, &s->pieces.sound);
  int status =
      attn2c_sound_fill(s->pieces.source, (row + s->job->rows) * made.hop + made.length - sound->first,
                        &s->pieces.sound, s->job->message);
  if (status != ATTN2C_OK) return status;
  part->rows = sound->is_end ? (sound->first + sound->count) / made.hop : row + s->job->rows;
  if (part->rows > row + s->job->rows) part->rows = row + s->job->rows;
  part->first = row, part->room = part->rows - row;
  part->features = s->features + before * s->job->width;
  if (part->room < 1) return ATTN2C_OK;
  made.rows = before + part->room, made.samples = made.rows * made.hop + made.length, made.range = 0;
  status = attn2c_features(s->job->opened.context, &made, sound->samples + (first - sound->first),
                           sound->count - (first - sound->first), s->features, made.rows);
  return no_features(s, status);
}

static int read_window(attn2c_speech_part *part, int64_t row) {
  sounds *s = part->from;
  const int status = read_rows(s, part, row);
  if (status != ATTN2C_OK || part->rows <= row) return status;
  const int64_t count = part->room * s->job->width;
  float *window = part->features;
  const float least = largest_of(window, count, s->largest) - facts().range;
  for (int64_t i = 0; i < count && facts().range > 0; i++) window[i] = window[i] < least ? least : window[i];
  return ATTN2C_OK;
}

/* Finds the largest number of a long file, and begins it again. */
static int find_largest(sounds *s) {
  attn2c_speech_part part = {.first = 0};
  int status = ATTN2C_OK;
  for (int64_t row = 0; row == part.rows; row += s->job->rows) {
    status = read_rows(s, &part, row);
    if (status != ATTN2C_OK) return status;
    s->rows = part.rows;
    s->largest = largest_of(part.features, (part.rows - row) * s->job->width, s->largest);
  }
  return attn2c_sound_again(s->pieces.source, &s->pieces.sound, s->job->message);
}

/* Writes down samples that a window holds. */
static int listen_to(sounds *s, const attn2c_speech_piece *piece) {
  const attn2c_feature_facts made = facts();
  const attn2c_sound *sound = &s->pieces.sound;
  const int64_t count = piece->end - piece->begin, rows = count / made.hop > 0 ? count / made.hop : 1;
  attn2c_speech_part part = {.features = s->features, .rows = rows, .room = s->job->rows};
  part.begin = (double)(sound->first + piece->begin) / s->pieces.rate;
  if (attn2c_feature_rows(&made, count) != part.room)
    return attn2c_fail(s->job->message, ATTN2C_FORMAT, "%s: there is no sound in it", sound->name);
  const int status = attn2c_features(s->job->opened.context, &made, sound->samples + piece->begin, count,
                                     s->features, part.room);
  return status == ATTN2C_OK ? attn2c_speech_listen(s->job, &part) : no_features(s, status);
}

static int listen_to_all(sounds *s) {
  const attn2c_feature_facts made = facts();
  const attn2c_sound *sound = &s->pieces.sound;
  attn2c_speech_part part = {.is_long = 1, .read = read_window, .from = s};
  int status = attn2c_sound_fill(s->pieces.source, s->job->rows * made.hop + made.length, &s->pieces.sound,
                                 s->job->message);
  if (status != ATTN2C_OK) return status;
  if (sound->is_end && sound->count / made.hop <= s->job->rows)
    return listen_to(s, &(attn2c_speech_piece){0, sound->count});
  s->largest = attn2c_bits_float(ATTN2C_NEGATIVE_INFINITE_BITS), s->rows = 0;
  if (!sound->is_live && made.range > 0) status = find_largest(s);
  part.all = s->rows;
  return status == ATTN2C_OK ? attn2c_speech_listen(s->job, &part) : status;
}

static int listen_to_speech(sounds *s) {
  const attn2c_sound *sound = &s->pieces.sound;
  attn2c_speech_piece piece;
  int status = ATTN2C_OK;
  while (status == ATTN2C_OK && !(sound->is_end && sound->count == 0)) {
    status = attn2c_sound_pieces_next(&s->pieces, &piece, s->job->message);
    if (status == ATTN2C_OK && piece.end > piece.begin) status = listen_to(s, &piece);
    if (status == ATTN2C_OK) attn2c_sound_drop(s->pieces.source, piece.end, &s->pieces.sound);
  }
  return status;
}

int attn2c_speech_sounds(attn2c_speech_job *job) {
  const attn2c_arguments *arguments = job->arguments;
  const int64_t most = facts().margin / facts().hop + 1 + job->rows;
  sounds s = {.job = job, .pieces = {.rate = attn2c_the_sound_facts->rate, .most = job->rows * facts().hop}};
  attn2c_paths paths;
  int status =
      attn2c_paths_open(&attn2c_sound_paths, arguments->audios, arguments->audio_count, &paths, job->message);
  if (status == ATTN2C_OK) status = attn2c_cues_check(job->options.format, paths.count, job->message);
  if (status == ATTN2C_OK) {
    job->has_names = job->has_names || attn2c_paths_are_several(&paths);
    s.features = malloc((size_t)(most * job->width) * sizeof *s.features);
    if (!s.features) status = attn2c_fail(job->message, ATTN2C_MEMORY, "--audio: no memory for features");
  }
  if (status == ATTN2C_OK)
    status = attn2c_sound_source_open(&paths, s.pieces.rate, &s.pieces.source, job->message);
  while (status == ATTN2C_OK) {
    status = attn2c_sound_pieces_begin(&s.pieces, job->message);
    if (status != ATTN2C_OK || !s.pieces.sound.name) break;
    job->is_by_line = arguments->vad || s.pieces.sound.is_live;
    status = attn2c_speech_begin(job, s.pieces.sound.name);
    if (status == ATTN2C_OK) status = (arguments->vad ? listen_to_speech : listen_to_all)(&s);
    if (status == ATTN2C_OK) status = attn2c_speech_end(job);
  }
  attn2c_sound_source_close(s.pieces.source);
  attn2c_paths_close(&paths);
  free(s.features);
  return status;
}
