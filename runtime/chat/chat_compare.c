/* chat_compare.c - truth, equality and order of a chat template's values. */
#include "chat/chat_calls.h"

#define DEEPEST 100 /* values within each other that are compared */

int chat_is_true(const chat_value *value) {
  switch (value->kind) {
  case CHAT_NONE:
  case CHAT_UNDEFINED:
  case CHAT_MISSING:
    return 0;
  case CHAT_BOOLEAN:
  case CHAT_INTEGER:
    return value->as.integer != 0;
  case CHAT_REAL:
    return value->as.real != 0;
  case CHAT_STRING:
    return value->length != 0;
  case CHAT_LIST:
    return value->as.list->count != 0;
  case CHAT_DICT:
    return value->as.dict->count != 0;
  default:
    return 1;
  }
}

static int equal_within(attn2c_chat_work *work, const chat_value *a, const chat_value *b, int depth,
                        int *equal);

static int equal_lists(attn2c_chat_work *work, const chat_list *a, const chat_list *b, int depth,
                       int *equal) {
  *equal = a->form == b->form && a->count == b->count;
  if (*equal && (a->form == CHAT_OF_ITEMS || a->form == CHAT_OF_KEYS || a->form == CHAT_OF_VALUES))
    return chat_refuse(work, "views of dictionaries cannot be compared");
  for (uint32_t i = 0; i < a->count && *equal; i++)
    ATTN2C_TRY(equal_within(work, &a->items[i], &b->items[i], depth + 1, equal));
  return ATTN2C_OK;
}

static int equal_dicts(attn2c_chat_work *work, const chat_dict *a, const chat_dict *b, int depth,
                       int *equal) {
  *equal = a->count == b->count;
  for (uint32_t i = 0; i < a->count && *equal; i++) {
    const chat_value *other = chat_dict_find(work, b, &a->entries[i].key);
    if (!other)
      *equal = 0;
    else
      ATTN2C_TRY(equal_within(work, &a->entries[i].value, other, depth + 1, equal));
  }
  return ATTN2C_OK;
}

static int equal_within(attn2c_chat_work *work, const chat_value *a, const chat_value *b, int depth,
                        int *equal) {
  ATTN2C_TRY(chat_spend(work, 1));
  if (depth > DEEPEST) return chat_refuse(work, "more than %d values within each other", DEEPEST);
  if (a->kind == CHAT_LIST && b->kind == CHAT_LIST)
    return equal_lists(work, a->as.list, b->as.list, depth, equal);
  if (a->kind == CHAT_DICT && b->kind == CHAT_DICT)
    return equal_dicts(work, a->as.dict, b->as.dict, depth, equal);
  *equal = chat_same(a, b);
  return a->kind == CHAT_STRING ? chat_spend(work, a->length / 16) : ATTN2C_OK;
}

int chat_equal(attn2c_chat_work *work, const chat_value *a, const chat_value *b, int *equal) {
  return equal_within(work, a, b, 0, equal);
}

static int order_within(attn2c_chat_work *work, const chat_value *a, const chat_value *b, int depth,
                        int *order) {
  ATTN2C_TRY(chat_spend(work, 1));
  if (depth > DEEPEST) return chat_refuse(work, "more than %d values within each other", DEEPEST);
  if (chat_is_number(a) && chat_is_number(b)) return *order = chat_order_numbers(a, b), ATTN2C_OK;
  if (a->kind == CHAT_STRING && b->kind == CHAT_STRING) {
    uint32_t shorter = a->length < b->length ? a->length : b->length;
    int difference = shorter ? memcmp(a->as.text, b->as.text, shorter) : 0;
    *order = difference < 0 ? -1 : difference > 0 ? 1 : a->length < b->length ? -1 : a->length > b->length;
    return chat_spend(work, shorter / 16);
  }
  if (a->kind == CHAT_LIST && b->kind == CHAT_LIST && a->as.list->form == b->as.list->form &&
      a->as.list->form <= CHAT_OF_TUPLE) {
    const chat_list *x = a->as.list, *y = b->as.list;
    for (uint32_t i = 0; i < x->count && i < y->count; i++) {
      int equal;
      ATTN2C_TRY(equal_within(work, &x->items[i], &y->items[i], depth + 1, &equal));
      if (!equal) return order_within(work, &x->items[i], &y->items[i], depth + 1, order);
    }
    *order = x->count < y->count ? -1 : x->count > y->count;
    return ATTN2C_OK;
  }
  return chat_refuse(work, "%s and %s have no order", chat_type(a), chat_type(b));
}

int chat_order(attn2c_chat_work *work, const chat_value *a, const chat_value *b, int *order) {
  return order_within(work, a, b, 0, order);
}

int chat_contains(attn2c_chat_work *work, const chat_value *holder, const chat_value *item, int *found) {
  *found = 0;
  if (holder->kind == CHAT_STRING) {
    if (item->kind != CHAT_STRING)
      return chat_refuse(work, "%s in a text: a text is expected", chat_type(item));
    *found = chat_find(holder, 0, item) >= 0;
    return chat_spend(work, chat_search_steps(holder, item));
  }
  if (holder->kind == CHAT_DICT) {
    if (item->kind == CHAT_LIST || item->kind == CHAT_DICT)
      return chat_refuse(work, "%s is no key of a dictionary", chat_type(item));
    *found = chat_dict_find(work, holder->as.dict, item) != NULL;
    return ATTN2C_OK;
  }
  chat_list *list;
  int status = chat_iterate(work, *holder, &list);
  for (uint32_t i = 0; status == ATTN2C_OK && i < list->count && !*found; i++)
    status = equal_within(work, &list->items[i], item, 1, found);
  return status;
}

int chat_compare(attn2c_chat_work *work, int how, const chat_value *a, const chat_value *b, int *result) {
  int order, status;
  if (how == CHAT_IS_EQ || how == CHAT_IS_NE) {
    status = chat_equal(work, a, b, result);
    if (how == CHAT_IS_NE) *result = !*result;
    return status;
  }
  if (how == CHAT_IS_IN || how == CHAT_IS_NOT_IN) {
    status = chat_contains(work, b, a, result);
    if (how == CHAT_IS_NOT_IN) *result = !*result;
    return status;
  }
  if (a->kind == CHAT_UNDEFINED || b->kind == CHAT_UNDEFINED)
    return chat_refuse(work, "an undefined value has no order");
  status = chat_order(work, a, b, &order);
  if (status != ATTN2C_OK) return status;
  *result = order != 2 && (how == CHAT_IS_LT   ? order < 0
                           : how == CHAT_IS_LE ? order <= 0
                           : how == CHAT_IS_GT ? order > 0
                                               : order >= 0);
  return ATTN2C_OK;
}
