#include "program/serve/text/work.h"

#include "model/text/page.h"
#include "picture/picture.h"
#include "program/commands.h"
#include "program/serve/numbers.h"

/* The most bytes of the answers to a request; the best tokens of an answer. */
#define MOST_BYTES ((size_t)64 << 20)
#define TOP_TOKENS 5

int attn2c_texts_reserve(attn2c_texts_work *work) {
  if (work->gets == ATTN2C_GETS_VALUES)
    work->values = calloc(work->count * work->width + 1, sizeof *work->values);
  else
    work->answers = calloc(work->count + 1, sizeof *work->answers);
  return work->values || work->answers ? ATTN2C_OK : ATTN2C_MEMORY;
}

void attn2c_texts_free(attn2c_texts_work *work) {
  for (size_t i = 0; work->answers && i < work->count; i++) free(work->answers[i]);
  ATTN2C_FREE(work->answers, work->values, work->labels);
}

int attn2c_texts_are_done(const attn2c_texts_work *work) {
  return work->status != ATTN2C_OK || work->done == work->count;
}

int attn2c_text_worker_open(attn2c_text_worker **worker, const attn2c_descriptor *model,
                            attn2c_context *context, attn2c_message *message) {
  attn2c_text_worker *made = *worker = calloc(1, sizeof *made);
  if (!made) return ATTN2C_MEMORY;
  made->model = model, made->context = context;
  ATTN2C_TRY(attn2c_group_open(&made->group, model, message));
  /* Embeddings are whole, as requests may want different numbers of them. */
  const int output = model->text->output;
  const attn2c_tensor *tensor = &model->tensors[attn2c_primary_entry(model)->outputs[output]];
  if (model->text->answer == ATTN2C_ANSWER_EMBEDDING)
    return attn2c_reader_dimensions(made->group.reader, (size_t)tensor->shape[tensor->rank - 1]);
  return ATTN2C_OK;
}

void attn2c_text_worker_close(attn2c_text_worker *worker) {
  if (!worker) return;
  attn2c_group_close(&worker->group);
  free(worker);
}

static void fail(attn2c_texts_work *work, size_t at, int status, const char *fault) {
  if (work->status != ATTN2C_OK) return;
  work->status = status, work->at = at;
  snprintf(work->fault, sizeof work->fault, "%s", fault);
}

/* Gives the reader the labels of a request. */
static int set_labels(attn2c_reader *reader, attn2c_texts_work *work) {
  if (!work->labels) return ATTN2C_OK;
  reader->span_options = work->spans;
  const int status = attn2c_reader_labels(reader, work->labels, work->label_count);
  if (status != ATTN2C_OK) work->field = "labels";
  return status;
}

/* Gives the reader the boxes of a text's words. */
static int set_boxes(attn2c_reader *reader, const attn2c_asked_text *asked) {
  return attn2c_reader_page(reader, asked->text, asked->length, asked->pair, asked->pair_length, asked->boxes,
                            asked->box_count);
}

/* Sets *image to what a page's picture becomes, which the caller frees. */
static int make_image(const attn2c_text_group *group, const attn2c_asked_text *asked, float **image) {
  attn2c_reader *reader = group->reader;
  char fault[ATTN2C_PICTURE_FAULT] = "no memory for its picture";
  int status = ATTN2C_MEMORY;
  if (!asked->picture)
    return attn2c_reader_fail(reader, ATTN2C_FORMAT, "has no image, which the model reads, too");
  *image = malloc(attn2c_group_image(group));
  if (*image)
    status = attn2c_the_pictures->make(attn2c_the_picture_facts, asked->picture, asked->picture_size, *image,
                                       NULL, fault);
  return status == ATTN2C_OK ? status : attn2c_reader_fail(reader, status, "its image %s", fault);
}

/* Encodes a text, or its first window if its answer is a span of its pair. */
static int encode(attn2c_reader *reader, attn2c_texts_work *work, const attn2c_asked_text *asked,
                  attn2c_text_tokens *tokens) {
  ATTN2C_TRY(attn2c_reader_prompt(reader, work->prompt));
  ATTN2C_TRY(set_labels(reader, work));
  ATTN2C_TRY(set_boxes(reader, asked));
  if (reader->facts->answer == ATTN2C_ANSWER_SPAN && asked->pair)
    return attn2c_reader_window(reader, asked->text, asked->length, asked->pair, asked->pair_length,
                                ATTN2C_STRIDE_USUAL, tokens);
  reader->cut = work->cuts_first ? ATTN2C_TEXT_ONLY_FIRST : ATTN2C_TEXT_LONGEST_FIRST;
  return attn2c_reader_encode(reader, asked->text, asked->length, asked->pair, asked->pair_length, 0, tokens);
}

/* Adds ids that came in place of a text. They have no prompt. */
static int add_ids(attn2c_text_group *group, const attn2c_asked_text *asked) {
  attn2c_reader *reader = group->reader;
  const size_t count = asked->id_count;
  ATTN2C_OWN int32_t *types = calloc(count + 1, sizeof *types);
  ATTN2C_OWN attn2c_text_place *places = calloc(count + 1, sizeof *places);
  ATTN2C_OWN uint8_t *sources = calloc(count + 1, 1);
  attn2c_text_tokens tokens = {
      .length = count, .ids = asked->ids, .types = types, .places = places, .sources = sources};
  ATTN2C_TRY(types && places && sources ? ATTN2C_OK : ATTN2C_MEMORY);
  if (reader->facts->is_padded)
    ATTN2C_TRY(attn2c_padded_fill(&reader->padded, reader->facts->pad_token, reader->longest, reader->longest,
                                  &tokens));
  ATTN2C_TRY(attn2c_group_add(group, &(attn2c_line){.text = ""}, &tokens));
  reader->texts[reader->count - 1].prompt = 0;
  return ATTN2C_OK;
}

/* Returns why a call takes no text of `length` tokens, or NULL. */
static const char *refusal(const attn2c_reader *reader, size_t length) {
  const attn2c_lengths *calls = reader->facts->calls;
  if (length == 0) return "it has no tokens";
  if (reader->model->is_open || reader->facts->is_padded || length == reader->longest) return NULL;
  const char *exact = attn2c_reader_exact(reader);
  if (exact) return exact;
  return (int64_t)length < calls->least ? "no call takes a text of so few tokens" : NULL;
}

/* Adds the next text of a request. Returns 0 if the call has no space for it. */
static int add_next(attn2c_text_worker *worker, attn2c_texts_work *work, int64_t *rows) {
  attn2c_text_group *group = &worker->group;
  attn2c_reader *reader = group->reader;
  const size_t number = work->next;
  const attn2c_asked_text *asked = &work->list[number];
  const attn2c_line line = {
      .text = asked->text, .length = asked->length, .pair = asked->pair, .pair_length = asked->pair_length};
  const int has_windows = reader->facts->answer == ATTN2C_ANSWER_SPAN && asked->pair, first = group->count;
  attn2c_text_tokens tokens = {.length = asked->id_count};
  reader->adapter = work->adapter;
  ATTN2C_OWN float *image = NULL;
  int status = asked->ids ? set_boxes(reader, asked) : encode(reader, work, asked, &tokens);
  if (status == ATTN2C_OK && *rows > 0 && *rows + (int64_t)tokens.length > (int64_t)reader->longest) return 0;
  work->next++;
  if (status == ATTN2C_OK && attn2c_group_image(group)) status = make_image(group, asked, &image);
  while (status == ATTN2C_OK) {
    const char *why = refusal(reader, tokens.length);
    if (tokens.length > reader->longest || (tokens.removed > 0 && !has_windows && !work->cuts))
      work->is_too_long = 1, why = "it has more tokens than a call of the model takes";
    if (group->count == ATTN2C_GROUP_TEXTS) why = "it has too many windows";
    if (why) fail(work, number, ATTN2C_USAGE, why);
    if (why) break;
    status = asked->ids ? add_ids(group, asked) : attn2c_group_add(group, &line, &tokens);
    if (status == ATTN2C_OK && image) status = attn2c_group_give_image(group, image);
    if (status != ATTN2C_OK) break;
    attn2c_view_of_text *view = &group->views[group->count - 1];
    worker->owners[group->count - 1].work = work, worker->owners[group->count - 1].number = number;
    *rows += view->length, work->tokens += view->length;
    view->is_last = !has_windows || tokens.removed == 0;
    if (has_windows) view->removed = 0;
    if (view->is_last) return 1;
    status = attn2c_reader_next_window(reader, &tokens);
  }
  if (status != ATTN2C_OK) fail(work, number, status == ATTN2C_MEMORY ? status : ATTN2C_USAGE, reader->fault);
  for (int i = first; i < group->count; i++) worker->owners[i].work = NULL; /* windows before the fault */
  return 1;
}

/* Takes the text of an answer, which may be NULL. */
static void take_text(attn2c_texts_work *work, size_t number, char *text) {
  work->answers[number] = text;
  work->bytes += text ? strlen(text) : 0;
  if (!text) fail(work, number, ATTN2C_MEMORY, "no memory for an answer");
  if (work->bytes > MOST_BYTES) fail(work, number, ATTN2C_USAGE, "the answers are larger than 64 MB");
}

/* Takes the JSON of an answer, which may be NULL. */
static void take_json(attn2c_texts_work *work, size_t number, json_t *answer) {
  take_text(work, number,
            answer ? json_dumps(answer, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9)) : NULL);
  json_decref(answer);
}

/* Returns the tokens of a text, as text-embeddings-inference writes them. */
static json_t *tokens_json(const attn2c_reader *reader, const attn2c_asked_text *asked,
                           const attn2c_text_tokens *tokens) {
  json_t *list = json_array();
  int failed = 0;
  for (size_t i = 0; i < tokens->length && !failed; i++) {
    const attn2c_text_place *place = &tokens->places[i];
    const int is_special = tokens->sources[i] == 2;
    size_t length = place->byte_end - place->byte_begin;
    const char *text = is_special ? attn2c_text_token(reader->text, tokens->ids[i], &length)
                                  : asked->text + place->byte_begin;
    json_t *each = json_pack("{s:i, s:o, s:b, s:o, s:o}", "id", (int)tokens->ids[i], "text",
                             attn2c_json_text(text ? text : "", text ? length : 0), "special", is_special,
                             "start", is_special ? json_null() : json_integer(place->begin), "stop",
                             is_special ? json_null() : json_integer(place->end));
    failed |= json_array_append_new(list, each) != 0;
  }
  return attn2c_json_made(list, failed);
}

/* Answers the next text of a request that needs no call: with its tokens, or with the text of its ids. */
static void answer_alone(attn2c_reader *reader, attn2c_texts_work *work, int64_t *rows) {
  const size_t number = work->next++;
  const attn2c_asked_text *asked = &work->list[number];
  attn2c_text_input input = {.text = asked->text, .length = asked->length, .plain = work->is_plain};
  attn2c_text_tokens tokens = {.length = asked->id_count};
  const char *text = NULL;
  size_t length = 0;
  int status = ATTN2C_OK;
  input.limit.tokens = ATTN2C_TEXT_ANY_LENGTH;
  if (asked->ids) {
    status = attn2c_reader_decode(reader, asked->ids, asked->id_count, work->is_plain, &text, &length);
  } else {
    status = attn2c_reader_prompt(reader, work->prompt);
    if (status == ATTN2C_OK && work->prompt) status = attn2c_prompt_add(&reader->prompt, &input);
    if (status == ATTN2C_OK) status = attn2c_text_encode(reader->work, &input, &tokens);
    if (status == ATTN2C_OK && work->prompt) status = attn2c_prompt_hide(&reader->prompt, &tokens);
  }
  if (status != ATTN2C_OK) {
    fail(work, number, status == ATTN2C_MEMORY ? status : ATTN2C_USAGE, attn2c_text_fault(reader->work));
    return;
  }
  *rows += (int64_t)tokens.length;
  work->tokens += (int64_t)tokens.length;
  take_json(work, number, asked->ids ? attn2c_json_text(text, length) : tokens_json(reader, asked, &tokens));
  work->done++;
}

/* Fills the call: the next text of each request in turn. */
static void fill(attn2c_text_worker *worker, attn2c_texts_work *const *works, size_t count) {
  attn2c_text_group *group = &worker->group;
  const attn2c_descriptor *model = worker->model;
  const int64_t batch = model->is_open ? ATTN2C_GROUP_TEXTS : model->text->calls->sizes->batch;
  const int fit = attn2c_group_most(group), most = fit < batch ? fit : (int)batch;
  int64_t rows = 0;
  for (int has_more = 1; has_more;) {
    has_more = 0;
    for (size_t i = 0; i < count; i++) {
      attn2c_texts_work *work = works[i];
      if (work->status != ATTN2C_OK || work->next == work->count) continue;
      if (work->gets < ATTN2C_GETS_TOKENS && (group->count >= most || !add_next(worker, work, &rows))) return;
      if (work->gets >= ATTN2C_GETS_TOKENS) answer_alone(group->reader, work, &rows);
      if (rows >= (int64_t)group->reader->longest) return;
      has_more = 1;
    }
  }
}

/* Returns JSON of [rows][width] floats; NULL without memory. */
static char *rows_text(const float *values, int64_t rows, int64_t width) {
  char *text = malloc((size_t)rows * (attn2c_floats_room((size_t)width, 0) + 1) + 3), *at = text;
  if (!text) return NULL;
  *at++ = '[';
  for (int64_t row = 0; row < rows; row++) {
    if (row) *at++ = ',';
    at += attn2c_floats_text(values + row * width, (size_t)width, 0, at);
  }
  *at++ = ']', *at = 0;
  return text;
}

static void take(attn2c_text_worker *worker, int at) {
  attn2c_texts_work *work = worker->owners[at].work;
  const size_t number = worker->owners[at].number;
  attn2c_text_group *group = &worker->group;
  if (!work || work->status != ATTN2C_OK) return;
  if (work->gets != ATTN2C_GETS_ANSWER) {
    const attn2c_view_of_text *view = &group->views[at];
    const float *values = attn2c_group_values(group, work->output, view->slot);
    if (work->gets == ATTN2C_GETS_ROWS)
      take_text(work, number, rows_text(values, view->length, (int64_t)work->width));
    else
      attn2c_text_keep(values, work->width, work->scales, work->values + number * work->width);
  } else {
    attn2c_view_of_text *view = attn2c_group_view(group, at);
    if (group->reader->facts->answer == ATTN2C_ANSWER_SPAN) {
      attn2c_view_find(view, &worker->found);
      view->found = worker->found;
      if (!view->is_last) return;
      worker->found = (attn2c_found){.is_there = 0};
    }
    const int status = set_labels(group->reader, work); /* others may have come between */
    if (status != ATTN2C_OK) fail(work, number, status, group->reader->fault);
    if (status != ATTN2C_OK) return;
    view->has_top = work->top > 0, view->top = work->top > 0 ? work->top : TOP_TOKENS;
    take_json(work, number, attn2c_view_json(view, worker->picks));
  }
  work->done++;
}

void attn2c_texts_step(attn2c_text_worker *worker, attn2c_texts_work *const *works, size_t count) {
  attn2c_text_group *group = &worker->group;
  const attn2c_text_facts *facts = group->reader->facts;
  memset(group->wanted, 0, (size_t)group->output_count);
  for (size_t i = 0; i < count; i++) {
    if (attn2c_texts_are_done(works[i]) || works[i]->gets >= ATTN2C_GETS_TOKENS) continue;
    group->wanted[works[i]->output] = 1;
    for (int o = 0; o < group->output_count && works[i]->gets == ATTN2C_GETS_ANSWER; o++)
      if (attn2c_answer_reads(facts, o)) group->wanted[o] = 1;
  }
  fill(worker, works, count);
  if (group->count > 0) {
    const int status = attn2c_group_run(group, worker->context);
    worker->found = (attn2c_found){.is_there = 0};
    for (int i = 0; i < group->count; i++) {
      if (status == ATTN2C_OK)
        take(worker, i);
      else if (worker->owners[i].work)
        fail(worker->owners[i].work, worker->owners[i].number, status, group->reader->fault);
    }
  }
  attn2c_group_forget(group);
}
