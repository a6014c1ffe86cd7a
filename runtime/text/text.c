/* text.c - opens a tokenizer: reads its components, compiles their patterns, and prepares the added tokens.
 */
#include "text/stages.h"
#include "text/unicode.h"

static const uint32_t kinds[STAGE_COUNT] = {[STAGE_NORMALIZE] = NORMALIZE_KINDS,
                                            [STAGE_CUT] = CUT_KINDS,
                                            [STAGE_TRIM] = TRIM_KINDS,
                                            [STAGE_DECODE] = DECODE_KINDS};

#define MOST_COMPONENTS 256

static int has_pattern(uint32_t stage, const text_component *component) {
  if (stage == STAGE_NORMALIZE) return component->kind == NORMALIZE_REPLACE;
  if (stage == STAGE_DECODE) return component->kind == DECODE_REPLACE;
  return stage == STAGE_CUT &&
         (component->kind == CUT_PATTERN || (component->kind == CUT_BYTES && component->a.length));
}

/* True if the numbers and texts of a component are safe to use. Compiling checks patterns. */
static int is_sound(uint32_t stage, const text_component *component) {
  int valid_a = has_pattern(stage, component) || text_is_valid(component->a.bytes, component->a.length);
  int valid_b = text_is_valid(component->b.bytes, component->b.length);
  if (component->kind >= kinds[stage] || !valid_b) return 0;
  if (stage == STAGE_NORMALIZE) return component->kind == NORMALIZE_PRECOMPILED || valid_a;
  if (stage == STAGE_CUT && component->kind == CUT_CHARACTERS)
    return component->number < CLASS_COUNT && component->flags <= BEHAVIOR_CONTIGUOUS;
  if (stage == STAGE_CUT && component->kind == CUT_PATTERN)
    return valid_a && (component->flags & ~(uint32_t)CUT_INVERT) <= BEHAVIOR_CONTIGUOUS;
  if (stage == STAGE_CUT && component->kind == CUT_METASPACE) return valid_a && component->a.length > 0;
  return valid_a;
}

static int open_component(attn2c_tokenizer *text, size_t index, const text_record *record, int jit,
                          attn2c_message *message) {
  char place[40];
  text_component made = {.kind = record->kind, .flags = record->flags, .number = record->number};
  if (record->stage >= STAGE_COUNT ||
      text_string(&text->tables, record->a, record->a_length, &made.a) != ATTN2C_OK ||
      text_string(&text->tables, record->b, record->b_length, &made.b) != ATTN2C_OK ||
      !is_sound(record->stage, &made)) {
    attn2c_say(message, "tokenizer tables: component %zu: it is damaged", index);
    return ATTN2C_FORMAT;
  }
  text_list *list = &text->stages[record->stage];
  text_component *moved = realloc(list->list, (list->count + 1) * sizeof *list->list);
  if (!moved) return ATTN2C_MEMORY;
  list->list = moved;
  if (has_pattern(record->stage, &made)) {
    snprintf(place, sizeof place, "component %zu", index);
    ATTN2C_TRY(text_regex_compile(made.a, jit, place, &made.regex, message));
  }
  list->list[list->count++] = made;
  return ATTN2C_OK;
}

static int open_components(attn2c_tokenizer *text, unsigned flags, attn2c_message *message) {
  const uint32_t *settings = text->tables.settings;
  int jit = (flags & ATTN2C_TEXT_JIT) != 0, status = ATTN2C_OK;
  text_record record;
  text_span word;
  for (size_t i = 0; i < MOST_COMPONENTS && text_record_at(&text->tables, i, &record) && status == ATTN2C_OK;
       i++)
    status = open_component(text, i, &record, jit, message);
  if (status != ATTN2C_OK) return status;
  if (text_string(&text->tables, settings[SETTING_PREFIX], settings[SETTING_PREFIX_LENGTH], &text->prefix) ||
      text_string(&text->tables, settings[SETTING_SUFFIX], settings[SETTING_SUFFIX_LENGTH], &text->suffix) ||
      text_string(&text->tables, settings[SETTING_WORD], settings[SETTING_WORD_LENGTH], &word)) {
    attn2c_say(message, "tokenizer tables: a setting is damaged");
    return ATTN2C_FORMAT;
  }
  return word.length ? text_regex_compile(word, jit, "letters of words", &text->word, message) : ATTN2C_OK;
}

int attn2c_text_open(const void *tables, size_t size, unsigned flags, attn2c_tokenizer **text,
                     attn2c_message *message) {
  *text = NULL;
  attn2c_tokenizer *made = calloc(1, sizeof *made);
  if (!made) return ATTN2C_MEMORY;
  int status = text_tables_open(tables, size, (flags & ATTN2C_TEXT_VERIFY) != 0, &made->tables, message);
  if (status == ATTN2C_OK) {
    uint64_t bits = made->tables.settings[SETTING_UNKNOWN_LOW] |
                    (uint64_t)made->tables.settings[SETTING_UNKNOWN_HIGH] << 32;
    uint32_t model = made->tables.settings[SETTING_MODEL];
    memcpy(&made->unknown_score, &bits, sizeof bits);
    if (model < MODEL_WORDPIECE || model > MODEL_UNIGRAM) {
      attn2c_say(message, "tokenizer tables: the kind of the model is not known");
      status = ATTN2C_FORMAT;
    }
  }
  if (status == ATTN2C_OK) status = open_components(made, flags, message);
  if (status == ATTN2C_OK) status = text_open_added(made, message);
  if (status == ATTN2C_OK)
    *text = made;
  else
    attn2c_text_close(made);
  return status;
}

void attn2c_text_close(attn2c_tokenizer *text) {
  if (!text) return;
  for (size_t s = 0; s < STAGE_COUNT; s++) {
    for (size_t i = 0; i < text->stages[s].count; i++) text_regex_free(text->stages[s].list[i].regex);
    free(text->stages[s].list);
  }
  text_regex_free(text->word);
  ATTN2C_FREE(text->raw.nodes, text->normalized.nodes, text->spellings, text->letters, text);
}

const char *attn2c_text_token(const attn2c_tokenizer *text, int32_t id, size_t *length) {
  *length = 0;
  if (id < 0 || !(text_token_flags(&text->tables, (uint32_t)id) & TOKEN_PRESENT)) return NULL;
  text_span span = text_token_text(&text->tables, (uint32_t)id);
  *length = span.length;
  return (const char *)span.bytes;
}

attn2c_text_limit attn2c_text_stated_limit(const attn2c_tokenizer *text) {
  const uint32_t *settings = text->tables.settings;
  attn2c_text_limit limit = {ATTN2C_TEXT_ANY_LENGTH, ATTN2C_TEXT_LONGEST_FIRST,
                             settings[SETTING_FROM_LEFT] != 0};
  if (settings[SETTING_LIMIT] == TEXT_NONE) return limit;
  limit.tokens = settings[SETTING_LIMIT];
  if (settings[SETTING_STRATEGY] <= ATTN2C_TEXT_ONLY_SECOND)
    limit.strategy = (attn2c_text_strategy)settings[SETTING_STRATEGY];
  return limit;
}

const char *attn2c_text_fault(const attn2c_text_work *work) { return work->fault; }

void attn2c_text_stop_by(attn2c_text_work *work, int (*stops)(void)) { work->budget.stops = stops; }
