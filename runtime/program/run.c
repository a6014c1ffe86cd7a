/* run.c - the command `run`. The inputs' leading dimension n need not be the model's
 * batch: whole batches are computed in place, and what remains in a copy that is filled
 * up with the last sequence, of whose outputs only the first are kept. */
#define _XOPEN_SOURCE 700
#include "program/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/inputs.h"
#include "model/model.h"
#include "formats/npy.h"
#include "formats/place.h"
#include "base/shape.h"

/* One array that goes through the model slice by slice. */
typedef struct {
  const attn2c_tensor *tensor;
  const char *path; /* NULL: an output that is not wanted */
  int64_t leading;  /* sequences held; of an array without a batch, its own leading dimension */
  int batched;      /* its leading dimension is the batch */
  char *values;     /* all sequences */
  char *padded;     /* one batch, for what remains; NULL where there is no remainder */
  size_t slice;     /* bytes of one sequence */
} stream;

typedef struct {
  const attn2c_descriptor *model;
  const attn2c_entry *entry;
  const char **paths;
  stream *inputs, *outputs;
  const void **in;
  void **out;
  int64_t batch, sequences;
} job;

static int job_allocate(job *job, attn2c_message *message) {
  const size_t inputs = (size_t)job->entry->input_count, outputs = (size_t)job->entry->output_count;
  /* One more of each: nothing is asked for zero bytes, for which NULL would be no failure. */
  job->paths = calloc(inputs + outputs + 1, sizeof *job->paths);
  job->inputs = calloc(inputs + 1, sizeof *job->inputs);
  job->outputs = calloc(outputs + 1, sizeof *job->outputs);
  job->in = calloc(inputs + 1, sizeof *job->in);
  job->out = calloc(outputs + 1, sizeof *job->out);
  if (job->paths != NULL && job->inputs != NULL && job->outputs != NULL && job->in != NULL &&
      job->out != NULL) {
    return ATTN2C_OK;
  }
  attn2c_say(message, "run: no memory");
  return ATTN2C_MEMORY;
}

static void streams_free(stream *streams, int count) {
  for (int i = 0; streams != NULL && i < count; i++) {
    attn2c_free(streams[i].values);
    attn2c_free(streams[i].padded);
  }
  free(streams);
}

static void job_free(job *job) {
  streams_free(job->inputs, job->entry->input_count);
  streams_free(job->outputs, job->entry->output_count);
  free(job->paths);
  free(job->in);
  free(job->out);
}

static void streams_describe(const job *job, stream *streams, const int *tensors, int count,
                             const char **paths) {
  for (int i = 0; i < count; i++) {
    const attn2c_tensor *tensor = &job->model->tensors[tensors[i]];
    streams[i].tensor = tensor;
    streams[i].path = paths[i];
    streams[i].leading = tensor->rank > 0 ? tensor->shape[0] : 1;
    streams[i].batched = attn2c_has_batch(job->model, job->entry, tensors[i]);
    streams[i].slice = attn2c_tensor_bytes(tensor, 1);
  }
}

/* "-" for a path: the array as text on standard output, its name and shape, then a line a row. */
static int is_text(const char *path) { return strcmp(path, "-") == 0; }

/* Where an output leads; "-" is the standard output. */
static void find_output(const char *path, attn2c_place *place) {
  if (is_text(path)) {
    attn2c_place_descriptor(STDOUT_FILENO, place);
  } else {
    attn2c_place_find(path, place);
  }
}

static int is_read_from(const attn2c_place *place, const char *path) {
  attn2c_place other;
  if (path == NULL) return 0;
  attn2c_place_find(path, &other);
  return attn2c_place_same(place, &other);
}

/* What an output would be written over: faults of usage, a line each. */
static int verify_places(const job *job, const attn2c_arguments *arguments, const char *const *input_paths,
                         const char *const *output_paths, attn2c_message *message) {
  const attn2c_tensor *tensors = job->model->tensors;
  int status = ATTN2C_OK;
  for (int i = 0; i < job->entry->output_count; i++) {
    const char *path = output_paths[i], *what = NULL, *how = "is read from there";
    attn2c_place place;
    if (path == NULL) continue;
    find_output(path, &place);
    if (is_read_from(&place, arguments->weights)) what = "that is the file of the weights", how = "";
    for (int j = 0; j < job->entry->input_count && what == NULL; j++)
      if (is_read_from(&place, input_paths[j])) what = tensors[job->entry->inputs[j]].name;
    for (int j = 0; j < i && what == NULL; j++) {
      attn2c_place other;
      /* Texts follow each other on the standard output. */
      if (output_paths[j] == NULL || (is_text(path) && is_text(output_paths[j]))) continue;
      find_output(output_paths[j], &other);
      if (!attn2c_place_same(&place, &other)) continue;
      what = tensors[job->entry->outputs[j]].name, how = "is written there already";
    }
    if (what == NULL) continue;
    attn2c_say(message, "--output %s: %s%s%s", path, what, *how ? " " : "", how);
    status = ATTN2C_USAGE;
  }
  return status;
}

/* Which file is which array; all faults of usage at once. */
static int job_bind(job *job, const attn2c_arguments *arguments, attn2c_message *message) {
  const attn2c_entry *entry = job->entry;
  const char **input_paths = job->paths, **output_paths = job->paths + entry->input_count;
  int status = ATTN2C_OK;
  if (arguments->weights == NULL && attn2c_needs_checkpoint(job->model)) {
    attn2c_say(message, "run: --weights F.safetensors is needed");
    status = ATTN2C_USAGE;
  }
  if (attn2c_bind(job->model, entry->inputs, entry->input_count, "--input", arguments->inputs,
                  arguments->input_count, input_paths, message) != ATTN2C_OK) {
    status = ATTN2C_USAGE;
  } else {
    for (int i = 0; i < entry->input_count; i++) {
      if (input_paths[i] != NULL) continue;
      const attn2c_tensor *tensor = &job->model->tensors[entry->inputs[i]];
      char text[ATTN2C_TENSOR_TEXT];
      attn2c_tensor_text(tensor, text, sizeof text);
      attn2c_say(message, "run: --input %s=X.npy is needed: %s", tensor->name, text);
      status = ATTN2C_USAGE;
    }
  }
  if (attn2c_bind(job->model, entry->outputs, entry->output_count, "--output", arguments->outputs,
                  arguments->output_count, output_paths, message) != ATTN2C_OK) {
    status = ATTN2C_USAGE;
  }
  if (arguments->output_count == 0) {
    attn2c_say(message, "run: nothing to write: give --output [NAME=]Y.npy");
    status = ATTN2C_USAGE;
  }
  if (verify_places(job, arguments, input_paths, output_paths, message) != ATTN2C_OK) status = ATTN2C_USAGE;
  streams_describe(job, job->inputs, entry->inputs, entry->input_count, input_paths);
  streams_describe(job, job->outputs, entry->outputs, entry->output_count, output_paths);
  return status;
}

/* Reads every input; those with a batch must agree on the number of sequences. */
static int job_read(job *job, attn2c_message *message) {
  const stream *first = NULL;
  int status = ATTN2C_OK;
  for (int i = 0; i < job->entry->input_count; i++) {
    stream *input = &job->inputs[i];
    void *values;
    if (input->batched) input->leading = 0;
    const int read = attn2c_input_read(input->tensor, input->path, &input->leading, &values, message);
    input->values = values;
    if (read != ATTN2C_OK) {
      status = read;
      continue;
    }
    if (!input->batched) continue;
    if (first == NULL) {
      first = input;
    } else if (input->leading != first->leading) {
      attn2c_say(message, "%s: %" PRId64 " sequences, but %s has %" PRId64, input->tensor->name,
                 input->leading, first->tensor->name, first->leading);
      status = ATTN2C_FORMAT;
    }
  }
  job->sequences = first != NULL ? first->leading : job->batch;
  return status;
}

/* Room for the wanted outputs, and for the padded copies where a partial batch remains. */
static int job_prepare(job *job, attn2c_message *message) {
  const int remainder = job->sequences % job->batch != 0;
  for (int i = 0; i < job->entry->output_count; i++) {
    stream *output = &job->outputs[i];
    if (output->path == NULL) continue;
    if (output->batched) {
      output->leading = job->sequences;
    } else if (job->sequences != job->batch) {
      attn2c_say(message,
                 "--output %s: has no leading batch, and then exactly %" PRId64 " sequences are allowed",
                 output->tensor->name, job->batch);
      return ATTN2C_USAGE;
    }
    const size_t bytes = attn2c_tensor_bytes(output->tensor, output->leading);
    output->values = bytes > 0 ? attn2c_allocate(bytes) : NULL;
    if (output->values == NULL) {
      attn2c_say(message, "%s: no memory for %" PRId64 " sequences", output->tensor->name, output->leading);
      return ATTN2C_MEMORY;
    }
  }
  for (int i = 0; remainder && i < job->entry->input_count + job->entry->output_count; i++) {
    stream *padded =
        i < job->entry->input_count ? &job->inputs[i] : &job->outputs[i - job->entry->input_count];
    if (!padded->batched || padded->path == NULL) continue;
    padded->padded = attn2c_allocate(attn2c_tensor_bytes(padded->tensor, job->batch));
    if (padded->padded == NULL) {
      attn2c_say(message, "%s: no memory for a batch", padded->tensor->name);
      return ATTN2C_MEMORY;
    }
  }
  return ATTN2C_OK;
}

/* One call: the sequences from `start` on. */
static int job_call(job *job, const attn2c_context *context, int64_t start) {
  const int64_t rest = job->sequences - start;
  const int64_t filled = rest < job->batch ? rest : job->batch;
  for (int i = 0; i < job->entry->input_count; i++) {
    const stream *input = &job->inputs[i];
    const char *from = input->values + (input->batched ? (size_t)start * input->slice : 0);
    job->in[i] = from;
    if (!input->batched || filled == job->batch) continue;
    memcpy(input->padded, from, (size_t)filled * input->slice);
    for (int64_t s = filled; s < job->batch; s++) {
      memcpy(input->padded + (size_t)s * input->slice, from + (size_t)(filled - 1) * input->slice,
             input->slice);
    }
    job->in[i] = input->padded;
  }
  for (int i = 0; i < job->entry->output_count; i++) {
    const stream *output = &job->outputs[i];
    job->out[i] = output->values;
    if (output->path == NULL || !output->batched) continue;
    job->out[i] = filled == job->batch ? output->values + (size_t)start * output->slice : output->padded;
  }
  const attn2c_model *model = context->model;
  const int status =
      job->entry->run(model->kernels, model->weights, context->arena, job->in, job->out, context->team);
  for (int i = 0; status == ATTN2C_OK && filled < job->batch && i < job->entry->output_count; i++) {
    const stream *output = &job->outputs[i];
    if (output->path == NULL || !output->batched) continue;
    memcpy(output->values + (size_t)start * output->slice, output->padded, (size_t)filled * output->slice);
  }
  return status;
}

static int job_compute(job *job, const attn2c_model *model, attn2c_message *message) {
  attn2c_context *context;
  int status = attn2c_context_create(model, &context);
  if (status != ATTN2C_OK) {
    attn2c_say(message, "run: no memory for the arena");
    return status;
  }
  for (int64_t start = 0; start < job->sequences && status == ATTN2C_OK; start += job->batch) {
    status = job_call(job, context, start);
    if (status != ATTN2C_OK) {
      attn2c_say(message, "run: from sequence %" PRId64 " on: %s", start, attn2c_strerror(status));
    }
  }
  attn2c_context_destroy(context);
  return status;
}

/* main reports where standard output fails. */
static void print_array(const stream *output, const int64_t *shape) {
  const attn2c_tensor *tensor = output->tensor;
  const int64_t width = tensor->rank > 0 ? shape[tensor->rank - 1] : 1;
  int64_t rows = 1;
  for (int axis = 0; axis + 1 < tensor->rank; axis++) rows *= shape[axis];
  printf("%s %s\n", tensor->name, attn2c_shape_write(tensor->rank, shape).text);
  for (int64_t r = 0; r < rows; r++) {
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

static int job_write(const job *job, attn2c_message *message) {
  int status = ATTN2C_OK;
  for (int i = 0; i < job->entry->output_count && status == ATTN2C_OK; i++) {
    const stream *output = &job->outputs[i];
    if (output->path == NULL) continue;
    int64_t shape[ATTN2C_MAX_RANK];
    memcpy(shape, output->tensor->shape, sizeof shape);
    if (output->tensor->rank > 0) shape[0] = output->leading;
    if (is_text(output->path)) {
      print_array(output, shape);
      continue;
    }
    fflush(stdout); /* main looks at its errors */
    status = attn2c_npy_write(output->path, output->tensor->type, output->tensor->rank, shape, output->values,
                              message);
  }
  return status;
}

/* Tensors of the checkpoint that the model has no use for: mostly heads of another task. */
static void note_unused(const attn2c_source *source, const attn2c_arguments *arguments, FILE *notes) {
  if (!arguments->verbose || arguments->weights == NULL) return;
  const int unused = attn2c_source_unused(source);
  for (int i = -1; i < unused; i++) {
    /* Through a message: a name in a file may hold anything, a terminal's escapes included. */
    char text[2000];
    attn2c_message line = attn2c_message_make(text, sizeof text);
    if (i < 0) {
      attn2c_say(&line, "%s: %d tensor%s not used", arguments->weights, unused, unused == 1 ? "" : "s");
    } else {
      attn2c_say(&line, "%s: not used: %s", arguments->weights, attn2c_source_unused_name(source, i));
    }
    fprintf(notes, "%s: %s\n", arguments->program, text);
  }
}

static int run_job(job *job, const attn2c_arguments *arguments, FILE *notes, attn2c_message *message) {
  attn2c_source *source;
  attn2c_model *model;
  int status = job_allocate(job, message);
  if (status == ATTN2C_OK) status = job_bind(job, arguments, message);
  if (status == ATTN2C_OK) status = job_read(job, message);
  if (status == ATTN2C_OK) status = job_prepare(job, message);
  if (status == ATTN2C_OK) status = attn2c_source_choose(arguments, job->model, &source, message);
  if (status != ATTN2C_OK) return status;
  note_unused(source, arguments, notes);
  status = attn2c_model_open(job->model, source, &model, message);
  attn2c_source_close(source);
  if (status != ATTN2C_OK) return status;
  status = job_compute(job, model, message);
  attn2c_model_close(model);
  return status == ATTN2C_OK ? job_write(job, message) : status;
}

int attn2c_run_command(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *notes,
                       attn2c_message *message) {
  const int number = attn2c_entry_find(model, arguments->entry, message);
  if (number < 0) return ATTN2C_USAGE;
  job job = {.model = model, .entry = &model->entries[number]};
  job.batch = attn2c_batch(model, job.entry);
  const int status = run_job(&job, arguments, notes, message);
  job_free(&job);
  return status;
}
