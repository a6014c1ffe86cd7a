/* rows.c - gathers texts into calls of a model of any length, and copies the rows of each text to its
 * place. */
#include "model/text/reader.h"

#include "model/sequences.h"

/* The most elements of a call's outputs; a call of one text may have more. */
#define MOST_ELEMENTS ((int64_t)8 << 20)

/* Arrays of a call. */
typedef struct {
  attn2c_reader *reader;
  attn2c_context *context;
  int64_t most;                              /* rows of a call of several texts */
  int32_t *ids, *types, *lengths, *adapters; /* [longest] */
  int32_t *boxes;                            /* [longest][4] */
  const void **inputs;
  void **results;
  size_t *sizes; /* bytes of each result's buffer */
  void **buffers;
} job;

/* Consecutive texts of a call, without those that have no tokens. */
typedef struct {
  size_t first, end; /* texts [first, end) */
  int64_t count, rows;
} part;

static int output_count(const attn2c_reader *reader) {
  return attn2c_primary_entry(reader->model)->output_count;
}

/* Returns the elements of an output for `count` texts of `rows` rows in all, without padding. */
static int64_t elements_of(const attn2c_reader *reader, int output, int64_t count, int64_t rows) {
  return attn2c_reader_elements(reader, output, 1) *
         (reader->facts->calls->outputs[output].rows >= 0 ? rows : count);
}

/* Returns the most rows of a call of several texts, so that its outputs have at most MOST_ELEMENTS. */
static int64_t most_rows(const attn2c_reader *reader, void *const *outputs) {
  int64_t elements = 1;
  for (int o = 0; o < output_count(reader); o++)
    if (outputs[o]) elements += attn2c_reader_elements(reader, o, 1);
  const int64_t most = MOST_ELEMENTS / elements, longest = (int64_t)reader->longest;
  return most < longest ? most : longest;
}

/* Returns the texts of the next call. */
static part part_from(const job *job, size_t first) {
  const attn2c_reader *reader = job->reader;
  part p = {first, first, 0, 0};
  for (; p.end < reader->count; p.end++) {
    const int64_t length = (int64_t)reader->texts[p.end].length;
    if (p.count > 0 && p.rows + length > job->most) break;
    p.rows += length, p.count += length > 0;
  }
  return p;
}

/* Writes the tokens of a call one after the other. */
static void fill(const job *job, part p) {
  const attn2c_reader *reader = job->reader;
  int32_t *ids = job->ids, *types = job->types, *lengths = job->lengths, *adapters = job->adapters,
          *boxes = job->boxes;
  for (size_t i = p.first; i < p.end; i++) {
    const attn2c_reader_text *text = &reader->texts[i];
    if (text->length == 0) continue;
    memcpy(ids, reader->tokens + text->first, text->length * sizeof *ids);
    memcpy(types, reader->tokens + text->first + text->length, text->length * sizeof *types);
    if (reader->facts->boxes >= 0)
      memcpy(boxes, reader->tokens + text->first + 2 * text->length, 4 * text->length * sizeof *boxes);
    ids += text->length, types += text->length, boxes += 4 * text->length;
    *lengths++ = (int32_t)text->length;
    *adapters++ = text->adapter;
  }
}

/* Sets the arrays that take the results. A call of one text writes to its place, others to a buffer. */
static int give_results(job *job, part p, int64_t rows, void *const *outputs) {
  const attn2c_reader *reader = job->reader;
  size_t only = p.first;
  while (reader->texts[only].length == 0) only++;
  for (int o = 0; o < output_count(reader); o++) {
    job->results[o] = NULL;
    if (!outputs[o]) continue;
    if (p.count == 1) {
      job->results[o] = (int32_t *)outputs[o] + (int64_t)only * attn2c_reader_elements(reader, o, rows);
      continue;
    }
    const size_t bytes = (size_t)elements_of(reader, o, p.count, p.rows) * sizeof(float);
    if (bytes > job->sizes[o]) {
      attn2c_free(job->buffers[o]);
      job->buffers[o] = attn2c_reserve(bytes);
      job->sizes[o] = job->buffers[o] ? bytes : 0;
    }
    if (!job->buffers[o]) return ATTN2C_MEMORY;
    job->results[o] = job->buffers[o];
  }
  return ATTN2C_OK;
}

/* Copies the results of several texts to their places. */
static void scatter(const job *job, part p, int64_t rows, void *const *outputs) {
  const attn2c_reader *reader = job->reader;
  for (int o = 0; o < output_count(reader); o++) {
    const int32_t *from = job->results[o];
    if (!from || p.count == 1) continue;
    const int64_t each = attn2c_reader_elements(reader, o, rows);
    for (size_t i = p.first; i < p.end; i++) {
      const int64_t length = (int64_t)reader->texts[i].length;
      if (length == 0) continue;
      attn2c_reader_place(reader, o, from, length, length, (int32_t *)outputs[o] + (int64_t)i * each, rows);
      from += elements_of(reader, o, 1, length);
    }
  }
}

static int run_part(job *job, part p, int64_t rows, void *const *outputs) {
  int status = give_results(job, p, rows, outputs);
  if (status == ATTN2C_OK) {
    fill(job, p);
    status = attn2c_sequences_run(job->context, p.count, job->lengths, 0, job->inputs, job->results);
  }
  if (status != ATTN2C_OK) return attn2c_reader_fail(job->reader, status, "%s", attn2c_strerror(status));
  scatter(job, p, rows, outputs);
  return ATTN2C_OK;
}

static int run_all(job *job, int64_t rows, void *const *outputs) {
  attn2c_reader *reader = job->reader;
  for (size_t first = 0; first < reader->count;) {
    if (reader->stops && reader->stops()) return attn2c_reader_fail(reader, ATTN2C_USAGE, "stopped");
    const part p = part_from(job, first);
    if (p.count > 0) ATTN2C_TRY(run_part(job, p, rows, outputs));
    first = p.end;
  }
  return ATTN2C_OK;
}

int attn2c_text_rows_run(attn2c_reader *reader, attn2c_context *context, int64_t rows, void *const *outputs) {
  const attn2c_entry *entry = attn2c_primary_entry(reader->model);
  const size_t count = (size_t)entry->output_count + 1;
  job job = {.reader = reader, .context = context, .most = most_rows(reader, outputs)};
  job.ids = calloc(8 * reader->longest + 1, sizeof *job.ids);
  job.inputs = calloc((size_t)entry->input_count + 1, sizeof *job.inputs);
  job.results = calloc(count, sizeof *job.results);
  job.buffers = calloc(count, sizeof *job.buffers);
  job.sizes = calloc(count, sizeof *job.sizes);
  int status = ATTN2C_OK;
  if (!job.ids || !job.inputs || !job.results || !job.buffers || !job.sizes) {
    status = attn2c_reader_fail(reader, ATTN2C_MEMORY, "%s", attn2c_strerror(ATTN2C_MEMORY));
  } else {
    job.types = job.ids + reader->longest, job.lengths = job.types + reader->longest;
    job.adapters = job.lengths + reader->longest, job.boxes = job.adapters + reader->longest;
    for (int i = 0; i < entry->input_count; i++)
      job.inputs[i] = i == reader->facts->ids                     ? job.ids
                      : i == attn2c_adapters_input(reader->model) ? job.adapters
                      : i == reader->facts->boxes                 ? job.boxes
                                                                  : job.types;
    status = run_all(&job, rows, outputs);
  }
  for (int o = 0; job.buffers && o < entry->output_count; o++) attn2c_free(job.buffers[o]);
  ATTN2C_FREE(job.ids, job.inputs, job.results, job.buffers, job.sizes);
  return status;
}
