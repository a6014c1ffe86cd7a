#include "model/text/calls.h"
#include "model/sequences.h"
#include "model/text/late.h"
#include "model/text/left_out.h"

/* Writes the reason of a failure: the tokenizer's, if it refused a text. Returns the status. */
static int explained(attn2c_reader *reader, int status) {
  if (status == ATTN2C_OK) return status;
  return attn2c_reader_fail(reader, status, "%s",
                            status == ATTN2C_FORMAT ? attn2c_text_fault(reader->work)
                                                    : attn2c_strerror(status));
}

int attn2c_reader_create(const attn2c_descriptor *model, const attn2c_text_facts *facts,
                         attn2c_reader **reader, attn2c_message *message) {
  *reader = NULL;
  attn2c_reader *made = calloc(1, sizeof *made);
  if (!made) return ATTN2C_MEMORY;
  made->model = model;
  made->facts = facts;
  made->longest = (size_t)facts->calls->sizes->seq;
  made->dimensions = (size_t)facts->dimensions;
  made->span_options = (attn2c_span_options)ATTN2C_SPANS_USUAL;
  int status = attn2c_text_open(facts->tables, facts->size, ATTN2C_TEXT_JIT, &made->text, message);
  if (status == ATTN2C_OK) status = attn2c_text_work_create(made->text, &made->work);
  if (status == ATTN2C_OK && facts->written)
    status = attn2c_text_open(facts->written, facts->written_size, ATTN2C_TEXT_JIT, &made->written, message);
  if (status == ATTN2C_OK && facts->written) status = attn2c_text_work_create(made->written, &made->writing);
  if (status == ATTN2C_OK) status = attn2c_prompt_open(&made->prompt, made->work, facts->prompt);
  if (status == ATTN2C_OK)
    *reader = made;
  else
    attn2c_reader_destroy(made);
  return status;
}

void attn2c_reader_destroy(attn2c_reader *reader) {
  if (!reader) return;
  attn2c_text_work_destroy(reader->work);
  attn2c_text_work_destroy(reader->writing);
  attn2c_text_close(reader->written);
  attn2c_text_close(reader->text);
  attn2c_prompt_close(&reader->prompt);
  attn2c_padded_close(&reader->padded);
  attn2c_spans_close(reader->spans);
  if (reader->page) reader->page->close(reader->page);
  if (reader->chat) reader->facts->chat->release(reader->chat);
  ATTN2C_FREE(reader->texts, reader->tokens, reader);
}

/* True if texts may have a prompt, so that the pool's mask is filled. */
static int may_have_prompt(const attn2c_text_facts *facts) {
  return facts->prompt || facts->prompt_count > 0;
}

int attn2c_reader_prompt(attn2c_reader *reader, const char *name) {
  const attn2c_text_facts *facts = reader->facts;
  const char *text = facts->prompt;
  reader->is_query = (facts->late || facts->query_weights) && name && strcmp(name, "query") == 0;
  for (int i = 0; name; i++) {
    if (i == facts->prompt_count)
      return attn2c_reader_fail(reader, ATTN2C_USAGE, "the model has no prompt of this name");
    text = facts->prompts[i].text;
    if (strcmp(facts->prompts[i].name, name) == 0) break;
  }
  if (text && !*text) text = NULL;
  if (text == reader->prompt.text) return ATTN2C_OK;
  attn2c_prompt_close(&reader->prompt);
  const int status = attn2c_prompt_open(&reader->prompt, reader->work, text);
  return status == ATTN2C_OK ? status : attn2c_reader_fail(reader, status, "%s", attn2c_strerror(status));
}

static int find_language(attn2c_reader *reader, const char *code, int32_t *id) {
  attn2c_message said = attn2c_message_make(reader->fault, sizeof reader->fault);
  return attn2c_text_find_language(reader->text, code, id, &said);
}

int attn2c_reader_languages(attn2c_reader *reader, const char *source, const char *target, int32_t *start,
                            int32_t *first) {
  const attn2c_text_target place = attn2c_text_target_of(reader->text);
  int32_t of_source = 0, of_target = -1;
  ATTN2C_TRY(source ? find_language(reader, source, &of_source) : ATTN2C_OK);
  if (target) ATTN2C_TRY(find_language(reader, target, &of_target));
  if (place == ATTN2C_TEXT_TARGET_SOURCE && source)
    return attn2c_reader_fail(reader, ATTN2C_USAGE, "the model finds the language of the source by itself");
  reader->language = place == ATTN2C_TEXT_TARGET_SOURCE && target ? of_target : of_source;
  *start = place == ATTN2C_TEXT_TARGET_START ? of_target : -1;
  *first = place == ATTN2C_TEXT_TARGET_FIRST ? of_target : -1;
  return ATTN2C_OK;
}

/* Returns the input of a text or a pair; of a page, its words. */
static attn2c_text_input input_of(const attn2c_reader *reader, const char *text, size_t length,
                                  const char *pair, size_t pair_length) {
  attn2c_text_input input = {
      .text = text ? text : "", .length = text ? length : 0, .pair = pair, .pair_length = pair_length};
  input.language = reader->language;
  input.has_words = reader->has_words;
  if (!input.has_words) return input;
  const attn2c_page_text *texts = reader->page->texts;
  input.text = texts[0].joined, input.length = texts[0].length;
  if (pair) input.pair = texts[1].joined, input.pair_length = texts[1].length;
  return input;
}

/* Gives tokens the places and boxes of their words, if these have boxes. */
static int place(const attn2c_reader *reader, attn2c_text_tokens *tokens) {
  return reader->has_words ? reader->page->place(reader->page, tokens) : ATTN2C_OK;
}

int attn2c_reader_encode(attn2c_reader *reader, const char *text, size_t length, const char *pair,
                         size_t pair_length, size_t most, attn2c_text_tokens *tokens) {
  if ((text == NULL && length > 0) || (pair == NULL && pair_length > 0))
    return attn2c_reader_fail(reader, ATTN2C_USAGE, "a length without a text");
  if (reader->facts->spans && !most) return attn2c_spans_encode(reader, text, length, pair, tokens);
  attn2c_text_input input = input_of(reader, text, length, pair, pair_length);
  const attn2c_late *late = most ? NULL : reader->facts->late;
  input.limit.tokens = late   ? attn2c_late_limit(late, reader->is_query, reader->longest)
                       : most ? most
                              : reader->longest;
  input.limit.strategy = reader->cut;
  input.limit.from_left = attn2c_text_stated_limit(reader->text).from_left;
  input.plain = reader->is_query && reader->facts->query_weights; /* a query without the model */
  int status = attn2c_prompt_add(&reader->prompt, &input);
  if (status == ATTN2C_OK) status = attn2c_text_encode(reader->work, &input, tokens);
  if (status == ATTN2C_OK) status = attn2c_prompt_hide(&reader->prompt, tokens);
  if (status == ATTN2C_OK && tokens->length > input.limit.tokens)
    return attn2c_reader_fail(reader, ATTN2C_FORMAT, "%s",
                              most ? "even the special tokens are more than the tokens asked for"
                                   : "even the special tokens are more than a call takes");
  if (status == ATTN2C_FORMAT)
    return attn2c_reader_fail(reader, status, "%s", attn2c_text_fault(reader->work));
  if (status == ATTN2C_OK && reader->facts->is_padded && !most)
    status = attn2c_padded_fill(&reader->padded, reader->facts->pad_token, reader->longest, reader->longest,
                                tokens);
  if (status == ATTN2C_OK && late)
    status =
        attn2c_late_complete(late, reader->is_query, &reader->padded, reader->longest, tokens, &reader->keys);
  if (status == ATTN2C_OK) status = place(reader, tokens);
  return status == ATTN2C_OK ? status : attn2c_reader_fail(reader, status, "%s", attn2c_strerror(status));
}

/* Default of the tokens that neighbouring windows share: transformers' doc_stride. */
#define USUAL_STRIDE 128

static size_t tokens_of_pair(const attn2c_text_tokens *tokens) {
  size_t count = 0;
  for (size_t i = 0; i < tokens->length; i++) count += tokens->sources[i] == 1;
  return count;
}

/* Encodes the pair whose windows are read, up to a window, and hides the prompt in its places. */
static int encode_window(attn2c_reader *reader, int is_first, attn2c_text_tokens *tokens) {
  const attn2c_text_input *input = &reader->windowed;
  const int status = is_first ? attn2c_text_encode(reader->work, input, tokens)
                              : attn2c_text_encode_next(reader->work, input, reader->stride, tokens);
  ATTN2C_TRY(status == ATTN2C_OK ? attn2c_prompt_hide(&reader->prompt, tokens) : status);
  return place(reader, tokens);
}

/* Writes a fault if the question fills a whole call. */
static void note_long_question(attn2c_reader *reader) {
  attn2c_text_input alone = reader->windowed;
  attn2c_text_tokens tokens;
  alone.pair = "", alone.pair_length = 0;
  alone.limit.tokens = ATTN2C_TEXT_ANY_LENGTH;
  if (attn2c_text_encode(reader->work, &alone, &tokens) != ATTN2C_OK || tokens.length < reader->longest)
    return;
  snprintf(reader->fault, sizeof reader->fault,
           "the question has %zu tokens with %s: it leaves none of the %zu of a call for its pair",
           tokens.length, reader->prompt.text ? "special ones and the prompt" : "special ones",
           reader->longest);
}

int attn2c_reader_window(attn2c_reader *reader, const char *text, size_t length, const char *pair,
                         size_t pair_length, int64_t stride, attn2c_text_tokens *tokens) {
  attn2c_text_input *input = &reader->windowed;
  *input = input_of(reader, text, length, pair, pair_length);
  input->limit = attn2c_text_stated_limit(reader->text);
  input->limit.tokens = reader->longest, input->limit.strategy = ATTN2C_TEXT_ONLY_SECOND;
  int status = attn2c_prompt_add(&reader->prompt, input);
  if (status == ATTN2C_OK) status = encode_window(reader, 1, tokens);
  if (status == ATTN2C_MEMORY || status == ATTN2C_USAGE)
    return attn2c_reader_fail(reader, status, "%s",
                              status == ATTN2C_USAGE ? attn2c_text_fault(reader->work)
                                                     : attn2c_strerror(status));
  const size_t window = tokens_of_pair(tokens);
  if (status != ATTN2C_OK || tokens->length > reader->longest || (tokens->removed > 0 && window == 0)) {
    explained(reader, ATTN2C_FORMAT);
    note_long_question(reader);
    return ATTN2C_FORMAT;
  }
  reader->stride = stride >= 0 ? (size_t)stride : window / 2 < USUAL_STRIDE ? window / 2 : USUAL_STRIDE;
  if (tokens->removed == 0 || reader->stride < window) return ATTN2C_OK;
  return attn2c_reader_fail(reader, ATTN2C_USAGE,
                            "windows of the pair have %zu tokens: they share at most %zu, not %zu", window,
                            window - 1, reader->stride);
}

int attn2c_reader_next_window(attn2c_reader *reader, attn2c_text_tokens *tokens) {
  const int status = encode_window(reader, 0, tokens);
  return explained(reader, status);
}

int attn2c_reader_decode(attn2c_reader *reader, const int32_t *ids, size_t count, int skip_special,
                         const char **text, size_t *length) {
  attn2c_text_work *work = reader->writing ? reader->writing : reader->work;
  const int status = attn2c_text_decode(work, ids, count, skip_special, text, length);
  if (status == ATTN2C_FORMAT) return attn2c_reader_fail(reader, status, "%s", attn2c_text_fault(work));
  return status == ATTN2C_OK ? status : attn2c_reader_fail(reader, status, "%s", attn2c_strerror(status));
}

int attn2c_reader_chat(attn2c_reader *reader, const attn2c_chat_message *messages, size_t count,
                       const attn2c_chat_options *options, const char **text, size_t *length) {
  const attn2c_chat_template *chat = reader->facts->chat;
  if (!chat) return attn2c_reader_fail(reader, ATTN2C_USAGE, "the model has no chat template");
  return chat->render(chat, &reader->chat, messages, count, options, text, length, reader->fault,
                      sizeof reader->fault);
}

int attn2c_reader_left_out(attn2c_reader *reader, const attn2c_chat_message *messages, size_t count,
                           const attn2c_chat_options *options, size_t *found) {
  const char *text;
  size_t length;
  ATTN2C_TRY(attn2c_reader_chat(reader, messages, count, options, &text, &length));
  const int status = attn2c_chat_left_out(reader->facts->chat, messages, count, options, text, length, found);
  return status == ATTN2C_OK ? status : attn2c_reader_fail(reader, status, "%s", attn2c_strerror(status));
}

int attn2c_reader_chat_tokens(attn2c_reader *reader, const attn2c_chat_message *messages, size_t count,
                              const attn2c_chat_options *options, attn2c_text_tokens *tokens) {
  attn2c_text_input input = {.plain = 1, .limit = {.tokens = ATTN2C_TEXT_ANY_LENGTH}};
  memset(tokens, 0, sizeof *tokens);
  ATTN2C_TRY(attn2c_reader_chat(reader, messages, count, options, &input.text, &input.length));
  int status = attn2c_text_encode(reader->work, &input, tokens);
  return explained(reader, status);
}

void attn2c_reader_begin(attn2c_reader *reader) { reader->count = reader->used = 0; }

int attn2c_reader_add(attn2c_reader *reader, const attn2c_text_tokens *tokens) {
  const size_t length = tokens->length, numbers = (reader->facts->boxes < 0 ? 2 : 6) * length;
  if (attn2c_grow((void **)&reader->texts, &reader->capacity, reader->count + 1, sizeof *reader->texts) !=
          ATTN2C_OK ||
      attn2c_grow((void **)&reader->tokens, &reader->tokens_capacity, reader->used + numbers,
                  sizeof *reader->tokens) != ATTN2C_OK)
    return attn2c_reader_fail(reader, ATTN2C_MEMORY, "no memory for a text's tokens");
  if (length > reader->longest)
    return attn2c_reader_fail(reader, ATTN2C_USAGE, "a text has more tokens than a call takes");
  reader->texts[reader->count++] =
      (attn2c_reader_text){.first = reader->used,
                           .length = length,
                           .keys = reader->keys && reader->keys < length ? reader->keys : length,
                           .prompt = reader->prompt.tokens,
                           .is_query = reader->is_query,
                           .adapter = reader->adapter};
  if (length) {
    memcpy(reader->tokens + reader->used, tokens->ids, length * sizeof *reader->tokens);
    memcpy(reader->tokens + reader->used + length, tokens->types, length * sizeof *reader->tokens);
    int32_t *boxes = reader->tokens + reader->used + 2 * length;
    memset(boxes, 0, (numbers - 2 * length) * sizeof *boxes);
    if (reader->has_words && reader->page->tokens == length)
      memcpy(boxes, reader->page->boxes, 4 * length * sizeof *boxes);
  }
  reader->used += numbers;
  reader->keys = 0;
  return ATTN2C_OK;
}

/* A call of a batch of texts. */
typedef struct {
  attn2c_reader *reader;
  attn2c_context *context;
  int32_t *arrays; /* ids, types, mask, rows that pools take, boxes, lengths, adapters */
  float *images;   /* NULL: the model takes none with texts */
  int64_t pixels;  /* numbers of an image */
  const void **inputs;
  void **results;
  size_t *part;  /* numbers of the texts */
  int64_t count; /* of them */
  int64_t seq;   /* tokens that the arrays have for each */
} job;

/* True if each text that has tokens has an image. */
static int have_images(const attn2c_reader *reader) {
  size_t i = 0;
  while (i < reader->count && (reader->texts[i].image || reader->texts[i].length == 0)) i++;
  return i == reader->count;
}

/* False, with a fault, if text does not give an input, or an output cannot be cut to a text's rows. */
static int is_sound(attn2c_reader *reader) {
  const attn2c_text_facts *facts = reader->facts;
  const attn2c_entry *primary = attn2c_primary_entry(reader->model);
  for (int i = 0; i < primary->input_count; i++) {
    const int given = i == facts->ids || i == facts->types || i == facts->lengths || i == facts->mask ||
                      (may_have_prompt(facts) && i == facts->pool_mask) || attn2c_is_marks(facts, i) ||
                      i == attn2c_adapters_input(reader->model) || i == facts->boxes ||
                      (i == facts->image && have_images(reader));
    if (given) continue;
    snprintf(reader->fault, sizeof reader->fault, "the model takes %s too, which text does not give",
             reader->model->tensors[primary->inputs[i]].name);
    return 0;
  }
  for (int i = 0; i < primary->output_count; i++) {
    const int keys = facts->calls->outputs[i].keys;
    if (keys < 0 || reader->model->tensors[primary->outputs[i]].shape[keys] == facts->calls->sizes->seq)
      continue;
    snprintf(reader->fault, sizeof reader->fault,
             "an output has attention keys that do not belong to a token");
    return 0;
  }
  return 1;
}

/* Writes the part's tokens to arrays [count][seq]. */
static void fill(job *job) {
  attn2c_reader *reader = job->reader;
  const attn2c_text_facts *facts = reader->facts;
  const int64_t all = job->count * job->seq;
  int32_t *ids = job->arrays, *types = ids + all, *mask = types + all, *pooled = mask + all,
          *boxes = pooled + all, *lengths = boxes + 4 * all, *adapters = lengths + job->count;
  memset(ids, 0, (size_t)(8 * all) * sizeof *ids);
  for (int64_t i = 0; i < job->count; i++) {
    const attn2c_reader_text *text = &reader->texts[job->part[i]];
    const int32_t *from = reader->tokens + text->first;
    lengths[i] = (int32_t)text->keys;
    adapters[i] = text->adapter;
    memcpy(ids + i * job->seq, from, text->length * sizeof *ids);
    memcpy(types + i * job->seq, from + text->length, text->length * sizeof *ids);
    if (facts->boxes >= 0)
      memcpy(boxes + 4 * i * job->seq, from + 2 * text->length, 4 * text->length * sizeof *boxes);
    if (job->images)
      memcpy(job->images + i * job->pixels, text->image, (size_t)job->pixels * sizeof *job->images);
    for (size_t t = 0; t < text->length; t++) {
      mask[i * job->seq + (int64_t)t] = t < text->keys;
      pooled[i * job->seq + (int64_t)t] = t >= text->prompt;
    }
  }
  const attn2c_entry *primary = attn2c_primary_entry(reader->model);
  for (int i = 0; i < primary->input_count; i++)
    job->inputs[i] = i == facts->ids                                   ? ids
                     : i == facts->types || attn2c_is_marks(facts, i)  ? types
                     : i == facts->mask                                ? mask
                     : i == facts->boxes                               ? boxes
                     : may_have_prompt(facts) && i == facts->pool_mask ? pooled
                     : i == attn2c_adapters_input(reader->model)       ? adapters
                     : i == facts->image                               ? (const void *)job->images
                                                                       : lengths;
}

/* Copies the rows of each text to its place. */
static void scatter(const job *job, int64_t rows, void *const *outputs) {
  const attn2c_reader *reader = job->reader;
  const attn2c_entry *primary = attn2c_primary_entry(reader->model);
  for (int o = 0; o < primary->output_count; o++) {
    if (!outputs[o]) continue;
    const int64_t from_each = attn2c_reader_elements(reader, o, job->seq);
    const int64_t to_each = attn2c_reader_elements(reader, o, rows);
    for (int64_t i = 0; i < job->count; i++)
      attn2c_reader_place(reader, o, (const int32_t *)job->results[o] + i * from_each, job->seq,
                          (int64_t)reader->texts[job->part[i]].length,
                          (int32_t *)outputs[o] + (int64_t)job->part[i] * to_each, rows);
  }
}

static int call_part(job *job, int64_t rows, void *const *outputs) {
  attn2c_reader *reader = job->reader;
  if (reader->stops && reader->stops()) return attn2c_reader_fail(reader, ATTN2C_USAGE, "stopped");
  fill(job);
  const int status =
      attn2c_batches_run(job->context, reader->facts->calls, job->count, job->inputs, job->results);
  if (status != ATTN2C_OK) return attn2c_reader_fail(reader, status, "%s", attn2c_strerror(status));
  scatter(job, rows, outputs);
  job->count = 0;
  return ATTN2C_OK;
}

/* Allocates the arrays of a call of `batch` texts. */
static int allocate(job *job, int64_t batch, void *const *outputs) {
  const attn2c_reader *reader = job->reader;
  const attn2c_entry *entry = attn2c_primary_entry(reader->model);
  job->arrays = calloc((size_t)(batch * (8 * job->seq + 2)), sizeof *job->arrays);
  job->part = calloc((size_t)batch, sizeof *job->part);
  job->inputs = calloc((size_t)entry->input_count + 1, sizeof *job->inputs);
  job->results = calloc((size_t)entry->output_count + 1, sizeof *job->results);
  if (!job->arrays || !job->part || !job->inputs || !job->results) return ATTN2C_MEMORY;
  if (reader->facts->image >= 0) {
    job->pixels = attn2c_elements(&reader->model->tensors[entry->inputs[reader->facts->image]]) / batch;
    job->images = calloc((size_t)(batch * job->pixels), sizeof *job->images);
    if (!job->images) return ATTN2C_MEMORY;
  }
  for (int o = 0; o < entry->output_count; o++) {
    if (!outputs[o]) continue;
    const size_t elements = (size_t)(batch * attn2c_reader_elements(reader, o, job->seq));
    job->results[o] = attn2c_reserve(elements * sizeof(float));
    if (!job->results[o]) return ATTN2C_MEMORY;
  }
  return ATTN2C_OK;
}

/* Runs all texts through an entry of one length. */
static int run_batches(attn2c_reader *reader, attn2c_context *context, int64_t rows, void *const *outputs) {
  const attn2c_lengths *calls = reader->facts->calls;
  const int64_t batch = calls->sizes->batch;
  job job = {.reader = reader, .context = context, .seq = calls->sizes->seq};
  const char *exact = attn2c_reader_exact(reader);
  for (size_t i = 0; i < reader->count; i++) {
    const int64_t length = (int64_t)reader->texts[i].length;
    if (length == 0 || length == job.seq || (!exact && length >= calls->least)) continue;
    return attn2c_reader_fail(reader, ATTN2C_USAGE, "%s",
                              exact ? exact : "no call takes a text of so few tokens");
  }
  int status = allocate(&job, batch, outputs);
  if (status != ATTN2C_OK) (void)attn2c_reader_fail(reader, status, "%s", attn2c_strerror(status));
  for (size_t i = 0; i < reader->count && status == ATTN2C_OK; i++) {
    if (reader->texts[i].length > 0) job.part[job.count++] = i;
    if (job.count == batch || (job.count > 0 && i + 1 == reader->count))
      status = call_part(&job, rows, outputs);
  }
  for (int o = 0; job.results && o < attn2c_primary_entry(reader->model)->output_count; o++)
    attn2c_free(job.results[o]);
  ATTN2C_FREE(job.arrays, job.images, job.part, job.inputs, job.results);
  return status;
}

static int run_whole(attn2c_reader *reader, attn2c_context *context, int64_t rows, void *const *outputs) {
  const attn2c_entry *primary = attn2c_primary_entry(reader->model);
  if (!is_sound(reader)) return ATTN2C_USAGE;
  for (int o = 0; o < primary->output_count; o++) {
    if (!outputs[o]) continue;
    const size_t elements = reader->count * (size_t)attn2c_reader_elements(reader, o, rows);
    memset(outputs[o], 0, elements * sizeof(float));
  }
  return (reader->model->is_open ? attn2c_text_rows_run : run_batches)(reader, context, rows, outputs);
}

/* Writes the weights of the tokens of a query. */
static void weigh(const attn2c_reader *reader, const attn2c_reader_text *text, float *weights) {
  const unsigned char *table = reader->facts->query_weights;
  for (size_t t = 0; t < text->length; t++) {
    const int32_t id = reader->tokens[text->first + t];
    memcpy(weights + id, table + (size_t)id * sizeof *weights, sizeof *weights);
  }
}

/* Calls the model with the texts that are no queries: to it, queries have no tokens. */
static int run_weighed(attn2c_reader *reader, attn2c_context *context, int64_t rows, void *const *outputs) {
  float *weights = outputs[reader->facts->output];
  const int64_t width = attn2c_reader_elements(reader, reader->facts->output, 1);
  for (size_t i = 0; i < reader->count; i++) {
    attn2c_reader_text *text = &reader->texts[i];
    text->hidden = text->is_query ? text->length : 0;
    text->length -= text->hidden;
  }
  const int status = run_whole(reader, context, rows, outputs);
  for (size_t i = 0; i < reader->count; i++) {
    attn2c_reader_text *text = &reader->texts[i];
    text->length += text->hidden;
    if (status == ATTN2C_OK && weights && text->is_query) weigh(reader, text, weights + (int64_t)i * width);
  }
  return status;
}

int attn2c_reader_run(attn2c_reader *reader, attn2c_context *context, int64_t rows, void *const *outputs) {
  const int answer = reader->facts->output;
  if (reader->facts->query_weights) return run_weighed(reader, context, rows, outputs);
  if (!outputs[answer] || !attn2c_text_kept(reader, answer)) return run_whole(reader, context, rows, outputs);
  return attn2c_text_kept_run(reader, context, rows, outputs, run_whole);
}

int attn2c_reader_spans(attn2c_reader *reader, attn2c_context *context, const char *text, size_t length,
                        const attn2c_found_span **spans, size_t *count) {
  const attn2c_text_facts *facts = reader->facts;
  const int used[] = {facts->output, facts->second, facts->spans->labels};
  const size_t outputs = (size_t)attn2c_primary_entry(reader->model)->output_count;
  attn2c_text_tokens tokens;
  attn2c_reader_begin(reader);
  int status = attn2c_reader_encode(reader, text, length, NULL, 0, 0, &tokens);
  if (status == ATTN2C_OK) status = attn2c_reader_add(reader, &tokens);
  if (status != ATTN2C_OK) return status;
  ATTN2C_OWN void **arrays = calloc(outputs, sizeof *arrays);
  if (!arrays) status = ATTN2C_MEMORY;
  for (int i = 0; i < 3 && status == ATTN2C_OK; i++) {
    if (arrays[used[i]]) continue;
    const int64_t elements = attn2c_reader_elements(reader, used[i], (int64_t)tokens.length);
    arrays[used[i]] = attn2c_reserve((size_t)elements * sizeof(float));
    if (!arrays[used[i]]) status = ATTN2C_MEMORY;
  }
  if (status == ATTN2C_OK) status = attn2c_reader_run(reader, context, (int64_t)tokens.length, arrays);
  if (status == ATTN2C_OK) {
    const attn2c_span_rows rows = {
        tokens.ids,      tokens.places,   tokens.sources,  (int64_t)tokens.length,
        arrays[used[0]], arrays[used[1]], arrays[used[2]], attn2c_reader_elements(reader, used[0], 1)};
    status = attn2c_spans_find(reader, &rows, spans, count);
  }
  if (status == ATTN2C_MEMORY) (void)attn2c_reader_fail(reader, status, "%s", attn2c_strerror(status));
  for (int i = 0; i < 3 && arrays; i++) {
    attn2c_free(arrays[used[i]]);
    arrays[used[i]] = NULL;
  }
  return status;
}
