/* sounds.c - sounds of files and of the standard input, whole or in pieces of speech. */
#include "program/sound/source.h"
#include "program/speech/job.h"

struct attn2c_speech_sound {
  attn2c_samples samples; /* of the sound that is read, whose source `from` is this */
  attn2c_paths path;      /* only its own */
  attn2c_sound_pieces pieces;
  int is_begun; /* 1: its only part, or a piece of it */
  int64_t end;  /* samples to drop before the next piece */
};

static const attn2c_sound_facts *facts(void) { return attn2c_the_sound_facts; }

static int open_paths(const attn2c_arguments *arguments, attn2c_paths *paths, attn2c_message *message) {
  return attn2c_paths_open(&attn2c_sound_paths, arguments->audios, arguments->audio_count, paths, message);
}

/* Shows the samples that are there. */
static void show(struct attn2c_speech_sound *s) {
  const attn2c_sound *sound = &s->pieces.sound;
  s->samples.samples = sound->samples;
  s->samples.first = sound->first, s->samples.count = sound->count;
  s->samples.is_end = sound->is_end;
}

static int fill(attn2c_samples *samples, int64_t wanted, attn2c_message *message) {
  struct attn2c_speech_sound *s = samples->from;
  const int status = attn2c_sound_fill(s->pieces.source, wanted, &s->pieces.sound, message);
  show(s);
  return status;
}

static void drop(attn2c_samples *samples, int64_t count) {
  struct attn2c_speech_sound *s = samples->from;
  attn2c_sound_drop(s->pieces.source, count, &s->pieces.sound);
  show(s);
}

static int again(attn2c_samples *samples, attn2c_message *message) {
  struct attn2c_speech_sound *s = samples->from;
  const int status = attn2c_sound_again(s->pieces.source, &s->pieces.sound, message);
  show(s);
  return status;
}

static int open_sound(attn2c_speech_job *job, attn2c_speech_place *place, int number,
                      attn2c_message *message) {
  struct attn2c_speech_sound *s = place->sound = calloc(1, sizeof *s);
  if (!s) return attn2c_fail(message, ATTN2C_MEMORY, "--audio: no memory for a sound");
  const int rate = facts()->rate;
  s->path = (attn2c_paths){.kind = job->paths.kind, .paths = &job->paths.paths[number], .count = 1};
  s->pieces = (attn2c_sound_pieces){.rate = rate, .most = job->rows * facts()->made->hop};
  int status = attn2c_sound_source_open(&s->path, rate, &s->pieces.source, message);
  if (status == ATTN2C_OK) status = attn2c_sound_pieces_begin(&s->pieces, message);
  if (status != ATTN2C_OK) return status;
  const attn2c_sound *sound = &s->pieces.sound;
  s->samples =
      (attn2c_samples){.fill = fill, .drop = drop, .again = sound->is_live ? NULL : again, .from = s};
  show(s);
  place->name = sound->name;
  place->is_by_line = job->arguments->vad || sound->is_live;
  return ATTN2C_OK;
}

/* Begins the next piece of speech. */
static int begin_piece(attn2c_speech_place *place, int *is_end, attn2c_message *message) {
  struct attn2c_speech_sound *s = place->sound;
  const attn2c_sound *sound = &s->pieces.sound;
  attn2c_speech_piece piece = {0, 0};
  int status = ATTN2C_OK;
  for (*is_end = 0; status == ATTN2C_OK && piece.end <= piece.begin;) {
    if (s->is_begun) drop(&s->samples, s->end);
    if (s->is_begun && sound->is_end && sound->count == 0) {
      *is_end = 1;
      return ATTN2C_OK;
    }
    status = attn2c_sound_pieces_next(&s->pieces, &piece, message);
    s->is_begun = 1, s->end = piece.end;
  }
  show(s);
  return status == ATTN2C_OK
             ? attn2c_transcriber_samples(place->transcriber, &s->samples, piece.begin, piece.end, message)
             : status;
}

static int begin_part(const attn2c_speech_job *job, attn2c_speech_place *place, int *is_end,
                      attn2c_message *message) {
  struct attn2c_speech_sound *s = place->sound;
  if (job->arguments->vad) return begin_piece(place, is_end, message);
  *is_end = s->is_begun;
  s->is_begun = 1;
  return *is_end ? ATTN2C_OK : attn2c_transcriber_samples(place->transcriber, &s->samples, 0, 0, message);
}

static void close_sound(attn2c_speech_place *place) {
  if (place->sound) attn2c_sound_source_close(place->sound->pieces.source);
  free(place->sound);
  place->sound = NULL;
}

const attn2c_speech_sounds attn2c_speech_sounds_program = {.kind = &attn2c_sound_paths,
                                                           .facts = facts,
                                                           .open_paths = open_paths,
                                                           .close_paths = attn2c_paths_close,
                                                           .are_several = attn2c_paths_are_several,
                                                           .open = open_sound,
                                                           .part = begin_part,
                                                           .close = close_sound};
