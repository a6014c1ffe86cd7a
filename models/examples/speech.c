/* speech.c - what is said in a file of raw samples, with the times of words, as it is found: 16 bits,
 * little-endian, one channel, at the model's rate. Usage: speech WEIGHTS FILE [LANGUAGE]. A WAV file of that
 * kind has 44 bytes before its samples: tail -c +45 talk.wav >talk.raw. The model is any folder of Whisper,
 * built with name=speech, and with speech.words=true for times of words. */
#include <speech.h>

#include <stdio.h>
#include <stdlib.h>

/* Reads all samples of a file. Returns NULL without a file, without samples or without memory. */
static float *read_samples(const char *path, int64_t *count) {
  FILE *file = fopen(path, "rb");
  unsigned char pair[2];
  float *samples = NULL;
  int64_t room = 0;
  *count = 0;
  while (file && fread(pair, 1, 2, file) == 2) {
    if (*count == room) {
      room = 2 * room + SPEECH_RATE;
      float *more = realloc(samples, (size_t)room * sizeof *more);
      if (!more) break;
      samples = more;
    }
    const int value = pair[0] | pair[1] << 8;
    samples[(*count)++] = (float)(value < 0x8000 ? value : value - 0x10000) / 32768.0F;
  }
  if (file) fclose(file);
  return samples;
}

static void print_segment(const speech_segment *segment) {
  printf("%.2f\t%.2f\t%.*s\n", segment->begin, segment->end, (int)segment->length, segment->text);
  for (int i = 0; i < segment->word_count; i++) {
    const speech_spoken_word *word = &segment->words[i];
    printf("  %.2f\t%.2f\t%.*s\n", word->begin, word->end, (int)word->length, word->text);
  }
}

int main(int count, char **words) {
  if (count < 3) return 2;
  char message[1024] = "";
  speech_model *model = NULL;       /* the weights; any number of threads may share it */
  speech_ctx *context = NULL;       /* one caller's memory */
  speech_transcribe *writer = NULL; /* what writes down sounds with it */
  speech_transcribe_options options = speech_transcribe_defaults();
  speech_segment segment = {.text = ""};
  int64_t samples = 0;
  float *sound = read_samples(words[2], &samples);
  options.language = count > 3 ? words[3] : NULL;
  options.timestamps = options.words = 1;
  int status = speech_open(words[1], &model, message, sizeof message);
  if (!status) status = speech_create(model, &context);
  if (!status) status = speech_transcribe_create(&writer, context, &options, message, sizeof message);
  if (!status) status = speech_transcribe_begin(writer, sound, samples, message, sizeof message);
  while (!status && segment.text) {
    status = speech_transcribe_next(writer, &segment, message, sizeof message);
    if (!status && segment.text) print_segment(&segment);
  }
  if (status) fprintf(stderr, "%s\n", *message ? message : speech_strerror(status));
  speech_transcribe_destroy(writer);
  speech_destroy(context);
  speech_close(model);
  free(sound);
  return status;
}
