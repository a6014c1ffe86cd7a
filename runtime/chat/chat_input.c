/* chat_input.c - makes the variables of a chat template, as transformers' apply_chat_template does. */
#include "chat/chat_calls.h"
#include "text/unicode.h"

/* Counts bytes without overflow. */
static void add_bytes(size_t *bytes, size_t more) {
  *bytes = more > SIZE_MAX - *bytes ? SIZE_MAX : *bytes + more;
}

static void add_values(size_t *bytes, const attn2c_chat_value *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (values[i].kind == ATTN2C_CHAT_TEXT) add_bytes(bytes, values[i].text ? values[i].length : 0);
    if (values[i].kind < ATTN2C_CHAT_LIST) continue;
    add_bytes(bytes, 64);
    add_values(bytes, values[i].text, values[i].length);
  }
}

size_t chat_input_bytes(const attn2c_chat_message *messages, size_t count,
                        const attn2c_chat_options *options) {
  size_t bytes = 0;
  for (size_t i = 0; i < count; i++) {
    add_bytes(&bytes, 64);
    add_bytes(&bytes, messages[i].role_length);
    add_bytes(&bytes, messages[i].content ? messages[i].content_length : 0);
    add_values(&bytes, messages[i].more, messages[i].more_count);
  }
  if (options) add_values(&bytes, options->flags, options->flag_count);
  return bytes;
}

/* Returns a caller's text: in place if it is well-formed, else with U+FFFD for each malformed part. */
static int text_of(attn2c_chat_work *work, const char *text, size_t length, chat_value *value) {
  const uint8_t *bytes = (const uint8_t *)text;
  *value = chat_string(text ? text : "", text ? length : 0);
  if (!text || text_is_valid(bytes, length)) return ATTN2C_OK;
  char *made;
  size_t used = 0, width;
  int valid, status = chat_allocate_text(work, 3 * length, &made);
  for (size_t at = 0; at < length && status == ATTN2C_OK; at += width) {
    width = text_part(bytes + at, length - at, &valid);
    if (valid)
      memcpy(made + used, text + at, width), used += width;
    else
      used += text_write((uint8_t *)made + used, TEXT_REPLACEMENT);
  }
  *value = chat_string(made, used);
  return status;
}

static int add_named(attn2c_chat_work *work, chat_dict *dict, const attn2c_chat_value *values, size_t count,
                     const char *const *taken, size_t taken_count);

static int value_of(attn2c_chat_work *work, const attn2c_chat_value *given, chat_value *value) {
  const attn2c_chat_value *items = given->text;
  double real;
  int status;
  switch (given->kind) {
  case ATTN2C_CHAT_TEXT:
    return text_of(work, given->text, given->length, value);
  case ATTN2C_CHAT_FLAG:
    *value = chat_boolean(given->number != 0);
    return ATTN2C_OK;
  case ATTN2C_CHAT_NONE:
    *value = chat_none();
    return ATTN2C_OK;
  case ATTN2C_CHAT_REAL:
    memcpy(&real, &given->number, sizeof real);
    *value = chat_real(real);
    return ATTN2C_OK;
  case ATTN2C_CHAT_LIST:
    *value = (chat_value){.kind = CHAT_LIST};
    status = chat_list_make(work, CHAT_OF_LIST, given->length, &value->as.list);
    for (size_t i = 0; i < given->length && status == ATTN2C_OK; i++) {
      chat_value item;
      status = value_of(work, &items[i], &item);
      if (status == ATTN2C_OK) status = chat_list_add(work, value->as.list, item);
    }
    return status;
  case ATTN2C_CHAT_DICT:
    *value = (chat_value){.kind = CHAT_DICT};
    status = chat_dict_make(work, &value->as.dict);
    return status == ATTN2C_OK ? add_named(work, value->as.dict, items, given->length, NULL, 0) : status;
  default:
    *value = chat_integer(given->number);
    return ATTN2C_OK;
  }
}

/* Adds values by name, none of which may be in `taken`. */
static int add_named(attn2c_chat_work *work, chat_dict *dict, const attn2c_chat_value *values, size_t count,
                     const char *const *taken, size_t taken_count) {
  for (size_t i = 0; i < count; i++) {
    chat_value value, name;
    if (!values[i].name || !text_is_valid((const uint8_t *)values[i].name, strlen(values[i].name))) {
      chat_refuse(work, "a name of a value is not UTF-8");
      return ATTN2C_USAGE;
    }
    for (size_t k = 0; k < taken_count; k++)
      if (strcmp(values[i].name, taken[k]) == 0) {
        chat_refuse(work, "\"%s\" is the name of another value", taken[k]);
        return ATTN2C_USAGE;
      }
    name = chat_string(values[i].name, strlen(values[i].name));
    ATTN2C_TRY(value_of(work, &values[i], &value));
    ATTN2C_TRY(chat_dict_set(work, dict, name, value));
  }
  return ATTN2C_OK;
}

/* Gives a message's reasoning the names that templates read, as transformers does. */
static int add_reasoning(attn2c_chat_work *work, chat_dict **message) {
  static const char *const names[] = {"reasoning_content", "thinking", "reasoning"};
  for (size_t i = 0; i < 3; i++) {
    const chat_value name = chat_string(names[i], strlen(names[i]));
    const chat_value *found = chat_dict_find(work, *message, &name);
    if (!found) continue;
    const chat_value reasoning = *found;
    chat_dict *made, *old = *message;
    int status = chat_dict_make(work, &made);
    if (status == ATTN2C_OK) status = chat_dict_set_word(work, made, "thinking", reasoning);
    for (uint32_t k = 0; k < old->count && status == ATTN2C_OK; k++)
      status = chat_dict_set(work, made, old->entries[k].key, old->entries[k].value);
    if (status == ATTN2C_OK) status = chat_dict_set_word(work, made, "reasoning_content", reasoning);
    *message = made;
    return status;
  }
  return ATTN2C_OK;
}

static int add_message(attn2c_chat_work *work, chat_list *list, const attn2c_chat_message *message) {
  static const char *const taken[] = {"role", "content"};
  chat_dict *dict;
  chat_value value;
  ATTN2C_TRY(chat_dict_make(work, &dict));
  if (message->role) {
    ATTN2C_TRY(text_of(work, message->role, message->role_length, &value));
    ATTN2C_TRY(chat_dict_set_word(work, dict, "role", value));
  }
  if (message->content) {
    ATTN2C_TRY(text_of(work, message->content, message->content_length, &value));
    ATTN2C_TRY(chat_dict_set_word(work, dict, "content", value));
  }
  ATTN2C_TRY(add_named(work, dict, message->more, message->more_count, taken, 2));
  ATTN2C_TRY(add_reasoning(work, &dict));
  return chat_list_add(work, list, (chat_value){.kind = CHAT_DICT, .as.dict = dict});
}

int chat_make_inputs(attn2c_chat_work *work, const attn2c_chat_message *messages, size_t count,
                     const attn2c_chat_options *options) {
  static const char *const functions[] = {"raise_exception", "strftime_now", "range", "namespace", "dict"};
  static const char *const taken[] = {"messages", "add_generation_prompt", "documents", "tools"};
  const int has_tools = options && options->flag_count > 0 && options->flags[0].kind == ATTN2C_CHAT_LIST;
  const attn2c_chat_template *template = work->template;
  chat_list *list;
  ATTN2C_TRY(chat_dict_make(work, &work->inputs));
  for (int i = 0; i < 5; i++)
    ATTN2C_TRY(chat_dict_set_word(work, work->inputs, functions[i],
                                  (chat_value){.kind = CHAT_FUNCTION, .as.integer = i}));
  ATTN2C_TRY(add_named(work, work->inputs, template->tokens, (size_t) template->token_count, NULL, 0));
  ATTN2C_TRY(chat_dict_set_word(work, work->inputs, "tools", chat_none()));
  if (options)
    ATTN2C_TRY(add_named(work, work->inputs, options->flags, options->flag_count, taken, has_tools ? 3 : 4));
  ATTN2C_TRY(chat_list_make(work, CHAT_OF_LIST, count, &list));
  for (size_t i = 0; i < count; i++) ATTN2C_TRY(add_message(work, list, &messages[i]));
  ATTN2C_TRY(chat_dict_set_word(work, work->inputs, "messages", chat_of_list(list)));
  ATTN2C_TRY(chat_dict_set_word(work, work->inputs, "documents", chat_none()));
  return chat_dict_set_word(work, work->inputs, "add_generation_prompt",
                            chat_boolean(options && options->add_generation_prompt));
}
