/* command.c - `run` of pictures and sounds. Inputs are computed one after the other, a group at a time that a
 * call has sequences, and answered in their order. */
#include "program/media/command.h"

#include <math.h>
#include <unistd.h>

#include "model/sequences.h"
#include "program/inputs.h"
#include "program/output.h"
#include "program/run.h"

/* An array of all inputs: an output of the model, or its input. */
typedef struct {
  int tensor; /* number in the model's list */
  const attn2c_axes *axes;
  const char *path; /* NULL: no file */
  int is_kept;
  float *values; /* of all inputs so far */
  int64_t count; /* of these values */
  int64_t each;  /* numbers of one input; in a model of any length, at most */
} array;

typedef struct {
  const attn2c_descriptor *model;
  attn2c_media *media;
  const attn2c_arguments *arguments;
  const attn2c_entry *entry;
  FILE *out;
  attn2c_message *message;
  attn2c_model *opened;
  attn2c_context *context;
  array *arrays; /* one an output, then the input */
  int array_count, prints;
  int64_t batch, done; /* inputs of a call; inputs that were computed */
  int64_t rows;        /* of all that were computed, in a model of any length */
  attn2c_item *items;  /* [batch] */
  float *input;        /* of one call */
  void **inputs;       /* [entry->input_count] that and the model's others: adapters, shapes of pictures, and
                          those that hide rows, none of which is hidden */
  int32_t adapter;     /* of all inputs */
  void **outputs;      /* of one call; NULL: not wanted */
  float *against;      /* embeddings to compare with, [against_count][width]; NULL: none */
  int64_t against_count;
  attn2c_picture_texts texts; /* to score for each input */
  const char *logits_path;    /* file of all logits; NULL: none */
  float *logits;              /* [done][texts], if they are kept; else of one input */
  int keeps_logits;
  attn2c_pick picks[ATTN2C_MAX_TOP];
} job;

/* Embeddings that are printed for an input, without --top. */
#define TOP_AGAINST 5

static const attn2c_tensor *tensor_of(const job *job, const array *array) {
  return &job->model->tensors[array->tensor];
}

static int scores_texts(const job *job) { return job->arguments->text_count > 0; }

static array *answer_of(const job *job) { return &job->arrays[job->media->facts->output]; }

static int check_usage(job *job) {
  const attn2c_arguments *arguments = job->arguments;
  const attn2c_answer answer = job->media->facts->answer;
  const char *option = job->media->kind->option, *many = job->media->kind->many;
  const size_t before = job->message->used;
  const char *faults[12];
  int count = 0;
  const int has_texts = &attn2c_the_texts != NULL;
  if (arguments->text_count > 0 && !has_texts)
    attn2c_say(job->message, "--text: this program has no model of texts beside the one of %s", many);
  if (arguments->pair_count > 0 || arguments->query_count > 0)
    attn2c_say(job->message, "--text-pair, --query: do not go with %s", option);
  if (arguments->text_count == 0 && arguments->text_weights)
    faults[count++] = "--text-weights: goes with --text";
  if (scores_texts(job) && (arguments->against || arguments->similar))
    faults[count++] = "--text: does not go with --against and --similar";
  if (arguments->input_count > 0)
    attn2c_say(job->message, "--input: does not go with %s, which fills the input", option);
  if (arguments->entry != NULL)
    attn2c_say(job->message, "--entry: does not go with %s: the number of %s chooses the entry", option,
               many);
  if (arguments->stride >= 0) faults[count++] = "--stride: goes with models that answer questions";
  if (arguments->top > 0 && answer != ATTN2C_ANSWER_LABEL && answer != ATTN2C_ANSWER_TOKENS &&
      arguments->against == NULL && !scores_texts(job))
    faults[count++] = has_texts ? "--top: goes with --text or --against"
                                : "--top: goes with models that give labels, or with --against";
  if (arguments->against && answer != ATTN2C_ANSWER_EMBEDDING)
    faults[count++] = "--against: goes with models that give an embedding";
  if (arguments->against && arguments->similar)
    attn2c_say(job->message, "--against: does not go with --similar, which compares all %s with each other",
               many);
  if (arguments->similar && answer != ATTN2C_ANSWER_EMBEDDING)
    faults[count++] = "--similar: goes with models that give an embedding";
  if (arguments->answers >= ATTN2C_ANSWERS_SRT && !job->media->write)
    faults[count++] = "--format srt and vtt: go with models that give the text of sounds";
  if (arguments->answers == ATTN2C_ANSWERS_NPY && isatty(STDOUT_FILENO))
    faults[count++] = "--format npy: the standard output is a terminal; give a file or a pipe";
  const int lacks = attn2c_lacks_weights(job->model, arguments->weights, "run", job->message);
  for (int i = 0; i < count; i++) attn2c_say(job->message, "%s", faults[i]);
  return lacks || job->message->used > before ? ATTN2C_USAGE : ATTN2C_OK;
}

static int read_against(job *job) {
  const char *path = job->arguments->against;
  attn2c_npy file;
  if (!path) return ATTN2C_OK;
  ATTN2C_TRY(attn2c_npy_read(path, &file, job->message));
  const int64_t width = answer_of(job)->each;
  const attn2c_tensor tensor = {
      .name = "--against", .rank = 2, .shape = {file.rank > 0 ? file.shape[0] : 0, width}};
  job->against_count = tensor.shape[0];
  if (file.rank == 2 && file.shape[1] == width && job->against_count > 0)
    return attn2c_array_take(&file, &tensor, (void **)&job->against, job->message);
  attn2c_npy_free(&file);
  return attn2c_fail(job->message, ATTN2C_FORMAT, "--against %s: float32 [count][%lld] is expected", path,
                     (long long)width);
}

/* Writes the cosines of an input's embedding with the embeddings of --against. */
static void compare(const job *job, const float *embedding, float *cosines) {
  const int64_t width = job->arrays[job->media->facts->output].each;
  for (int64_t i = 0; i < job->against_count; i++)
    cosines[i] = (float)attn2c_cosine(embedding, job->against + i * width, width);
}

/* Writes the most similar embeddings of --against for an input. */
static int write_against(job *job, const attn2c_media_answer *answer) {
  const int top = answer->top > 0 ? answer->top : TOP_AGAINST;
  ATTN2C_OWN float *cosines = malloc((size_t)job->against_count * sizeof *cosines);
  if (!cosines) return ATTN2C_MEMORY;
  compare(job, answer->values, cosines);
  const int count = attn2c_best(cosines, job->against_count, ATTN2C_AS_IT_IS, top, job->picks);
  return job->arguments->answers == ATTN2C_ANSWERS_JSONL
             ? attn2c_media_write_json_similar(answer, job->picks, count, job->out)
             : attn2c_media_write_similar(answer, job->picks, count, job->out);
}

/* Writes the cosines of all inputs as an array. */
static int write_cosines(const job *job) {
  const int64_t shape[2] = {job->done, job->against_count};
  float *cosines = malloc((size_t)(shape[0] * shape[1]) * sizeof *cosines);
  if (!cosines) return attn2c_fail(job->message, ATTN2C_MEMORY, "--against: no memory for the cosines");
  const array *answer = &job->arrays[job->media->facts->output];
  for (int64_t i = 0; i < job->done; i++)
    compare(job, answer->values + i * answer->each, cosines + i * shape[1]);
  const int status = attn2c_npy_write("/dev/stdout", ATTN2C_F32, 2, shape, cosines, job->message);
  free(cosines);
  return status;
}

/* Assigns the files of --output to arrays, and to the logits of texts. */
static int bind(job *job) {
  const int count = job->array_count;
  const char **names = calloc(2 * ((size_t)count + 1), sizeof *names), **paths = names + count + 1;
  if (!names) return attn2c_fail(job->message, ATTN2C_MEMORY, "run: no memory");
  for (int i = 0; i < count; i++) names[i] = tensor_of(job, &job->arrays[i])->name;
  names[count] = "logits_per_image";
  const attn2c_answer_files files = {.names = names,
                                     .count = count + scores_texts(job),
                                     .plain = count,
                                     .prints = job->prints,
                                     .of = job->media->kind->many};
  const int status = attn2c_answer_files_bind(&files, job->arguments, paths, job->message);
  for (int i = 0; i < count; i++) {
    job->arrays[i].path = paths[i];
    job->arrays[i].is_kept |= paths[i] != NULL;
  }
  job->logits_path = paths[count];
  free(names);
  return status;
}

/* Returns the sizes of the model's calls. */
static const attn2c_lengths *lengths_of(const job *job) {
  return job->model->is_open ? job->model->lengths : job->media->facts->calls;
}

/* Returns the extent of an axis for one input, of `rows` rows in a model of any length. */
static int64_t extent_of(const job *job, const array *array, int axis, int64_t rows) {
  const int64_t extent = tensor_of(job, array)->shape[axis];
  if (axis == array->axes->batch) return 1;
  const int grows = job->model->is_open && (axis == array->axes->rows || axis == array->axes->keys);
  return grows ? extent - (lengths_of(job)->sizes->seq - rows) : extent;
}

static int64_t elements_of(const job *job, const array *array, int64_t rows) {
  int64_t count = 1;
  for (int axis = 0; axis < tensor_of(job, array)->rank; axis++) count *= extent_of(job, array, axis, rows);
  return count;
}

/* Returns the numbers of one input of the call. */
static int64_t each_of(const job *job, const array *array) {
  return job->model->is_open ? elements_of(job, array, job->items[0].rows) : array->each;
}

static int list_arrays(job *job) {
  const attn2c_entry *entry = job->entry;
  const attn2c_lengths *lengths = lengths_of(job);
  job->array_count = entry->output_count + 1;
  job->arrays = calloc((size_t)job->array_count, sizeof *job->arrays);
  job->outputs = calloc((size_t)job->array_count, sizeof *job->outputs);
  job->items = calloc((size_t)job->batch, sizeof *job->items);
  if (!job->arrays || !job->outputs || !job->items)
    return attn2c_fail(job->message, ATTN2C_MEMORY, "run: no memory");
  for (int i = 0; i < job->array_count; i++) {
    array *array = &job->arrays[i];
    array->tensor = i < entry->output_count ? entry->outputs[i] : entry->inputs[job->media->facts->input];
    const int is_input = i == entry->output_count;
    array->axes = is_input ? &lengths->inputs[job->media->facts->input] : &lengths->outputs[i];
    array->each = elements_of(job, array, lengths->sizes->seq);
  }
  return ATTN2C_OK;
}

/* True if an output is needed to score texts. */
static int is_scored(const job *job, int output) {
  return scores_texts(job) &&
         (output == job->media->facts->output ||
          (job->media->facts->has_similarity && output == job->media->facts->similarity));
}

/* Makes the inputs of a call besides the one that is read. */
static int list_inputs(job *job) {
  const attn2c_lengths *lengths = lengths_of(job);
  const int adapters = attn2c_adapters_input(job->model);
  job->inputs = calloc((size_t)job->entry->input_count, sizeof *job->inputs);
  if (!job->inputs) return attn2c_fail(job->message, ATTN2C_MEMORY, "run: no memory");
  for (int i = 0; i < job->entry->input_count; i++) {
    const attn2c_tensor *tensor = &job->model->tensors[job->entry->inputs[i]];
    const int hides = lengths->inputs[i].hides;
    if (i == job->media->facts->input) continue;
    if (hides == ATTN2C_HIDES_NOTHING && i != adapters &&
        !(job->media->facts->has_shapes && i == job->media->facts->shape_input))
      return attn2c_fail(job->message, ATTN2C_USAGE, "%s: the model has another input, too: %s",
                         job->media->kind->option, tensor->name);
    const int64_t count = attn2c_elements(tensor);
    int32_t *values = job->inputs[i] = attn2c_allocate((size_t)count * sizeof *values);
    if (!values) return attn2c_fail(job->message, ATTN2C_MEMORY, "run: no memory");
    for (int64_t k = 0; k < count; k++)
      values[k] = i == adapters                 ? job->adapter
                  : hides == ATTN2C_HIDES_AFTER ? (int32_t)lengths->sizes->seq
                                                : hides == ATTN2C_HIDES_ZEROS;
  }
  return ATTN2C_OK;
}

static int open_model(job *job, FILE *notes) {
  int status = ATTN2C_OK;
  job->context = job->arguments->context;
  if (!job->context) {
    ATTN2C_TRY(attn2c_run_open(job->model, job->arguments, notes, &job->opened, job->message));
    status = attn2c_program_context(job->opened, &job->context);
  }
  for (int i = 0; i < job->array_count && status == ATTN2C_OK; i++) {
    const array *array = &job->arrays[i];
    void *values = NULL;
    const int is_input = i == job->entry->output_count;
    if (is_input || array->is_kept || (job->prints && i == job->media->facts->output) || is_scored(job, i)) {
      values = attn2c_reserve((size_t)(job->batch * array->each) * sizeof(float));
      if (!values) status = ATTN2C_MEMORY;
    }
    if (is_input)
      job->inputs[job->media->facts->input] = job->input = values;
    else
      job->outputs[i] = values;
  }
  if (status != ATTN2C_OK) attn2c_say(job->message, "run: no memory for the arena");
  return status;
}

static int keep(job *job, int64_t count) {
  for (int i = 0; i < job->array_count; i++) {
    array *array = &job->arrays[i];
    const void *values = i < job->entry->output_count ? job->outputs[i] : job->input;
    if (!array->is_kept) continue;
    const int64_t more = count * each_of(job, array);
    float *moved = realloc(array->values, (size_t)(array->count + more) * sizeof *moved);
    if (!moved)
      return attn2c_fail(job->message, ATTN2C_MEMORY, "run: no memory for the arrays of %lld %s",
                         (long long)(job->done + count), job->media->kind->many);
    array->values = moved;
    memcpy(moved + array->count, values, (size_t)more * sizeof *moved);
    array->count += more;
  }
  return ATTN2C_OK;
}

/* Computes the logits of all texts for the input in place number `at` of the call. */
static float *score(job *job, int64_t at) {
  const size_t count = job->texts.count;
  const int64_t width = answer_of(job)->each;
  float *logits = job->logits + (job->keeps_logits ? (size_t)(job->done + at) * count : 0);
  const float *embedding = (const float *)job->outputs[job->media->facts->output] + at * width;
  double factor = 1.0, added = 0.0;
  if (job->media->facts->has_similarity) {
    const int64_t each = job->arrays[job->media->facts->similarity].each;
    const float *numbers = (const float *)job->outputs[job->media->facts->similarity] + at * each;
    factor = exp((double)numbers[0]);
    if (each > 1) added = (double)numbers[1];
  }
  for (size_t i = 0; i < count; i++) {
    const float *text = job->texts.embedded.values + (int64_t)i * width;
    logits[i] = (float)(factor * attn2c_cosine(embedding, text, width) + added);
  }
  return logits;
}

/* Makes space for the logits of `count` more inputs. */
static int reserve_logits(job *job, int64_t count) {
  const size_t rows = job->keeps_logits ? (size_t)(job->done + count) : 1;
  float *moved = realloc(job->logits, rows * job->texts.count * sizeof *moved);
  if (!moved)
    return attn2c_fail(job->message, ATTN2C_MEMORY, "run: no memory for the logits of %zu texts",
                       job->texts.count);
  job->logits = moved;
  return ATTN2C_OK;
}

static int write_texts(job *job, const attn2c_media_answer *answer, const float *logits) {
  const int top = answer->top > 0 ? answer->top : ATTN2C_MAX_TOP;
  const int count =
      attn2c_best(logits, (int64_t)job->texts.count, job->media->facts->function, top, job->picks);
  return job->arguments->answers == ATTN2C_ANSWERS_JSONL
             ? attn2c_media_write_json_texts(answer, &job->texts, job->picks, count, logits, job->out)
             : attn2c_media_write_texts(answer, &job->texts, job->picks, count, job->out);
}

/* Scores the texts for the inputs of the call. */
static int score_all(job *job, int64_t count) {
  int status = reserve_logits(job, count);
  if (status == ATTN2C_OK && job->keeps_logits)
    for (int64_t i = 0; i < count; i++) score(job, i);
  return status;
}

static int write_answers(job *job, int64_t count) {
  const attn2c_tensor *tensor = tensor_of(job, answer_of(job));
  const int has_names = attn2c_paths_are_several(&job->media->paths);
  const int64_t each = each_of(job, answer_of(job));
  attn2c_media_answer answer = {.media = job->media, .top = job->arguments->top};
  answer.width = tensor->rank > 1 ? tensor->shape[tensor->rank - 1] : 1;
  answer.rows = each / answer.width;
  int status = ATTN2C_OK;
  for (int64_t i = 0; i < count && status == ATTN2C_OK; i++) {
    const int is_json = job->arguments->answers == ATTN2C_ANSWERS_JSONL;
    answer.name = has_names || is_json ? job->items[i].name : NULL;
    answer.values = (const float *)job->outputs[job->media->facts->output] + i * each;
    if (job->media->write) {
      status = job->media->write(&answer, &job->items[i], job->out);
      continue;
    }
    if (scores_texts(job)) {
      status = write_texts(job, &answer, score(job, i));
      continue;
    }
    if (job->against) {
      status = write_against(job, &answer);
      continue;
    }
    status = (is_json ? attn2c_media_write_json : attn2c_media_write_text)(&answer, job->picks, job->out);
  }
  if (status != ATTN2C_OK) return attn2c_fail(job->message, status, "run: no memory for an answer");
  return attn2c_output_flush(job->out, job->message);
}

/* Computes and answers the first `count` inputs of the call. */
static int compute(job *job, int64_t count) {
  const void *const *inputs = (const void *const *)job->inputs;
  if (count == 0) return ATTN2C_OK;
  if (job->media->facts->has_shapes) {
    for (int64_t i = 0; i < count; i++) {
      const int32_t *shape = job->items[i].shape;
      memcpy((int32_t *)job->inputs[job->media->facts->shape_input] + 2 * i, shape, 2 * sizeof *shape);
      ((int32_t *)job->inputs[job->media->facts->length_input])[i] = shape[0] * shape[1];
    }
  }
  const int64_t rows = job->items[0].rows;
  int status = job->model->is_open
                   ? attn2c_sequences_run(job->context, count, NULL, rows, inputs, job->outputs)
                   : attn2c_batches_run(job->context, job->media->facts->calls, count, inputs, job->outputs);
  if (status != ATTN2C_OK) return attn2c_fail(job->message, status, "run: %s", attn2c_strerror(status));
  if (scores_texts(job)) ATTN2C_TRY(score_all(job, count));
  if (job->prints) {
    attn2c_progress_hide();
    attn2c_signals_note();
    ATTN2C_TRY(write_answers(job, count));
  }
  ATTN2C_TRY(keep(job, count));
  job->done += count, job->rows += rows;
  return ATTN2C_OK;
}

/* Answers all inputs; those before a wrong one, too. */
static int answer_all(job *job) {
  const array *input = &job->arrays[job->entry->output_count];
  const int files = job->media->paths.count;
  int status = ATTN2C_OK;
  for (int is_end = 0; !is_end && status == ATTN2C_OK;) {
    int64_t count = 0;
    int fault = ATTN2C_OK;
    while (count < job->batch && !is_end && fault == ATTN2C_OK) {
      attn2c_item *item = &job->items[count];
      attn2c_progress(job->media->kind->many, item->number, files);
      fault =
          job->media->next(job->media, job->context, job->input + count * input->each, item, job->message);
      is_end = fault == ATTN2C_OK && item->name == NULL;
      count += fault == ATTN2C_OK && !is_end;
    }
    status = compute(job, count);
    if (status == ATTN2C_OK) status = fault;
    if (status == ATTN2C_OK) status = attn2c_signals_status(job->message);
  }
  attn2c_progress_hide();
  return status;
}

static int write_array(const job *job, const array *array, const char *path) {
  const attn2c_tensor *tensor = tensor_of(job, array);
  const int is_open = job->model->is_open && array->axes->rows >= 0; /* the rows of all, in a row */
  int64_t shape[ATTN2C_MAX_RANK] = {is_open ? job->rows : job->done};
  int rank = 1;
  for (int axis = 0; axis < tensor->rank; axis++)
    if (axis != array->axes->batch && !(is_open && axis == array->axes->rows))
      shape[rank++] = tensor->shape[axis];
  rank -= tensor->rank - attn2c_caller_rank(tensor);
  return attn2c_npy_write(path, tensor->type, rank, shape, array->values, job->message);
}

static int write_logits(const job *job, const char *path) {
  const int64_t shape[2] = {job->done, (int64_t)job->texts.count};
  return attn2c_npy_write(path, ATTN2C_F32, 2, shape, job->logits, job->message);
}

/* Writes what is known at the end: files, the array of the answers, the cosines. */
static int write_all(job *job) {
  const attn2c_arguments *arguments = job->arguments;
  int status = ATTN2C_OK;
  for (int i = 0; i < job->array_count && status == ATTN2C_OK; i++)
    if (job->arrays[i].path) status = write_array(job, &job->arrays[i], job->arrays[i].path);
  if (status != ATTN2C_OK) return status;
  if (arguments->similar)
    return attn2c_similar_write(job->media->kind->many, ATTN2C_COSINE, answer_of(job)->values, job->done,
                                answer_of(job)->each, arguments->answers, job->out, job->message);
  if (job->logits_path) ATTN2C_TRY(write_logits(job, job->logits_path));
  if (scores_texts(job))
    return arguments->answers == ATTN2C_ANSWERS_NPY ? write_logits(job, "/dev/stdout") : ATTN2C_OK;
  if (job->against && arguments->answers == ATTN2C_ANSWERS_NPY) return write_cosines(job);
  return arguments->answers == ATTN2C_ANSWERS_NPY ? write_array(job, answer_of(job), "/dev/stdout")
                                                  : ATTN2C_OK;
}

static int run_job(job *job, FILE *notes) {
  const attn2c_arguments *arguments = job->arguments;
  const int is_asked = arguments->answers != ATTN2C_ANSWERS_NONE || arguments->top > 0 ||
                       arguments->similar || arguments->against != NULL;
  const int gathers = arguments->similar || arguments->answers == ATTN2C_ANSWERS_NPY;
  job->prints = (is_asked || arguments->output_count == 0) && !gathers;
  ATTN2C_TRY(check_usage(job));
  ATTN2C_TRY(attn2c_adapter_asked(job->model, arguments, &job->adapter, job->message));
  ATTN2C_TRY(attn2c_paths_open(job->media->kind, job->media->words, job->media->word_count,
                               &job->media->paths, job->message));
  ATTN2C_TRY(list_arrays(job));
  ATTN2C_TRY(list_inputs(job));
  answer_of(job)->is_kept = gathers && !scores_texts(job);
  ATTN2C_TRY(bind(job));
  job->keeps_logits = gathers || job->logits_path != NULL;
  ATTN2C_TRY(read_against(job));
  if (scores_texts(job))
    ATTN2C_TRY(attn2c_the_texts->reader->read(arguments, notes, &job->texts, job->message));
  ATTN2C_TRY(open_model(job, notes));
  ATTN2C_TRY(answer_all(job));
  return write_all(job);
}

int attn2c_media_run(const attn2c_descriptor *model, attn2c_media *media, const attn2c_arguments *arguments,
                     FILE *out, FILE *notes, attn2c_message *message) {
  job *job = calloc(1, sizeof *job);
  if (!job) return attn2c_fail(message, ATTN2C_MEMORY, "run: no memory");
  job->model = model, job->media = media, job->arguments = arguments;
  job->entry = attn2c_primary_entry(model);
  job->out = out, job->message = message;
  job->batch = model->is_open ? 1 : attn2c_batch(model, job->entry);
  const int status = run_job(job, notes);
  if (job->opened) attn2c_context_destroy(job->context);
  attn2c_model_close(job->opened);
  attn2c_paths_close(&media->paths);
  for (int i = 0; i < job->array_count && job->arrays; i++) {
    free(job->arrays[i].values);
    if (job->outputs) attn2c_free(job->outputs[i]);
  }
  for (int i = 0; i < job->entry->input_count && job->inputs; i++) attn2c_free(job->inputs[i]);
  free(job->inputs);
  if (scores_texts(job) && &attn2c_the_texts) attn2c_the_texts->reader->close(&job->texts);
  ATTN2C_FREE(job->logits, job->arrays, job->items);
  attn2c_free(job->against);
  ATTN2C_FREE(job->outputs, job);
  return status;
}
