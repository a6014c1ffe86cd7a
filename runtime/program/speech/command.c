/* command.c - the command `generate` of a model that writes down speech: windows of a sound, one after the
 * other. The text before a window goes with it, unless a drawn answer may have spoilt it. */
#include "program/speech/command.h"

#include "formats/npy.h"
#include "program/output.h"
#include "program/progress.h"
#include "program/signals.h"
#include "program/sound/cues.h"
#include "program/speech/job.h"

/* Text that was drawn at a higher temperature is not gone on from. */
#define MOST_TEMPERATURE 0.5

typedef attn2c_speech_job job;

static int no_memory(job *job) {
  return attn2c_fail(job->message, ATTN2C_MEMORY, "no memory for what is said");
}

/* Adds tokens to what was said, of which the last ones are kept. */
static void remember(job *job, const int32_t *ids, int64_t count) {
  const size_t more = (size_t)count < job->capacity ? (size_t)count : job->capacity;
  const size_t room = job->capacity - more, kept = job->before_count < room ? job->before_count : room;
  memmove(job->before, job->before + job->before_count - kept, kept * sizeof *ids);
  memcpy(job->before + kept, ids + (size_t)count - more, more * sizeof *ids);
  job->before_count = kept + more;
}

int attn2c_speech_begin(job *job, const char *name) {
  const int32_t *ids = NULL;
  int64_t count = 0;
  job->name = name, job->language = job->options.language;
  job->before_count = 0, job->cues = 0, job->written = 0;
  attn2c_cues_begin(job->options.format, job->out);
  if (job->arguments->text_count == 0) return ATTN2C_OK;
  const char *text = job->arguments->texts[0].word;
  char *spaced = malloc(strlen(text) + 2);
  if (!spaced) return no_memory(job);
  sprintf(spaced, " %s", text + strspn(text, " "));
  const int status = job->text->plain(job->side, spaced, &ids, &count, job->message);
  if (status == ATTN2C_OK) remember(job, ids, count);
  free(spaced);
  return status;
}

static int is_blank(const attn2c_shown *shown) {
  for (size_t i = 0; i < shown->length; i++)
    if (!memchr(" \t\r\n", shown->text[i], 4)) return 0;
  return 1;
}

/* Writes and remembers the segments of a window that begins at a row. */
static int take(job *job, const attn2c_speech_part *part, const attn2c_heard *heard, int32_t count,
                int64_t row) {
  for (int32_t i = 0; i < count; i++) {
    const attn2c_segment *segment = &job->segments[i];
    const int32_t *ids = heard->ids + segment->first;
    attn2c_shown shown = {.text = ""};
    int status = attn2c_listener_text(job->listener, ids, segment->count, &shown);
    if (status != ATTN2C_OK)
      return attn2c_fail(job->message, status, "%s: no text: %s", job->name, attn2c_strerror(status));
    if (segment->begin == segment->end || is_blank(&shown)) continue;
    status = attn2c_speech_write(job, part, heard, segment, row, &shown);
    if (status != ATTN2C_OK) return status;
    remember(job, ids, segment->count);
  }
  if (job->is_by_line) attn2c_speech_end_line(job);
  return attn2c_output_flush(job->out, job->message);
}

/* Divides an answer into segments. Without timestamps all of it is one, with the tokens of times in it. */
static int32_t divide(job *job, const attn2c_heard *heard, int is_timed, int32_t rows, int32_t *next) {
  if (is_timed) return attn2c_segments(job->speech, heard->ids, heard->count, rows, job->segments, next);
  const int32_t end = rows / ATTN2C_TIMESTAMP_ROWS;
  job->segments[0] = (attn2c_segment){0, heard->count, 0, end > 0 ? end : 1};
  return 1;
}

int attn2c_speech_listen(job *job, attn2c_speech_part *part) {
  int status = ATTN2C_OK;
  int32_t next = 0;
  const int is_timed = job->options.is_timed || part->is_long;
  for (int64_t row = 0;; row += next) {
    if (part->read) status = part->read(part, row);
    if (status != ATTN2C_OK || row >= part->rows) break;
    const int32_t count = (int32_t)(part->rows - row < job->rows ? part->rows - row : job->rows);
    const float *window = part->features + (row - part->first) * job->width;
    attn2c_heard heard;
    attn2c_progress("listening", row, part->all);
    if (row - part->first + job->rows > part->room) {
      memset(job->window, 0, (size_t)(job->rows * job->width) * sizeof *window);
      window = memcpy(job->window, window, (size_t)(count * job->width) * sizeof *window);
    }
    status = attn2c_listen(job->listener, window, job->before, (int32_t)job->before_count, is_timed,
                           job->language, &heard, job->message);
    if (status != ATTN2C_OK) break;
    job->language = heard.language;
    next = count;
    if (heard.is_silent) continue;
    const int32_t found = divide(job, &heard, is_timed, count, &next);
    attn2c_progress_hide();
    status = take(job, part, &heard, found, row);
    if (heard.temperature > MOST_TEMPERATURE) job->before_count = 0;
    if (next < 1) next = count;
    if (status != ATTN2C_OK) break;
  }
  attn2c_progress_hide();
  return status;
}

int attn2c_speech_end(job *job) {
  attn2c_speech_end_line(job);
  return attn2c_output_flush(job->out, job->message);
}

/* Reads the features of a sound, [rows][width] or [1][rows][width]. */
static int read_features(job *job, const char *path, float **features, int64_t *rows) {
  attn2c_npy array;
  int status = attn2c_npy_read(path, &array, job->message);
  if (status != ATTN2C_OK) return status;
  const int rank = array.rank, first = rank - 2;
  const int fits = (rank == 2 || (rank == 3 && array.shape[0] == 1)) && array.shape[rank - 1] == job->width &&
                   array.shape[first] > 0;
  if (!fits) {
    status =
        attn2c_fail(job->message, ATTN2C_FORMAT,
                    "%s: features of this model are [rows][%lld], %lld rows for a window; the array is for "
                    "another one",
                    path, (long long)job->width, (long long)job->rows);
  } else {
    *rows = array.shape[first];
    *features = malloc((size_t)array.elements * sizeof **features);
    status = *features
                 ? attn2c_npy_as(&array, ATTN2C_F32, rank, array.shape, "features", *features, job->message)
                 : no_memory(job);
  }
  attn2c_npy_free(&array);
  return status;
}

static int open_job(job *job, FILE *notes) {
  int status = job->text->open(job->model->text, job->arguments, 1, &job->side, job->message);
  if (status == ATTN2C_OK)
    status = attn2c_continuing_open(job->model, job->arguments, notes, &job->opened, job->message);
  if (status == ATTN2C_OK)
    status = attn2c_listener_create(&job->listener, &job->opened.calls, job->speech, &job->options, job->text,
                                    job->side, job->message);
  if (status != ATTN2C_OK) return status;
  const attn2c_tensor *read = &job->model->tensors[attn2c_encode_entry(job->model)->inputs[0]];
  job->rows = read->shape[1], job->width = read->shape[2];
  job->window = malloc((size_t)(job->rows * job->width) * sizeof *job->window);
  job->capacity = (size_t)job->opened.calls.tokens;
  job->before = malloc(job->capacity * sizeof *job->before);
  job->segments = malloc((size_t)(job->opened.calls.tokens / 2 + 2) * sizeof *job->segments);
  return job->window && job->before && job->segments ? ATTN2C_OK : no_memory(job);
}

static int run_job(job *job, FILE *notes) {
  const attn2c_generate_arguments *given = &job->arguments->generate;
  const int audios = job->arguments->audio_count;
  int status = attn2c_speech_options_read(job->arguments, job->model, &job->options, job->message);
  if (given->feature_count + audios == 0)
    status = attn2c_fail(job->message, ATTN2C_USAGE,
                         "generate: --audio FILE or --features X.npy is needed: this "
                         "model writes down speech");
  else if (status == ATTN2C_OK)
    status = attn2c_cues_check(job->options.format, given->feature_count + audios, job->message);
  if (audios > 0 && !&attn2c_the_speech_sounds)
    status = attn2c_fail(job->message, ATTN2C_USAGE,
                         "--audio: this model takes no sound: its description has no key "
                         "`sound`; --features X.npy gives features");
  if (status == ATTN2C_OK) status = open_job(job, notes);
  if (status == ATTN2C_OK) attn2c_signals_note();
  job->has_names = given->feature_count + audios > 1;
  for (int i = 0; i < given->feature_count && status == ATTN2C_OK; i++) {
    float *features = NULL;
    attn2c_speech_part part = {.first = 0};
    status = read_features(job, given->features[i], &features, &part.rows);
    part.features = features, part.room = part.all = part.rows, part.is_long = part.rows > job->rows;
    if (status == ATTN2C_OK) status = attn2c_speech_begin(job, given->features[i]);
    if (status == ATTN2C_OK) status = attn2c_speech_listen(job, &part);
    if (status == ATTN2C_OK) status = attn2c_speech_end(job);
    free(features);
  }
  return status == ATTN2C_OK && audios > 0 ? attn2c_the_speech_sounds(job) : status;
}

static int generate(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *out, FILE *notes,
                    attn2c_message *message) {
  job job = {.model = model,
             .arguments = arguments,
             .out = out,
             .message = message,
             .speech = model->continued->generation->speech,
             .text = attn2c_the_generation_text};
  const int status = run_job(&job, notes);
  attn2c_listener_free(job.listener);
  attn2c_continuing_close(&job.opened);
  if (job.side) job.text->close(job.side);
  free(job.window);
  free(job.before);
  free(job.segments);
  return status;
}

const attn2c_speech_commands attn2c_speech_program = {.generate = generate};
