/* arrays.c - `--output NAME=F.npy` of a run of texts. The outputs of each call of the reader are kept as
 * they are, and joined once the longest text is known. */
#include "program/text/arrays.h"
#include "program/answers/answers.h"
#include "program/inputs.h"

#include "model/text/late.h"

/* Numbers of arrays that are not outputs of the model. An output's array has the output's number. */
enum { OF_LENGTHS = -1, OF_IDS = -2, OF_TYPES = -3, OF_TEXTS = -4, OF_VECTORS = -5 };

typedef struct {
  const char *name;
  int of;
  const char *path; /* NULL: not asked for */
} item;

/* The texts of one call of the reader. */
typedef struct {
  int64_t texts, rows;
  void **values;    /* one an output; NULL: not kept */
  int32_t *lengths; /* tokens of each text */
  int32_t *numbers; /* index of the line that each text is from, from 0 */
  int32_t *vectors; /* vectors of tokens of each text; NULL: the model has none */
  int32_t *tokens;  /* the ids of each text, then its types */
  size_t token_count;
} kept;

struct attn2c_arrays {
  item *items;
  int item_count, output_count;
  int answers; /* answers go to the standard output */
  int answer;  /* the output whose array is written to the standard output or asked for; -1: none */
  int prints;
  int64_t texts, rows;
  kept *list;
  size_t count;
  float *joined;
};

static const attn2c_tensor *output_of(const attn2c_reader *reader, int output) {
  return &reader->model->tensors[attn2c_primary_entry(reader->model)->outputs[output]];
}

/* Returns the output that has vectors of tokens, or -1. */
static int vectors_of(const attn2c_text_facts *facts) {
  for (int i = 0; i < facts->answer_count; i++)
    if (facts->answers[i].answer == ATTN2C_ANSWER_VECTORS) return facts->answers[i].output;
  return -1;
}

static void list_items(attn2c_arrays *arrays, const attn2c_reader *reader) {
  const attn2c_entry *entry = attn2c_primary_entry(reader->model);
  const attn2c_text_facts *facts = reader->facts;
  for (int o = 0; o < entry->output_count; o++)
    arrays->items[arrays->item_count++] = (item){output_of(reader, o)->name, o, NULL};
  arrays->items[arrays->item_count++] = (item){"lengths", OF_LENGTHS, NULL};
  if (facts->ids >= 0)
    arrays->items[arrays->item_count++] =
        (item){reader->model->tensors[entry->inputs[facts->ids]].name, OF_IDS, NULL};
  if (facts->types >= 0)
    arrays->items[arrays->item_count++] =
        (item){reader->model->tensors[entry->inputs[facts->types]].name, OF_TYPES, NULL};
  if (vectors_of(facts) >= 0) arrays->items[arrays->item_count++] = (item){"vectors", OF_VECTORS, NULL};
  if (facts->answer == ATTN2C_ANSWER_SPAN)
    arrays->items[arrays->item_count++] = (item){"texts", OF_TEXTS, NULL};
}

static int bind(attn2c_arrays *arrays, const attn2c_arguments *arguments, attn2c_message *message) {
  ATTN2C_OWN const char **names = calloc(2 * (size_t)arrays->item_count, sizeof *names);
  if (!names) return ATTN2C_MEMORY;
  const char **paths = names + arrays->item_count;
  for (int i = 0; i < arrays->item_count; i++) names[i] = arrays->items[i].name;
  const attn2c_answer_files files = {.names = names,
                                     .count = arrays->item_count,
                                     .plain = arrays->output_count,
                                     .prints = arrays->answers,
                                     .of = "texts"};
  const int status = attn2c_answer_files_bind(&files, arguments, paths, message);
  for (int i = 0; i < arrays->item_count; i++) arrays->items[i].path = paths[i];
  return status;
}

int attn2c_arrays_open(const attn2c_reader *reader, const attn2c_arguments *arguments, int prints, int answer,
                       attn2c_arrays **arrays, attn2c_message *message) {
  attn2c_arrays *made = calloc(1, sizeof *made);
  *arrays = NULL;
  if (!made) return ATTN2C_MEMORY;
  made->output_count = attn2c_primary_entry(reader->model)->output_count;
  made->answers = prints || answer;
  made->answer = answer ? reader->facts->output : -1;
  made->prints = answer && arguments->answers == ATTN2C_ANSWERS_NPY && !arguments->similar;
  made->items = calloc((size_t)made->output_count + 5, sizeof *made->items);
  int status = ATTN2C_MEMORY;
  if (made->items) {
    list_items(made, reader);
    status = bind(made, arguments, message);
  }
  if (status == ATTN2C_OK)
    *arrays = made;
  else
    attn2c_arrays_close(made);
  return status;
}

void attn2c_arrays_close(attn2c_arrays *arrays) {
  if (!arrays) return;
  for (size_t i = 0; i < arrays->count; i++) {
    kept *each = &arrays->list[i];
    for (int o = 0; o < arrays->output_count && each->values; o++) attn2c_free(each->values[o]);
    ATTN2C_FREE(each->values, each->lengths, each->numbers, each->vectors, each->tokens);
  }
  ATTN2C_FREE(arrays->list, arrays->items, arrays->joined, arrays);
}

int attn2c_arrays_wants(const attn2c_arrays *arrays, int output) {
  return output == arrays->answer || arrays->items[output].path != NULL;
}

/* True if no array is kept. */
static int is_idle(const attn2c_arrays *arrays) {
  for (int i = 0; i < arrays->item_count; i++)
    if (arrays->items[i].path) return 0;
  return arrays->answer < 0;
}

/* Moves the vectors of each text to the front of its rows, and counts them. Some tokens have none. */
static void gather_vectors(const attn2c_reader *reader, kept *of, int output) {
  const size_t row = (size_t)attn2c_reader_elements(reader, output, 1);
  for (size_t i = 0; i < reader->count; i++) {
    const attn2c_reader_text *text = &reader->texts[i];
    float *rows = of->values[output] ? (float *)of->values[output] + i * (size_t)of->rows * row : NULL;
    size_t count = 0;
    for (size_t t = 0; t < text->length; t++) {
      const int32_t id = reader->tokens[text->first + t];
      if (!attn2c_late_keeps(reader->facts->late, text->is_query, id, (int64_t)t)) continue;
      if (rows && count < t) memcpy(rows + count * row, rows + t * row, row * sizeof *rows);
      count++;
    }
    if (rows) memset(rows + count * row, 0, (text->length - count) * row * sizeof *rows);
    of->vectors[i] = (int32_t)count;
  }
}

int attn2c_arrays_keep(attn2c_arrays *arrays, const attn2c_reader *reader, int64_t rows, void **outputs,
                       attn2c_message *message) {
  if (is_idle(arrays)) return ATTN2C_OK;
  if (ATTN2C_MORE(arrays->list, arrays->count) != ATTN2C_OK) goto no_memory;
  kept *each = &arrays->list[arrays->count++];
  *each = (kept){.texts = (int64_t)reader->count, .rows = rows};
  each->values = calloc((size_t)arrays->output_count + 1, sizeof *each->values);
  each->lengths = calloc(reader->count + 1, sizeof *each->lengths);
  each->numbers = calloc(reader->count + 1, sizeof *each->numbers);
  each->tokens = calloc(reader->used + 1, sizeof *each->tokens);
  if (!each->values || !each->lengths || !each->numbers || !each->tokens) goto no_memory;
  for (int o = 0; o < arrays->output_count; o++) {
    if (!attn2c_arrays_wants(arrays, o)) continue;
    each->values[o] = outputs[o], outputs[o] = NULL;
  }
  for (size_t i = 0; i < reader->count; i++) {
    each->lengths[i] = (int32_t)reader->texts[i].length;
    each->numbers[i] = (int32_t)reader->texts[i].number;
  }
  const int output = vectors_of(reader->facts);
  each->vectors = output >= 0 ? calloc(reader->count + 1, sizeof *each->vectors) : NULL;
  if (output >= 0 && !each->vectors) goto no_memory;
  if (output >= 0) gather_vectors(reader, each, output);
  if (reader->used) memcpy(each->tokens, reader->tokens, reader->used * sizeof *each->tokens);
  arrays->texts += each->texts;
  if (rows > arrays->rows) arrays->rows = rows;
  return ATTN2C_OK;
no_memory:
  return attn2c_fail(message, ATTN2C_MEMORY, "run: no memory for the arrays of %lld texts",
                     (long long)arrays->texts);
}

/* Copies one output of all texts to `to`. */
static void join_output(const attn2c_arrays *arrays, const attn2c_reader *reader, int output, int32_t *to) {
  const int64_t each_to = attn2c_reader_elements(reader, output, arrays->rows);
  for (size_t c = 0; c < arrays->count; c++) {
    const kept *from = &arrays->list[c];
    const int64_t each_from = attn2c_reader_elements(reader, output, from->rows);
    for (int64_t i = 0; i < from->texts; i++, to += each_to) {
      if (from->lengths[i] == 0) continue;
      attn2c_reader_place(reader, output, (const int32_t *)from->values[output] + i * each_from, from->rows,
                          from->lengths[i], to, arrays->rows);
    }
  }
}

/* True if an array has a number for each text. */
static int is_one_each(int of) { return of == OF_LENGTHS || of == OF_TEXTS || of == OF_VECTORS; }

/* Copies lengths, numbers of vectors or line numbers [texts], or ids or types [texts][rows], to `to`. */
static void join_tokens(const attn2c_arrays *arrays, int of, int32_t *to) {
  for (size_t c = 0; c < arrays->count; c++) {
    const int32_t *tokens = arrays->list[c].tokens;
    for (int64_t i = 0; i < arrays->list[c].texts; i++) {
      const int32_t length = arrays->list[c].lengths[i];
      if (is_one_each(of)) {
        *to++ = of == OF_TEXTS     ? arrays->list[c].numbers[i]
                : of == OF_VECTORS ? arrays->list[c].vectors[i]
                                   : length;
        continue;
      }
      memcpy(to, of == OF_TYPES ? tokens + length : tokens, (size_t)length * sizeof *to);
      to += arrays->rows, tokens += 2 * (size_t)length;
    }
  }
}

/* Sets the shape of an array of all texts and returns its rank. */
static int shape_of(const attn2c_arrays *arrays, const attn2c_reader *reader, int of, int64_t *shape) {
  shape[0] = arrays->texts, shape[1] = arrays->rows;
  if (of < 0) return is_one_each(of) ? 1 : 2;
  const attn2c_tensor *tensor = output_of(reader, of);
  for (int a = 0; a < tensor->rank; a++)
    shape[a] = attn2c_reader_extent(reader, of, a, arrays->texts, arrays->rows);
  return attn2c_caller_rank(tensor);
}

static void *join(const attn2c_arrays *arrays, const attn2c_reader *reader, int of, int rank,
                  const int64_t *shape) {
  size_t elements = 1;
  for (int a = 0; a < rank; a++) elements *= (size_t)shape[a];
  int32_t *values = calloc(elements + 1, sizeof *values);
  if (!values) return NULL;
  if (of >= 0)
    join_output(arrays, reader, of, values);
  else
    join_tokens(arrays, of, values);
  return values;
}

static int write_item(const attn2c_arrays *arrays, const attn2c_reader *reader, int of, const char *path,
                      attn2c_message *message) {
  int64_t shape[ATTN2C_MAX_RANK];
  const int rank = shape_of(arrays, reader, of, shape);
  const attn2c_type type = of >= 0 ? output_of(reader, of)->type : ATTN2C_I32;
  ATTN2C_OWN void *values = join(arrays, reader, of, rank, shape);
  if (!values)
    return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory for %lld texts", path,
                       (long long)arrays->texts);
  return attn2c_npy_write(path, type, rank, shape, values, message);
}

int attn2c_arrays_write(attn2c_arrays *arrays, const attn2c_reader *reader, attn2c_message *message) {
  if (is_idle(arrays)) return ATTN2C_OK;
  if (arrays->texts == 0 || arrays->rows == 0)
    return attn2c_fail(message, ATTN2C_FORMAT, "run: no text has tokens, so that no array is written");
  for (int i = 0; i < arrays->item_count; i++)
    if (arrays->items[i].path)
      ATTN2C_TRY(write_item(arrays, reader, arrays->items[i].of, arrays->items[i].path, message));
  if (arrays->prints) ATTN2C_TRY(write_item(arrays, reader, arrays->answer, "/dev/stdout", message));
  return ATTN2C_OK;
}

const float *attn2c_arrays_answer(attn2c_arrays *arrays, const attn2c_reader *reader, int64_t *texts) {
  int64_t shape[ATTN2C_MAX_RANK];
  *texts = arrays->texts;
  const int rank = shape_of(arrays, reader, arrays->answer, shape);
  free(arrays->joined);
  return arrays->joined = join(arrays, reader, arrays->answer, rank, shape);
}
