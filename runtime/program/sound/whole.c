/* whole.c - looks at the bytes of files: chunks of WAV, pages of Ogg, frames of MP3. */
#include "program/sound/whole.h"

/* Opens a file as samples without a header. */
static SNDFILE *open_raw(const char *path, int format, const SF_INFO *as) {
  SF_INFO info = {.format = SF_FORMAT_RAW | format, .channels = as->channels, .samplerate = as->samplerate};
  return attn2c_sound_file(path, &info);
}

static SNDFILE *open_bytes(const char *path) {
  return open_raw(path, SF_FORMAT_PCM_U8, &(SF_INFO){.channels = 1, .samplerate = 1});
}

/* Reads up to `count` bytes from a place on, and returns their number. */
static sf_count_t read_at(SNDFILE *bytes, sf_count_t at, uint8_t *to, sf_count_t count) {
  return sf_seek(bytes, at, SEEK_SET) == at ? sf_read_raw(bytes, to, count) : 0;
}

static uint32_t number(const uint8_t *at, int is_big) {
  const uint32_t turned = at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24;
  return is_big ? (uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3] : turned;
}

static int say_cut(const char *path, long long there, long long said, const char *unit, const char *of,
                   attn2c_message *message) {
  return attn2c_fail(message, ATTN2C_FORMAT, "%s: was cut: %lld %s of its %lld %s%s are there", path, there,
                     unit, said, unit, of);
}

/* Formats of chunks, and the line in which libsndfile says the bytes of one. */
static const struct {
  int kind;
  const char *line, *of;
} chunks[] = {{SF_FORMAT_WAV, "\ndata :", " of samples"}, {SF_FORMAT_WAVEX, "\ndata :", " of samples"},
              {SF_FORMAT_RF64, "\n  Riff size :", ""},    {SF_FORMAT_W64, "\nriff :", ""},
              {SF_FORMAT_AIFF, "\nFORM :", ""},           {SF_FORMAT_AU, "\n  Data Size   :", " of samples"}};

/* Checks a file by what libsndfile says about its chunks. The header of a pipe's says the most. */
static int check_chunks(SNDFILE *file, int kind, const char *path, attn2c_message *message) {
  char log[4096] = "";
  long long said, there;
  size_t i = 0;
  while (i < sizeof chunks / sizeof *chunks && chunks[i].kind != kind) i++;
  sf_command(file, SFC_GET_LOG_INFO, log, sizeof log);
  if ((kind == SF_FORMAT_VOC || kind == SF_FORMAT_PAF) && strstr(log, "eems to be"))
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: was cut", path);
  if (i == sizeof chunks / sizeof *chunks) return ATTN2C_OK;
  const char *line = strstr(log, chunks[i].line);
  line = line ? strchr(line, ':') : NULL;
  if (!line || sscanf(line, ": %lld (should be %lld)", &said, &there) != 2) return ATTN2C_OK;
  const int is_large = kind == SF_FORMAT_RF64 || kind == SF_FORMAT_W64;
  if (there >= said || said >= (is_large ? INT64_MAX / 2 : 0x7ffff000)) return ATTN2C_OK;
  return say_cut(path, there, said, "bytes", chunks[i].of, message);
}

/* Checks the pages of an Ogg file. libsndfile reads the first of several streams, and whole pages. */
static int check_ogg(SNDFILE *bytes, sf_count_t length, const char *path, attn2c_message *message) {
  uint8_t page[27 + 255];
  int is_begun = 0;
  for (sf_count_t at = 0; at < length;) {
    const sf_count_t count = read_at(bytes, at, page, sizeof page);
    if (memcmp(page, "OggS", count < 4 ? (size_t)count : 4) != 0) return ATTN2C_OK;
    const int begins = count > 5 && page[5] & 2, parts = count > 26 ? page[26] : 0;
    if (begins && is_begun)
      return attn2c_fail(
          message, ATTN2C_FORMAT,
          "%s: has several streams, one after the other, of which only the first could be read", path);
    is_begun |= !begins;
    at += 27 + parts;
    for (int i = 0; i < parts && 27 + i < count; i++) at += page[27 + i];
    if (at > length) return attn2c_fail(message, ATTN2C_FORMAT, "%s: was cut: it ends within a page", path);
  }
  return ATTN2C_OK;
}

/* Returns the bytes of a frame of MPEG audio, layer II or III, and sets its samples; 0: these bytes do not
 * begin one. */
static int frame_of(const uint8_t *head, int *samples) {
  static const int rates[] = {44100, 48000, 32000};
  static const int of_layers[][15] = {{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
                                      {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
                                      {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}};
  const int version = head[1] >> 3 & 3, layer = (head[1] >> 1 & 3) - 1, bits = head[2] >> 4;
  const int rate = head[2] >> 2 & 3, shift = version == 3 ? 0 : version == 2 ? 1 : 2;
  if (head[0] != 0xff || head[1] < 0xe0 || version == 1 || layer < 0 || layer > 1 || bits == 0 ||
      bits == 15 || rate == 3)
    return 0;
  *samples = version == 3 || layer == 1 ? 1152 : 576;
  return *samples / 8 * 1000 * of_layers[version == 3 ? layer : 2][bits] / (rates[rate] >> shift) +
         (head[2] >> 1 & 1);
}

/* True if two frames may be of one sound. */
static int is_alike(const uint8_t *one, const uint8_t *other) {
  return (one[1] & 0xfe) == (other[1] & 0xfe) && (one[2] & 0xc) == (other[2] & 0xc);
}

/* Returns the place of the next frame, after tags and other bytes that are no sound; `length`: there is none.
 * Bytes that look like a frame are one only before another, or before the end. */
static sf_count_t next_frame(SNDFILE *bytes, sf_count_t at, sf_count_t length) {
  uint8_t block[4096], next[4];
  while (at < length) {
    const sf_count_t count = read_at(bytes, at, block, sizeof block);
    if (count < 4) return length;
    if (count > 10 && memcmp(block, "ID3", 3) == 0) {
      at += 10 + (block[6] << 21 | block[7] << 14 | block[8] << 7 | block[9]) + (block[5] & 0x10 ? 10 : 0);
      continue;
    }
    sf_count_t i = 0;
    for (int samples; i + 4 <= count && (i == 0 || memcmp(block + i, "ID3", 3) != 0); i++) {
      const int size = frame_of(block + i, &samples);
      const sf_count_t end = at + i + size;
      if (size && (end == length || (read_at(bytes, end, next, 4) == 4 && frame_of(next, &samples) &&
                                     is_alike(block + i, next))))
        return at + i;
    }
    at += i;
  }
  return length;
}

/* Returns the frames after it that the first frame of an MP3 file says, as some programs write; 0: it says
 * none. */
static uint32_t said_frames(SNDFILE *bytes, sf_count_t at) {
  uint8_t frame[192];
  const sf_count_t count = read_at(bytes, at, frame, sizeof frame);
  for (sf_count_t i = 4; i + 12 <= count; i++)
    if ((memcmp(frame + i, "Xing", 4) == 0 || memcmp(frame + i, "Info", 4) == 0) &&
        number(frame + i + 4, 1) & 1)
      return number(frame + i + 8, 1);
  return 0;
}

/* Checks the frames of an MP3 file. Without a frame that says their number, libsndfile reads the number that
 * the first one's bytes and the file's would give. */
static int check_mp3(SNDFILE *bytes, sf_count_t length, const SF_INFO *info, const char *path,
                     sf_count_t *least, attn2c_message *message) {
  enum { PADDING = 5, MOST_SAMPLES = 1152 }; /* frames that an encoder may add at both ends; of a frame */
  uint8_t head[4] = {0};
  sf_count_t at = next_frame(bytes, 0, length), found = 0;
  int samples = 0, of_one = 0;
  /* Frames of free format do not say their bytes, so none is found. Their number may be said nevertheless. */
  const int is_free = at == length;
  const uint32_t said = said_frames(bytes, is_free ? 0 : at);
  if (is_free && said > 0) *least = info->frames - MOST_SAMPLES;
  while (at < length) {
    const sf_count_t count = read_at(bytes, at, head, sizeof head);
    const int size = count == 4 ? frame_of(head, &samples) : 0;
    const int is_cut = size > 0 ? at + size > length : length - at < 4 && head[0] == 0xff;
    if (is_cut && said <= found)
      return attn2c_fail(message, ATTN2C_FORMAT, "%s: was cut: it ends within a frame", path);
    if (is_cut) break;
    found += size > 0;
    if (size > 0) of_one = samples;
    at = size > 0 ? at + size : next_frame(bytes, at, length);
  }
  if (found > 0 && said > found) return say_cut(path, (long long)found, said, "frames", "", message);
  const sf_count_t all = found * of_one, expected = said ? info->frames - of_one : all - PADDING * of_one;
  if (all > info->frames + PADDING * of_one && said > 0)
    return attn2c_fail(
        message, ATTN2C_FORMAT,
        "%s: its first frame says %u of its %lld frames, as in several files that were joined, of "
        "which only the first could be read; to write one: ffmpeg -i IN.mp3 -c copy OUT.mp3",
        path, (unsigned)said, (long long)found);
  if (all > info->frames + PADDING * of_one)
    return attn2c_fail(
        message, ATTN2C_FORMAT,
        "%s: only %.1f of its %.1f seconds could be read, as its first frame does not say how many there "
        "are; to write one: ffmpeg -i IN.mp3 -c copy OUT.mp3",
        path, (double)info->frames / info->samplerate, (double)all / info->samplerate);
  if (!is_free) *least = expected;
  return ATTN2C_OK;
}

int attn2c_sound_whole(SNDFILE *file, const SF_INFO *info, const char *path, sf_count_t *least,
                       attn2c_message *message) {
  const int kind = info->format & SF_FORMAT_TYPEMASK, samples = info->format & SF_FORMAT_SUBMASK;
  const int is_mpeg = samples >= SF_FORMAT_MPEG_LAYER_I && samples <= SF_FORMAT_MPEG_LAYER_III;
  *least = info->seekable && !is_mpeg && info->frames < SF_COUNT_MAX ? info->frames : 0;
  ATTN2C_TRY(check_chunks(file, kind, path, message));
  if (!info->seekable || (kind != SF_FORMAT_OGG && kind != SF_FORMAT_MPEG)) return ATTN2C_OK;
  SNDFILE *bytes = open_bytes(path);
  if (!bytes) return ATTN2C_OK;
  const sf_count_t length = sf_seek(bytes, 0, SEEK_END);
  const int status = kind == SF_FORMAT_OGG ? check_ogg(bytes, length, path, message)
                                           : check_mp3(bytes, length, info, path, least, message);
  sf_close(bytes);
  return status;
}

/* Returns where the samples of a WAV file begin that says that it has none, but is not at its end and goes on
 * with no chunks to its end; or 0. The large form (RF64) has other places for sizes. */
static sf_count_t samples_of(SNDFILE *file, int is_big, int is_large, sf_count_t length) {
  uint8_t head[8];
  sf_count_t at = 12, first = 0;
  while (read_at(file, at, head, sizeof head) == sizeof head) {
    const int is_data = !first && memcmp(head, "data", 4) == 0;
    uint32_t size = number(head + 4, is_big);
    if (is_data && is_large && size == UINT32_MAX) size = 0;
    if (is_data && size > 0) return 0;
    if (is_data) first = at + (sf_count_t)sizeof head;
    if (head[0] < ' ') break; /* no name of a chunk: samples */
    at += (sf_count_t)sizeof head + size + size % 2;
  }
  return at == length || at == length + 1 ? 0 : first; /* some programs leave out the last byte, of padding */
}

SNDFILE *attn2c_sound_unfinished(SNDFILE *file, SF_INFO *info, const char *path) {
  const int samples = info->format & SF_FORMAT_SUBMASK, kind = info->format & SF_FORMAT_TYPEMASK;
  const int is_large = kind == SF_FORMAT_RF64, is_big = (info->format & SF_FORMAT_ENDMASK) == SF_ENDIAN_BIG;
  /* Files whose samples are packed stay as they are. */
  if ((kind != SF_FORMAT_WAV && kind != SF_FORMAT_WAVEX && !is_large) || samples > SF_FORMAT_ALAW)
    return file;
  SNDFILE *bytes = open_bytes(path);
  const sf_count_t length = bytes ? sf_seek(bytes, 0, SEEK_END) : 0;
  sf_count_t first = bytes ? samples_of(bytes, is_big, is_large, length) : 0;
  SNDFILE *made = first ? open_raw(path, samples | (is_big ? SF_ENDIAN_BIG : SF_ENDIAN_LITTLE), info) : NULL;
  if (bytes) sf_close(bytes);
  if (!made) return file;
  const sf_count_t all = sf_seek(made, 0, SEEK_END); /* frames, if the header is one of samples */
  if (sf_command(made, SFC_SET_RAW_START_OFFSET, &first, sizeof first) != 0 ||
      sf_seek(made, 0, SEEK_SET) != 0) {
    sf_close(made);
    return file;
  }
  info->frames = all > 0 ? (length - first) / (length / all) : 0;
  sf_close(file);
  return made;
}
