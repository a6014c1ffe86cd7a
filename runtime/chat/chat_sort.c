/* chat_sort.c - sorts lists and dictionaries. Equal values keep their order. */
#include "chat/chat_calls.h"

int chat_sort_key(attn2c_chat_work *work, const chat_value *value, int has_case, chat_value *key) {
  if (value->kind == CHAT_STRING && !has_case) return chat_change_case(work, value, CHAT_LOWER, key);
  *key = *value;
  return ATTN2C_OK;
}

/* Sorts entries by their keys: merges runs of growing length. */
static int sort_entries(attn2c_chat_work *work, chat_entry *entries, uint32_t count, int is_reverse) {
  chat_entry *from = entries, *to;
  int status = chat_allocate(work, (count + 1) * sizeof *to, &to);
  for (uint64_t run = 1; run < count && status == ATTN2C_OK; run *= 2) {
    for (uint64_t begin = 0; begin < count; begin += 2 * run) {
      uint64_t middle = begin + run < count ? begin + run : count;
      uint64_t end = middle + run < count ? middle + run : count, a = begin, b = middle;
      for (uint64_t i = begin; i < end; i++) {
        int order = 0;
        if (a < middle && b < end) {
          status = chat_order(work, &from[a].key, &from[b].key, &order);
          if (status != ATTN2C_OK) return status;
          if (order == 2) order = 0;
          if (is_reverse) order = -order;
        }
        to[i] = b >= end || (a < middle && order <= 0) ? from[a++] : from[b++];
      }
    }
    chat_entry *other = from;
    from = to, to = other;
  }
  if (status == ATTN2C_OK && from != entries && count) memcpy(entries, from, count * sizeof *entries);
  return status;
}

/* Makes a list of sorted entries' values. */
static int list_of(attn2c_chat_work *work, const chat_entry *entries, uint32_t count, chat_value *made) {
  chat_list *list;
  ATTN2C_TRY(chat_list_make(work, CHAT_OF_LIST, count, &list));
  for (uint32_t i = 0; i < count; i++) ATTN2C_TRY(chat_list_add(work, list, entries[i].value));
  *made = chat_of_list(list);
  return ATTN2C_OK;
}

int chat_sort_list(attn2c_chat_work *work, int filter, const chat_value *values, chat_value *made) {
  (void)filter;
  const chat_value *attribute = &values[3];
  chat_list *list;
  chat_entry *entries;
  int status = chat_iterate(work, values[0], &list);
  if (status == ATTN2C_OK) status = chat_allocate(work, (list->count + 1) * sizeof *entries, &entries);
  if (attribute->kind == CHAT_STRING && attribute->length &&
      strcspn(attribute->as.text, ",.") < attribute->length)
    return chat_refuse(work, "sort by several attributes is not supported");
  for (uint32_t i = 0; status == ATTN2C_OK && i < list->count; i++) {
    chat_value by = list->items[i];
    if (attribute->kind != CHAT_MISSING && attribute->kind != CHAT_NONE)
      status = chat_item(work, &list->items[i], attribute, &by);
    entries[i].value = list->items[i];
    if (status == ATTN2C_OK) status = chat_sort_key(work, &by, chat_is_true(&values[2]), &entries[i].key);
  }
  if (status == ATTN2C_OK) status = sort_entries(work, entries, list->count, chat_is_true(&values[1]));
  return status == ATTN2C_OK ? list_of(work, entries, list->count, made) : status;
}

int chat_sort_dict(attn2c_chat_work *work, int filter, const chat_value *values, chat_value *made) {
  (void)filter;
  chat_list *pairs;
  chat_entry *entries;
  if (values[0].kind != CHAT_DICT)
    return chat_refuse(work, "the filter dictsort does not take %s", chat_type(values));
  int by_value = chat_is_text(&values[2], "value");
  if (!by_value && values[2].kind != CHAT_MISSING && !chat_is_text(&values[2], "key"))
    return chat_refuse(work, "dictsort: by is \"key\" or \"value\"");
  ATTN2C_TRY(chat_dict_view(work, values[0].as.dict, CHAT_OF_ITEMS, &pairs));
  ATTN2C_TRY(chat_allocate(work, (pairs->count + 1) * sizeof *entries, &entries));
  for (uint32_t i = 0; i < pairs->count; i++) {
    entries[i].value = pairs->items[i];
    ATTN2C_TRY(chat_sort_key(work, &pairs->items[i].as.list->items[by_value], chat_is_true(&values[1]),
                             &entries[i].key));
  }
  ATTN2C_TRY(sort_entries(work, entries, pairs->count, chat_is_true(&values[3])));
  return list_of(work, entries, pairs->count, made);
}
