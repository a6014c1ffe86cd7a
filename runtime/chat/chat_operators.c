/* chat_operators.c - arithmetic, indices, slices and attributes. */
#include "chat/chat_calls.h"
#include "text/unicode.h"

#include <math.h>

static int too_large(attn2c_chat_work *work) { return chat_refuse(work, "an integer beyond 64 bits"); }

/* Divides and rounds down, as Python. */
static int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }

static int calculate_integers(attn2c_chat_work *work, int step, int64_t a, int64_t b, chat_value *made) {
  int64_t result = 0;
  int fails = 0;
  if ((step == CHAT_STEP_FLOOR_DIVIDE || step == CHAT_STEP_REMAINDER) && b == 0)
    return chat_refuse(work, "a division by 0");
  if ((step == CHAT_STEP_FLOOR_DIVIDE || step == CHAT_STEP_REMAINDER) && b == -1)
    return made->kind = CHAT_INTEGER, made->as.integer = 0,
           step == CHAT_STEP_FLOOR_DIVIDE && __builtin_sub_overflow(0, a, &made->as.integer) ? too_large(work)
                                                                                             : ATTN2C_OK;
  if (step == CHAT_STEP_ADD)
    fails = __builtin_add_overflow(a, b, &result);
  else if (step == CHAT_STEP_SUBTRACT)
    fails = __builtin_sub_overflow(a, b, &result);
  else if (step == CHAT_STEP_MULTIPLY)
    fails = __builtin_mul_overflow(a, b, &result);
  else if (step == CHAT_STEP_FLOOR_DIVIDE)
    result = floor_divide(a, b);
  else if (step == CHAT_STEP_REMAINDER)
    result = a - floor_divide(a, b) * b;
  else
    for (result = 1; b > 0 && !fails && !(result == 1 && a == 1) && !(result == 0); b--)
      fails = __builtin_mul_overflow(result, a, &result) || chat_spend(work, 1) != ATTN2C_OK;
  if (fails) return too_large(work);
  *made = chat_integer(result);
  return ATTN2C_OK;
}

static int calculate_reals(attn2c_chat_work *work, int step, double a, double b, chat_value *made) {
  if ((step == CHAT_STEP_DIVIDE || step == CHAT_STEP_FLOOR_DIVIDE || step == CHAT_STEP_REMAINDER) && b == 0)
    return chat_refuse(work, "a division by 0");
  double result;
  switch (step) {
  case CHAT_STEP_ADD:
    result = a + b;
    break;
  case CHAT_STEP_SUBTRACT:
    result = a - b;
    break;
  case CHAT_STEP_MULTIPLY:
    result = a * b;
    break;
  case CHAT_STEP_DIVIDE:
    result = a / b;
    break;
  case CHAT_STEP_POWER:
    result = pow(a, b);
    break;
  default: {
    double rest = fmod(a, b);
    if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
    if (rest == 0) rest = copysign(0, b);
    double quotient = (a - rest) / b, whole = floor(quotient);
    if (quotient - whole > 0.5) whole += 1;
    result = step == CHAT_STEP_REMAINDER ? rest : quotient != 0 ? whole : copysign(0, a / b);
  }
  }
  *made = chat_real(result);
  return ATTN2C_OK;
}

static int join_lists(attn2c_chat_work *work, const chat_list *a, const chat_list *b, chat_value *made) {
  chat_list *list;
  ATTN2C_TRY(chat_list_make(work, a->form, (size_t)a->count + b->count, &list));
  ATTN2C_TRY(chat_spend(work, (uint64_t)a->count + b->count));
  if (a->count) memcpy(list->items, a->items, a->count * sizeof *a->items);
  if (b->count) memcpy(list->items + a->count, b->items, b->count * sizeof *b->items);
  list->count = a->count + b->count;
  *made = chat_of_list(list);
  return ATTN2C_OK;
}

/* A text or a list, several times. */
static int repeat(attn2c_chat_work *work, const chat_value *value, int64_t times, chat_value *made) {
  int64_t count = times < 0 ? 0 : times;
  uint64_t each = value->kind == CHAT_STRING ? value->length : value->as.list->count;
  if (count && each && (uint64_t)count > UINT32_MAX / 64 / each)
    return chat_refuse(work, "a repetition is too long");
  if (value->kind == CHAT_STRING) {
    char *text;
    int status = chat_allocate_text(work, (size_t)(each * (uint64_t)count), &text);
    for (int64_t i = 0; i < count && each && status == ATTN2C_OK; i++)
      memcpy(text + (uint64_t)i * each, value->as.text, each), status = chat_spend(work, 1);
    if (status == ATTN2C_OK) *made = chat_string(text, (size_t)(each * (uint64_t)count));
    return status;
  }
  chat_list *list;
  ATTN2C_TRY(chat_list_make(work, value->as.list->form, (size_t)(each * (uint64_t)count), &list));
  for (int64_t i = 0; i < count && each; i++)
    for (uint64_t k = 0; k < each; k++) ATTN2C_TRY(chat_list_add(work, list, value->as.list->items[k]));
  *made = chat_of_list(list);
  return ATTN2C_OK;
}

/* One conversion of a format; the text that is written receives it. */
static int write_conversion(attn2c_chat_work *work, char letter, const chat_value *value) {
  if (letter == 's') return chat_print(work, value);
  if (!chat_is_number(value)) return chat_refuse(work, "%%%c of %s in a format", letter, chat_type(value));
  chat_value whole = chat_integer(value->as.integer);
  if (value->kind == CHAT_REAL) {
    if (!(fabs(value->as.real) < 9e18)) return too_large(work);
    whole = chat_integer((int64_t)value->as.real);
  }
  return chat_print(work, &whole);
}

/* "%s of %d" % values */
static int format(attn2c_chat_work *work, const chat_value *text, const chat_value *values,
                  chat_value *made) {
  const chat_list *list =
      values->kind == CHAT_LIST && values->as.list->form == CHAT_OF_TUPLE ? values->as.list : NULL;
  size_t mark = work->output.length, from = 0;
  uint32_t used = 0, count = list ? list->count : 1;
  int status = ATTN2C_OK;
  for (size_t at = 0; at < text->length && status == ATTN2C_OK; at++) {
    if (text->as.text[at] != '%') continue;
    status = chat_write(work, text->as.text + from, at - from);
    char letter = at + 1 < text->length ? text->as.text[at + 1] : 0;
    from = ++at + 1;
    if (status != ATTN2C_OK) break;
    if (letter == '%') {
      status = chat_write(work, "%", 1);
    } else if (letter != 's' && letter != 'd' && letter != 'i') {
      return chat_refuse(work, "a format has %%s, %%d, %%i and %%%%; others are not supported");
    } else if (used == count) {
      return chat_refuse(work, "a format has more places than values");
    } else {
      status = write_conversion(work, letter, list ? &list->items[used] : values);
      used++;
    }
  }
  if (status == ATTN2C_OK && from < text->length)
    status = chat_write(work, text->as.text + from, text->length - from);
  if (status != ATTN2C_OK) return status;
  if (used < count && values->kind != CHAT_DICT && values->kind != CHAT_LIST)
    return chat_refuse(work, "a format has fewer places than values");
  if (used < count && list) return chat_refuse(work, "a format has fewer places than values");
  return chat_take(work, mark, made);
}

static const char *symbol_of(int step) {
  static const char *const symbols[] = {"+", "-", "*", "/", "//", "%", "**"};
  return symbols[step - CHAT_STEP_ADD];
}

int chat_calculate(attn2c_chat_work *work, int step, const chat_value *a, const chat_value *b,
                   chat_value *made) {
  if (chat_is_whole(a) && chat_is_whole(b) && step != CHAT_STEP_DIVIDE &&
      !(step == CHAT_STEP_POWER && b->as.integer < 0))
    return calculate_integers(work, step, a->as.integer, b->as.integer, made);
  if (chat_is_number(a) && chat_is_number(b)) {
    if (step == CHAT_STEP_POWER && (chat_number(a) < 0 || (chat_number(a) == 0 && chat_number(b) < 0)))
      return chat_refuse(work, "this power is not supported");
    return calculate_reals(work, step, chat_number(a), chat_number(b), made);
  }
  if (step == CHAT_STEP_ADD && a->kind == CHAT_STRING && b->kind == CHAT_STRING)
    return chat_join_two(work, a, b, made);
  int has_list = a->kind == CHAT_LIST && a->as.list->form <= CHAT_OF_TUPLE;
  if (step == CHAT_STEP_ADD && has_list && b->kind == CHAT_LIST && a->as.list->form == b->as.list->form)
    return join_lists(work, a->as.list, b->as.list, made);
  if (step == CHAT_STEP_MULTIPLY && (a->kind == CHAT_STRING || has_list) && chat_is_whole(b))
    return repeat(work, a, b->as.integer, made);
  if (step == CHAT_STEP_MULTIPLY && chat_is_whole(a) &&
      (b->kind == CHAT_STRING || (b->kind == CHAT_LIST && b->as.list->form <= CHAT_OF_TUPLE)))
    return repeat(work, b, a->as.integer, made);
  if (step == CHAT_STEP_REMAINDER && a->kind == CHAT_STRING) return format(work, a, b, made);
  const chat_value *undefined = a->kind == CHAT_UNDEFINED ? a : b->kind == CHAT_UNDEFINED ? b : NULL;
  if (undefined)
    return chat_refuse(work, "%s with \"%.*s\", which is undefined", symbol_of(step),
                       chat_name_length(undefined), undefined->as.text ? undefined->as.text : "");
  return chat_refuse(work, "%s does not go with %s and %s", symbol_of(step), chat_type(a), chat_type(b));
}

int chat_sign(attn2c_chat_work *work, int step, const chat_value *value, chat_value *made) {
  if (!chat_is_number(value)) return chat_refuse(work, "a sign before %s", chat_type(value));
  if (value->kind == CHAT_REAL)
    return *made = chat_real(step == CHAT_STEP_NEGATIVE ? -value->as.real : value->as.real), ATTN2C_OK;
  if (step == CHAT_STEP_NEGATIVE && value->as.integer == INT64_MIN) return too_large(work);
  *made = chat_integer(step == CHAT_STEP_NEGATIVE ? -value->as.integer : value->as.integer);
  return ATTN2C_OK;
}

int chat_concatenate(attn2c_chat_work *work, const chat_value *values, size_t count, chat_value *made) {
  *made = chat_string("", 0);
  for (size_t i = 0; i < count; i++) {
    chat_value text;
    ATTN2C_TRY(chat_text_of(work, &values[i], &text));
    ATTN2C_TRY(chat_join_two(work, made, &text, made));
  }
  return ATTN2C_OK;
}

int64_t chat_length(const chat_value *value) {
  switch (value->kind) {
  case CHAT_STRING:
    return (int64_t)chat_count(value);
  case CHAT_LIST:
    return value->as.list->count;
  case CHAT_DICT:
    return value->as.dict->count;
  case CHAT_LOOP:
    return value->as.loop->list->count;
  case CHAT_UNDEFINED:
    return 0;
  default:
    return -1;
  }
}

static int undefined_object(attn2c_chat_work *work, const chat_value *object, const chat_value *key) {
  const char *name = object->as.text ? object->as.text : "";
  if (key->kind == CHAT_STRING)
    return chat_refuse(work, "\"%.*s\" is undefined; its \"%.*s\" is asked for", chat_name_length(object),
                       name, chat_name_length(key), key->as.text);
  return chat_refuse(work, "\"%.*s\" is undefined; an item of it is asked for", chat_name_length(object),
                     name);
}

/* True if object[index] is by number: a text, a list, a tuple or a range. */
static int is_indexed(const chat_value *object) {
  return object->kind == CHAT_STRING ||
         (object->kind == CHAT_LIST &&
          (object->as.list->form <= CHAT_OF_TUPLE || object->as.list->form == CHAT_OF_RANGE));
}

/* The names that Python's types have as attributes and that templates could mean as items. */
static int has_method(const chat_value *object, const chat_value *name) {
  static const char *const of_dicts[] = {"clear", "copy",    "fromkeys",   "get",    "items", "keys",
                                         "pop",   "popitem", "setdefault", "update", "values"};
  static const char *const of_lists[] = {"append", "clear", "copy",   "count",   "extend", "index",
                                         "insert", "pop",   "remove", "reverse", "sort"};
  static const char *const of_texts[] = {
      "capitalize", "casefold",     "center",       "count",   "encode",     "endswith",    "expandtabs",
      "find",       "format",       "format_map",   "index",   "isalnum",    "isalpha",     "isascii",
      "isdecimal",  "isdigit",      "isidentifier", "islower", "isnumeric",  "isprintable", "isspace",
      "istitle",    "isupper",      "join",         "ljust",   "lower",      "lstrip",      "maketrans",
      "partition",  "removeprefix", "removesuffix", "replace", "rfind",      "rindex",      "rjust",
      "rpartition", "rsplit",       "rstrip",       "split",   "splitlines", "startswith",  "strip",
      "swapcase",   "title",        "translate",    "upper",   "zfill"};
  static const char *const of_numbers[] = {
      "as_integer_ratio", "bit_count", "bit_length", "conjugate", "denominator",
      "from_bytes",       "fromhex",   "hex",        "imag",      "is_integer",
      "numerator",        "real",      "to_bytes"};
#define NAMES(list) list, sizeof list / sizeof list[0]
  static const struct {
    const char *const *names;
    size_t count;
  } lists[] = {[CHAT_BOOLEAN] = {NAMES(of_numbers)},
               [CHAT_INTEGER] = {NAMES(of_numbers)},
               [CHAT_REAL] = {NAMES(of_numbers)},
               [CHAT_STRING] = {NAMES(of_texts)},
               [CHAT_LIST] = {NAMES(of_lists)},
               [CHAT_DICT] = {NAMES(of_dicts)},
               [CHAT_MISSING] = {NULL, 0}};
  for (size_t i = 0; i < lists[object->kind].count; i++)
    if (chat_is_text(name, lists[object->kind].names[i])) return 1;
  return 0;
}

int chat_item(attn2c_chat_work *work, const chat_value *object, const chat_value *key, chat_value *made) {
  if (object->kind == CHAT_UNDEFINED) return undefined_object(work, object, key);
  *made = key->kind == CHAT_STRING ? chat_undefined(key->as.text, key->length) : chat_undefined("an item", 7);
  if (object->kind == CHAT_DICT) {
    const chat_value *found = chat_dict_find(work, object->as.dict, key);
    if (found) return *made = *found, ATTN2C_OK;
  } else if (is_indexed(object) && chat_is_whole(key)) {
    int64_t count = chat_length(object),
            index = key->as.integer < 0 ? key->as.integer + count : key->as.integer;
    int status = object->kind == CHAT_STRING ? chat_spend(work, object->length / 4) : ATTN2C_OK;
    if (status != ATTN2C_OK || index < 0 || index >= count) return status;
    if (object->kind == CHAT_LIST) return *made = object->as.list->items[index], ATTN2C_OK;
    size_t at = chat_byte_of(object, (size_t)index), width;
    text_read((const uint8_t *)object->as.text + at, &width);
    *made = chat_string(object->as.text + at, width);
    return ATTN2C_OK;
  }
  if (key->kind == CHAT_STRING && (object->kind == CHAT_NAMESPACE || object->kind == CHAT_LOOP))
    return chat_attribute(work, object, key, made);
  if (key->kind == CHAT_STRING && has_method(object, key))
    return chat_refuse(work, "the method \"%.*s\" of %s is not called", chat_name_length(key), key->as.text,
                       chat_type(object));
  return ATTN2C_OK;
}

static int loop_attribute(attn2c_chat_work *work, const chat_loop *loop, const chat_value *name,
                          chat_value *made) {
  const int64_t index = loop->index, count = loop->list->count;
  const chat_value *items = loop->list->items;
  const struct {
    const char *name;
    chat_value value;
  } attributes[] = {{"index", chat_integer(index)},
                    {"index0", chat_integer(index - 1)},
                    {"first", chat_boolean(index == 1)},
                    {"last", chat_boolean(index == count)},
                    {"length", chat_integer(count)},
                    {"revindex", chat_integer(count - index + 1)},
                    {"revindex0", chat_integer(count - index)},
                    {"previtem", index > 1 ? items[index - 2] : chat_undefined("previtem", 8)},
                    {"nextitem", index < count ? items[index] : chat_undefined("nextitem", 8)},
                    {"depth", chat_integer(1)},
                    {"depth0", chat_integer(0)}};
  *made = chat_undefined(name->as.text, name->length);
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
    if (chat_is_text(name, attributes[i].name)) *made = attributes[i].value;
  if (chat_is_text(name, "cycle") || chat_is_text(name, "changed"))
    return chat_refuse(work, "\"%.*s\" of loop is not called", chat_name_length(name), name->as.text);
  return ATTN2C_OK;
}

int chat_attribute(attn2c_chat_work *work, const chat_value *object, const chat_value *name,
                   chat_value *made) {
  if (object->kind == CHAT_UNDEFINED) return undefined_object(work, object, name);
  if (object->kind == CHAT_LOOP) return loop_attribute(work, object->as.loop, name, made);
  if (has_method(object, name))
    return chat_refuse(work, "the method \"%.*s\" of %s is not called", chat_name_length(name), name->as.text,
                       chat_type(object));
  *made = chat_undefined(name->as.text, name->length);
  if (object->kind == CHAT_DICT || object->kind == CHAT_NAMESPACE) {
    const chat_value *found = chat_dict_find(work, object->as.dict, name);
    if (found) *made = *found;
    return ATTN2C_OK;
  }
  if (object->kind == CHAT_MACRO || object->kind == CHAT_FUNCTION)
    return chat_refuse(work, "\"%.*s\" of %s is not supported", chat_name_length(name), name->as.text,
                       chat_type(object));
  return ATTN2C_OK;
}

/* Reads a part of a slice as Python clips it. */
static int64_t clip(const chat_value *part, int64_t count, int64_t step, int is_start) {
  if (part->kind == CHAT_NONE)
    return (step > 0) == is_start ? (step > 0 ? 0 : -1) : step > 0 ? count : count - 1;
  int64_t at = part->as.integer;
  if (at < 0) at = at + count < 0 ? (step < 0 ? -1 : 0) : at + count;
  return at >= count ? (step < 0 ? count - 1 : count) : at;
}

int chat_slice(attn2c_chat_work *work, const chat_value *object, const chat_value parts[3],
               chat_value *made) {
  if (object->kind == CHAT_UNDEFINED) return undefined_object(work, object, &parts[0]);
  if (!is_indexed(object)) return chat_refuse(work, "%s has no slices", chat_type(object));
  for (int i = 0; i < 3; i++)
    if (parts[i].kind != CHAT_NONE && !chat_is_whole(&parts[i]))
      return chat_refuse(work, "a slice by %s", chat_type(&parts[i]));
  int64_t step = parts[2].kind == CHAT_NONE ? 1 : parts[2].as.integer, count = chat_length(object);
  if (step == 0) return chat_refuse(work, "the step of a slice is 0");
  if (step < -count - 1) step = -count - 1;
  if (step > count + 1) step = count + 1;
  int64_t start = clip(&parts[0], count, step, 1), stop = clip(&parts[1], count, step, 0);
  if (object->kind == CHAT_STRING && step == 1) {
    size_t from = chat_byte_of(object, (size_t)start),
           to = stop > start ? chat_byte_of(object, (size_t)stop) : from;
    *made = chat_string(object->as.text + from, to - from);
    return chat_spend(work, object->length / 4 + 1);
  }
  chat_list *characters, *list;
  ATTN2C_TRY(chat_iterate(work, *object, &characters));
  ATTN2C_TRY(chat_list_make(work, CHAT_OF_LIST, 0, &list));
  for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step)
    ATTN2C_TRY(chat_list_add(work, list, characters->items[i]));
  if (object->kind == CHAT_STRING) return chat_concatenate(work, list->items, list->count, made);
  list->form = object->as.list->form;
  *made = chat_of_list(list);
  return ATTN2C_OK;
}
