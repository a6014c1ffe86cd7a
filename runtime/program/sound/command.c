/* command.c - `run --audio`. Each sound is one input of the model. Speech is read in pieces: the longest that
 * a call takes, cut where it is quiet; with --vad, those that are speech. */
#include "program/commands.h"

#include "program/output.h"
#include "program/sound/cues.h"
#include "program/sound/source.h"
#include "sound/ctc.h"

/* The most bytes and seconds of a cue, and the pause that ends it. */
#define CUE_BYTES   84
#define CUE_SECONDS 7.0
#define CUE_PAUSE   0.7

typedef struct {
  const attn2c_descriptor *model;
  const attn2c_sound_facts *facts;
  const attn2c_arguments *arguments;
  attn2c_sound_source *source;
  attn2c_sound sound; /* name NULL: the next one is to begin */
  attn2c_speech_pieces pieces;
  float *speech; /* the pieces that --vad leaves, one after the other */
  char *text;
  attn2c_ctc_word *words;
  int64_t rows;   /* that `text` and `words` have memory for */
  int64_t number; /* of cues */
  int has_begun;  /* 1: what a file of cues begins with is written */
  int all, cut;   /* sounds; those whose end the model does not hear */
} sounds;

static int is_speech(const sounds *s) { return s->facts->media->answer == ATTN2C_ANSWER_SPEECH; }

/* Finds the next samples of a sound that go together. */
static int find_piece(sounds *s, attn2c_speech_piece *piece, attn2c_message *message) {
  if (s->arguments->vad || is_speech(s)) return attn2c_speech_next(&s->pieces, piece, message);
  const int status = attn2c_samples_fill(&s->sound.samples, s->facts->most + 1, message);
  *piece = (attn2c_speech_piece){0, s->sound.samples.count};
  return status;
}

/* Joins all pieces of speech of a sound, up to more than a call takes, as `*samples` and `*count`. */
static int join_speech(sounds *s, attn2c_speech_piece piece, const float **samples, int64_t *count,
                       attn2c_message *message) {
  *count = 0;
  while (piece.end > piece.begin && *count <= s->facts->most) {
    const int64_t more = piece.end - piece.begin;
    float *joined = realloc(s->speech, (size_t)(*count + more) * sizeof *joined);
    if (!joined) return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory for its speech", s->sound.name);
    s->speech = joined, *samples = joined;
    memcpy(joined + *count, s->sound.samples.samples + piece.begin, (size_t)more * sizeof *joined);
    *count += more;
    s->sound.samples.drop(&s->sound.samples, piece.end);
    ATTN2C_TRY(find_piece(s, &piece, message));
  }
  if (*count == 0) return attn2c_fail(message, ATTN2C_FORMAT, "%s: --vad finds no speech", s->sound.name);
  return ATTN2C_OK;
}

static double seconds(const sounds *s, int64_t samples) { return (double)samples / s->facts->rate; }

static int fill_input(sounds *s, attn2c_context *context, const float *samples, int64_t count, float *input,
                      attn2c_item *item, attn2c_message *message) {
  const attn2c_sound_facts *facts = s->facts;
  const char *name = item->name;
  const int is_open = s->model->is_open,
            input_of = attn2c_primary_entry(s->model)->inputs[facts->media->input];
  const int64_t most = is_open ? s->model->lengths->sizes->seq : s->model->tensors[input_of].shape[1];
  item->rows = facts->rows(count);
  if (count < facts->least || item->rows < 1)
    return attn2c_fail(message, ATTN2C_FORMAT,
                       "%s: %.4f seconds are too short: the model takes %.4f and more", name,
                       seconds(s, count), seconds(s, facts->least));
  if (item->rows > most || (!is_open && item->rows != most))
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: %.2f seconds, but the model takes %s %.2f", name,
                       seconds(s, count), is_open ? "at most" : "exactly", seconds(s, facts->most));
  s->all++, s->cut += count > facts->most;
  const int status = facts->features(context, samples, count, input, item->rows);
  return status == ATTN2C_OK ? status : attn2c_fail(message, status, "%s: %s", name, attn2c_strerror(status));
}

static int next_item(attn2c_media *media, attn2c_context *context, float *input, attn2c_item *item,
                     attn2c_message *message) {
  sounds *s = media->from;
  int status = ATTN2C_OK;
  if (!s->source) status = attn2c_cues_check(s->arguments->answers, media->paths.count, message);
  if (!s->source && status == ATTN2C_OK)
    status = attn2c_sound_source_open(&media->paths, s->facts->rate, &s->source, message);
  while (status == ATTN2C_OK) {
    attn2c_speech_piece piece;
    if (!s->sound.name) {
      status = attn2c_sound_next(s->source, &s->sound, message);
      s->pieces.samples = &s->sound.samples, s->pieces.loudest = 0, s->pieces.heard = 0;
      *item = (attn2c_item){.number = s->sound.number};
      if (status != ATTN2C_OK || !s->sound.name) return status;
    }
    status = find_piece(s, &piece, message);
    if (status != ATTN2C_OK) return status;
    const float *samples = s->sound.samples.samples + piece.begin;
    int64_t count = piece.end - piece.begin;
    const int64_t first = s->sound.samples.first + piece.begin;
    *item = (attn2c_item){.name = s->sound.name, .number = s->sound.number};
    item->begin = seconds(s, first), item->end = seconds(s, first + count);
    if (!is_speech(s)) {
      if (s->arguments->vad) status = join_speech(s, piece, &samples, &count, message);
      s->sound.name = NULL;
      return status == ATTN2C_OK ? fill_input(s, context, samples, count, input, item, message) : status;
    }
    /* The rest of a sound, or of its speech, may be too short for the model to have a row of it. */
    const int is_rest = count < s->facts->least && (first > 0 || s->arguments->vad);
    if (!is_rest) status = fill_input(s, context, samples, count, input, item, message);
    s->sound.samples.drop(&s->sound.samples, piece.end);
    if (s->sound.samples.is_end && s->sound.samples.count == 0) s->sound.name = NULL;
    if (!is_rest) return status;
  }
  return status;
}

static int reserve_rows(sounds *s, int64_t rows) {
  if (rows <= s->rows) return ATTN2C_OK;
  ATTN2C_FREE(s->text, s->words);
  s->text = malloc((size_t)attn2c_ctc_bytes(s->facts->ctc, rows));
  s->words = malloc((size_t)rows * sizeof *s->words);
  s->rows = s->text && s->words ? rows : 0;
  return s->rows ? ATTN2C_OK : ATTN2C_MEMORY;
}

/* Returns the words from `first` to before `last`. */
static attn2c_cue cue_of(const sounds *s, const attn2c_item *item, int64_t first, int64_t last) {
  const double row = seconds(s, s->facts->hop);
  const attn2c_ctc_word *begin = &s->words[first], *end = &s->words[last - 1];
  return (attn2c_cue){item->begin + (double)begin->first * row, item->begin + (double)end->last * row,
                      s->text + begin->begin, (size_t)(end->end - begin->begin)};
}

static int write_json(const sounds *s, const attn2c_item *item, int64_t length, int64_t words, FILE *out) {
  const attn2c_cue all = {item->begin, item->end, s->text, (size_t)length};
  json_t *object = json_pack("{s:o}", "audio", attn2c_json_text(item->name, strlen(item->name)));
  json_t *whole = attn2c_cue_json("text", &all), *list = s->arguments->words ? json_array() : NULL;
  int failed = json_object_update(object, whole) != 0;
  json_decref(whole);
  for (int64_t i = 0; list && i < words; i++) {
    const attn2c_cue cue = cue_of(s, item, i, i + 1);
    failed |= json_array_append_new(list, attn2c_cue_json("word", &cue)) != 0;
  }
  if (s->arguments->words) failed |= json_object_set_new(object, "words", list) != 0;
  return attn2c_json_line(object, failed, out);
}

/* Writes the text of a piece of speech, or its words. */
static int write_speech(const attn2c_media_answer *answer, const attn2c_item *item, FILE *out) {
  sounds *s = answer->media->from;
  const attn2c_answer_format format = s->arguments->answers;
  const int is_line = format != ATTN2C_ANSWERS_SRT && format != ATTN2C_ANSWERS_VTT,
            by_word = s->arguments->words;
  int64_t words = 0;
  if (reserve_rows(s, answer->rows) != ATTN2C_OK) return ATTN2C_MEMORY;
  const int64_t length =
      attn2c_ctc_text(s->facts->ctc, answer->values, answer->rows, s->text, s->words, &words);
  if (format == ATTN2C_ANSWERS_JSONL) return write_json(s, item, length, words, out);
  if (is_line && !by_word) {
    attn2c_media_write_name(answer, out);
    attn2c_safe_write(s->text, (size_t)length, out);
    fputc('\n', out);
  } else {
    if (!s->has_begun++) attn2c_cues_begin(format, out);
    for (int64_t first = 0, last; first < words; first = last) {
      for (last = first + 1; !by_word && last < words; last++) {
        const attn2c_cue cue = cue_of(s, item, first, last), longer = cue_of(s, item, first, last + 1);
        if (longer.length > CUE_BYTES || longer.end - longer.begin > CUE_SECONDS) break;
        if (cue_of(s, item, last, last + 1).begin - cue.end > CUE_PAUSE) break;
      }
      const attn2c_cue cue = cue_of(s, item, first, last);
      attn2c_cue_write(format, &cue, ++s->number, answer->name, out);
    }
  }
  return ATTN2C_OK;
}

/* Reports options of sounds that do not go together, one line each. */
static int check_usage(const sounds *s, attn2c_message *message) {
  const attn2c_arguments *arguments = s->arguments;
  if (!is_speech(s) && arguments->words)
    return attn2c_fail(message, ATTN2C_USAGE, "--words: goes with models that give the text of sounds");
  return ATTN2C_OK;
}

static int run(const attn2c_descriptor *model, const attn2c_sound_facts *facts,
               const attn2c_arguments *arguments, FILE *out, FILE *notes, attn2c_message *message) {
  const int is_text = facts->media->answer == ATTN2C_ANSWER_SPEECH;
  sounds s = {
      .model = model,
      .facts = facts,
      .arguments = arguments,
      .pieces = {.rate = facts->rate, .most = is_text ? facts->most : 0, .is_whole = !arguments->vad}};
  attn2c_media media = {.kind = &attn2c_sound_paths,
                        .words = arguments->audios,
                        .word_count = arguments->audio_count,
                        .member = "audio",
                        .facts = facts->media,
                        .from = &s,
                        .next = next_item,
                        .write = is_speech(&s) ? write_speech : NULL};
  int status = check_usage(&s, message);
  attn2c_signals_note();
  if (status == ATTN2C_OK) status = attn2c_media_run(model, &media, arguments, out, notes, message);
  if (status == ATTN2C_OK && !s.has_begun) { /* nothing was said */
    attn2c_cues_begin(arguments->answers, out);
    status = attn2c_output_flush(out, message);
  }
  if (s.cut)
    fprintf(notes, "%s: %d of %d sounds were cut to %.2f seconds\n", arguments->program, s.cut, s.all,
            seconds(&s, facts->most));
  attn2c_sound_source_close(s.source);
  ATTN2C_FREE(s.speech, s.text, s.words);
  return status;
}

static int reads(const attn2c_arguments *arguments, const attn2c_place *place) {
  return attn2c_paths_read(&attn2c_sound_paths, arguments->audios, arguments->audio_count, place);
}

const attn2c_sound_commands attn2c_sound_program = {.run = run, .reads = reads};
