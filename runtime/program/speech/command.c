/* command.c - the command `generate` of a model that writes down speech. Several sounds are listened to side
 * by side; what is said in one of them is written once those before it have ended. */
#include "program/commands.h"

#include "formats/npy.h"
#include "program/output.h"
#include "program/sound/cues.h"
#include "program/speech/job.h"
#include "program/system.h"

typedef attn2c_speech_job job;
typedef attn2c_speech_place place;

/* Reads the features of a sound, [rows][width] or [1][rows][width]. */
static int read_features(const job *job, const char *path, float **features, int64_t *rows,
                         attn2c_message *message) {
  ATTN2C_ENDS_BY(attn2c_npy_free) attn2c_npy array = {.data = NULL};
  ATTN2C_TRY(attn2c_npy_read(path, &array, message));
  const int rank = array.rank, first = rank - 2;
  const int fits = (rank == 2 || (rank == 3 && array.shape[0] == 1)) && array.shape[rank - 1] == job->width &&
                   array.shape[first] > 0;
  if (!fits)
    return attn2c_fail(
        message, ATTN2C_FORMAT,
        "%s: features of this model are [rows][%lld], %lld rows for a window; the array is for another one",
        path, (long long)job->width, (long long)job->rows);
  *rows = array.shape[first];
  *features = malloc((size_t)array.elements * sizeof **features);
  if (!*features) return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory for features", path);
  return attn2c_npy_as(&array, ATTN2C_F32, rank, array.shape, "features", *features, message);
}

/* Begins sound number `number` at a place. */
static int begin_sound(job *job, place *p, int number, attn2c_message *message) {
  const attn2c_arguments *arguments = job->arguments;
  const int features = arguments->generate.feature_count;
  int64_t rows = 0;
  *p = (place){.transcriber = p->transcriber, .number = number};
  if (number < features) {
    p->name = arguments->generate.features[number];
    ATTN2C_TRY(read_features(job, p->name, &p->features, &rows, message));
  } else {
    ATTN2C_TRY(attn2c_the_speech_sounds->open(job, p, number - features, message));
  }
  ATTN2C_TRY(attn2c_transcriber_begin(p->transcriber, p->name,
                                      arguments->text_count > 0 ? arguments->texts[0].word : NULL, message));
  if (p->features) attn2c_transcriber_features(p->transcriber, p->features, rows);
  if (p->sound) ATTN2C_TRY(attn2c_the_speech_sounds->begin(p, message));
  return ATTN2C_OK;
}

static void end_sound(place *p) {
  free(p->features);
  p->features = NULL;
  if (p->sound) attn2c_the_speech_sounds->close(p);
  p->number = -1;
}

/* Writes what is said at a place until the listener must step, or the sound ends. */
static int go_on(job *job, place *p, attn2c_message *message) {
  int status = ATTN2C_OK;
  while (status == ATTN2C_OK && !p->is_ended) {
    attn2c_said_state state;
    attn2c_said said;
    status = attn2c_transcriber_next(p->transcriber, &state, &said, message);
    if (status == ATTN2C_OK && state == ATTN2C_SAID_LATER) return status;
    if (status != ATTN2C_OK) break;
    attn2c_progress_hide();
    if (state == ATTN2C_SAID_SEGMENT) status = attn2c_speech_write(job, p, &said, message);
    if (state == ATTN2C_SAID_WINDOW && p->is_by_line) attn2c_speech_end_line(job, p);
    if (state == ATTN2C_SAID_WINDOW) status = attn2c_output_flush(p->out, message);
    p->is_ended = state == ATTN2C_SAID_ALL;
  }
  if (status == ATTN2C_OK) attn2c_speech_end_line(job, p);
  return status;
}

/* Does a place's part of a step. A fault ends its sound, and is said when it is its turn. */
static void visit(job *job, place *p) {
  attn2c_message why = attn2c_message_make(p->fault, sizeof p->fault);
  p->status = go_on(job, p, &why);
  if (p->status != ATTN2C_OK) p->is_ended = 1;
}

/* Opens what a sound writes to: the output if it is its turn, else memory. */
static int open_output(const job *job, place *p, int is_turn) {
  p->out = is_turn ? job->out : attn2c_program_gather(&p->kept, &p->size);
  if (!p->out) return ATTN2C_MEMORY;
  attn2c_cues_begin(job->format, p->out);
  return ATTN2C_OK;
}

/* Makes it a place's turn: writes what it has kept. */
static int take_turn(const job *job, place *p) {
  if (p->out == job->out || !p->out) return ATTN2C_OK;
  (void)attn2c_program_gathered(p->out, &p->kept, &p->size);
  fwrite(p->kept, 1, p->size, job->out);
  free(p->kept);
  p->kept = NULL, p->out = job->out;
  return attn2c_output_flush(job->out, job->message);
}

/* Begins the next sound at a place. A fault waits for its turn. */
static int begin_next(job *job, place *p, int number, int is_turn) {
  char fault[sizeof p->fault];
  attn2c_message why = attn2c_message_make(fault, sizeof fault);
  const int status = begin_sound(job, p, number, &why);
  p->status = status;
  if (status != ATTN2C_OK) p->is_ended = 1, memcpy(p->fault, fault, sizeof fault);
  return status == ATTN2C_OK ? open_output(job, p, is_turn) : ATTN2C_OK;
}

static void show_progress(const job *job, const place *p) {
  int64_t all;
  if (!p || job->place_count > 1) return;
  const int64_t row = attn2c_transcriber_row(p->transcriber, &all);
  attn2c_progress("listening", row, all);
}

/* Listens to all sounds. `turn`: the one whose answer is written; the next one to begin is `next`. */
static int listen(job *job) {
  int status = ATTN2C_OK;
  for (int turn = 0, next = 0, is_faulty = 0; turn < job->sounds && status == ATTN2C_OK;) {
    place *first = NULL;
    int steps = 0;
    for (int32_t i = 0; i < job->place_count && status == ATTN2C_OK; i++) {
      place *p = &job->places[i];
      if (p->number < 0 && next < job->sounds && !is_faulty) {
        status = begin_next(job, p, next, next == turn);
        next++;
      }
      if (p->number < 0 || status != ATTN2C_OK) continue;
      if (p->number == turn) status = take_turn(job, first = p);
      if (!p->is_ended) visit(job, p);
      is_faulty = is_faulty || p->status != ATTN2C_OK;
      steps += !p->is_ended;
    }
    if (status != ATTN2C_OK) return status;
    if (first && first->is_ended) {
      if (first->status != ATTN2C_OK) {
        attn2c_say(job->message, "%s", first->fault);
        return first->status;
      }
      status = attn2c_output_flush(job->out, job->message);
      end_sound(first), turn++;
    } else if (steps > 0) {
      show_progress(job, first);
      status = attn2c_signals_status(job->message);
      if (status == ATTN2C_OK) status = attn2c_listener_step(job->listener, job->message);
    }
  }
  return status;
}

static int open_places(job *job, FILE *notes) {
  const attn2c_sound_facts *sounds = &attn2c_the_speech_sounds ? attn2c_the_speech_sounds->facts() : NULL;
  int is_live = 0;
  for (int i = 0; i < job->paths.count; i++) is_live = is_live || strcmp(job->paths.paths[i], "-") == 0;
  ATTN2C_TRY(attn2c_continuing_open(job->model, job->arguments, notes, &job->opened, job->message));
  ATTN2C_TRY(attn2c_listener_create(&job->listener, job->opened.context, &job->options,
                                    is_live ? 1 : job->sounds, job->message));
  job->place_count = attn2c_listener_places(job->listener);
  job->places = calloc((size_t)job->place_count, sizeof *job->places);
  if (!job->places) return attn2c_fail(job->message, ATTN2C_MEMORY, "no memory for sounds");
  for (int32_t i = 0; i < job->place_count; i++) job->places[i].number = -1;
  for (int32_t i = 0; i < job->place_count; i++)
    ATTN2C_TRY(attn2c_transcriber_create(&job->places[i].transcriber, job->listener, i,
                                         sounds ? sounds->made : NULL, sounds ? sounds->rate : 1,
                                         job->message));
  return ATTN2C_OK;
}

static void close_job(job *job) {
  for (int32_t i = 0; job->places && i < job->place_count; i++) {
    place *p = &job->places[i];
    if (p->number >= 0 && p->out && p->out != job->out) {
      (void)attn2c_program_gathered(p->out, &p->kept, &p->size);
      free(p->kept);
    }
    end_sound(p);
    attn2c_transcriber_free(p->transcriber);
  }
  free(job->places);
  attn2c_listener_free(job->listener);
  if (&attn2c_the_speech_sounds) attn2c_the_speech_sounds->close_paths(&job->paths);
  attn2c_continuing_close(&job->opened);
}

static int run_job(job *job, FILE *notes) {
  const attn2c_arguments *arguments = job->arguments;
  const int features = arguments->generate.feature_count, audios = arguments->audio_count;
  int status = attn2c_speech_options_read(arguments, job->model, &job->options, &job->format, job->message);
  if (features + audios == 0)
    status =
        attn2c_fail(job->message, ATTN2C_USAGE,
                    "generate: --audio FILE or --features X.npy is needed: this model writes down speech");
  if (audios > 0 && !&attn2c_the_speech_sounds)
    status = attn2c_fail(job->message, ATTN2C_USAGE,
                         "--audio: this model takes no sound: its description has no key `sound`; --features "
                         "X.npy gives features");
  if (status == ATTN2C_OK) status = attn2c_cues_check(job->format, features + audios, job->message);
  if (status == ATTN2C_OK && audios > 0)
    status = attn2c_the_speech_sounds->open_paths(arguments, &job->paths, job->message);
  job->sounds = features + job->paths.count;
  job->has_names =
      job->sounds > 1 || (job->paths.count > 0 && attn2c_the_speech_sounds->are_several(&job->paths));
  if (status == ATTN2C_OK) status = attn2c_cues_check(job->format, job->sounds, job->message);
  if (status == ATTN2C_OK) status = open_places(job, notes);
  if (status == ATTN2C_OK) attn2c_signals_note();
  return status == ATTN2C_OK ? listen(job) : status;
}

static int generate(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *out, FILE *notes,
                    attn2c_message *message) {
  const attn2c_tensor *read = &model->tensors[attn2c_encode_entry(model)->inputs[0]];
  job job = {.model = model,
             .arguments = arguments,
             .out = out,
             .message = message,
             .rows = read->shape[1],
             .width = read->shape[2]};
  const int status = run_job(&job, notes);
  attn2c_progress_hide();
  close_job(&job);
  return status;
}

const attn2c_speech_commands attn2c_speech_program = {.generate = generate};
