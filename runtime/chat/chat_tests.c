/* chat_tests.c - the tests of chat templates: `is defined`, `is string`. */
#include "chat/chat_calls.h"
#include "text/unicode.h"

#include <utf8proc.h>

int chat_test_arguments(int test) {
  static const uint8_t counts[] = {CHAT_TEST_ROWS(CHAT_COUNT)};
  return test >= 0 && test < (int)sizeof counts ? counts[test] : -1;
}

/* True if a text has letters, all of the given case. */
static int has_case(const chat_value *text, int is_upper) {
  int has_letter = 0;
  for (size_t at = 0, width; at < text->length; at += width) {
    utf8proc_int32_t point = (utf8proc_int32_t)text_read((const uint8_t *)text->as.text + at, &width);
    utf8proc_category_t c = utf8proc_category(point);
    if (c == (is_upper ? UTF8PROC_CATEGORY_LL : UTF8PROC_CATEGORY_LU) || c == UTF8PROC_CATEGORY_LT) return 0;
    has_letter |= c == UTF8PROC_CATEGORY_LL || c == UTF8PROC_CATEGORY_LU;
  }
  return has_letter;
}

static int remainder_of(attn2c_chat_work *work, const chat_value *value, const chat_value *by,
                        int64_t *rest) {
  if (!chat_is_whole(value) || !chat_is_whole(by))
    return chat_refuse(work, "a remainder of %s by %s is not supported", chat_type(value), chat_type(by));
  if (by->as.integer == 0) return chat_refuse(work, "a division by 0");
  *rest = by->as.integer == -1 ? 0 : value->as.integer % by->as.integer;
  return ATTN2C_OK;
}

static int is_same_object(attn2c_chat_work *work, const chat_value *a, const chat_value *b, int *result) {
  if (a->kind == CHAT_NONE || a->kind == CHAT_BOOLEAN || b->kind == CHAT_NONE || b->kind == CHAT_BOOLEAN) {
    *result = a->kind == b->kind && (a->kind == CHAT_NONE || a->as.integer == b->as.integer);
    return ATTN2C_OK;
  }
  return chat_refuse(work, "sameas is supported for None, true and false");
}

#define IS(kind) (1u << CHAT_##kind)

/* The kinds of values for which a test that has no argument and looks at the kind only is true. */
static const uint32_t kinds[CHAT_TESTS] = {
    [CHAT_TEST_BOOLEAN] = IS(BOOLEAN),
    [CHAT_TEST_TRUE] = IS(BOOLEAN),
    [CHAT_TEST_FALSE] = IS(BOOLEAN),
    [CHAT_TEST_CALLABLE] = IS(MACRO) | IS(FUNCTION) | IS(LOOP) | IS(UNDEFINED),
    [CHAT_TEST_DEFINED] = ~(IS(UNDEFINED) | IS(MISSING)),
    [CHAT_TEST_UNDEFINED] = IS(UNDEFINED) | IS(MISSING),
    [CHAT_TEST_FLOAT] = IS(REAL),
    [CHAT_TEST_INTEGER] = IS(INTEGER),
    [CHAT_TEST_ITERABLE] = IS(STRING) | IS(LIST) | IS(ITERATOR) | IS(DICT) | IS(LOOP) | IS(UNDEFINED),
    [CHAT_TEST_MAPPING] = IS(DICT),
    [CHAT_TEST_NONE] = IS(NONE),
    [CHAT_TEST_NUMBER] = IS(BOOLEAN) | IS(INTEGER) | IS(REAL),
    [CHAT_TEST_SEQUENCE] = IS(STRING) | IS(DICT) | IS(UNDEFINED) | IS(LIST),
    [CHAT_TEST_STRING] = IS(STRING)};

static int is_kind(int test, const chat_value *value) {
  if (!kinds[test]) return chat_is_true(value);
  if (!(kinds[test] >> value->kind & 1)) return 0;
  if (test == CHAT_TEST_TRUE || test == CHAT_TEST_FALSE) return value->as.integer == (test == CHAT_TEST_TRUE);
  return test != CHAT_TEST_SEQUENCE || value->kind != CHAT_LIST || value->as.list->form <= CHAT_OF_TUPLE ||
         value->as.list->form == CHAT_OF_RANGE;
}

int chat_test(attn2c_chat_work *work, int test, const chat_value *values, int *result) {
  static const uint8_t comparisons[CHAT_TESTS] = {
      [CHAT_TEST_EQ] = CHAT_IS_EQ + 1, [CHAT_TEST_NE] = CHAT_IS_NE + 1, [CHAT_TEST_LT] = CHAT_IS_LT + 1,
      [CHAT_TEST_LE] = CHAT_IS_LE + 1, [CHAT_TEST_GT] = CHAT_IS_GT + 1, [CHAT_TEST_GE] = CHAT_IS_GE + 1,
      [CHAT_TEST_IN] = CHAT_IS_IN + 1};
  const chat_value two = chat_integer(2);
  chat_value text;
  int64_t rest = 0;
  int status = ATTN2C_OK;
  if (comparisons[test]) return chat_compare(work, comparisons[test] - 1, &values[0], &values[1], result);
  switch (test) {
  case CHAT_TEST_DIVISIBLEBY:
  case CHAT_TEST_EVEN:
  case CHAT_TEST_ODD:
    status = remainder_of(work, &values[0], test == CHAT_TEST_DIVISIBLEBY ? &values[1] : &two, &rest);
    *result = (rest == 0) == (test != CHAT_TEST_ODD);
    return status;
  case CHAT_TEST_SAMEAS:
    return is_same_object(work, &values[0], &values[1], result);
  case CHAT_TEST_LOWER:
  case CHAT_TEST_UPPER:
    ATTN2C_TRY(chat_text_of(work, &values[0], &text));
    *result = has_case(&text, test == CHAT_TEST_UPPER);
    return chat_spend(work, text.length);
  default:
    *result = is_kind(test, &values[0]);
    return ATTN2C_OK;
  }
}
