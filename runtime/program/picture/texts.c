#include "program/picture/texts.h"

#include "program/text/source.h"

/* Adds a copy of a line. Returns ATTN2C_OK or _MEMORY. */
static int add(attn2c_picture_texts *texts, const attn2c_line *line) {
  ATTN2C_TRY(ATTN2C_MORE(texts->texts, texts->count));
  ATTN2C_TRY(ATTN2C_MORE(texts->lengths, texts->count));
  char *text = attn2c_copied(line->text, line->length);
  if (!text) return ATTN2C_MEMORY;
  texts->lengths[texts->count] = line->length;
  texts->texts[texts->count++] = text;
  return ATTN2C_OK;
}

static int read_lines(attn2c_text_source *source, attn2c_picture_texts *texts, attn2c_message *message) {
  attn2c_line line;
  int status = ATTN2C_OK;
  attn2c_line_state state = ATTN2C_LINE_READ;
  while (status == ATTN2C_OK && state == ATTN2C_LINE_READ) {
    state = attn2c_text_source_next(source, 1, &line, &status, message);
    if (state == ATTN2C_LINE_READ && add(texts, &line) != ATTN2C_OK)
      status = attn2c_fail(message, ATTN2C_MEMORY, "run: no memory for the texts");
    attn2c_text_source_forget(source);
  }
  if (status == ATTN2C_OK && texts->count == 0)
    status = attn2c_fail(message, ATTN2C_FORMAT, "run: --text gives no text");
  return status;
}

/* Says what is wrong with the texts, or with their weights. */
static void say_fault(const attn2c_picture_texts *texts, const attn2c_arguments *arguments, const char *why,
                      attn2c_message *message) {
  if (texts->embedded.at < texts->count && *why && texts->embedded.at > 0)
    attn2c_say(message, "text %zu: %s", texts->embedded.at + 1, why);
  else
    attn2c_say(message, "%s", *why ? why : "run: the texts cannot be embedded");
  if (!arguments->text_weights && arguments->weights)
    attn2c_say(message, "--text-weights gives %s weights of its own, if the weights of --weights were packed",
               attn2c_the_texts->name);
}

static int embed(const attn2c_arguments *arguments, FILE *notes, attn2c_picture_texts *texts,
                 attn2c_message *message) {
  const attn2c_texts *model = attn2c_the_texts;
  const char *weights = arguments->text_weights ? arguments->text_weights : arguments->weights;
  char why[1000] = "";
  texts->embedded.values = calloc(texts->count * (size_t)model->width, sizeof *texts->embedded.values);
  if (!texts->embedded.values)
    return attn2c_fail(message, ATTN2C_MEMORY, "run: no memory for the embeddings of %zu texts",
                       texts->count);
  attn2c_texts_model *opened;
  int status = model->open(weights, arguments->threads, &opened, why, sizeof why);
  if (status == ATTN2C_OK)
    status = model->embed(opened, (const char *const *)texts->texts, texts->lengths, texts->count,
                          &texts->embedded, why, sizeof why);
  model->close(opened);
  if (status != ATTN2C_OK) say_fault(texts, arguments, why, message);
  if (status == ATTN2C_OK && texts->embedded.cut > 0)
    fprintf(notes, "%s: %zu of %zu texts were cut to %lld tokens\n", arguments->program, texts->embedded.cut,
            texts->count, (long long)model->tokens);
  return status;
}

static int read_texts(const attn2c_arguments *arguments, FILE *notes, attn2c_picture_texts *texts,
                      attn2c_message *message) {
  attn2c_text_source *source = NULL;
  int status = attn2c_text_source_open(arguments, notes, &source, message);
  if (status == ATTN2C_OK) status = read_lines(source, texts, message);
  attn2c_text_source_close(source);
  return status == ATTN2C_OK ? embed(arguments, notes, texts, message) : status;
}

static void close_texts(attn2c_picture_texts *texts) {
  for (size_t i = 0; i < texts->count; i++) free(texts->texts[i]);
  ATTN2C_FREE(texts->texts, texts->lengths, texts->embedded.values);
}

const attn2c_texts_reader attn2c_picture_texts_program = {.read = read_texts, .close = close_texts};
