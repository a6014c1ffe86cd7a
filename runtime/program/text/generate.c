/* generate.c - the part of `generate` for models that take text: prompts from words and files, and the
 * text of answers. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "base/utf8.h"
#include "program/answers/answers.h"
#include "program/text/generate_side.h"

static int open_prompts(attn2c_text_side *side, const attn2c_arguments *arguments, FILE *notes,
                        attn2c_message *message) {
  return attn2c_text_source_open(arguments, notes, &side->source, message);
}

static int take_languages(attn2c_text_side *side, const attn2c_arguments *arguments, int32_t *first,
                          int32_t *start, attn2c_message *message) {
  const attn2c_generate_arguments *given = &arguments->generate;
  const attn2c_asked_languages asked = {given->source_language, given->target_language, "--source-language",
                                        "--target-language", arguments->input_count > 0 ? "--prompt" : NULL};
  attn2c_language_tokens tokens;
  ATTN2C_TRY(attn2c_find_languages(side->tokenizer, &asked, &tokens, message));
  if (tokens.first >= 0 && given->forced_bos)
    return attn2c_fail(message, ATTN2C_USAGE,
                       "--target-language: does not go with --forced-bos, as it is one");
  side->language = tokens.language;
  if (tokens.first >= 0) *first = tokens.first;
  if (tokens.start >= 0) *start = tokens.start;
  return ATTN2C_OK;
}

/* Puts the prefix in front of a prompt. */
static int add_prefix(attn2c_text_side *side, const char **text, size_t *length) {
  const size_t prefix = strlen(side->prefix);
  char *moved = realloc(side->prompt, prefix + *length + 1);
  if (!moved) return ATTN2C_MEMORY;
  side->prompt = moved;
  memcpy(moved, side->prefix, prefix);
  if (*length > 0) memcpy(moved + prefix, *text, *length);
  *text = moved, *length += prefix;
  return ATTN2C_OK;
}

/* Encodes a prompt, or with a system message what the chat template makes of both. */
static int encode_prompt(attn2c_text_side *side, const attn2c_line *line, attn2c_text_tokens *tokens,
                         const char **why) {
  const char *text = line->text;
  size_t length = line->length;
  *why = attn2c_strerror(ATTN2C_MEMORY);
  if (side->prefix && add_prefix(side, &text, &length) != ATTN2C_OK) return ATTN2C_MEMORY;
  if (side->turns) {
    int status = attn2c_turns_add(side->turns, "user", text, length);
    *why = side->fault;
    snprintf(side->fault, sizeof side->fault, "%s", attn2c_strerror(ATTN2C_MEMORY));
    if (status == ATTN2C_OK) {
      status = attn2c_turns_render(side->turns, 0, &text, &length, side->fault, sizeof side->fault);
      attn2c_turns_drop(side->turns);
    }
    if (status != ATTN2C_OK) return status;
  }
  return attn2c_encode_all(side->reading, side->facts, text, length, side->turns != NULL, side->language,
                           tokens, why);
}

static int is_blank(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (!memchr(" \t\r\n", text[i], 4)) return 0;
  return 1;
}

/* Cuts the next sentence off the line, and writes it without the blanks around it. */
static void cut_sentence(attn2c_text_side *side, attn2c_line *line, attn2c_prompt_ids *prompt) {
  attn2c_line *rest = &side->line;
  while (rest->length > 0 && is_blank(rest->text, 1)) rest->text++, rest->length--;
  const size_t bytes = attn2c_sentence(rest->text, rest->length);
  line->text = rest->text, line->length = bytes;
  rest->text += bytes, rest->length -= bytes;
  for (prompt->gap = ' '; line->length > 0 && is_blank(line->text + line->length - 1, 1); line->length--)
    if (line->text[line->length - 1] == '\n') prompt->gap = '\n';
  if (rest->length == 0) prompt->gap = 0;
  snprintf(prompt->place + strlen(prompt->place), sizeof prompt->place - strlen(prompt->place),
           ", sentence %lld", (long long)++side->sentence);
}

static attn2c_prompt_state next(attn2c_text_side *side, int may_wait, attn2c_prompt_ids *prompt, int *status,
                                attn2c_message *message) {
  attn2c_line line;
  attn2c_text_tokens tokens;
  const char *fault;
  if (side->line.length == 0) {
    attn2c_text_source_forget(side->source);
    const attn2c_line_state state =
        attn2c_text_source_next(side->source, may_wait, &side->line, status, message);
    if (state != ATTN2C_LINE_READ) side->line.length = 0;
    if (state == ATTN2C_LINE_END) return ATTN2C_PROMPT_END;
    if (state == ATTN2C_LINE_NONE) return ATTN2C_PROMPT_NONE;
    if (state == ATTN2C_LINE_FAULT) return ATTN2C_PROMPT_FAULT;
    side->sentence = 0;
  }
  line = side->line;
  prompt->gap = 0;
  attn2c_line_place(&line, prompt->place, sizeof prompt->place);
  if (side->splits)
    cut_sentence(side, &line, prompt);
  else
    side->line.length = 0;
  prompt->text = line.text, prompt->length = line.length;
  *status = encode_prompt(side, &line, &tokens, &fault);
  if (*status != ATTN2C_OK) {
    attn2c_say(message, "%s: %s", prompt->place, fault);
    return ATTN2C_PROMPT_FAULT;
  }
  prompt->ids = tokens.ids;
  prompt->count = (int64_t)tokens.length;
  size_t added = 0; /* special tokens */
  while (added < tokens.length && (!tokens.sources || tokens.sources[added] == 2)) added++;
  prompt->is_empty = added == tokens.length || is_blank(line.text, line.length);
  return ATTN2C_PROMPT_READ;
}

static int begin(attn2c_text_side *side, int32_t place, const int32_t *ids, int64_t count) {
  return attn2c_writer_begin(side->writers[place], side->writing, ids, (size_t)count);
}

static void show(const attn2c_writer *writer, attn2c_shown *shown) {
  *shown = (attn2c_shown){.text = writer->text ? writer->text : "",
                          .length = writer->shown,
                          .is_stopped = writer->stopped_by >= 0};
}

static int add(attn2c_text_side *side, int32_t place, int32_t id, attn2c_shown *shown) {
  const int status = attn2c_writer_add(side->writers[place], side->writing, id);
  show(side->writers[place], shown);
  return status;
}

static int end(attn2c_text_side *side, int32_t place, attn2c_shown *shown) {
  const int status = attn2c_writer_end(side->writers[place], side->writing);
  show(side->writers[place], shown);
  return status;
}

/* Encodes a text without special tokens. */
static int encode_words(attn2c_text_side *side, const char *text, attn2c_text_tokens *tokens) {
  const attn2c_text_input input = {.text = text,
                                   .length = strlen(text),
                                   .plain = 1,
                                   .limit = {ATTN2C_TEXT_ANY_LENGTH, ATTN2C_TEXT_LONGEST_FIRST, 0}};
  return attn2c_text_encode(side->reading, &input, tokens);
}

static int find_token(attn2c_text_side *side, const char *option, const char *word, int32_t *id,
                      attn2c_message *message) {
  attn2c_text_tokens tokens;
  if (encode_words(side, word, &tokens) == ATTN2C_OK && tokens.length == 1) {
    *id = tokens.ids[0];
    return ATTN2C_OK;
  }
  return attn2c_fail(message, ATTN2C_USAGE,
                     "%s: '%s' is not one token of this model, but an id or a token is allowed", option,
                     word);
}

static int encode_plain(attn2c_text_side *side, const char *text, const int32_t **ids, int64_t *count,
                        attn2c_message *message) {
  attn2c_text_tokens tokens;
  const int status = encode_words(side, text, &tokens);
  if (status != ATTN2C_OK)
    return attn2c_fail(message, status, "--prompt: %s", attn2c_text_fault(side->reading));
  *ids = tokens.ids, *count = (int64_t)tokens.length;
  return status;
}

static int breakers_of_side(attn2c_text_side *side, const attn2c_generate_arguments *given,
                            int64_t vocabulary, attn2c_generate_options *options, attn2c_message *message) {
  return attn2c_generate_breakers(side->reading, given, vocabulary, options, message);
}

static int take_grammar(attn2c_text_side *side, const attn2c_arguments *arguments,
                        const attn2c_generation *stated, int32_t size, int64_t most, const attn2c_rule **rule,
                        attn2c_message *message) {
  const attn2c_grammar_place place = {.stated = stated, .answers = side->places, .most = most};
  const int status = attn2c_grammar_use_open(arguments, side->written ? side->written : side->tokenizer, size,
                                             place, &side->grammar, message);
  *rule = attn2c_grammar_use_rule(side->grammar);
  return status;
}

static void write_piece(const char *text, size_t length, int is_line, FILE *out) {
  if (is_line)
    attn2c_safe_write(text, length, out);
  else if (isatty(fileno(out)))
    attn2c_safe_write_lines(text, length, out);
  else
    fwrite(text, 1, length, out);
}

/* Reads the bytes of a whole file. */
static int read_bytes(const char *path, char **bytes, size_t *length, attn2c_message *message) {
  ATTN2C_ENDS_BY(attn2c_file_close) attn2c_file file = {.descriptor = -1};
  ATTN2C_TRY(attn2c_file_open(path, &file, message));
  *length = (size_t)file.size;
  *bytes = malloc(*length + 1);
  if (!*bytes) return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory for its %zu bytes", path, *length);
  return attn2c_file_read(&file, 0, *bytes, *length, message);
}

static void end_tokenizer(attn2c_tokenizer **tokenizer) { attn2c_text_close(*tokenizer); }
static void end_work(attn2c_text_work **work) { attn2c_text_work_destroy(*work); }

static int read_file(const attn2c_text_facts *facts, const char *path, int32_t **ids, int64_t *count,
                     attn2c_message *message) {
  ATTN2C_ENDS_BY(end_tokenizer) attn2c_tokenizer *tokenizer = NULL;
  ATTN2C_ENDS_BY(end_work) attn2c_text_work *work = NULL;
  ATTN2C_OWN char *bytes = NULL;
  attn2c_text_tokens tokens;
  const char *fault = "";
  size_t length;
  *ids = NULL;
  ATTN2C_TRY(read_bytes(path, &bytes, &length, message));
  ATTN2C_TRY(attn2c_text_open(facts->tables, facts->size, ATTN2C_TEXT_JIT, &tokenizer, message));
  ATTN2C_TRY(attn2c_text_work_create(tokenizer, &work));
  const int mark = attn2c_utf8_mark(bytes, length);
  if (mark < 0) return attn2c_fail(message, ATTN2C_FORMAT, "%s: is in UTF-16, but UTF-8 is expected", path);
  const int status =
      attn2c_encode_all(work, facts, bytes + mark, length - (size_t)mark, 0, 0, &tokens, &fault);
  if (status != ATTN2C_OK) return attn2c_fail(message, status, "%s: %s", path, fault);
  *count = (int64_t)tokens.length;
  *ids = attn2c_copied(tokens.ids, tokens.length * sizeof **ids);
  return *ids ? ATTN2C_OK : ATTN2C_MEMORY;
}

const attn2c_generation_text attn2c_generation_text_program = {.open = attn2c_text_side_open,
                                                               .close = attn2c_text_side_close,
                                                               .open_prompts = open_prompts,
                                                               .next = next,
                                                               .begin = begin,
                                                               .add = add,
                                                               .end = end,
                                                               .write = write_piece,
                                                               .token = find_token,
                                                               .languages = take_languages,
                                                               .plain = encode_plain,
                                                               .breakers = breakers_of_side,
                                                               .grammar = take_grammar,
                                                               .json_text = attn2c_json_text,
                                                               .json_line = attn2c_json_line,
                                                               .chat = attn2c_chat_command,
                                                               .read_file = read_file};
