/* chat_methods.c - the methods of texts, lists, dictionaries and `loop`. */
#include "chat/chat_calls.h"
#include "text/unicode.h"

#include <utf8proc.h>

static const char *const names[] = {CHAT_METHOD_ROWS(CHAT_NAME)};

int chat_method_arguments(int method) {
  static const uint8_t counts[] = {CHAT_METHOD_ROWS(CHAT_COUNT)};
  return method >= 0 && method < (int)sizeof counts ? counts[method] : -1;
}

static int wrong_argument(attn2c_chat_work *work, int method, const chat_value *value) {
  return chat_refuse(work, "%s: %s is not expected as an argument", names[method], chat_type(value));
}

static int has_part(const chat_value *text, const chat_value *part, int at_end) {
  if (part->length > text->length) return 0;
  return part->length == 0 ||
         memcmp(text->as.text + (at_end ? text->length - part->length : 0), part->as.text, part->length) == 0;
}

/* startswith and endswith, of a text or any of a tuple. */
static int test_side(attn2c_chat_work *work, int method, const chat_value *values, chat_value *made) {
  int at_end = method == CHAT_METHOD_ENDSWITH, is = 0;
  const chat_value *parts = &values[1];
  uint32_t count = 1;
  if (parts->kind == CHAT_LIST && parts->as.list->form == CHAT_OF_TUPLE)
    count = parts->as.list->count, parts = parts->as.list->items;
  for (uint32_t i = 0; i < count; i++) {
    if (parts[i].kind != CHAT_STRING) return wrong_argument(work, method, &parts[i]);
    is |= has_part(&values[0], &parts[i], at_end);
  }
  *made = chat_boolean(is);
  return chat_spend(work, count);
}

/* find, rfind, index and count of a part. */
static int search(attn2c_chat_work *work, int method, const chat_value *values, chat_value *made) {
  const chat_value *text = &values[0], *part = &values[1];
  if (part->kind != CHAT_STRING) return wrong_argument(work, method, part);
  ATTN2C_TRY(chat_spend(work, chat_search_steps(text, part)));
  if (method == CHAT_METHOD_COUNT) {
    int64_t count = part->length ? 0 : (int64_t)chat_count(text) + 1;
    for (int64_t at = 0; part->length && (at = chat_find(text, (size_t)at, part)) >= 0; at += part->length)
      count++;
    return *made = chat_integer(count), ATTN2C_OK;
  }
  int64_t found = method == CHAT_METHOD_RFIND ? chat_find_last(text, part) : chat_find(text, 0, part);
  if (found < 0 && method == CHAT_METHOD_INDEX)
    return chat_refuse(work, "index: the part is not in the text");
  chat_value before = chat_string(text->as.text, found < 0 ? 0 : (size_t)found);
  *made = chat_integer(found < 0 ? -1 : (int64_t)chat_count(&before));
  return ATTN2C_OK;
}

static int remove_side(attn2c_chat_work *work, int method, const chat_value *values, chat_value *made) {
  const chat_value *text = &values[0], *part = &values[1];
  if (part->kind != CHAT_STRING) return wrong_argument(work, method, part);
  *made = *text;
  int at_end = method == CHAT_METHOD_REMOVESUFFIX;
  if (has_part(text, part, at_end))
    *made = chat_string(text->as.text + (at_end ? 0 : part->length), text->length - part->length);
  return ATTN2C_OK;
}

static int replace(attn2c_chat_work *work, int method, const chat_value *values, chat_value *made) {
  for (int i = 1; i < 3; i++)
    if (values[i].kind != CHAT_STRING) return wrong_argument(work, method, &values[i]);
  if (values[3].kind != CHAT_MISSING && !chat_is_whole(&values[3]))
    return wrong_argument(work, method, &values[3]);
  return chat_replace(work, &values[0], &values[1], &values[2],
                      values[3].kind == CHAT_MISSING ? -1 : values[3].as.integer, made);
}

static int split(attn2c_chat_work *work, int method, const chat_value *values, chat_value *made) {
  if (values[2].kind != CHAT_MISSING && !chat_is_whole(&values[2]))
    return wrong_argument(work, method, &values[2]);
  return chat_split(work, &values[0], &values[1], values[2].kind == CHAT_MISSING ? -1 : values[2].as.integer,
                    method == CHAT_METHOD_RSPLIT, made);
}

static int join(attn2c_chat_work *work, int method, const chat_value *values, chat_value *made) {
  chat_list *list;
  size_t mark = work->output.length;
  int status = chat_iterate(work, values[1], &list);
  for (uint32_t i = 0; status == ATTN2C_OK && i < list->count; i++) {
    if (list->items[i].kind != CHAT_STRING) return wrong_argument(work, method, &list->items[i]);
    if (i) status = chat_write(work, values[0].as.text, values[0].length);
    if (status == ATTN2C_OK) status = chat_print(work, &list->items[i]);
  }
  return status == ATTN2C_OK ? chat_take(work, mark, made) : status;
}

/* isdigit and isspace: true if all characters are, and there is one. */
static int test_characters(attn2c_chat_work *work, int method, const chat_value *text, chat_value *made) {
  int is = text->length > 0;
  for (size_t at = 0, width; at < text->length && is; at += width) {
    uint32_t point = text_read((const uint8_t *)text->as.text + at, &width);
    if (method == CHAT_METHOD_ISSPACE)
      is = text_is_space(point);
    else if (point < 0x80)
      is = point >= '0' && point <= '9';
    else if (utf8proc_category((utf8proc_int32_t)point) == UTF8PROC_CATEGORY_ND)
      is = 1;
    else if (utf8proc_category((utf8proc_int32_t)point) == UTF8PROC_CATEGORY_NO)
      return chat_refuse(work, "isdigit of digits such as superscripts is not supported");
    else
      is = 0;
  }
  *made = chat_boolean(is);
  return chat_spend(work, text->length);
}

static int strip(attn2c_chat_work *work, int method, const chat_value *values, chat_value *made) {
  const int sides = method == CHAT_METHOD_LSTRIP   ? CHAT_LEFT
                    : method == CHAT_METHOD_RSTRIP ? CHAT_RIGHT
                                                   : CHAT_LEFT | CHAT_RIGHT;
  return chat_strip(work, &values[0], &values[1], sides, made);
}

static int change_case(attn2c_chat_work *work, int method, const chat_value *values, chat_value *made) {
  static const chat_case cases[CHAT_METHODS] = {[CHAT_METHOD_UPPER] = CHAT_UPPER,
                                                [CHAT_METHOD_LOWER] = CHAT_LOWER,
                                                [CHAT_METHOD_TITLE] = CHAT_TITLE,
                                                [CHAT_METHOD_CAPITALIZE] = CHAT_CAPITALIZE};
  return chat_change_case(work, &values[0], cases[method], made);
}

static int split_lines(attn2c_chat_work *work, int method, const chat_value *values, chat_value *made) {
  (void)method;
  return chat_split_lines(work, &values[0], chat_is_true(&values[1]), made);
}

typedef int method_function(attn2c_chat_work *work, int method, const chat_value *values, chat_value *made);

static method_function *const of_texts[CHAT_METHODS] = {[CHAT_METHOD_STRIP] = strip,
                                                        [CHAT_METHOD_LSTRIP] = strip,
                                                        [CHAT_METHOD_RSTRIP] = strip,
                                                        [CHAT_METHOD_UPPER] = change_case,
                                                        [CHAT_METHOD_LOWER] = change_case,
                                                        [CHAT_METHOD_TITLE] = change_case,
                                                        [CHAT_METHOD_CAPITALIZE] = change_case,
                                                        [CHAT_METHOD_STARTSWITH] = test_side,
                                                        [CHAT_METHOD_ENDSWITH] = test_side,
                                                        [CHAT_METHOD_FIND] = search,
                                                        [CHAT_METHOD_RFIND] = search,
                                                        [CHAT_METHOD_INDEX] = search,
                                                        [CHAT_METHOD_COUNT] = search,
                                                        [CHAT_METHOD_REMOVEPREFIX] = remove_side,
                                                        [CHAT_METHOD_REMOVESUFFIX] = remove_side,
                                                        [CHAT_METHOD_REPLACE] = replace,
                                                        [CHAT_METHOD_SPLIT] = split,
                                                        [CHAT_METHOD_RSPLIT] = split,
                                                        [CHAT_METHOD_SPLITLINES] = split_lines,
                                                        [CHAT_METHOD_JOIN] = join,
                                                        [CHAT_METHOD_ISDIGIT] = test_characters,
                                                        [CHAT_METHOD_ISSPACE] = test_characters};

static int no_method(attn2c_chat_work *work, int method, const chat_value *object) {
  return chat_refuse(work, "%s has no method %s", chat_type(object), names[method]);
}

static int of_text(attn2c_chat_work *work, int method, const chat_value *values, chat_value *made) {
  return of_texts[method] ? of_texts[method](work, method, values, made) : no_method(work, method, values);
}

static int of_dict(attn2c_chat_work *work, int method, const chat_value *values, chat_value *made) {
  const chat_dict *dict = values[0].as.dict;
  chat_list *list;
  if (method == CHAT_METHOD_GET) {
    const chat_value *found = chat_dict_find(work, dict, &values[1]);
    *made = found ? *found : values[2].kind == CHAT_MISSING ? chat_none() : values[2];
    return ATTN2C_OK;
  }
  if (method != CHAT_METHOD_ITEMS && method != CHAT_METHOD_KEYS && method != CHAT_METHOD_VALUES)
    return no_method(work, method, values);
  const chat_form form = method == CHAT_METHOD_ITEMS  ? CHAT_OF_ITEMS
                         : method == CHAT_METHOD_KEYS ? CHAT_OF_KEYS
                                                      : CHAT_OF_VALUES;
  const int status = chat_dict_view(work, dict, form, &list);
  if (status == ATTN2C_OK) *made = chat_of_list(list);
  return status;
}

static int of_list(attn2c_chat_work *work, int method, const chat_value *values, chat_value *made) {
  const chat_list *list = values[0].as.list;
  int64_t count = 0, first = -1;
  if ((method != CHAT_METHOD_COUNT && method != CHAT_METHOD_INDEX) ||
      (list->form > CHAT_OF_TUPLE && list->form != CHAT_OF_RANGE))
    return no_method(work, method, values);
  for (uint32_t i = 0; i < list->count; i++) {
    int equal, status = chat_equal(work, &list->items[i], &values[1], &equal);
    if (status != ATTN2C_OK) return status;
    if (equal && first < 0) first = i;
    count += equal;
  }
  if (method == CHAT_METHOD_INDEX && first < 0)
    return chat_refuse(work, "index: the value is not in the list");
  *made = chat_integer(method == CHAT_METHOD_COUNT ? count : first);
  return ATTN2C_OK;
}

int chat_method(attn2c_chat_work *work, int method, const chat_value *values, chat_value *made) {
  static method_function *const kinds[] = {
      [CHAT_STRING] = of_text, [CHAT_DICT] = of_dict, [CHAT_LIST] = of_list, [CHAT_MISSING] = NULL};
  const chat_value *object = &values[0];
  if (kinds[object->kind]) return kinds[object->kind](work, method, values, made);
  if (object->kind == CHAT_UNDEFINED)
    return chat_refuse(work, "\"%.*s\" is undefined; its method %s is called", chat_name_length(object),
                       object->as.text ? object->as.text : "", names[method]);
  if (object->kind != CHAT_LOOP || method != CHAT_METHOD_CYCLE) return no_method(work, method, object);
  const chat_list *list = values[1].as.list;
  if (values[1].kind != CHAT_LIST || list->count == 0) return chat_refuse(work, "loop.cycle needs values");
  *made = list->items[(object->as.loop->index - 1) % list->count];
  return ATTN2C_OK;
}
