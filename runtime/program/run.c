/* run.c - the command `run`. The inputs set the number of sequences, and outputs have the inputs' sizes. A
 * model of any length takes sequences of other lengths, also of different ones: one after the other, with an
 * array of their lengths. */
#include "program/run.h"
#include "base/picture_facts.h"
#include "base/sound_facts.h"

#include <unistd.h>

#include "program/inputs.h"
#include "program/output.h"
#include "model/sequences.h"
#include "base/shape.h"

typedef attn2c_run_array stream;
typedef attn2c_run_job job;

static int job_allocate(job *job, attn2c_message *message) {
  const size_t inputs = (size_t)job->entry->input_count, outputs = (size_t)job->entry->output_count;
  /* One element more of each: calloc is never asked for zero bytes, for which it may return NULL. */
  job->paths = calloc(inputs + outputs + 2, sizeof *job->paths);
  job->inputs = calloc(inputs + 1, sizeof *job->inputs);
  job->outputs = calloc(outputs + 1, sizeof *job->outputs);
  job->in = calloc(inputs + 1, sizeof *job->in);
  job->out = calloc(outputs + 1, sizeof *job->out);
  if (job->paths != NULL && job->inputs != NULL && job->outputs != NULL && job->in != NULL &&
      job->out != NULL)
    return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory", job->command);
}

static void streams_free(stream *streams, int count) {
  for (int i = 0; streams != NULL && i < count; i++) attn2c_free(streams[i].values);
  free(streams);
}

static void job_free(job *job) {
  streams_free(job->inputs, job->entry->input_count);
  streams_free(job->outputs, job->entry->output_count);
  ATTN2C_FREE(job->paths, job->in, job->out);
  attn2c_sizes_close(&job->sizes);
}

static void streams_describe(const job *job, stream *streams, int is_input, int count, const char **paths) {
  for (int i = 0; i < count; i++) {
    streams[i].tensor = attn2c_sizes_tensor(&job->sizes, is_input, i);
    streams[i].path = paths[i];
  }
}

/* True if the path is "-". The array is then printed: its name and shape, then a line a row. */
static int is_text(const char *path) { return strcmp(path, "-") == 0; }

/* Finds the file that an output is written to; "-" is the standard output. */
static void find_output(const char *path, attn2c_place *place) {
  if (is_text(path))
    attn2c_place_descriptor(STDOUT_FILENO, place);
  else
    attn2c_place_find(path, place);
}

static const char *lengths_path(const job *job) { return job->paths[job->entry->input_count]; }

/* Reports outputs that would overwrite the weights, an input or another output, one line a fault; and the
 * first that cannot be written. */
static int verify_places(const job *job, const attn2c_arguments *arguments, const char *const *input_paths,
                         const char *const *output_paths, attn2c_message *message) {
  const attn2c_tensor *tensors = job->model->tensors;
  int status = ATTN2C_OK;
  for (int i = 0; i < job->entry->output_count; i++) {
    const char *path = output_paths[i], *what = NULL, *how = "is read from it";
    attn2c_place place;
    if (path == NULL) continue;
    find_output(path, &place);
    if (attn2c_place_has_weights(&place, arguments->weights))
      what = "this file belongs to the weights", how = "";
    for (int j = 0; j < job->entry->input_count && what == NULL; j++)
      if (attn2c_place_is_at(&place, input_paths[j])) what = tensors[job->entry->inputs[j]].name;
    if (what == NULL && attn2c_place_is_at(&place, lengths_path(job))) what = "lengths";
    for (int j = 0; j < i && what == NULL; j++) {
      attn2c_place other;
      /* Several arrays may be printed on the standard output, one after the other. */
      if (output_paths[j] == NULL || (is_text(path) && is_text(output_paths[j]))) continue;
      find_output(output_paths[j], &other);
      if (!attn2c_place_same(&place, &other)) continue;
      what = tensors[job->entry->outputs[j]].name, how = "is already written to it";
    }
    if (what == NULL && status == ATTN2C_OK && *path && !is_text(path))
      status = attn2c_file_check(path, message);
    if (what == NULL) continue;
    status = attn2c_fail(message, ATTN2C_USAGE, "--output %s: %s%s%s", path, what, *how ? " " : "", how);
  }
  return status;
}

/* Assigns files to the inputs, and to the lengths of the sequences if a model takes any. */
static int bind_inputs(job *job, const attn2c_arguments *arguments, attn2c_message *message) {
  const attn2c_entry *entry = job->entry;
  ATTN2C_OWN int *tensors = calloc((size_t)entry->input_count + 1, sizeof *tensors);
  if (tensors == NULL) return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory", job->command);
  memcpy(tensors, entry->inputs, (size_t)entry->input_count * sizeof *tensors);
  tensors[entry->input_count] = ATTN2C_LENGTHS_ARRAY;
  int status = attn2c_bind(job->model, tensors, entry->input_count + job->model->is_open, "--input",
                           arguments->inputs, arguments->input_count, job->paths, message);
  if (status != ATTN2C_OK) return status;
  for (int i = 0; i < entry->input_count; i++) {
    const attn2c_tensor *tensor = &job->model->tensors[entry->inputs[i]];
    if (job->paths[i] != NULL || attn2c_is_optional(tensor)) continue;
    char text[ATTN2C_ARRAY_TEXT];
    attn2c_array_text(job->model, entry, 1, i, text, sizeof text);
    status =
        attn2c_fail(message, ATTN2C_USAGE, "%s: --input %s=X.npy is needed: %s%s", job->command, tensor->name,
                    text, job->model->is_open ? ", with lengths=X.npy; or [sequences, rows of each]" : "");
  }
  return status;
}

/* Assigns files to arrays, and reports all faults of usage at once. */
static int job_bind(job *job, const attn2c_arguments *arguments, attn2c_message *message) {
  const attn2c_entry *entry = job->entry;
  const char **input_paths = job->paths, **output_paths = job->paths + entry->input_count + 1;
  int status = ATTN2C_OK;
  if (attn2c_lacks_weights(job->model, arguments->weights, job->command, message)) status = ATTN2C_USAGE;
  const char *media = &attn2c_the_pictures ? "--image with a picture"
                      : &attn2c_the_sounds ? "--audio with a sound"
                                           : NULL;
  if (media && arguments->input_count == 0 && arguments->output_count == 0)
    return attn2c_fail(message, ATTN2C_USAGE,
                       "run: nothing to compute: give %s, a folder or -; or arrays with --input and --output",
                       media);
  if (job->model->text != NULL && arguments->input_count == 0 && arguments->output_count == 0)
    return attn2c_fail(message, ATTN2C_USAGE,
                       "run: nothing to compute: give --text with a text, a file of texts or -; or arrays "
                       "with --input and --output");
  const int inputs = bind_inputs(job, arguments, message);
  if (inputs != ATTN2C_OK) status = inputs;
  const int outputs = attn2c_bind(job->model, entry->outputs, entry->output_count, job->option,
                                  arguments->outputs, arguments->output_count, output_paths, message);
  if (outputs != ATTN2C_OK) status = outputs;
  if (arguments->output_count == 0)
    status = attn2c_fail(message, ATTN2C_USAGE, "run: nothing to write: give --output [NAME=]Y.npy");
  const int places = arguments->command == ATTN2C_COMMAND_RUN
                         ? verify_places(job, arguments, input_paths, output_paths, message)
                         : ATTN2C_OK;
  if (status == ATTN2C_OK) status = places;
  streams_describe(job, job->inputs, 1, entry->input_count, input_paths);
  streams_describe(job, job->outputs, 0, entry->output_count, output_paths);
  return status;
}

/* Reads every input. The inputs must agree on the number of sequences and on their length. */
static int job_read(job *job, attn2c_message *message) {
  int status = ATTN2C_OK;
  if (lengths_path(job) != NULL)
    ATTN2C_TRY(attn2c_sizes_read_lengths(&job->sizes, lengths_path(job), message));
  for (int i = 0; i < job->entry->input_count; i++) {
    stream *input = &job->inputs[i];
    if (input->path == NULL) continue;
    const int read = attn2c_sizes_read(&job->sizes, i, input->path, &input->values, message);
    if (read != ATTN2C_OK) status = read;
  }
  if (status == ATTN2C_OK) attn2c_sizes_settle(&job->sizes);
  return status;
}

/* Allocates the wanted outputs. */
static int job_prepare(job *job, attn2c_message *message) {
  for (int i = 0; i < job->entry->output_count; i++) {
    stream *output = &job->outputs[i];
    if (output->path == NULL) continue;
    const int64_t batch = attn2c_batch(job->model, job->entry);
    output->tensor = attn2c_sizes_tensor(&job->sizes, 0, i);
    if (job->sizes.lengths->outputs[i].batch < 0 && job->sizes.batch != batch)
      return attn2c_fail(message, ATTN2C_USAGE,
                         "%s %s: has no leading batch, so that exactly %" PRId64 " sequences are allowed",
                         job->option, output->tensor.name, batch);
    const size_t bytes =
        attn2c_tensor_bytes(&output->tensor, output->tensor.rank > 0 ? output->tensor.shape[0] : 1);
    output->values = bytes > 0 ? attn2c_allocate(bytes) : NULL;
    if (output->values == NULL)
      return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory for %" PRId64 " sequences",
                         output->tensor.name, job->sizes.batch);
  }
  return ATTN2C_OK;
}

/* Gives all sequences the adapter that is asked for, if no array says theirs. */
static int set_adapter(job *job, const attn2c_arguments *arguments, attn2c_message *message) {
  const int number = attn2c_adapters_input(job->model);
  int32_t adapter;
  int status = attn2c_adapter_asked(job->model, arguments, &adapter, message);
  if (status != ATTN2C_OK || adapter == 0) return status;
  stream *input = &job->inputs[number];
  if (input->values)
    return attn2c_fail(message, ATTN2C_USAGE, "--adapter does not go with --input %s", input->tensor.name);
  input->values = attn2c_allocate((size_t)job->sizes.batch * sizeof adapter);
  if (!input->values) return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory", job->command);
  for (int64_t i = 0; i < job->sizes.batch; i++) ((int32_t *)input->values)[i] = adapter;
  return ATTN2C_OK;
}

static void show_computing(int64_t done, int64_t all) { attn2c_progress("sequences", done, all); }

static int job_compute(job *job, const attn2c_model *model, attn2c_message *message) {
  attn2c_context *context;
  int status = attn2c_program_context(model, &context);
  if (status != ATTN2C_OK) return attn2c_fail(message, status, "%s: no memory for the arena", job->command);
  context->watch = show_computing;
  for (int i = 0; i < job->entry->input_count; i++) job->in[i] = job->inputs[i].values;
  for (int i = 0; i < job->entry->output_count; i++) job->out[i] = job->outputs[i].values;
  const attn2c_sizes *sizes = &job->sizes;
  if (job->model->is_open)
    status = attn2c_sequences_run(context, sizes->batch, sizes->each, sizes->seq, job->in, job->out);
  else
    status = attn2c_batches_run(context, sizes->lengths, sizes->batch, job->in, job->out);
  attn2c_progress_hide();
  if (status != ATTN2C_OK) attn2c_say(message, "%s: %s", job->command, attn2c_strerror(status));
  attn2c_context_destroy(context);
  return status;
}

/* Prints an array, or its rows before a signal; main reports errors of the standard output. */
static void print_array(const stream *output) {
  const attn2c_tensor *tensor = &output->tensor;
  const int rank = attn2c_caller_rank(tensor);
  const int64_t width = rank > 0 ? tensor->shape[rank - 1] : 1;
  int64_t rows = 1;
  for (int axis = 0; axis + 1 < rank; axis++) rows *= tensor->shape[axis];
  printf("%s %s\n", tensor->name, attn2c_shape_write(rank, tensor->shape).text);
  for (int64_t r = 0; r < rows && !attn2c_signal(); r++) {
    for (int64_t i = r * width; i < (r + 1) * width; i++) {
      const char *space = i > r * width ? " " : "";
      if (tensor->type == ATTN2C_F32)
        printf("%s%11.5g", space, (double)((const float *)output->values)[i]);
      else
        printf("%s%6" PRId32, space, ((const int32_t *)output->values)[i]);
    }
    putchar('\n');
  }
}

static int job_write(const job *job, const attn2c_arguments *arguments, FILE *out, attn2c_message *message) {
  (void)arguments, (void)out;
  for (int i = 0; i < job->entry->output_count; i++) {
    const stream *output = &job->outputs[i];
    if (output->path == NULL) continue;
    if (is_text(output->path)) {
      attn2c_signals_note();
      print_array(output);
      ATTN2C_TRY(attn2c_signals_status(message));
      continue;
    }
    fflush(stdout); /* main checks it for errors */
    ATTN2C_TRY(attn2c_npy_write(output->path, output->tensor.type, attn2c_caller_rank(&output->tensor),
                                output->tensor.shape, output->values, message));
  }
  return ATTN2C_OK;
}

static void note_unused(const attn2c_source *source, const attn2c_arguments *arguments, FILE *notes) {
  if (!arguments->verbose || arguments->weights == NULL) return;
  const int unused = attn2c_source_unused(source);
  for (int i = -1; i < unused; i++) {
    /* attn2c_say escapes control characters: a name in a file may have any. */
    char text[2000];
    attn2c_message line = attn2c_message_make(text, sizeof text);
    if (i < 0)
      attn2c_say(&line, "%s: %d tensor%s not used", arguments->weights, unused, unused == 1 ? "" : "s");
    else
      attn2c_say(&line, "%s: not used: %s", arguments->weights, attn2c_source_unused_name(source, i));
    fprintf(notes, "%s: %s\n", arguments->program, text);
  }
}

int attn2c_run_open(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *notes,
                    attn2c_model **opened, attn2c_message *message) {
  ATTN2C_ENDS_BY(attn2c_source_end) attn2c_source *source = NULL;
  if (model->divided) return attn2c_model_choose(arguments, model, NULL, opened, message);
  ATTN2C_TRY(attn2c_source_choose(arguments, model, &source, message));
  note_unused(source, arguments, notes);
  return attn2c_model_choose(arguments, model, source, opened, message);
}

static int run_job(job *job, const attn2c_arguments *arguments, attn2c_run_taker *take, FILE *out,
                   FILE *notes, attn2c_message *message) {
  attn2c_model *model;
  ATTN2C_TRY(job_allocate(job, message));
  ATTN2C_TRY(job_bind(job, arguments, message));
  ATTN2C_TRY(job_read(job, message));
  ATTN2C_TRY(set_adapter(job, arguments, message));
  ATTN2C_TRY(job_prepare(job, message));
  ATTN2C_TRY(attn2c_run_open(job->model, arguments, notes, &model, message));
  int status = job_compute(job, model, message);
  attn2c_model_close(model);
  return status == ATTN2C_OK ? take(job, arguments, out, message) : status;
}

int attn2c_run_arrays(const attn2c_program *program, const attn2c_arguments *arguments,
                      attn2c_run_taker *take, FILE *out, FILE *notes, attn2c_message *message) {
  const attn2c_descriptor *model = program->model;
  if (attn2c_entry_find(model, arguments->entry, message) < 0) return ATTN2C_USAGE;
  const int writes = arguments->command == ATTN2C_COMMAND_RUN;
  job job = {.model = model, .command = writes ? "run" : "check", .option = writes ? "--output" : "--expect"};
  int status = attn2c_sizes_open(program, &job.sizes, message);
  job.entry = attn2c_primary_entry(model);
  if (status == ATTN2C_OK) status = run_job(&job, arguments, take, out, notes, message);
  job_free(&job);
  return status;
}

int attn2c_run_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *notes,
                       attn2c_message *message) {
  if (attn2c_encode_entry(program->model))
    return attn2c_fail(message, ATTN2C_USAGE,
                       "run: this model has an encoder: generate writes answers to sources; its C and Python "
                       "interfaces give logits");
  return attn2c_run_arrays(program, arguments, job_write, stdout, notes, message);
}
