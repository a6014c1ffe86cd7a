/* convert.c - writes a sound in another form: convert FROM TO.flac, .ogg, .opus or .mp3. */
#include <sndfile.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **words) {
  static const struct {
    const char *end;
    int format;
  } forms[] = {{".flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16},
               {".ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS},
               {".opus", SF_FORMAT_OGG | SF_FORMAT_OPUS},
               {".mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III}};
  SF_INFO info = {0};
  SNDFILE *from = count == 3 ? sf_open(words[1], SFM_READ, &info) : NULL, *to = NULL;
  float samples[1024];
  const char *end = from ? strrchr(words[2], '.') : NULL;
  if (end && strcmp(end, ".opus") == 0)
    info.samplerate = 24000; /* it has few rates; the sound is faster then */
  for (size_t i = 0; i < sizeof forms / sizeof *forms && end; i++)
    if (strcmp(end, forms[i].end) == 0)
      info.format = forms[i].format, to = sf_open(words[2], SFM_WRITE, &info);
  if (!to) return fprintf(stderr, "convert: %s\n", sf_strerror(NULL)), 1;
  for (sf_count_t got; (got = sf_read_float(from, samples, 1024)) > 0;)
    if (sf_write_float(to, samples, got) != got) return 1;
  sf_close(from);
  return sf_close(to);
}
