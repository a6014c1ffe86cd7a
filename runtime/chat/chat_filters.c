/* chat_filters.c - the filters of chat templates. */
#include "chat/chat_calls.h"

#include <math.h>

static const char *const names[] = {CHAT_FILTER_ROWS(CHAT_NAME)};

int chat_filter_arguments(int filter, int inner) {
  static const uint8_t counts[] = {CHAT_FILTER_ROWS(CHAT_COUNT)};
  if (filter < 0 || filter >= (int)sizeof counts) return -1;
  if (filter == CHAT_FILTER_MAP)
    return inner == CHAT_FILTER_MAP || inner >= CHAT_FILTER_SELECT ? -1 : chat_filter_arguments(inner, 0);
  int more = filter >= CHAT_FILTER_SELECT ? chat_test_arguments(inner) : 0;
  return more < 0 ? -1 : counts[filter] + more;
}

static int wrong_value(attn2c_chat_work *work, int filter, const chat_value *value) {
  return chat_refuse(work, "the filter %s does not take %s", names[filter], chat_type(value));
}

static int filter_abs(attn2c_chat_work *work, int filter, const chat_value *value, chat_value *made) {
  if (!chat_is_number(value)) return wrong_value(work, filter, value);
  if (value->kind == CHAT_REAL) return *made = chat_real(fabs(value->as.real)), ATTN2C_OK;
  *made = chat_integer(value->as.integer);
  return value->as.integer < 0 ? chat_sign(work, CHAT_STEP_NEGATIVE, value, made) : ATTN2C_OK;
}

static int filter_default(attn2c_chat_work *work, int filter, const chat_value *values, chat_value *made) {
  (void)work, (void)filter;
  int falls = values[0].kind == CHAT_UNDEFINED || values[0].kind == CHAT_MISSING ||
              (chat_is_true(&values[2]) && !chat_is_true(&values[0]));
  *made = !falls ? values[0] : values[1].kind == CHAT_MISSING ? chat_string("", 0) : values[1];
  return ATTN2C_OK;
}

/* attr: an attribute, never an item. */
static int filter_attr(attn2c_chat_work *work, int filter, const chat_value *values, chat_value *made) {
  chat_value object = values[0];
  if (values[1].kind != CHAT_STRING) return wrong_value(work, filter, &values[1]);
  chat_dict none = {0};
  if (object.kind == CHAT_DICT) object.as.dict = &none;
  return chat_attribute(work, &object, &values[1], made);
}

static int filter_ends(attn2c_chat_work *work, int filter, const chat_value *value, chat_value *made) {
  chat_list *list;
  *made = chat_undefined(names[filter], strlen(names[filter]));
  if (filter == CHAT_FILTER_LAST && value->kind == CHAT_ITERATOR) return wrong_value(work, filter, value);
  if (filter == CHAT_FILTER_FIRST && value->kind == CHAT_ITERATOR) {
    chat_list *from = value->as.list;
    if (from->read < from->count) *made = from->items[from->read++];
    return ATTN2C_OK;
  }
  ATTN2C_TRY(chat_iterate(work, *value, &list));
  if (list->count) *made = list->items[filter == CHAT_FILTER_FIRST ? 0 : list->count - 1];
  return ATTN2C_OK;
}

static int filter_float(attn2c_chat_work *work, int filter, const chat_value *values, chat_value *made) {
  double real;
  if (values[0].kind == CHAT_UNDEFINED) return wrong_value(work, filter, &values[0]);
  if (chat_is_number(&values[0]))
    *made = chat_real(chat_number(&values[0]));
  else if (values[0].kind == CHAT_STRING && chat_read_real(&values[0], &real))
    *made = chat_real(real);
  else
    *made = values[1].kind == CHAT_MISSING ? chat_real(0) : values[1];
  return ATTN2C_OK;
}

static int filter_int(attn2c_chat_work *work, int filter, const chat_value *values, chat_value *made) {
  const chat_value *value = &values[0];
  int64_t whole;
  double real;
  if (values[2].kind != CHAT_MISSING && !(values[2].kind == CHAT_INTEGER && values[2].as.integer == 10))
    return chat_refuse(work, "int with another base than 10 is not supported");
  if (value->kind == CHAT_UNDEFINED) return wrong_value(work, filter, value);
  *made = values[1].kind == CHAT_MISSING ? chat_integer(0) : values[1];
  if (chat_is_whole(value)) return *made = chat_integer(value->as.integer), ATTN2C_OK;
  if (value->kind == CHAT_STRING && chat_read_integer(value, 10, &whole))
    return *made = chat_integer(whole), ATTN2C_OK;
  int has_real = value->kind == CHAT_STRING ? chat_read_real(value, &real) : value->kind == CHAT_REAL;
  if (value->kind == CHAT_REAL) real = value->as.real;
  if (!has_real || !isfinite(real)) return ATTN2C_OK;
  if (fabs(real) >= 9.2e18) return chat_refuse(work, "an integer beyond 64 bits");
  *made = chat_integer((int64_t)real);
  return ATTN2C_OK;
}

static int filter_indent(attn2c_chat_work *work, int filter, const chat_value *values, chat_value *made) {
  chat_value lines, spaces = values[1];
  size_t mark = work->output.length;
  if (values[0].kind != CHAT_STRING) return wrong_value(work, filter, &values[0]);
  if (spaces.kind == CHAT_MISSING) spaces = chat_integer(4);
  const chat_value space = CHAT_WORD(" "), newline = CHAT_WORD("\n");
  int status = spaces.kind == CHAT_STRING
                   ? ATTN2C_OK
                   : chat_calculate(work, CHAT_STEP_MULTIPLY, &space, &spaces, &spaces);
  chat_value text;
  if (status == ATTN2C_OK) status = chat_join_two(work, &values[0], &newline, &text);
  if (status == ATTN2C_OK) status = chat_split_lines(work, &text, 0, &lines);
  if (status == ATTN2C_OK && chat_is_true(&values[2])) status = chat_print(work, &spaces);
  for (uint32_t i = 0; status == ATTN2C_OK && i < lines.as.list->count; i++) {
    const chat_value *line = &lines.as.list->items[i];
    if (i) status = chat_write(work, "\n", 1);
    if (i && status == ATTN2C_OK && (line->length || chat_is_true(&values[3])))
      status = chat_print(work, &spaces);
    if (status == ATTN2C_OK) status = chat_print(work, line);
  }
  return status == ATTN2C_OK ? chat_take(work, mark, made) : status;
}

/* Finds an attribute such as "a.b.0" as items of items. */
static int find_attribute(attn2c_chat_work *work, const chat_value *object, const chat_value *path,
                          const chat_value *otherwise, chat_value *made) {
  chat_value parts, dot = CHAT_WORD("."), at = *object;
  if (path->kind != CHAT_STRING) {
    ATTN2C_TRY(chat_item(work, object, path, &at));
  } else {
    ATTN2C_TRY(chat_split(work, path, &dot, -1, 0, &parts));
    for (uint32_t i = 0; i < parts.as.list->count; i++) {
      int64_t index;
      chat_value key = parts.as.list->items[i], found;
      if (key.length && strspn(key.as.text, "0123456789") >= key.length &&
          chat_read_integer(&key, 10, &index))
        key = chat_integer(index);
      ATTN2C_TRY(chat_item(work, &at, &key, &found));
      at = found;
      if (at.kind == CHAT_UNDEFINED && otherwise && otherwise->kind != CHAT_MISSING &&
          otherwise->kind != CHAT_NONE)
        at = *otherwise;
    }
  }
  *made = at;
  return ATTN2C_OK;
}

static int filter_join(attn2c_chat_work *work, int filter, const chat_value *values, chat_value *made) {
  (void)filter;
  chat_list *list;
  size_t mark = work->output.length;
  int status = chat_iterate(work, values[0], &list);
  for (uint32_t i = 0; status == ATTN2C_OK && i < list->count; i++) {
    chat_value item = list->items[i];
    if (values[2].kind != CHAT_MISSING && values[2].kind != CHAT_NONE)
      status = find_attribute(work, &list->items[i], &values[2], NULL, &item);
    if (status == ATTN2C_OK && i) status = chat_print(work, &values[1]);
    if (status == ATTN2C_OK) status = chat_print(work, &item);
  }
  return status == ATTN2C_OK ? chat_take(work, mark, made) : status;
}

static int filter_length(attn2c_chat_work *work, int filter, const chat_value *value, chat_value *made) {
  int64_t length = chat_length(value);
  if (length < 0) return wrong_value(work, filter, value);
  *made = chat_integer(length);
  return chat_spend(work, value->kind == CHAT_STRING ? value->length / 8 : 1);
}

/* list, and a copy of it in reverse order. */
static int filter_list(attn2c_chat_work *work, int filter, const chat_value *value, chat_value *made) {
  chat_list *list, *copy;
  ATTN2C_TRY(chat_iterate(work, *value, &list));
  ATTN2C_TRY(chat_list_make(work, CHAT_OF_LIST, list->count, &copy));
  for (uint32_t i = 0; i < list->count; i++)
    ATTN2C_TRY(chat_list_add(work, copy, list->items[filter == CHAT_FILTER_LIST ? i : list->count - 1 - i]));
  *made = chat_of_list(copy);
  if (filter == CHAT_FILTER_LIST) return ATTN2C_OK;
  if (value->kind == CHAT_STRING) return chat_concatenate(work, copy->items, copy->count, made);
  if (value->kind != CHAT_ITERATOR) *made = chat_iterator(copy);
  return ATTN2C_OK;
}

static int filter_items(attn2c_chat_work *work, int filter, const chat_value *value, chat_value *made) {
  chat_list *list;
  if (value->kind != CHAT_DICT && value->kind != CHAT_UNDEFINED) return wrong_value(work, filter, value);
  ATTN2C_TRY(value->kind == CHAT_DICT ? chat_dict_view(work, value->as.dict, CHAT_OF_ITEMS, &list)
                                      : chat_list_make(work, CHAT_OF_LIST, 0, &list));
  *made = chat_iterator(list);
  return ATTN2C_OK;
}

/* min and max, without regard to case. */
static int filter_extreme(attn2c_chat_work *work, int filter, const chat_value *value, chat_value *made) {
  chat_list *list;
  chat_value best = {.kind = CHAT_NONE}, key;
  int status = chat_iterate(work, *value, &list), order;
  *made = chat_undefined(names[filter], 3);
  for (uint32_t i = 0; status == ATTN2C_OK && i < list->count; i++) {
    status = chat_sort_key(work, &list->items[i], 0, &key);
    if (status == ATTN2C_OK && i > 0) {
      status = chat_order(work, &key, &best, &order);
      if (order == 2 || (filter == CHAT_FILTER_MIN ? order >= 0 : order <= 0)) continue;
    }
    best = key, *made = list->items[i];
  }
  return status;
}

static int filter_replace(attn2c_chat_work *work, int filter, const chat_value *values, chat_value *made) {
  chat_value texts[3];
  int64_t most = -1;
  for (int i = 0; i < 3; i++) ATTN2C_TRY(chat_text_of(work, &values[i], &texts[i]));
  if (values[3].kind != CHAT_MISSING && values[3].kind != CHAT_NONE) {
    if (!chat_is_whole(&values[3])) return wrong_value(work, filter, &values[3]);
    most = values[3].as.integer;
  }
  return chat_replace(work, &texts[0], &texts[1], &texts[2], most, made);
}

static int filter_round(attn2c_chat_work *work, int filter, const chat_value *values, chat_value *made) {
  const chat_value *value = &values[0];
  int64_t precision = values[1].kind == CHAT_MISSING ? 0 : values[1].as.integer;
  if (!chat_is_number(value)) return wrong_value(work, filter, value);
  if ((values[1].kind != CHAT_MISSING && !chat_is_whole(&values[1])) || precision < 0 || precision > 15)
    return chat_refuse(work, "round: a precision from 0 to 15 is supported");
  if (values[2].kind == CHAT_MISSING || chat_is_text(&values[2], "common")) {
    char text[400];
    if (chat_is_whole(value)) return *made = chat_integer(value->as.integer), ATTN2C_OK;
    snprintf(text, sizeof text, "%.*f", (int)precision, value->as.real);
    *made = chat_real(isfinite(value->as.real) ? strtod(text, NULL) : value->as.real);
    return ATTN2C_OK;
  }
  double factor = pow(10, (double)precision), scaled = chat_number(value) * factor;
  if (chat_is_text(&values[2], "ceil"))
    *made = chat_real(ceil(scaled) / factor);
  else if (chat_is_text(&values[2], "floor"))
    *made = chat_real(floor(scaled) / factor);
  else
    return chat_refuse(work, "round: the method is \"common\", \"ceil\" or \"floor\"");
  return ATTN2C_OK;
}

static int filter_sum(attn2c_chat_work *work, int filter, const chat_value *value, chat_value *made) {
  (void)filter;
  chat_list *list;
  int status = chat_iterate(work, *value, &list);
  chat_value sum = chat_integer(0);
  for (uint32_t i = 0; status == ATTN2C_OK && i < list->count; i++)
    status = chat_calculate(work, CHAT_STEP_ADD, &sum, &list->items[i], &sum);
  *made = sum;
  return status;
}

static int filter_unique(attn2c_chat_work *work, int filter, const chat_value *value, chat_value *made) {
  (void)filter;
  chat_list *list, *kept, *keys;
  int status = chat_iterate(work, *value, &list);
  if (status == ATTN2C_OK) status = chat_list_make(work, CHAT_OF_LIST, 0, &kept);
  if (status == ATTN2C_OK) status = chat_list_make(work, CHAT_OF_LIST, 0, &keys);
  for (uint32_t i = 0; status == ATTN2C_OK && i < list->count; i++) {
    chat_value key, all;
    int found = 0;
    status = chat_sort_key(work, &list->items[i], 0, &key);
    all = chat_of_list(keys);
    if (status == ATTN2C_OK) status = chat_contains(work, &all, &key, &found);
    if (status == ATTN2C_OK && !found) status = chat_list_add(work, keys, key);
    if (status == ATTN2C_OK && !found) status = chat_list_add(work, kept, list->items[i]);
  }
  if (status == ATTN2C_OK) *made = chat_iterator(kept);
  return status;
}

static int filter_json(attn2c_chat_work *work, int filter, const chat_value *values, chat_value *made) {
  (void)filter;
  const chat_value space = CHAT_WORD(" ");
  chat_json how = {.is_ascii = chat_is_true(&values[1]),
                   .sorts = chat_is_true(&values[4]),
                   .indent = chat_none(),
                   .item = CHAT_WORD(", "),
                   .key = CHAT_WORD(": ")};
  if (values[2].kind == CHAT_STRING) {
    how.indent = values[2];
  } else if (values[2].kind != CHAT_MISSING && values[2].kind != CHAT_NONE) {
    ATTN2C_TRY(chat_calculate(work, CHAT_STEP_MULTIPLY, &space, &values[2], &how.indent));
  }
  if (how.indent.kind != CHAT_NONE) how.item = CHAT_WORD(",");
  if (values[3].kind == CHAT_LIST) {
    const chat_list *list = values[3].as.list;
    if (list->count != 2 || list->items[0].kind != CHAT_STRING || list->items[1].kind != CHAT_STRING)
      return chat_refuse(work, "tojson: separators are two texts");
    how.item = list->items[0], how.key = list->items[1];
  }
  return chat_to_json(work, &values[0], &how, made);
}

/* map, and select and its like: their results are generators. */
static int filter_each(attn2c_chat_work *work, int filter, int inner, const chat_value *values,
                       chat_value *made) {
  chat_list *list, *kept;
  chat_value arguments[8];
  int by_attribute = filter == CHAT_FILTER_SELECTATTR || filter == CHAT_FILTER_REJECTATTR;
  int rejects = filter == CHAT_FILTER_REJECT || filter == CHAT_FILTER_REJECTATTR;
  int count = chat_filter_arguments(filter, inner) - by_attribute;
  for (int i = 1; i <= count && i < 8; i++) arguments[i] = values[i + by_attribute];
  /* Jinja looks at items only if the value is true. */
  int status = chat_iterate(work, chat_is_true(values) ? values[0] : chat_undefined("", 0), &list);
  if (status == ATTN2C_OK) status = chat_list_make(work, CHAT_OF_LIST, 0, &kept);
  for (uint32_t i = 0; status == ATTN2C_OK && i < list->count; i++) {
    chat_value item = list->items[i];
    int is = 1;
    if (filter == CHAT_FILTER_MAP_ATTRIBUTE) {
      status = find_attribute(work, &list->items[i], &values[1], &values[2], &item);
    } else if (filter == CHAT_FILTER_MAP) {
      arguments[0] = item;
      status = chat_filter(work, inner, 0, arguments, &item);
    } else {
      arguments[0] = item;
      if (by_attribute) status = find_attribute(work, &list->items[i], &values[1], NULL, &arguments[0]);
      if (status == ATTN2C_OK) status = chat_test(work, inner, arguments, &is);
      is = is != rejects;
    }
    if (status == ATTN2C_OK && is) status = chat_list_add(work, kept, item);
  }
  if (status == ATTN2C_OK) *made = chat_iterator(kept);
  return status;
}

/* Filters that take the text of any value. */
static int filter_text(attn2c_chat_work *work, int filter, const chat_value *values, chat_value *made) {
  static const chat_case cases[CHAT_FILTERS] = {[CHAT_FILTER_CAPITALIZE] = CHAT_CAPITALIZE,
                                                [CHAT_FILTER_LOWER] = CHAT_LOWER,
                                                [CHAT_FILTER_UPPER] = CHAT_UPPER,
                                                [CHAT_FILTER_TITLE] = CHAT_TITLE_FILTER};
  chat_value text;
  ATTN2C_TRY(chat_text_of(work, &values[0], &text));
  if (filter == CHAT_FILTER_TRIM) return chat_strip(work, &text, &values[1], CHAT_LEFT | CHAT_RIGHT, made);
  if (filter != CHAT_FILTER_SAFE && filter != CHAT_FILTER_STRING)
    return chat_change_case(work, &text, cases[filter], made);
  *made = text;
  if (filter == CHAT_FILTER_SAFE) made->is_markup = 1;
  return ATTN2C_OK;
}

/* Filters whose arguments are all values. The others have an inner filter or test. */
typedef int filter_function(attn2c_chat_work *work, int filter, const chat_value *values, chat_value *made);

static filter_function *const filters[CHAT_FILTERS] = {
    [CHAT_FILTER_ABS] = filter_abs,          [CHAT_FILTER_ATTR] = filter_attr,
    [CHAT_FILTER_CAPITALIZE] = filter_text,  [CHAT_FILTER_DEFAULT] = filter_default,
    [CHAT_FILTER_DICTSORT] = chat_sort_dict, [CHAT_FILTER_FIRST] = filter_ends,
    [CHAT_FILTER_FLOAT] = filter_float,      [CHAT_FILTER_INDENT] = filter_indent,
    [CHAT_FILTER_INT] = filter_int,          [CHAT_FILTER_ITEMS] = filter_items,
    [CHAT_FILTER_JOIN] = filter_join,        [CHAT_FILTER_LAST] = filter_ends,
    [CHAT_FILTER_LENGTH] = filter_length,    [CHAT_FILTER_LIST] = filter_list,
    [CHAT_FILTER_LOWER] = filter_text,       [CHAT_FILTER_MAX] = filter_extreme,
    [CHAT_FILTER_MIN] = filter_extreme,      [CHAT_FILTER_REPLACE] = filter_replace,
    [CHAT_FILTER_REVERSE] = filter_list,     [CHAT_FILTER_ROUND] = filter_round,
    [CHAT_FILTER_SAFE] = filter_text,        [CHAT_FILTER_SORT] = chat_sort_list,
    [CHAT_FILTER_STRING] = filter_text,      [CHAT_FILTER_SUM] = filter_sum,
    [CHAT_FILTER_TITLE] = filter_text,       [CHAT_FILTER_TOJSON] = filter_json,
    [CHAT_FILTER_TRIM] = filter_text,        [CHAT_FILTER_UNIQUE] = filter_unique,
    [CHAT_FILTER_UPPER] = filter_text};

int chat_filter(attn2c_chat_work *work, int filter, int inner, const chat_value *values, chat_value *made) {
  ATTN2C_TRY(chat_spend(work, 4));
  return filters[filter] ? filters[filter](work, filter, values, made)
                         : filter_each(work, filter, inner, values, made);
}
