/* grammar_cases.c - draws texts of JSON schemas, and reads texts with them: grammar_cases TABLES SIZE, with
 * the tables of a tokenizer and its number of tokens. A line of the standard input is {"schema": S, "draws":
 * N, "seed": K, "accept": [TEXT, ...]}, or has "grammar" in place of "schema". The answer is a line {"texts":
 * [TEXT, ...], "open": texts that were not ended, "accepted": [true, ...]}, or {"fault": LINE}. */
#include "formats/file.h"
#include "generate/draw.h"
#include "grammar/masks.h"
#include "grammar/rule.h"
#include "program/grammar/schema.h"
#include "text/stream.h"

#include <math.h>

enum { MOST = 400, END = 0 };

typedef struct {
  const attn2c_tokenizer *text;
  attn2c_text_work *work;
  const attn2c_vocabulary *vocabulary;
  attn2c_grammar *grammar;
  attn2c_grammar_rule *rule;
  float *scores;
  uint64_t seed, n;
} drawer;

static _Noreturn void fail(const char *why) {
  fprintf(stderr, "grammar_cases: %s\n", why);
  exit(3);
}

/* Draws a token that the rule allows; -1 if the tokenizer has none. Late tokens prefer those that close. */
static int32_t draw_token(drawer *d, const attn2c_history *history) {
  const vocabulary_pieces *p = &d->vocabulary->after;
  const int is_late = history->count > 40;
  for (int32_t i = 0; i < d->vocabulary->size; i++) {
    const uint32_t begin = p->begins[i], length = p->begins[i + 1] - begin;
    d->scores[i] = (float)(attn2c_draw_bits(d->seed, d->n++) >> 40);
    if (is_late && length > 0 && strchr("\"}]", p->bytes[begin])) d->scores[i] += length == 1 ? 3e7f : 1e7f;
  }
  if (is_late) d->scores[END] += 6e7f;
  const char *why = history->rule->apply(history->rule, history, d->scores, d->vocabulary->size);
  if (why && strncmp(why, "no token", 8) != 0) fail(why);
  if (why) return -1;
  int32_t best = -1;
  for (int32_t i = 0; i < d->vocabulary->size; i++)
    if (d->scores[i] > -INFINITY && (best < 0 || d->scores[i] > d->scores[best])) best = i;
  return best;
}

/* Draws a text, which the caller frees; NULL if it was too long, or the tokenizer
 * lacks a character. */
static json_t *draw_text(drawer *d, int is_first) {
  int32_t ids[MOST + 1] = {is_first ? END : 5};
  const char *text;
  size_t length;
  attn2c_history history = {ids, 1, 1, MOST, attn2c_grammar_rule_of(d->rule)};
  attn2c_text_stream *stream;
  json_t *made = json_string("");
  if (attn2c_text_stream_create(d->text, 1, &stream) != ATTN2C_OK) fail("no memory");
  attn2c_text_stream_skip(stream, d->work, ids, 1);
  while (history.count < MOST) {
    const int32_t id = draw_token(d, &history);
    if (id == END) break;
    if (id < 0) history.most = 0;
    if (id < 0) break;
    ids[history.count++] = id;
  }
  for (int i = 1; i <= history.count; i++) {
    if (i < history.count ? attn2c_text_stream_add(stream, d->work, &ids[i], 1, &text, &length) != ATTN2C_OK
                          : attn2c_text_stream_end(stream, d->work, &text, &length) != ATTN2C_OK)
      fail("a text is not decoded");
    json_t *longer = json_sprintf("%s%.*s", json_string_value(made), (int)length, text);
    json_decref(made);
    made = longer;
  }
  attn2c_text_stream_destroy(stream);
  if (history.count == history.most || history.most == 0) {
    json_decref(made);
    return NULL;
  }
  return made ? made : json_string("\xef\xbf\xbd is in it");
}

static int accepts(const attn2c_grammar *grammar, const char *text) {
  grammar_states states;
  if (grammar_states_create(&states, grammar, 1 << 20) != ATTN2C_OK) fail("no memory");
  uint32_t state = grammar_states_first(&states);
  for (; *text && state != STATE_DEAD; text++) {
    const uint32_t next = state_step(&states, state, (uint8_t)*text);
    state =
        next != STATE_FULL ? next : state_step(&states, grammar_states_keep(&states, state), (uint8_t)*text);
    if (state == STATE_FULL) fail("a state needs more than 1 MB");
  }
  const int result = state_accepts(&states, state);
  grammar_states_free(&states);
  return result;
}

static json_t *answer(drawer *d, const json_t *asked) {
  static const int32_t end = END;
  char note[2000] = "", *written = NULL;
  attn2c_message message = attn2c_message_make(note, sizeof note);
  const json_t *schema = json_object_get(asked, "schema"), *text;
  const char *grammar = json_string_value(json_object_get(asked, "grammar"));
  int status = schema ? attn2c_schema_grammar(schema, "schema", &written, &message) : ATTN2C_OK;
  if (schema) grammar = written;
  if (status == ATTN2C_OK)
    status = attn2c_grammar_read(grammar, strlen(grammar), "grammar", &d->grammar, &message);
  if (status != ATTN2C_OK) {
    free(written);
    return json_pack("{s:s}", "fault", note);
  }
  const attn2c_grammar_options options = {d->grammar, d->vocabulary, &end, 1, 1, MOST, 0};
  if (attn2c_grammar_rule_create(&d->rule, &options) != ATTN2C_OK) fail("no memory");
  json_t *texts = json_array(), *accepted = json_array();
  const int64_t draws = json_integer_value(json_object_get(asked, "draws"));
  int64_t open = 0;
  size_t i;
  d->seed = (uint64_t)json_integer_value(json_object_get(asked, "seed"));
  d->n = 0;
  for (int64_t k = 0; k < draws; k++) {
    json_t *made = draw_text(d, k % 2 == 0);
    if (made) json_array_append_new(texts, made);
    open += !made;
  }
  json_array_foreach(json_object_get(asked, "accept"), i, text)
      json_array_append_new(accepted, json_boolean(accepts(d->grammar, json_string_value(text))));
  attn2c_grammar_rule_free(d->rule);
  attn2c_grammar_free(d->grammar);
  json_t *answer = json_pack("{s:o,s:I,s:o,s:s}", "texts", texts, "open", (json_int_t)open, "accepted",
                             accepted, "grammar", grammar);
  free(written);
  return answer;
}

int main(int count, char **words) {
  attn2c_file file;
  attn2c_tokenizer *text;
  attn2c_vocabulary *vocabulary;
  char note[500], *line = NULL;
  size_t capacity = 0;
  attn2c_message message = attn2c_message_make(note, sizeof note);
  if (count != 3 || attn2c_file_open(words[1], &file, &message) != ATTN2C_OK) fail("TABLES SIZE");
  void *tables = malloc((size_t)file.size);
  const int32_t size = (int32_t)atoi(words[2]);
  drawer d = {.scores = calloc((size_t)size, sizeof *d.scores)};
  if (!tables || !d.scores || attn2c_file_read(&file, 0, tables, (size_t)file.size, &message) != ATTN2C_OK ||
      attn2c_text_open(tables, (size_t)file.size, 0, &text, &message) != ATTN2C_OK ||
      attn2c_text_work_create(text, &d.work) != ATTN2C_OK ||
      attn2c_vocabulary_create(text, size, "--grammar", &vocabulary, &message) != ATTN2C_OK)
    fail(note);
  d.text = text, d.vocabulary = vocabulary;
  while (getline(&line, &capacity, stdin) > 0) {
    json_t *asked = json_loads(line, 0, NULL), *given = asked ? answer(&d, asked) : NULL;
    if (!given) fail("a line is not JSON");
    json_dumpf(given, stdout, JSON_COMPACT);
    putchar('\n');
    fflush(stdout);
    json_decref(asked);
    json_decref(given);
  }
  attn2c_file_close(&file);
  attn2c_vocabulary_free(vocabulary);
  attn2c_text_work_destroy(d.work);
  attn2c_text_close(text);
  free(tables);
  free(d.scores);
  free(line);
  return 0;
}
