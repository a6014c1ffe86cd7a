/* run.c - the command `run`. The inputs' leading dimension n need not be the model's
 * batch: whole batches are computed in place, and what remains in a copy that is filled
 * up with the last sequence, of whose outputs only the first are kept. */
#define _XOPEN_SOURCE 700
#include "run.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "inputs.h"
#include "model.h"
#include "npy.h"
#include "shape.h"

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

/* Whether two paths lead to one file: one that is there, or a name in one folder. */
static int is_same_file(const char *a, const char *b) {
  struct stat of_a, of_b;
  if (strcmp(a, b) == 0) return 1;
  const int there = (stat(a, &of_a) == 0) + (stat(b, &of_b) == 0);
  if (there == 2) return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
  const char *name_a = strrchr(a, '/'), *name_b = strrchr(b, '/');
  if (there == 1 || strcmp(name_a ? name_a + 1 : a, name_b ? name_b + 1 : b) != 0) return 0;
  char folder_a[PATH_MAX], folder_b[PATH_MAX];
  const int written_a =
      snprintf(folder_a, sizeof folder_a, "%.*s/.", name_a ? (int)(name_a - a) : 1, name_a ? a : ".");
  const int written_b =
      snprintf(folder_b, sizeof folder_b, "%.*s/.", name_b ? (int)(name_b - b) : 1, name_b ? b : ".");
  if (written_a >= PATH_MAX || written_b >= PATH_MAX) return 0;
  return stat(folder_a, &of_a) == 0 && stat(folder_b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

/* 1, and a line, where an output would be written over what the run reads. */
static int is_read(const job *job, const attn2c_arguments *arguments, const char *const *input_paths,
                   const char *output, attn2c_message *message) {
  if (arguments->weights != NULL && is_same_file(arguments->weights, output)) {
    attn2c_say(message, "--output %s: that is the file of the weights", output);
    return 1;
  }
  for (int i = 0; i < job->entry->input_count; i++) {
    if (input_paths[i] == NULL || !is_same_file(input_paths[i], output)) continue;
    attn2c_say(message, "--output %s: %s is read from there", output,
               job->model->tensors[job->entry->inputs[i]].name);
    return 1;
  }
  return 0;
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
  for (int i = 0; i < entry->output_count; i++) {
    if (output_paths[i] == NULL || is_text(output_paths[i])) continue;
    if (is_read(job, arguments, input_paths, output_paths[i], message)) status = ATTN2C_USAGE;
    for (int j = 0; j < i; j++) {
      if (output_paths[j] == NULL || !is_same_file(output_paths[i], output_paths[j])) continue;
      attn2c_say(message, "--output %s: %s is written there already", output_paths[i],
                 job->model->tensors[entry->outputs[j]].name);
      status = ATTN2C_USAGE;
    }
  }
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
      job->entry->run(model->kernels, model->weights, context->arena, job->in, job->out, model->workers);
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
  job job = {.model = model, .entry = &model->entries[0]};
  job.batch = attn2c_batch(model, job.entry);
  const int status = run_job(&job, arguments, notes, message);
  job_free(&job);
  return status;
}
