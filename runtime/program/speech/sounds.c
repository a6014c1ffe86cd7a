/* sounds.c - files of sound become features: up to a window as transformers prepares one, a longer one as a
 * whole, as OpenAI does it. */
#include "base/sound_facts.h"
#include "model/features.h"
#include "program/sound/cues.h"
#include "program/sound/source.h"
#include "program/speech/job.h"

/* Makes the features of all samples. rows: of the sound; room: with those that fill its last window. */
static int make_features(attn2c_speech_job *job, const attn2c_sound *sound, float **features, int64_t *rows,
                         int64_t *room) {
  attn2c_feature_facts facts = *attn2c_the_sound_facts->made;
  *rows = sound->count / facts.hop > 0 ? sound->count / facts.hop : 1;
  *room = *rows > job->rows ? *rows : job->rows;
  if (*rows > job->rows) facts.samples = sound->count + facts.length, facts.rows = *rows;
  *features = malloc((size_t)(*room * job->width) * sizeof **features);
  if (!*features)
    return attn2c_fail(job->message, ATTN2C_MEMORY, "%s: no memory for its features", sound->name);
  if (attn2c_feature_rows(&facts, sound->count) != *room)
    return attn2c_fail(job->message, ATTN2C_FORMAT, "%s: there is no sound in it", sound->name);
  const int status =
      attn2c_features(job->opened.context, &facts, sound->samples, sound->count, *features, *room);
  return status == ATTN2C_OK
             ? status
             : attn2c_fail(job->message, status, "%s: no features: %s", sound->name, attn2c_strerror(status));
}

int attn2c_speech_sounds(attn2c_speech_job *job) {
  const attn2c_arguments *arguments = job->arguments;
  attn2c_sound_source *source = NULL;
  attn2c_paths paths;
  attn2c_sound sound;
  int status =
      attn2c_paths_open(&attn2c_sound_paths, arguments->audios, arguments->audio_count, &paths, job->message);
  if (status == ATTN2C_OK) status = attn2c_cues_check(job->options.format, paths.count, job->message);
  if (status == ATTN2C_OK) {
    job->has_names = job->has_names || attn2c_paths_are_several(&paths);
    status = attn2c_sound_source_open(&paths, attn2c_the_sound_facts->rate, &source, job->message);
  }
  while (status == ATTN2C_OK) {
    float *features = NULL;
    int64_t rows, room;
    status = attn2c_sound_next(source, &sound, job->message);
    if (status != ATTN2C_OK || !sound.name) break;
    status = attn2c_sound_fill(source, INT64_MAX, &sound, job->message);
    if (status == ATTN2C_OK) status = make_features(job, &sound, &features, &rows, &room);
    if (status == ATTN2C_OK) status = attn2c_speech_sound(job, sound.name, features, rows, room);
    if (status == ATTN2C_OK) attn2c_sound_drop(source, sound.count, &sound);
    free(features);
  }
  attn2c_sound_source_close(source);
  attn2c_paths_close(&paths);
  return status;
}
