/* source.c - reads sounds with libsndfile, and changes their rates with libsoxr. */
#include "program/sound/source.h"

#include <errno.h>
#include <math.h>
#include <soxr.h>

#include "model/features.h"
#include "program/output.h"
#include "program/sound/whole.h"
#include "program/system.h"

/* Numbers of a file, of all channels, that are read at a time; rates that are taken. */
enum { BLOCK = 1 << 16, LEAST_RATE = 1000, MOST_RATE = 1000000 };

static const char *const endings[] = {".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3", NULL};
const attn2c_path_kind attn2c_sound_paths = {"--audio", "sound", "sounds", endings,
                                             ".wav, .flac, .ogg, .oga, .opus or .mp3"};

struct attn2c_sound_source {
  const attn2c_paths *paths;
  int rate, next;
  const char *name;
  SNDFILE *file; /* NULL: the standard input */
  SF_INFO info;
  soxr_t resampler; /* NULL: the file has the model's rate */
  float block[BLOCK];
  int64_t read;     /* frames of the file so far */
  sf_count_t least; /* that the file has */
  float *samples;
  int64_t dropped; /* of these, before the `count` that are left */
  int64_t first, count, capacity;
  int is_end;
  int16_t raw[BLOCK];
  size_t raw_bytes; /* that are there of a sample: 0 or 1 */
};

int attn2c_sound_source_open(const attn2c_paths *paths, int rate, attn2c_sound_source **source,
                             attn2c_message *message) {
  attn2c_sound_source *made = *source = calloc(1, sizeof *made);
  if (!made) return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory", paths->kind->option);
  made->paths = paths, made->rate = rate;
  return ATTN2C_OK;
}

/* Ends the sound that is read. */
static void end(attn2c_sound_source *source) {
  if (source->file) sf_close(source->file);
  soxr_delete(source->resampler);
  source->file = NULL, source->resampler = NULL;
  source->read = source->first = source->count = source->dropped = 0;
  source->is_end = 0;
}

void attn2c_sound_source_close(attn2c_sound_source *source) {
  if (!source) return;
  end(source);
  ATTN2C_FREE(source->samples, source);
}

static int no_memory(const attn2c_sound_source *source, attn2c_message *message) {
  return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory for more than %lld samples", source->name,
                     (long long)source->count);
}

/* Makes space for more samples, which the caller writes after the others. */
static int reserve(attn2c_sound_source *source, int64_t more, attn2c_message *message) {
  if (source->dropped + source->count + more <= source->capacity) return ATTN2C_OK;
  if (source->dropped > 0)
    memmove(source->samples, source->samples + source->dropped, (size_t)source->count * sizeof(float));
  source->dropped = 0;
  if (2 * (source->count + more) <= source->capacity) return ATTN2C_OK;
  const int64_t capacity = 2 * (source->count + more);
  float *moved = realloc(source->samples, (size_t)capacity * sizeof *moved);
  if (!moved) return no_memory(source, message);
  source->samples = moved, source->capacity = capacity;
  return ATTN2C_OK;
}

/* Turns off the standard error: the decoder of MP3 writes there. Returns what turns it on again. */
static int silence(void) {
  const int kept = attn2c_system_again(STDERR_FILENO);
  const int nowhere = kept < 0 ? -1 : attn2c_system_open(ATTN2C_NULL_PATH, O_WRONLY);
  if (nowhere >= 0) dup2(nowhere, STDERR_FILENO), close(nowhere);
  return kept;
}

static void end_silence(int kept) {
  if (kept >= 0) dup2(kept, STDERR_FILENO), close(kept);
}

/* Opens a file, whose samples have their own rate. */
static int open_whole(attn2c_sound_source *source, const char *path, attn2c_message *message) {
  source->info = (SF_INFO){.format = 0};
  const int kept = silence();
  source->file = attn2c_sound_file(path, &source->info);
  const int why = errno;
  end_silence(kept);
  const SF_INFO *info = &source->info;
  if (!source->file && sf_error(NULL) == SF_ERR_SYSTEM)
    return attn2c_fail(message, ATTN2C_IO, "%s: %s", path, strerror(why));
  if (!source->file) {
    const char *said = sf_strerror(NULL); /* of a damaged MP3 file, that it "does not exist" */
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: is no sound: %s", path,
                       strstr(said, "possibly a pipe")  ? "its MPEG audio is damaged, or comes from a pipe"
                       : strstr(said, "not recognised") ? "WAV, FLAC, Ogg and MP3 files are supported"
                                                        : said);
  }
  if (info->seekable && info->frames == 0)
    source->file = attn2c_sound_unfinished(source->file, &source->info, path);
  if (info->samplerate < LEAST_RATE || info->samplerate > MOST_RATE)
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: %d samples a second, but %d to %d are allowed", path,
                       info->samplerate, LEAST_RATE, MOST_RATE);
  return attn2c_sound_whole(source->file, info, path, &source->least, message);
}

static int open_file(attn2c_sound_source *source, const char *path, attn2c_message *message) {
  const SF_INFO *info = &source->info;
  const int status = open_whole(source, path, message);
  if (status != ATTN2C_OK || info->samplerate == source->rate) return status;
  soxr_error_t fault = NULL;
  const soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
  const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
  source->resampler =
      soxr_create((double)info->samplerate, (double)source->rate, 1, &fault, &io, &quality, NULL);
  return fault ? attn2c_fail(message, ATTN2C_MEMORY, "%s: %s", path, fault) : ATTN2C_OK;
}

/* Writes the means of the channels in place. Returns ATTN2C_FORMAT if one is not finite, or too large. */
static int mix(attn2c_sound_source *source, int64_t frames, attn2c_message *message) {
  const int channels = source->info.channels;
  for (int64_t i = 0; i < frames; i++) {
    double sum = 0.0;
    for (int c = 0; c < channels; c++) sum += (double)source->block[i * channels + c];
    source->block[i] = (float)(sum / channels);
    const float size = fabsf(source->block[i]);
    if (size <= ATTN2C_LARGEST_SAMPLE) continue;
    if (isfinite(size))
      return attn2c_fail(message, ATTN2C_FORMAT,
                         "%s: sample %lld is %g, but samples are from -1 to 1; up to %g is allowed",
                         source->name, (long long)(source->read + i), (double)source->block[i],
                         (double)ATTN2C_LARGEST_SAMPLE);
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: sample %lld is not a finite number", source->name,
                       (long long)(source->read + i));
  }
  source->read += frames;
  return ATTN2C_OK;
}

/* Adds `frames` samples of the block, at the model's rate; 0 frames: the end. */
static int add(attn2c_sound_source *source, int64_t frames, attn2c_message *message) {
  const double ratio = (double)source->rate / (double)source->info.samplerate;
  size_t used = 0, made = 0;
  if (frames == 0 && !source->resampler) return ATTN2C_OK;
  do {
    const int64_t more = source->resampler ? (int64_t)((double)frames * ratio) + BLOCK : frames;
    ATTN2C_TRY(reserve(source, more, message));
    float *to = source->samples + source->dropped + source->count;
    made = (size_t)frames;
    if (source->resampler) {
      size_t taken = 0;
      const soxr_error_t fault = soxr_process(source->resampler, frames ? source->block + used : NULL,
                                              (size_t)frames - used, &taken, to, (size_t)more, &made);
      if (fault) return attn2c_fail(message, ATTN2C_MEMORY, "%s: %s", source->name, fault);
      used += taken;
    } else if (made) {
      memcpy(to, source->block, made * sizeof *to);
    }
    source->count += (int64_t)made;
  } while (source->resampler && (frames ? used < (size_t)frames : made > 0));
  return ATTN2C_OK;
}

static int read_file(attn2c_sound_source *source, attn2c_message *message) {
  const int kept = silence();
  const sf_count_t frames = sf_readf_float(source->file, source->block, BLOCK / source->info.channels);
  end_silence(kept);
  if (sf_error(source->file))
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: is damaged or was cut after sample %lld: %s",
                       source->name, (long long)(source->read + frames), sf_strerror(source->file));
  if (frames <= 0 && source->read < source->least)
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: is damaged or was cut after sample %lld of %lld or more",
                       source->name, (long long)source->read, (long long)source->least);
  const int status = frames > 0 ? mix(source, frames, message) : ATTN2C_OK;
  source->is_end = frames <= 0;
  return status == ATTN2C_OK ? add(source, frames > 0 ? frames : 0, message) : status;
}

/* Refuses a file of sound on the standard input. */
static int check_raw(const attn2c_sound_source *source, const uint8_t *bytes, size_t count,
                     attn2c_message *message) {
  static const char *const begins[] = {"RIFF", "fLaC", "OggS", "ID3"};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
    if (count >= 4 && memcmp(bytes, begins[i], strlen(begins[i])) == 0)
      return attn2c_fail(message, ATTN2C_FORMAT,
                         "standard input: begins with %s: a file is given by its name; - takes raw samples: "
                         "16 bits, little-endian, one channel, %d a second",
                         begins[i], source->rate);
  return ATTN2C_OK;
}

static int read_raw(attn2c_sound_source *source, attn2c_message *message) {
  uint8_t *bytes = (uint8_t *)source->raw;
  if (!attn2c_signals_wait(STDIN_FILENO, 1)) return attn2c_signals_status(message);
  const int64_t got =
      attn2c_program_read(STDIN_FILENO, bytes + source->raw_bytes, sizeof source->raw - source->raw_bytes);
  if (got < 0 && errno == EINTR) return ATTN2C_OK;
  if (got < 0) return attn2c_fail(message, ATTN2C_IO, "standard input: %s", strerror(errno));
  const size_t there = source->raw_bytes + (size_t)got;
  if (got == 0 && there)
    return attn2c_fail(message, ATTN2C_FORMAT, "standard input: ends within a sample of 16 bits");
  ATTN2C_TRY(reserve(source, (int64_t)(there / 2), message));
  if (source->first + source->count == 0) ATTN2C_TRY(check_raw(source, bytes, there, message));
  float *to = source->samples + source->dropped + source->count;
  for (size_t i = 0; i < there / 2; i++) {
    const int value = bytes[2 * i] | bytes[2 * i + 1] << 8;
    to[i] = (float)(value < 0x8000 ? value : value - 0x10000) / 32768.0F;
  }
  source->count += (int64_t)(there / 2);
  source->raw_bytes = there % 2;
  if (source->raw_bytes) bytes[0] = bytes[there - 1];
  source->is_end = got == 0;
  return ATTN2C_OK;
}

static void show(const attn2c_sound_source *source, attn2c_samples *samples) {
  samples->samples = source->samples ? source->samples + source->dropped : NULL;
  samples->first = source->first, samples->count = source->count;
  samples->is_end = source->is_end;
}

static int again(attn2c_samples *samples, attn2c_message *message) {
  attn2c_sound_source *source = samples->from;
  end(source);
  const int status = open_file(source, source->paths->paths[source->next - 1], message);
  show(source, samples);
  return status;
}

static int fill(attn2c_samples *samples, int64_t wanted, attn2c_message *message) {
  attn2c_sound_source *source = samples->from;
  int status = ATTN2C_OK;
  while (status == ATTN2C_OK && source->count < wanted && !source->is_end) {
    status = (source->file ? read_file : read_raw)(source, message);
    if (status == ATTN2C_OK) status = attn2c_signals_status(message);
  }
  if (status == ATTN2C_OK && source->is_end && source->first + source->count == 0)
    status = attn2c_fail(message, ATTN2C_FORMAT, "%s: has no samples", source->name);
  show(source, samples);
  return status;
}

static void drop(attn2c_samples *samples, int64_t count) {
  attn2c_sound_source *source = samples->from;
  source->count -= count, source->first += count, source->dropped += count;
  show(source, samples);
}

int attn2c_sound_next(attn2c_sound_source *source, attn2c_sound *sound, attn2c_message *message) {
  end(source);
  *sound = (attn2c_sound){.number = source->next};
  if (source->next >= source->paths->count) return ATTN2C_OK;
  const char *path = source->paths->paths[source->next];
  source->name = attn2c_path_name(source->paths, source->next++);
  if (strcmp(path, "-") != 0)
    ATTN2C_TRY(open_file(source, path, message));
  else if (isatty(STDIN_FILENO))
    return attn2c_fail(
        message, ATTN2C_USAGE,
        "--audio -: the standard input is a terminal; give raw samples: arecord -f S16_LE -r %d -t raw | ...",
        source->rate);
  const int is_live = !source->file || !source->info.seekable;
  sound->name = source->name;
  sound->samples =
      (attn2c_samples){.fill = fill, .drop = drop, .again = is_live ? NULL : again, .from = source};
  return ATTN2C_OK;
}

double attn2c_sound_seconds(const char *path) {
  attn2c_sound_source *source = calloc(1, sizeof *source);
  attn2c_message message = attn2c_message_make(NULL, 0);
  double seconds = 0;
  if (source && open_whole(source, path, &message) == ATTN2C_OK && source->info.frames < SF_COUNT_MAX)
    seconds = (double)source->info.frames / source->info.samplerate;
  attn2c_sound_source_close(source);
  return seconds;
}
