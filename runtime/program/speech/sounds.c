/* sounds.c - sounds of files and of the standard input. */
#include "program/sound/source.h"
#include "program/speech/job.h"

struct attn2c_speech_sound {
  attn2c_sound_source *source;
  attn2c_sound sound;
  attn2c_paths path; /* only its own */
};

static const attn2c_sound_facts *facts(void) { return attn2c_the_sound_facts; }

static int open_paths(const attn2c_arguments *arguments, attn2c_paths *paths, attn2c_message *message) {
  return attn2c_paths_open(&attn2c_sound_paths, arguments->audios, arguments->audio_count, paths, message);
}

static int open_sound(attn2c_speech_job *job, attn2c_speech_place *place, int number,
                      attn2c_message *message) {
  struct attn2c_speech_sound *s = place->sound = calloc(1, sizeof *s);
  if (!s) return attn2c_fail(message, ATTN2C_MEMORY, "--audio: no memory for a sound");
  s->path = (attn2c_paths){.kind = job->paths.kind, .paths = &job->paths.paths[number], .count = 1};
  ATTN2C_TRY(attn2c_sound_source_open(&s->path, facts()->rate, &s->source, message));
  ATTN2C_TRY(attn2c_sound_next(s->source, &s->sound, message));
  place->name = s->sound.name;
  place->is_by_line = job->options.by_pieces || !s->sound.samples.again;
  return ATTN2C_OK;
}

static int begin_sound(attn2c_speech_place *place, attn2c_message *message) {
  return attn2c_transcriber_samples(place->transcriber, &place->sound->sound.samples, message);
}

static void close_sound(attn2c_speech_place *place) {
  if (place->sound) attn2c_sound_source_close(place->sound->source);
  free(place->sound);
  place->sound = NULL;
}

const attn2c_speech_sounds attn2c_speech_sounds_program = {.kind = &attn2c_sound_paths,
                                                           .facts = facts,
                                                           .open_paths = open_paths,
                                                           .close_paths = attn2c_paths_close,
                                                           .are_several = attn2c_paths_are_several,
                                                           .open = open_sound,
                                                           .begin = begin_sound,
                                                           .close = close_sound};
