/* chat_run.c - interprets the steps of a chat template. Values are on a stack; variables have slots, the
 * slots of the template first, then of the macros that run. */
#include "chat/chat_calls.h"
#include "base/utf8.h"

#define LENGTH(list) (sizeof(list) / sizeof(list)[0])

/* Bytes of values: for any chat, and for each byte of the caller's. */
#define MEMORY_LEAST ((size_t)64 << 20)
#define MEMORY_BYTE  256u

/* Most items of range(), as in Jinja's sandbox. */
#define LONGEST_RANGE 100000

static int damaged(attn2c_chat_work *work) {
  return chat_refuse(work, "the tables of the template are damaged");
}

static int push(attn2c_chat_work *work, chat_value value) {
  if (work->depth == work->stack_capacity) {
    if (work->depth >= (1u << 20)) return chat_refuse(work, "too many values at a time");
    ATTN2C_TRY(attn2c_grow((void **)&work->stack, &work->stack_capacity, work->depth + 1, sizeof value));
  }
  work->stack[work->depth++] = value;
  return ATTN2C_OK;
}

static int add_slots(attn2c_chat_work *work, size_t count) {
  size_t need = work->slot_count + count;
  if (need > (1u << 20)) return chat_refuse(work, "too many variables");
  ATTN2C_TRY(attn2c_grow((void **)&work->slots, &work->slot_capacity, need, sizeof *work->slots));
  for (size_t i = work->slot_count; i < need; i++) work->slots[i] = (chat_value){.kind = CHAT_MISSING};
  work->slot_count = need;
  return ATTN2C_OK;
}

static chat_value word_of(const attn2c_chat_work *work, int32_t index) {
  const attn2c_chat_word *word = &work->template->words[index];
  return chat_string(word->text, word->length);
}

static int call_range(attn2c_chat_work *work, const chat_value *arguments, int count, chat_value *made) {
  int64_t start = 0, stop, step = 1;
  for (int i = 0; i < count; i++)
    if (!chat_is_whole(&arguments[i])) return chat_refuse(work, "range of %s", chat_type(&arguments[i]));
  if (count < 1 || count > 3) return chat_refuse(work, "range takes one to three integers");
  stop = arguments[count > 1].as.integer;
  if (count > 1) start = arguments[0].as.integer;
  if (count > 2) step = arguments[2].as.integer;
  const int64_t most = (int64_t)1 << 60;
  if (step == 0 || step > most || step < -most || start > most || start < -most || stop > most ||
      stop < -most)
    return chat_refuse(work, "range: a step of 0, or a number that is too large");
  int64_t items = step > 0 ? (stop - start + step - 1) / step : (start - stop - step - 1) / -step;
  if (items > LONGEST_RANGE) return chat_refuse(work, "range: more than %d items", LONGEST_RANGE);
  chat_list *list;
  ATTN2C_TRY(chat_list_make(work, CHAT_OF_RANGE, items > 0 ? (size_t)items : 0, &list));
  for (int64_t i = 0; i < items; i++) ATTN2C_TRY(chat_list_add(work, list, chat_integer(start + i * step)));
  *made = chat_of_list(list);
  return ATTN2C_OK;
}

/* namespace(...) and dict(...) */
static int call_dict(attn2c_chat_work *work, int is_namespace, const chat_value *arguments, int count,
                     int named, chat_value *made) {
  chat_dict *dict;
  int status = chat_dict_make(work, &dict);
  if (count > 1 || (count == 1 && arguments[0].kind != CHAT_DICT))
    return chat_refuse(work, "a dictionary and values by name are expected");
  const chat_dict *from = count ? arguments[0].as.dict : NULL;
  for (uint32_t i = 0; from && i < from->count && status == ATTN2C_OK; i++)
    status = chat_dict_set(work, dict, from->entries[i].key, from->entries[i].value);
  for (int i = 0; i < named && status == ATTN2C_OK; i++)
    status = chat_dict_set(work, dict, arguments[count + 2 * i], arguments[count + 2 * i + 1]);
  for (uint32_t i = 0; is_namespace && i < dict->count && status == ATTN2C_OK; i++)
    if (dict->entries[i].key.kind == CHAT_STRING && dict->entries[i].key.length &&
        dict->entries[i].key.as.text[0] == '_')
      return chat_refuse(work, "an attribute of a namespace may not begin with _");
  *made = (chat_value){.kind = is_namespace ? CHAT_NAMESPACE : CHAT_DICT, .as.dict = dict};
  return status;
}

static int call_function(attn2c_chat_work *work, int function, const chat_value *arguments, int count,
                         int named, chat_value *made) {
  chat_value text;
  int status;
  if (function == CHAT_FUNCTION_NAMESPACE || function == CHAT_FUNCTION_DICT)
    return call_dict(work, function == CHAT_FUNCTION_NAMESPACE, arguments, count, named, made);
  /* The one parameter of the others may be given by its name. */
  if (count == 0 && named == 1 &&
      ((function == CHAT_FUNCTION_RAISE && chat_is_text(&arguments[0], "message")) ||
       (function == CHAT_FUNCTION_NOW && chat_is_text(&arguments[0], "format"))))
    arguments++, count = 1, named = 0;
  if (named) return chat_refuse(work, "an argument by name is not expected");
  if (function == CHAT_FUNCTION_RANGE) return call_range(work, arguments, count, made);
  if (count != 1) return chat_refuse(work, "one argument is expected");
  if (function == CHAT_FUNCTION_NOW)
    return chat_now(work, &arguments[0], work->options ? work->options->date : NULL, made);
  status = chat_text_of(work, &arguments[0], &text);
  return status == ATTN2C_OK ? chat_refuse(work, "%.*s", (int)text.length, text.as.text) : status;
}

/* Begins a macro; *next becomes its first step. */
static int call_macro(attn2c_chat_work *work, const attn2c_chat_macro *macro, const chat_value *arguments,
                      int count, int named, int32_t *next) {
  const attn2c_chat_word *name = &work->template->words[macro->name];
  if (work->frame_count == LENGTH(work->frames) || work->capture_count == LENGTH(work->captures))
    return chat_refuse(work, "more than %zu macros within each other", LENGTH(work->frames));
  if (count > macro->count)
    return chat_refuse(work, "the macro %.*s takes %d arguments, but has %d", (int)name->length, name->text,
                       macro->count, count);
  size_t base = work->slot_count;
  ATTN2C_TRY(add_slots(work, (size_t)macro->slots));
  chat_value *slots = work->slots + base;
  for (int i = 0; i < count; i++) slots[i] = arguments[i];
  for (int i = 0; i < named; i++) {
    const chat_value *given = &arguments[count + 2 * i];
    int32_t found = -1;
    for (int32_t k = 0; k < macro->count; k++) {
      const attn2c_chat_word *word = &work->template->words[work->template->parameters[macro->first + k]];
      if (word->length == given->length && memcmp(word->text, given->as.text, word->length) == 0) found = k;
    }
    if (found < 0 || slots[found].kind != CHAT_MISSING)
      return chat_refuse(work, "the macro %.*s has no parameter \"%.*s\", or it is given twice",
                         (int)name->length, name->text, chat_name_length(given), given->as.text);
    slots[found] = given[1];
  }
  work->frames[work->frame_count++] = (chat_frame){*next, work->base, work->loop_count, work->capture_count};
  work->captures[work->capture_count++] = work->output.length;
  work->base = (uint32_t)base;
  *next = macro->entry;
  return ATTN2C_OK;
}

static int end_macro(attn2c_chat_work *work, int32_t *next) {
  if (work->frame_count == 0) return damaged(work);
  const chat_frame *frame = &work->frames[--work->frame_count];
  chat_value text;
  ATTN2C_TRY(chat_take(work, work->captures[frame->output], &text));
  work->slot_count = work->base;
  work->base = frame->slots, work->loop_count = frame->loops, work->capture_count = frame->output;
  *next = frame->back;
  return push(work, text);
}

static int call(attn2c_chat_work *work, const attn2c_chat_step *step, int32_t *next) {
  size_t count = (size_t)step->a + 2 * (size_t)step->b;
  if (work->depth < count + 1) return damaged(work);
  const chat_value *values = work->stack + work->depth - count;
  const chat_value callee = values[-1];
  chat_value made = chat_none();
  int status;
  if (callee.kind == CHAT_MACRO) {
    status = call_macro(work, &work->template->macros[callee.as.integer], values, step->a, step->b, next);
    work->depth -= count + 1;
    return status;
  }
  if (callee.kind == CHAT_UNDEFINED)
    return chat_refuse(work, "\"%.*s\" is undefined; it is called", chat_name_length(&callee),
                       callee.as.text);
  if (callee.kind != CHAT_FUNCTION) return chat_refuse(work, "%s is called", chat_type(&callee));
  status = call_function(work, (int)callee.as.integer, values, step->a, step->b, &made);
  work->depth -= count + 1;
  return status == ATTN2C_OK ? push(work, made) : status;
}

static int begin_loop(attn2c_chat_work *work, const chat_value *over) {
  chat_loop *loop;
  chat_list *list;
  if (work->loop_count == LENGTH(work->loops))
    return chat_refuse(work, "more than %zu loops within each other", LENGTH(work->loops));
  ATTN2C_TRY(chat_iterate(work, *over, &list));
  ATTN2C_TRY(chat_allocate(work, sizeof *loop, &loop));
  *loop = (chat_loop){.list = list};
  work->loops[work->loop_count++] = loop;
  return ATTN2C_OK;
}

static int unpack(attn2c_chat_work *work, const chat_value *value, int32_t count) {
  chat_list *list;
  ATTN2C_TRY(chat_iterate(work, *value, &list));
  if (list->count != (uint32_t)count)
    return chat_refuse(work, "%d values are expected, but there are %u", count, list->count);
  for (int32_t i = count - 1; i >= 0; i--) ATTN2C_TRY(push(work, list->items[i]));
  return ATTN2C_OK;
}

/* Makes a list, a tuple or a dictionary of values on the stack. */
static int make(attn2c_chat_work *work, const attn2c_chat_step *step, const chat_value *values,
                chat_value *made) {
  if (step->op == CHAT_STEP_DICT) {
    chat_dict *dict;
    int status = chat_dict_make(work, &dict);
    for (int32_t i = 0; i < step->a && status == ATTN2C_OK; i++)
      status = chat_dict_set(work, dict, values[2 * i], values[2 * i + 1]);
    *made = (chat_value){.kind = CHAT_DICT, .as.dict = dict};
    return status;
  }
  chat_list *list;
  int status =
      chat_list_make(work, step->op == CHAT_STEP_LIST ? CHAT_OF_LIST : CHAT_OF_TUPLE, (size_t)step->a, &list);
  for (int32_t i = 0; i < step->a && status == ATTN2C_OK; i++) status = chat_list_add(work, list, values[i]);
  *made = chat_of_list(list);
  return status;
}

/* Returns the values that an operation takes from the stack, or -1 if it is none. */
static int operands_of(const attn2c_chat_step *step) {
  static const int8_t counts[CHAT_STEPS] = {
      [CHAT_STEP_NOT] = 1,       [CHAT_STEP_NEGATIVE] = 1, [CHAT_STEP_POSITIVE] = 1,
      [CHAT_STEP_ATTRIBUTE] = 1, [CHAT_STEP_ITEM] = 2,     [CHAT_STEP_COMPARE] = 2,
      [CHAT_STEP_SLICE] = 4,     [CHAT_STEP_ADD] = 2,      [CHAT_STEP_SUBTRACT] = 2,
      [CHAT_STEP_MULTIPLY] = 2,  [CHAT_STEP_DIVIDE] = 2,   [CHAT_STEP_FLOOR_DIVIDE] = 2,
      [CHAT_STEP_REMAINDER] = 2, [CHAT_STEP_POWER] = 2};
  int arguments = 0;
  switch (step->op) {
  case CHAT_STEP_JOIN:
  case CHAT_STEP_LIST:
  case CHAT_STEP_TUPLE:
    return step->a;
  case CHAT_STEP_DICT:
    return 2 * step->a;
  case CHAT_STEP_FILTER:
    arguments = chat_filter_arguments(step->a, step->b);
    break;
  case CHAT_STEP_TEST:
    arguments = chat_test_arguments(step->a);
    break;
  case CHAT_STEP_METHOD:
    arguments = chat_method_arguments(step->a);
    break;
  default:
    return step->op < CHAT_STEPS && counts[step->op] ? counts[step->op] : -1;
  }
  return arguments < 0 ? -1 : arguments + 1;
}

/* Applies an operation to values of the stack. */
static int operate(attn2c_chat_work *work, const attn2c_chat_step *step, const chat_value *values,
                   chat_value *made) {
  int is = 0, status;
  chat_value name;
  switch (step->op) {
  case CHAT_STEP_NOT:
    return *made = chat_boolean(!chat_is_true(values)), ATTN2C_OK;
  case CHAT_STEP_NEGATIVE:
  case CHAT_STEP_POSITIVE:
    return chat_sign(work, step->op, values, made);
  case CHAT_STEP_ATTRIBUTE:
    return name = word_of(work, step->a), chat_attribute(work, values, &name, made);
  case CHAT_STEP_ITEM:
    return chat_item(work, &values[0], &values[1], made);
  case CHAT_STEP_SLICE:
    return chat_slice(work, &values[0], &values[1], made);
  case CHAT_STEP_JOIN:
    return chat_concatenate(work, values, (size_t)step->a, made);
  case CHAT_STEP_LIST:
  case CHAT_STEP_TUPLE:
  case CHAT_STEP_DICT:
    return make(work, step, values, made);
  case CHAT_STEP_FILTER:
    return chat_filter(work, step->a, step->b, values, made);
  case CHAT_STEP_METHOD:
    return chat_method(work, step->a, values, made);
  case CHAT_STEP_TEST:
  case CHAT_STEP_COMPARE:
    status = step->op == CHAT_STEP_TEST ? chat_test(work, step->a, values, &is)
                                        : chat_compare(work, step->a, &values[0], &values[1], &is);
    *made = chat_boolean(is);
    return status;
  default:
    return chat_calculate(work, step->op, &values[0], &values[1], made);
  }
}

/* Escapes a text as Jinja does when it is added to markup. */
static int escape(attn2c_chat_work *work, const chat_value *text, chat_value *made) {
  static const char *const parts[][2] = {
      {"&", "&amp;"}, {">", "&gt;"}, {"<", "&lt;"}, {"'", "&#39;"}, {"\"", "&#34;"}};
  *made = *text;
  for (size_t i = 0; i < LENGTH(parts); i++) {
    const chat_value old = chat_string(parts[i][0], 1), by = chat_string(parts[i][1], strlen(parts[i][1]));
    ATTN2C_TRY(chat_replace(work, made, &old, &by, -1, made));
  }
  return ATTN2C_OK;
}

/* Operates on strings of which some are markup. `+` escapes those that are not, `~` makes a plain text. What
 * a template could do with markup beside that, but print, compare and test it, is refused. */
static int operate_markup(attn2c_chat_work *work, const attn2c_chat_step *step, chat_value *values, int count,
                          chat_value *made) {
  int adds = step->op == CHAT_STEP_ADD;
  int keeps = step->op == CHAT_STEP_FILTER && (step->a == CHAT_FILTER_STRING ||
                                               step->a == CHAT_FILTER_DEFAULT || step->a == CHAT_FILTER_SAFE);
  int reads =
      step->op == CHAT_STEP_NOT || step->op == CHAT_STEP_COMPARE || step->op == CHAT_STEP_TEST ||
      (step->op >= CHAT_STEP_JOIN && step->op <= CHAT_STEP_DICT) ||
      (step->op == CHAT_STEP_FILTER && (step->a == CHAT_FILTER_LENGTH || step->a == CHAT_FILTER_TOJSON));
  if (!adds && !keeps && !reads)
    return chat_refuse(work, "a text of the filter safe can only be printed, joined and compared");
  for (int i = 0; adds && i < count; i++)
    if (values[i].kind == CHAT_STRING && !values[i].is_markup)
      ATTN2C_TRY(escape(work, &values[i], &values[i]));
  int status = operate(work, step, values, made);
  if (made->kind == CHAT_STRING) made->is_markup = adds || (keeps && made->is_markup);
  return status;
}

static int run_operation(attn2c_chat_work *work, const attn2c_chat_step *step) {
  int count = operands_of(step);
  if (count < 0 || work->depth < (size_t)count) return damaged(work);
  chat_value *values = work->stack + work->depth - count, made = chat_none();
  int has_markup = 0;
  for (int i = 0; i < count; i++) has_markup |= values[i].is_markup;
  ATTN2C_TRY(has_markup ? operate_markup(work, step, values, count, &made)
                        : operate(work, step, values, &made));
  int keeps = step->op == CHAT_STEP_COMPARE && step->b;
  if (keeps) values[0] = values[1];
  work->depth -= (size_t)(count - keeps);
  return push(work, made);
}

static int set_attribute(attn2c_chat_work *work, const chat_value *space, chat_value value, int32_t word) {
  if (space->kind != CHAT_NAMESPACE)
    return chat_refuse(work, "an attribute of %s cannot be set; that of a namespace can", chat_type(space));
  return chat_dict_set(work, space->as.dict, word_of(work, word), value);
}

/* The steps that change the stack's top only, or read it. */
static int run_value(attn2c_chat_work *work, const attn2c_chat_step *step, int32_t *next) {
  chat_value *top = work->depth ? &work->stack[work->depth - 1] : NULL, *slot = work->slots + work->base;
  chat_value value;
  int status = ATTN2C_OK;
  if (!top || (step->op == CHAT_STEP_UNDER && work->depth < 2) ||
      ((step->op == CHAT_STEP_SET || step->op == CHAT_STEP_APPEND || step->op == CHAT_STEP_KEEP) &&
       work->depth < 2))
    return damaged(work);
  switch (step->op) {
  case CHAT_STEP_PRINT:
    status = chat_print(work, top);
    break;
  case CHAT_STEP_STORE:
    slot[step->a] = *top;
    break;
  case CHAT_STEP_JUMP_FALSE:
    if (!chat_is_true(top)) *next = step->a;
    break;
  case CHAT_STEP_AND:
  case CHAT_STEP_OR:
    if (chat_is_true(top) == (step->op == CHAT_STEP_OR)) return *next = step->a, ATTN2C_OK;
    break;
  case CHAT_STEP_POP:
    break;
  case CHAT_STEP_UNDER:
    top[-1] = *top;
    break;
  case CHAT_STEP_LOOP:
    status = begin_loop(work, top);
    break;
  case CHAT_STEP_UNPACK:
    value = *top, work->depth--;
    return unpack(work, &value, step->a);
  case CHAT_STEP_SET:
    status = set_attribute(work, top, top[-1], step->a);
    work->depth--;
    break;
  case CHAT_STEP_APPEND:
    return top[-1].kind == CHAT_LIST ? chat_list_add(work, top[-1].as.list, *top) : damaged(work);
  case CHAT_STEP_KEEP:
    if (top[-1].kind != CHAT_LIST || top[-1].as.list->count == 0) return damaged(work);
    if (!chat_is_true(top)) top[-1].as.list->count--;
    break;
  default:
    return damaged(work);
  }
  work->depth--;
  return status;
}

static int run_loop(attn2c_chat_work *work, const attn2c_chat_step *step, int32_t *next) {
  if (work->loop_count == 0) return damaged(work);
  chat_loop *loop = work->loops[work->loop_count - 1];
  switch (step->op) {
  case CHAT_STEP_NEXT:
    if (loop->index < loop->list->count) return push(work, loop->list->items[loop->index++]);
    *next = step->a;
    return ATTN2C_OK;
  case CHAT_STEP_ITSELF:
    work->slots[work->base + (uint32_t)step->a] = (chat_value){.kind = CHAT_LOOP, .as.loop = loop};
    return ATTN2C_OK;
  case CHAT_STEP_ROUND:
    loop->has_round = 1;
    return ATTN2C_OK;
  default:
    work->loop_count--;
    if (step->op == CHAT_STEP_END_ELSE && loop->has_round) *next = step->a;
    return ATTN2C_OK;
  }
}

static int push_constant(attn2c_chat_work *work, int32_t number) {
  if (number == 0) return push(work, chat_none());
  if (number < 3) return push(work, chat_boolean(number == 2));
  return push(work, number == 3 ? (chat_value){.kind = CHAT_MISSING} : chat_undefined("", 0));
}

static int run_step(attn2c_chat_work *work, const attn2c_chat_step *step, int32_t *next) {
  chat_value *slot = work->slots + work->base, value, text;
  const chat_value *found;
  int status;
  switch (step->op) {
  case CHAT_STEP_TEXT:
    value = word_of(work, step->a);
    return chat_write(work, value.as.text, value.length);
  case CHAT_STEP_WORD:
    return push(work, word_of(work, step->a));
  case CHAT_STEP_INTEGER:
    return push(work, chat_integer(step->a));
  case CHAT_STEP_REAL:
    return push(work, chat_real(work->template->reals[step->a]));
  case CHAT_STEP_CONSTANT:
    return push_constant(work, step->a);
  case CHAT_STEP_LOAD:
    return push(work, slot[step->a]);
  case CHAT_STEP_LOAD_ROOT:
    return push(work, work->slots[step->a]);
  case CHAT_STEP_CLEAR:
    value = word_of(work, step->b);
    slot[step->a] = chat_undefined(value.as.text, value.length);
    return ATTN2C_OK;
  case CHAT_STEP_RESOLVE:
    value = word_of(work, step->b);
    found = chat_dict_find(work, work->inputs, &value);
    slot[step->a] = found ? *found : chat_undefined(value.as.text, value.length);
    return ATTN2C_OK;
  case CHAT_STEP_GIVEN:
    if (slot[step->b].kind != CHAT_MISSING) *next = step->a;
    return ATTN2C_OK;
  case CHAT_STEP_JUMP:
    *next = step->a;
    return ATTN2C_OK;
  case CHAT_STEP_CALL:
    return call(work, step, next);
  case CHAT_STEP_MACRO:
    return push(work, (chat_value){.kind = CHAT_MACRO, .as.integer = step->a});
  case CHAT_STEP_RETURN:
    return end_macro(work, next);
  case CHAT_STEP_CAPTURE:
    if (work->capture_count == LENGTH(work->captures))
      return chat_refuse(work, "too many blocks within each other");
    work->captures[work->capture_count++] = work->output.length;
    return ATTN2C_OK;
  case CHAT_STEP_CAPTURED:
    if (work->capture_count == 0) return damaged(work);
    status = chat_take(work, work->captures[--work->capture_count], &text);
    return status == ATTN2C_OK ? push(work, text) : status;
  case CHAT_STEP_REFUSE:
    value = word_of(work, step->a);
    return chat_refuse(work, "%.*s", (int)value.length, value.as.text);
  case CHAT_STEP_NEXT:
  case CHAT_STEP_ITSELF:
  case CHAT_STEP_ROUND:
  case CHAT_STEP_END_LOOP:
  case CHAT_STEP_END_ELSE:
    return run_loop(work, step, next);
  default:
    return operands_of(step) >= 0 ? run_operation(work, step) : run_value(work, step, next);
  }
}

static int run(attn2c_chat_work *work) {
  const attn2c_chat_template *template = work->template;
  int32_t at = 0;
  int status = add_slots(work, (size_t) template->slots);
  if (status == ATTN2C_OK) status = push(work, chat_none()); /* so that there is an array */
  work->depth = 0;
  while (status == ATTN2C_OK) {
    if (at < 0 || at >= template->step_count) return damaged(work);
    const attn2c_chat_step *step = &template->steps[at++];
    work->line = step->line;
    if (step->op == CHAT_STEP_STOP) break;
    status = chat_spend(work, 1);
    if (status == ATTN2C_OK) status = run_step(work, step, &at);
  }
  return status;
}

/* Copies a fault: one line, in which a terminal interprets nothing. */
static void write_fault(const char *from, char *to, size_t size) {
  size_t used = 0, length = strlen(from), width;
  char part[16];
  if (size == 0) return;
  for (size_t at = 0; at < length; at += width) {
    width = attn2c_utf8_width(from + at, length - at);
    uint32_t point = width ? attn2c_utf8_point(from + at, width) : 0;
    if (width == 0)
      snprintf(part, sizeof part, "?"), width = 1;
    else if (point == '\n' || point == '\r' || point == '\t')
      snprintf(part, sizeof part, "\\%c", point == '\n' ? 'n' : point == '\r' ? 'r' : 't');
    else if (!attn2c_is_seen(point))
      snprintf(part, sizeof part, "\\u{%X}", point);
    else
      memcpy(part, from + at, width), part[width] = 0;
    if (used + strlen(part) >= size) break;
    memcpy(to + used, part, strlen(part));
    used += strlen(part);
  }
  to[used] = 0;
}

/* Says why the budget of steps is used up. */
static void note_budget(attn2c_chat_work *work) {
  if (work->budget.state == BUDGET_SPENT)
    chat_refuse(work, "it takes more than %llu steps for these messages",
                (unsigned long long)work->budget.most);
  if (work->budget.state == BUDGET_STOPPED) chat_refuse(work, "stopped");
}

static void begin(attn2c_chat_work *work, const attn2c_chat_template *template, size_t bytes,
                  const attn2c_chat_options *options) {
  work->template = template, work->options = options;
  text_budget_begin(&work->budget, bytes);
  work->most = MEMORY_LEAST + (bytes < SIZE_MAX / MEMORY_BYTE / 2 ? bytes * MEMORY_BYTE : SIZE_MAX / 2);
  work->output.length = 0;
  work->depth = work->slot_count = 0;
  work->base = work->capture_count = work->loop_count = work->frame_count = 0;
  work->line = 1;
  work->fault[0] = 0;
}

int attn2c_chat_render(const attn2c_chat_template *template, attn2c_chat_work **work,
                       const attn2c_chat_message *messages, size_t count, const attn2c_chat_options *options,
                       const char **text, size_t *length, char *fault, size_t fault_size) {
  *text = "", *length = 0;
  if (!*work) *work = calloc(1, sizeof **work);
  if (!*work) return write_fault(attn2c_strerror(ATTN2C_MEMORY), fault, fault_size), ATTN2C_MEMORY;
  attn2c_chat_work *own = *work;
  size_t bytes = chat_input_bytes(messages, count, options);
  begin(own, template, bytes, options);
  int status = bytes < UINT32_MAX / 4 ? ATTN2C_OK : chat_refuse(own, "the messages have 1 GB or more");
  if (count == 0) chat_refuse(own, "a chat has at least one message"), status = ATTN2C_USAGE;
  if (status == ATTN2C_OK) status = chat_make_inputs(own, messages, count, options);
  if (status == ATTN2C_OK) status = run(own);
  note_budget(own);
  chat_free_blocks(own, 1);
  if (status == ATTN2C_OK) {
    if (own->output.length) *text = own->output.bytes;
    *length = own->output.length;
    if (fault_size) fault[0] = 0;
  } else {
    write_fault(status == ATTN2C_MEMORY ? attn2c_strerror(status) : own->fault, fault, fault_size);
  }
  return status;
}

void attn2c_chat_release(attn2c_chat_work *work) {
  if (!work) return;
  chat_free_blocks(work, 0);
  ATTN2C_FREE(work->output.bytes, work->stack, work->slots, work);
}
