#include "program/grammar/open.h"

#include <stdatomic.h>

#include "base/utf8.h"
#include "formats/file.h"
#include "program/grammar/schema.h"

struct attn2c_grammar_use {
  attn2c_vocabulary *vocabulary; /* NULL: another's */
  attn2c_grammar *grammar;
  attn2c_grammar_rule *rule;
  atomic_int more; /* owners, but for one */
};

int attn2c_grammar_use_create(const char *text, const json_t *schema, const char *name,
                              const attn2c_grammar_place *place, attn2c_grammar_use **use,
                              attn2c_message *message) {
  attn2c_grammar_use *u = *use = calloc(1, sizeof *u);
  ATTN2C_OWN char *written = NULL;
  int status = u ? ATTN2C_OK : attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory", name);
  if (status == ATTN2C_OK && place->stated->stop_count == 0)
    status = attn2c_fail(message, ATTN2C_USAGE, "%s: the model's folder states no token that ends an answer",
                         name);
  if (status == ATTN2C_OK && !text) status = attn2c_schema_grammar(schema, name, &written, message);
  if (!text) text = written;
  char why[300] = "";
  attn2c_message said = attn2c_message_make(why, sizeof why);
  if (status == ATTN2C_OK)
    status = attn2c_grammar_read(text, strlen(text), written ? "its grammar" : name, &u->grammar,
                                 written ? &said : message);
  if (said.used > 0)
    attn2c_say(message, "%s: the schema refers to itself without an end, or is too large", name);
  if (status == ATTN2C_OK) {
    const attn2c_grammar_options options = {u->grammar,
                                            place->vocabulary,
                                            place->stated->stop_tokens,
                                            place->stated->stop_count,
                                            place->answers,
                                            place->most < INT32_MAX ? (int32_t)place->most : INT32_MAX,
                                            0};
    status = attn2c_grammar_rule_create(&u->rule, &options);
    if (status != ATTN2C_OK) attn2c_say(message, "%s: no memory for the grammar's states", name);
  }
  if (status == ATTN2C_OK) return status;
  attn2c_grammar_use_free(u);
  *use = NULL;
  return status;
}

attn2c_grammar_use *attn2c_grammar_use_share(attn2c_grammar_use *u) {
  atomic_fetch_add(&u->more, 1);
  return u;
}

void attn2c_grammar_use_free(attn2c_grammar_use *u) {
  if (!u || atomic_fetch_sub(&u->more, 1) > 0) return;
  attn2c_grammar_rule_free(u->rule);
  attn2c_grammar_free(u->grammar);
  attn2c_vocabulary_free(u->vocabulary);
  free(u);
}

const attn2c_rule *attn2c_grammar_use_rule(const attn2c_grammar_use *u) {
  return u ? attn2c_grammar_rule_of(u->rule) : NULL;
}

/* Reads a whole file, and ends it with a NUL. */
static int read_file(const char *path, char **text, size_t *length, attn2c_message *message) {
  ATTN2C_ENDS_BY(attn2c_file_close) attn2c_file file = {.descriptor = -1};
  *text = NULL;
  ATTN2C_TRY(attn2c_file_open(path, &file, message));
  *length = (size_t)file.size;
  *text = malloc(*length + 1);
  int status =
      *text ? attn2c_file_read(&file, 0, *text, *length, message) : attn2c_file_no_memory(path, message);
  if (status == ATTN2C_OK) (*text)[*length] = '\0';
  const int mark = status == ATTN2C_OK ? attn2c_utf8_mark(*text, *length) : 0;
  if (mark > 0) memmove(*text, *text + mark, (*length -= (size_t)mark) + 1);
  if (status == ATTN2C_OK && strlen(*text) < *length)
    status = attn2c_fail(message, ATTN2C_FORMAT, "%s: byte %zu is NUL, but a text is expected", path,
                         strlen(*text));
  return status;
}

int attn2c_grammar_use_open(const attn2c_arguments *arguments, const attn2c_tokenizer *text, int32_t size,
                            attn2c_grammar_place place, attn2c_grammar_use **use, attn2c_message *message) {
  const attn2c_generate_arguments *given = &arguments->generate;
  const char *path = given->grammar ? given->grammar : given->json_schema;
  attn2c_vocabulary *vocabulary;
  json_auto_t *schema = NULL;
  ATTN2C_OWN char *bytes = NULL;
  json_error_t fault;
  size_t length = 0;
  *use = NULL;
  if (!path) return ATTN2C_OK;
  ATTN2C_TRY(read_file(path, &bytes, &length, message));
  if (!given->grammar) schema = json_loadb(bytes, length, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &fault);
  if (!given->grammar && !schema)
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: line %d, column %d: %s", path, fault.line, fault.column,
                       fault.text);
  ATTN2C_TRY(attn2c_vocabulary_create(text, size, given->grammar ? "--grammar" : "--json-schema", &vocabulary,
                                      message));
  place.vocabulary = vocabulary;
  const int status =
      attn2c_grammar_use_create(given->grammar ? bytes : NULL, schema, path, &place, use, message);
  if (status == ATTN2C_OK)
    (*use)->vocabulary = vocabulary;
  else
    attn2c_vocabulary_free(vocabulary);
  return status;
}
