/* test_sound.c - text from the rows of CTC models, against transformers (tests/sound/goldens.py); speech by
 * energy; and sounds of all formats, rates and channels, whole, damaged and cut. */
#include "faults.h"
#include "program/output.h"
#include "program/sound/cues.h"
#include "program/sound/source.h"
#include "scratch.h"
#include "sound/ctc.h"
#include "sound/vad.h"
#include "long.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>
#include <sndfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The tokenizers of goldens.py. */
#define LETTERS                                                                                              \
  "<pad>", "<s>", "</s>", "<unk>", "|", "E", "T", "A", "O", "I", "N", "'", "S", ".", ",", "?", "!", "m",     \
      "n", "t", "re"
static const char *const letters[] = {LETTERS}, *const lower[] = {"A", "B", " ", "|", "[PAD]", "[UNK]"},
                         *const unnamed[] = {"a",    "A", "<pad>", "<unk>", "<s>",
                                             "</s>", "|", "<unk>", "<unk>"},
                         *const joined[] = {"a", "b", "-", "<pad>", "<unk>", "\xc3\xbc"},
                         *const white[] = {"a", "\xe3\x80\x80", "\x1f", "\xc2\xa0x",
                                           "|", "\xe2\x80\x83", "<pad>"};
static const struct {
  const char *name;
  attn2c_ctc ctc;
} tokenizers[] = {
    {"letters", {letters, 21, 0, "|", " ", 0, 0, 5}}, {"cleaned", {letters, 21, 0, "|", " ", 0, 1, 5}},
    {"lower", {lower, 6, 4, "|", " ", 1, 0, 5}},      {"joined", {joined, 6, 3, "-", "", 0, 0, 5}},
    {"white", {white, 7, 6, "|", " ", 0, 0, 5}},      {"unnamed", {unnamed, 9, 2, "|", " ", 1, 0, 5}}};

static const attn2c_ctc *ctc_of(const char *name) {
  for (size_t i = 0; i < sizeof tokenizers / sizeof *tokenizers; i++)
    if (strcmp(tokenizers[i].name, name) == 0) return &tokenizers[i].ctc;
  cr_assert_fail("%s", name);
  return NULL;
}

TestSuite(sound, .init = scratch_open, .fini = scratch_close);

Test(sound, a_text_of_a_cue_is_no_line_of_times) {
  static const char text[] = "a --> b & <i> --", times[] = "00:00:01,500 --> 01:00:02,000\n";
  const attn2c_cue cue = {1.5, 3602, text, sizeof text - 1};
  const struct {
    attn2c_answer_format format;
    const char *written;
  } cases[] = {{ATTN2C_ANSWERS_SRT, "a -> b & <i> --\n"},
               {ATTN2C_ANSWERS_VTT, "a --&gt; b &amp; &lt;i&gt; --\n"},
               {ATTN2C_ANSWERS_TEXT, "1.50\t3602.00\ta --> b & <i> --\n"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char *made = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&made, &length);
    cr_assert_not_null(out);
    attn2c_cue_write(cases[i].format, &cue, 1, NULL, out);
    fclose(out);
    cr_assert_geq(length, strlen(cases[i].written));
    cr_expect_str_eq(made + length - strlen(cases[i].written), cases[i].written);
    if (cases[i].format == ATTN2C_ANSWERS_SRT)
      cr_expect_str_eq(strchr(made, '\n') + 1 + strlen(times), cases[i].written);
    free(made);
  }
}

Test(sound, ctc_is_the_text_of_transformers) {
  FILE *file = fopen("tests/sound/ctc.tsv", "r");
  char *line = NULL, *answer = NULL;
  size_t size = 0, answer_size = 0;
  int cases = 0, words_seen = 0;
  cr_assert_not_null(file);
  for (; getline(&line, &size, file) > 0 && getline(&answer, &answer_size, file) > 0; cases++) {
    line[strcspn(line, "\n")] = answer[strcspn(answer, "\n")] = '\0';
    char *at = line;
    const attn2c_ctc *ctc = ctc_of(strsep(&at, "\t"));
    int64_t rows = 0, count = -1;
    float *logits = calloc(4096, sizeof *logits);
    for (char *id; (id = strsep(&at, "\t")); rows++) logits[rows * ctc->count + atoi(id)] = 1.0F;
    char *text = malloc((size_t)attn2c_ctc_bytes(ctc, rows));
    attn2c_ctc_word *words = malloc((size_t)rows * sizeof *words + 1);
    const int64_t length = attn2c_ctc_text(ctc, logits, rows, text, words, &count);
    at = answer;
    cr_expect_str_eq(text, strsep(&at, "\t"), "case %d", cases);
    cr_expect_eq(length, (int64_t)strlen(text));
    for (int64_t i = 0; i < count; i++, words_seen++) {
      const char *first = strsep(&at, "\t"), *last = strsep(&at, "\t");
      cr_assert(first && last, "case %d: word %lld", cases, (long long)i);
      cr_expect(words[i].first == atoi(first) && words[i].last == atoi(last), "case %d", cases);
      cr_expect(words[i].begin < words[i].end + (ctc->tokens == white) && words[i].end <= length, "case %d",
                cases); /* white space is taken off the ends of the text */
    }
    cr_expect(at == NULL || *at == '\0', "case %d: %s", cases, at);
    cr_expect_eq(attn2c_ctc_text(ctc, logits, rows, text, NULL, NULL), length);
    free(logits), free(text), free(words);
  }
  cr_expect(cases == 360 && words_seen > 400, "%d %d", cases, words_seen);
  free(line), free(answer);
  fclose(file);
}

enum { RATE = 16000 };

/* Writes a sine from `begin` to `end`, in milliseconds. */
static void sing(float *samples, int begin, int end, float level) {
  for (int i = begin * RATE / 1000; i < end * RATE / 1000; i++) samples[i] = level * sinf(0.2F * (float)i);
}

/* Finds all pieces of `ms` milliseconds, whose samples come `step` milliseconds at a time. */
static int pieces_of(const float *samples, int ms, int step, attn2c_speech_piece *pieces) {
  const int64_t all = (int64_t)ms * RATE / 1000;
  double loudest = 0.0;
  int64_t dropped = 0, there = (int64_t)step * RATE / 1000;
  int count = 0;
  for (;;) {
    attn2c_speech_piece piece;
    if (there > all) there = all;
    loudest = attn2c_vad_loudest(samples + dropped, there - dropped, RATE, loudest);
    const int is_end = there == all;
    if (attn2c_vad_next(samples + dropped, there - dropped, RATE, loudest, is_end, &piece)) {
      cr_assert(piece.begin < piece.end && dropped + piece.end <= all);
      pieces[count++] = (attn2c_speech_piece){dropped + piece.begin, dropped + piece.end};
    } else if (is_end) {
      return count;
    } else {
      there += (int64_t)step * RATE / 1000;
    }
    dropped += piece.end;
  }
}

/* Samples that come as they are wanted: `from` is the number of all. */
static int64_t most_wanted;

static int come(attn2c_samples *s, int64_t wanted, attn2c_message *why) {
  (void)why;
  const int64_t left = *(int64_t *)s->from - s->first;
  if (wanted > most_wanted) most_wanted = wanted;
  if (s->count < wanted) s->count = wanted < left ? wanted : left;
  s->is_end = s->count == left;
  return ATTN2C_OK;
}

static void go(attn2c_samples *s, int64_t count) {
  s->samples += count, s->first += count, s->count -= count;
}

static int come_again(attn2c_samples *s, attn2c_message *why) {
  (void)why;
  go(s, -s->first);
  s->count = s->is_end = 0;
  return ATTN2C_OK;
}

/* Expects pieces of samples, which are cut where they are longer than `most`. After a cut, frames begin
 * elsewhere. */
static void expect_pieces(attn2c_samples there, int64_t most, const attn2c_speech_piece *want, int count) {
  char text[200];
  attn2c_message why = attn2c_message_make(text, sizeof text);
  attn2c_speech_pieces pieces = {.samples = &there, .rate = RATE, .most = most};
  attn2c_speech_piece piece;
  const int64_t frame = attn2c_vad_frame(RATE);
  for (int i = 0; i < count; i++) {
    for (int64_t at = want[i].begin; at < want[i].end - frame; there.drop(&there, piece.end)) {
      cr_assert_eq(attn2c_speech_next(&pieces, &piece, &why), ATTN2C_OK);
      cr_assert(llabs((long long)(there.first + piece.begin - at)) <= frame, "%d: %lld", i, (long long)at);
      at = there.first + piece.end;
      cr_assert(piece.end > piece.begin && piece.end - piece.begin <= most && at <= want[i].end + frame);
    }
  }
  cr_assert_eq(attn2c_speech_next(&pieces, &piece, &why), ATTN2C_OK);
  cr_expect_eq(piece.begin, piece.end);
  cr_expect(there.is_end && piece.end == there.count);
}

/* The pieces of samples in memory, and of those that come. */
static void expect_both(const float *samples, int64_t all, int64_t most, const attn2c_speech_piece *want,
                        int count) {
  expect_pieces(attn2c_samples_of(samples, all), most, want, count);
  most_wanted = 0;
  expect_pieces(
      (attn2c_samples){.samples = samples, .fill = come, .drop = go, .again = come_again, .from = &all}, most,
      want, count);
  cr_expect(most_wanted <= 2 * most + RATE / 10, "%lld", (long long)most_wanted);
}

static void expect_near(int64_t got, int ms, int line) {
  cr_expect(llabs((long long)got - (long long)ms * RATE / 1000) <= 30 * RATE / 1000, "line %d: %lld, %d ms",
            line, (long long)got * 1000 / RATE, ms);
}

Test(sound, speech_is_found_by_its_energy) {
  static float samples[10 * RATE];
  attn2c_speech_piece pieces[8];
  for (int i = 0; i < 10 * RATE; i++) samples[i] = 0.3F; /* an offset is no sound */
  cr_expect_eq(pieces_of(samples, 10000, 10000, pieces), 0);
  memset(samples, 0, sizeof samples);
  sing(samples, 1000, 2000, 0.5F);
  sing(samples, 2200, 3000, 0.1F);   /* less than 300 ms later: the same piece */
  sing(samples, 4000, 4045, 0.5F);   /* too short */
  sing(samples, 5000, 6000, 0.02F);  /* -28 dB of the loudest */
  sing(samples, 7000, 8000, 0.005F); /* -40 dB */
  sing(samples, 9800, 10000, 0.5F);
  for (int step = 500; step <= 10000; step *= 20) {
    cr_assert_eq(pieces_of(samples, 10000, step, pieces), 3, "%d", step);
    const int expected[] = {850, 3150, 4850, 6150, 9650, 10000};
    for (int i = 0; i < 3; i++) {
      expect_near(pieces[i].begin, expected[2 * i], __LINE__);
      expect_near(pieces[i].end, expected[2 * i + 1], __LINE__);
    }
    expect_both(samples, 10 * RATE, 3 * RATE, pieces, 3);
  }
  sing(samples, 100, 400, 0.005F); /* -40 dB of what comes later */
  expect_both(samples, 10 * RATE, RATE, pieces, 3);
  memset(samples, 0, sizeof samples);
  sing(samples, 0, 10000, 5e-4F); /* loudest of all, but below -60 dB */
  cr_expect_eq(pieces_of(samples, 10000, 10000, pieces), 0);
  cr_expect_eq(attn2c_vad_next(samples, 0, RATE, 0.0, 1, pieces), 0);
}

Test(sound, long_sound_is_cut_where_it_is_quiet) {
  static float samples[10 * RATE];
  sing(samples, 0, 10000, 0.5F);
  memset(samples + 3 * RATE, 0, RATE / 10 * sizeof *samples);
  cr_expect_eq(attn2c_vad_cut(samples, 10 * RATE, RATE, 0, 10 * RATE), 10 * RATE);
  const int64_t at = attn2c_vad_cut(samples, 10 * RATE, RATE, 0, 4 * RATE);
  cr_expect(at >= 3 * RATE && at < 3 * RATE + RATE / 10, "%lld", (long long)at);
  const int64_t loud = attn2c_vad_cut(samples, 10 * RATE, RATE, 0, 5);
  cr_expect(loud > 0 && loud <= 5);
  const int64_t kept = 3 * RATE + RATE / 5; /* more than what is before the quiet part */
  cr_expect_gt(attn2c_vad_cut(samples, 10 * RATE, RATE, kept, 4 * RATE), kept);
  cr_expect_eq(attn2c_vad_cut(samples, 10 * RATE, RATE, 4 * RATE, 4 * RATE), 4 * RATE);
  const attn2c_speech_piece all = {0, 10 * RATE};
  expect_both(samples, 10 * RATE, RATE, &all, 1);
}

static char message_text[2000];
static attn2c_message message;

static float samples[1 << 17];

/* Reads a file at RATE into `samples`, up to their capacity; and a whole one again, which gives the same. */
static int read_sound(const char *path, int64_t *count) {
  const char *words[] = {path};
  attn2c_paths paths;
  attn2c_sound_source *source = NULL;
  attn2c_sound sound = {.name = NULL};
  attn2c_samples *there = &sound.samples;
  message = attn2c_message_make(message_text, sizeof message_text);
  *count = 0;
  int status = attn2c_paths_open(&attn2c_sound_paths, words, 1, &paths, &message);
  if (status == ATTN2C_OK) status = attn2c_sound_source_open(&paths, RATE, &source, &message);
  if (status == ATTN2C_OK) status = attn2c_sound_next(source, &sound, &message);
  while (status == ATTN2C_OK && !there->is_end) {
    status = attn2c_samples_fill(there, 5000, &message);
    if (status != ATTN2C_OK) break;
    cr_assert_eq(there->first, *count);
    const int64_t fit = (int64_t)(sizeof samples / sizeof *samples) - *count;
    memcpy(samples + *count, there->samples,
           (size_t)(there->count < fit ? there->count : fit) * sizeof *samples);
    if (there->count >= fit) break;
    *count += there->count;
    there->drop(there, there->count);
  }
  if (status == ATTN2C_OK && there->is_end) {
    status = there->again(there, &message);
    if (status == ATTN2C_OK) status = attn2c_samples_fill(there, INT64_MAX, &message);
    cr_expect_eq(there->first + there->count, *count, "%s", path);
    if (there->count == *count)
      cr_expect(memcmp(there->samples, samples, (size_t)*count * sizeof *samples) == 0);
  }
  attn2c_sound_source_close(source);
  attn2c_paths_close(&paths);
  const size_t lines = strlen(message_text) ? strcspn(message_text, "\n") : 0; /* bytes of the first */
  cr_expect(status == ATTN2C_OK || (lines > 0 && message_text[lines + (message_text[lines] == '\n')] == '\0'),
            "%d %s", status, message_text);
  return status;
}

/* Writes two seconds of a sine of 440 Hz; channel c is 1 / (c + 1) as loud. */
static void write_sound(const char *path, int format, int rate, int channels) {
  SF_INFO info = {.format = format, .samplerate = rate, .channels = channels};
  SNDFILE *file = sf_open(path, SFM_WRITE, &info);
  cr_assert_not_null(file, "%s: %s", path, sf_strerror(NULL));
  float frame[8];
  for (int i = 0; i < 2 * rate; i++) {
    for (int c = 0; c < channels; c++)
      frame[c] = 0.5F / (float)(c + 1) * (float)sin(2.0 * 3.14159265358979 * 440.0 * i / rate);
    sf_writef_float(file, frame, 1);
  }
  sf_close(file);
}

/* Compares samples with the sine, of which the first and last tenth of a second are left out. */
static double error_of(const float *samples, int64_t count, double level) {
  double worst = 0.0;
  for (int64_t i = RATE / 10; i < count - RATE / 10; i++) {
    const double expected = level * sin(2.0 * 3.14159265358979 * 440.0 * (double)i / RATE);
    if (fabs(samples[i] - expected) > worst) worst = fabs(samples[i] - expected);
  }
  return worst;
}

Test(sound, files_of_all_formats_are_read) {
  static const struct {
    int format, rate, channels;
    double bound;
  } cases[] = {{SF_FORMAT_WAV | SF_FORMAT_PCM_U8, RATE, 1, 8e-3},
               {SF_FORMAT_WAV | SF_FORMAT_PCM_16, RATE, 1, 4e-5},
               {SF_FORMAT_WAV | SF_FORMAT_PCM_24, RATE, 3, 2e-7},
               {SF_FORMAT_WAV | SF_FORMAT_PCM_32, RATE, 1, 1e-7},
               {SF_FORMAT_WAV | SF_FORMAT_FLOAT, 44100, 2, 2e-5},
               {SF_FORMAT_WAV | SF_FORMAT_DOUBLE, 8000, 1, 2e-5},
               {SF_FORMAT_WAV | SF_FORMAT_FLOAT, 48000, 8, 2e-5},
               {SF_FORMAT_WAV | SF_FORMAT_FLOAT, 11025, 1, 2e-5},
               {SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 22050, 1, 6e-5},
               {SF_FORMAT_OGG | SF_FORMAT_VORBIS, 44100, 1, 2e-2},
               {SF_FORMAT_OGG | SF_FORMAT_OPUS, 48000, 1, 2e-2},
               {SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 44100, 1, 2e-2}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *path = scratch_path("sound");
    double level = 0.0;
    int64_t count;
    for (int c = 0; c < cases[i].channels; c++) level += 0.5 / (c + 1) / cases[i].channels;
    write_sound(path, cases[i].format, cases[i].rate, cases[i].channels);
    cr_assert_eq(read_sound(path, &count), ATTN2C_OK, "%s", message_text);
    cr_expect(llabs((long long)count - 2 * RATE) <= 1, "case %zu: %lld samples", i, (long long)count);
    cr_expect_leq(error_of(samples, count, level), cases[i].bound, "case %zu: %g", i,
                  error_of(samples, count, level));
  }
}

/* libsndfile forgets what it has of an Ogg file that it refuses. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:vorbis_info_init\nleak:ogg_\nleak:vorbis_"; }

Test(sound, cut_and_damaged_files_are_refused) {
  static const int formats[] = {
      SF_FORMAT_WAV | SF_FORMAT_PCM_16,         SF_FORMAT_WAV | SF_FORMAT_PCM_16 | SF_ENDIAN_BIG,
      SF_FORMAT_RF64 | SF_FORMAT_PCM_16,        SF_FORMAT_FLAC | SF_FORMAT_PCM_16,
      SF_FORMAT_AIFF | SF_FORMAT_PCM_16,        SF_FORMAT_AU | SF_FORMAT_PCM_16,
      SF_FORMAT_W64 | SF_FORMAT_PCM_16,         SF_FORMAT_OGG | SF_FORMAT_VORBIS,
      SF_FORMAT_VOC | SF_FORMAT_ULAW,           SF_FORMAT_PAF | SF_FORMAT_PCM_24,
      SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III};
  static uint8_t bytes[1 << 18];
  int64_t count;
  const int errors = dup(STDERR_FILENO),
            seen = open(scratch_path("errors"), O_RDWR | O_CREAT | O_TRUNC, 0600);
  dup2(seen, STDERR_FILENO);
  for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
    const char *path = scratch_path("whole");
    write_sound(path, formats[f], 22050, 1);
    const size_t size = scratch_get(path, bytes, sizeof bytes);
    cr_assert_lt(size, sizeof bytes);
    /* Each byte of the first 60, in `make test` in a third of the formats, and some of the others. */
    const size_t step = is_long() ? 1 : 3;
    for (size_t at = f % step; at < size; at += at < 60 ? step : size / (is_long() ? 37 : 19)) {
      scratch_put(scratch_path("cut"), bytes, at);
      cr_expect_neq(read_sound(scratch_path("cut"), &count), ATTN2C_OK, "format %zu: cut after %zu", f, at);
      /* FLAC that ends where a frame does */
      const uint8_t *sync = at < 60 ? NULL : memmem(bytes + at, size - at, "\xff\xf8", 2);
      if (sync && formats[f] == (SF_FORMAT_FLAC | SF_FORMAT_PCM_16)) {
        scratch_put(scratch_path("cut"), bytes, (size_t)(sync - bytes));
        cr_expect_neq(read_sound(scratch_path("cut"), &count), ATTN2C_OK, "frames until %zu", at);
      }
      bytes[at] ^= 0xff;
      scratch_put(scratch_path("damaged"), bytes, size);
      read_sound(scratch_path("damaged"), &count);
      bytes[at] ^= 0xff;
    }
  }
  dup2(errors, STDERR_FILENO);
  cr_expect_eq(lseek(seen, 0, SEEK_END), 0, "decoders write to the standard error");
  close(seen);
}

/* Two files joined are refused in a line of their own, if the first says its frames. Frames of one length
 * become free format without their rate: that such a file was cut is noticed, if it says its frames. */
static void expect_joined_and_free(const char *path, const uint8_t *bytes, size_t size) {
  static uint8_t more[1 << 18];
  int64_t count;
  size_t frame = 4;
  const int says = memmem(bytes, 200, "Xing", 4) != NULL;
  memcpy(more, bytes, size), memcpy(more + size, bytes, size);
  scratch_put(path, more, 2 * size);
  cr_expect_eq(read_sound(path, &count), says ? ATTN2C_FORMAT : ATTN2C_OK, "%s", message_text);
  cr_expect(!says || strstr(message_text, "files that were joined"), "%s", message_text);
  if (says) return; /* of a variable rate */
  while (frame < size && memcmp(bytes + frame, bytes, 4) != 0) frame++;
  for (size_t at = 0; at < size; at += frame) more[at + 2] &= 0x0f;
  uint8_t *info = more + 4 + (more[1] & 8 ? 17 : 9);
  memset(more + 4, 0, frame - 4), memcpy(info, "Info\0\0\0\1", 8), info[11] = (uint8_t)(size / frame - 1);
  scratch_put(path, more, size);
  cr_expect_eq(read_sound(path, &count), ATTN2C_OK, "%s", message_text);
  cr_expect(count > 2 * RATE - 3000, "%lld", (long long)count);
  scratch_put(path, more, size / 2);
  cr_expect_eq(read_sound(path, &count), ATTN2C_FORMAT);
}

/* Without the frame that says how many there are, libsndfile takes all frames to be as long as the first. So
 * it reads all frames of a constant rate, and not all of others. */
Test(sound, mp3_without_its_length_is_read_as_a_whole_or_refused) {
  static uint8_t bytes[1 << 18];
  char before[1000] = "ID3\4\0\0\0\0\3\152"; /* two tags of 500 bytes */
  memcpy(before + 500, before, 500);
  const char *path = scratch_path("sound");
  for (int mode = SF_BITRATE_MODE_CONSTANT; mode <= SF_BITRATE_MODE_VARIABLE; mode += 2) {
    SF_INFO info = {.format = SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, .samplerate = RATE, .channels = 1};
    SNDFILE *file = sf_open(path, SFM_WRITE, &info);
    int64_t count;
    sf_command(file, SFC_SET_BITRATE_MODE, &mode, sizeof mode);
    for (int i = 0; i < 2 * RATE; i++) {
      const float value = (float)i / (4 * RATE) * (float)sin(i * (double)i);
      sf_writef_float(file, &value, 1);
    }
    sf_close(file);
    size_t size = scratch_get(path, bytes, sizeof bytes);
    cr_assert_eq(read_sound(path, &count), ATTN2C_OK, "%s", message_text);
    expect_joined_and_free(path, bytes, size);
    uint8_t *first = memmem(bytes, 200, "Xing", 4);
    if (first) memset(first, 0, 8); /* says nothing now, and is silence */
    cr_expect(first || mode == SF_BITRATE_MODE_CONSTANT);
    memcpy(bytes + size, "TAG", 3), memset(bytes + size + 3, 0, 125), size += 128;
    scratch_put(path, bytes, size);
    const int status = read_sound(path, &count);
    cr_expect_eq(status, mode == SF_BITRATE_MODE_CONSTANT ? ATTN2C_OK : ATTN2C_FORMAT, "%s", message_text);
    cr_expect(status != ATTN2C_OK || count >= 2 * RATE, "%lld", (long long)count);
    cr_expect(status == ATTN2C_OK || strstr(message_text, " seconds could be read"), "%s", message_text);
    memmove(bytes + sizeof before, bytes, size), memcpy(bytes, before, sizeof before), size += sizeof before;
    scratch_put(path, bytes, size);
    cr_expect_eq(read_sound(path, &count), status, "%s", message_text);
    cr_expect(status != ATTN2C_OK || count >= 2 * RATE, "%lld", (long long)count);
    scratch_put(path, bytes, size - 228);
    cr_expect_eq(read_sound(path, &count), ATTN2C_FORMAT);
    cr_expect_not_null(strstr(message_text, "it ends within a frame"), "%s", message_text);
  }
}

/* A header that says 0 bytes is what a program writes that cannot go back to it. Where only chunks follow, it
 * is right. */
Test(sound, without_a_length_is_read_to_its_end) {
  static const int formats[] = {SF_FORMAT_PCM_U8, SF_FORMAT_PCM_16, SF_FORMAT_PCM_24, SF_FORMAT_FLOAT,
                                SF_FORMAT_ULAW};
  static const char chunk[] = "junk\x9\0\0\0data\0\0\0\0\0"; /* with a byte of padding */
  static uint8_t bytes[1 << 20];
  static float whole[3 * RATE];
  const char *path = scratch_path("sound");
  int64_t count, all;
  for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
    write_sound(path, SF_FORMAT_WAV | formats[f], RATE, 1 + (int)f);
    const size_t size = scratch_get(path, bytes, sizeof bytes);
    cr_assert_eq(read_sound(path, &all), ATTN2C_OK);
    memcpy(whole, samples, sizeof whole);
    cr_expect_float_eq(attn2c_sound_seconds(path), 2, 1e-9);
    uint8_t *data = memmem(bytes, size, "data", 4);
    memset(data + 4, 0, 4);
    memmove(data + sizeof chunk, data, (size_t)(bytes + size - data));
    memcpy(data, chunk, sizeof chunk);
    scratch_put(path, bytes, size + sizeof chunk);
    cr_assert_eq(read_sound(path, &count), ATTN2C_OK, "%s", message_text);
    cr_expect(count == all && memcmp(samples, whole, (size_t)all * sizeof *whole) == 0, "format %zu", f);
    cr_expect_float_eq(attn2c_sound_seconds(path), 2, 1e-3);
    memcpy(data + sizeof chunk + 8, chunk, sizeof chunk);
    for (size_t end = 2; end > 0; end--) { /* without the byte of padding, too */
      scratch_put(path, bytes, (size_t)(data - bytes) + 2 * sizeof chunk + 6 + end);
      cr_expect_eq(read_sound(path, &count), ATTN2C_FORMAT, "format %zu", f);
    }
  }
  static const int others[] = {SF_FORMAT_WAV | SF_FORMAT_PCM_16 | SF_ENDIAN_BIG,
                               SF_FORMAT_RF64 | SF_FORMAT_FLOAT};
  for (size_t f = 0; f < sizeof others / sizeof *others; f++) {
    write_sound(path, others[f], RATE, 2);
    const size_t size = scratch_get(path, bytes, sizeof bytes);
    cr_assert_eq(read_sound(path, &all), ATTN2C_OK);
    memcpy(whole, samples, sizeof whole);
    uint8_t *large = memmem(bytes, size, "ds64", 4);
    if (large) memset(large + 8, 0, 24);
    if (!large) memset((uint8_t *)memmem(bytes, size, "data", 4) + 4, 0, 4);
    scratch_put(path, bytes, size);
    cr_assert_eq(read_sound(path, &count), ATTN2C_OK, "%s", message_text);
    cr_expect(count == all && memcmp(samples, whole, (size_t)all * sizeof *whole) == 0, "form %zu", f);
    cr_expect_float_eq(attn2c_sound_seconds(path), 2, 1e-3);
  }
  static const int packed[] = {SF_FORMAT_IMA_ADPCM, SF_FORMAT_GSM610};
  for (size_t f = 0; f < sizeof packed / sizeof *packed; f++) {
    write_sound(path, SF_FORMAT_WAV | packed[f], RATE, 1);
    const size_t size = scratch_get(path, bytes, sizeof bytes);
    memset((uint8_t *)memmem(bytes, size, "data", 4) + 4, 0, 4);
    scratch_put(path, bytes, size);
    cr_expect_eq(read_sound(path, &count), ATTN2C_FORMAT);
  }
}

/* libsndfile reads only the first of several streams. */
Test(sound, of_several_streams_is_refused) {
  static uint8_t bytes[1 << 18];
  const char *path = scratch_path("sound");
  int64_t count;
  for (int twice = 0; twice < 2; twice++) {
    write_sound(path, SF_FORMAT_OGG | (twice ? SF_FORMAT_OPUS : SF_FORMAT_VORBIS), 48000, 1);
    const size_t size = scratch_get(path, bytes, sizeof bytes / 2);
    memcpy(bytes + size, bytes, size);
    scratch_put(path, bytes, 2 * size);
    cr_expect_eq(read_sound(path, &count), ATTN2C_FORMAT);
    cr_expect_not_null(strstr(message_text, "has several streams"), "%s", message_text);
  }
  cr_expect_eq(attn2c_sound_seconds(scratch_path("none")), 0);
}

Test(sound, lack_of_memory_is_one_line) {
  const char *path = scratch_path("sound");
  write_sound(path, SF_FORMAT_WAV | SF_FORMAT_FLOAT, 8000, 2);
  int refused = 0;
  for (long nth = 1;; nth++) {
    int64_t count;
    faults_clear();
    faults_allocation(nth, 0);
    const int status = read_sound(path, &count);
    const int is_met = faults_met() > 0;
    faults_clear();
    if (!is_met) break;
    refused += status == ATTN2C_MEMORY;
    cr_expect(status == ATTN2C_MEMORY, "allocation %ld: %d", nth, status);
  }
  cr_expect_gt(refused, 3);
}
