#include "chat/chat_values.h"
#include "text/unicode.h"

#include <math.h>
#include <stdarg.h>

#define BLOCK     ((size_t)1 << 16)
#define ALIGNMENT 16

struct chat_block {
  chat_block *before;
  size_t used, size;
  _Alignas(ALIGNMENT) char bytes[];
};

int chat_refuse(attn2c_chat_work *work, const char *format, ...) {
  int length = snprintf(work->fault, sizeof work->fault, "chat template, line %u: ", work->line);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(work->fault + length, sizeof work->fault - (size_t)length, format, arguments);
  va_end(arguments);
  return ATTN2C_FORMAT;
}

static int add_block(attn2c_chat_work *work, size_t bytes) {
  size_t size = bytes > BLOCK ? bytes : BLOCK;
  if (work->used > work->most || bytes > work->most - work->used)
    return chat_refuse(work, "the values of the template take more than %zu bytes", work->most);
  chat_block *block = malloc(sizeof *block + size);
  if (!block) return ATTN2C_MEMORY;
  block->before = work->blocks, block->used = 0, block->size = size;
  work->blocks = block;
  work->used += size;
  return ATTN2C_OK;
}

int chat_allocate_text(attn2c_chat_work *work, size_t bytes, char **text) {
  chat_block *block = work->blocks;
  if (bytes > UINT32_MAX / 2) return chat_refuse(work, "a text is longer than 2 GB");
  ATTN2C_TRY(chat_spend(work, bytes / 16 + 1));
  if (!block || bytes > block->size - block->used) ATTN2C_TRY(add_block(work, bytes));
  block = work->blocks;
  *text = block->bytes + block->used;
  block->used += bytes;
  return ATTN2C_OK;
}

int chat_allocate(attn2c_chat_work *work, size_t bytes, void *memory) {
  chat_block *block = work->blocks;
  if (block) {
    size_t aligned = (block->used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    block->used = aligned < block->size ? aligned : block->size;
  }
  char *text;
  int status = chat_allocate_text(work, bytes, &text);
  if (status == ATTN2C_OK) memcpy(memory, &text, sizeof text);
  return status;
}

int chat_extend(attn2c_chat_work *work, const char *old, size_t length, size_t more, char **text) {
  chat_block *block = work->blocks;
  if (block && length && old + length == block->bytes + block->used && old >= block->bytes &&
      more <= block->size - block->used && length + more <= UINT32_MAX / 2) {
    block->used += more;
    *text = block->bytes + (old - block->bytes);
    return chat_spend(work, more / 16 + 1);
  }
  /* A text that grows again and again gets space for that. */
  size_t reserve = length + more > BLOCK / 4 ? length + more : 0;
  ATTN2C_TRY(chat_allocate_text(work, length + more + reserve, text));
  work->blocks->used -= reserve;
  if (length) memcpy(*text, old, length);
  return ATTN2C_OK;
}

void chat_free_blocks(attn2c_chat_work *work, int keeps_first) {
  while (work->blocks && (work->blocks->before || !keeps_first || work->blocks->size > BLOCK)) {
    chat_block *before = work->blocks->before;
    free(work->blocks);
    work->blocks = before;
  }
  if (work->blocks) work->blocks->used = 0;
  work->used = work->blocks ? work->blocks->size : 0;
}

int chat_list_make(attn2c_chat_work *work, chat_form form, size_t capacity, chat_list **list) {
  ATTN2C_TRY(chat_allocate(work, sizeof **list, list));
  if (capacity > UINT32_MAX / sizeof(chat_value)) return chat_refuse(work, "a list is too long");
  **list = (chat_list){.form = form, .capacity = (uint32_t)capacity};
  return capacity ? chat_allocate(work, capacity * sizeof(chat_value), &(*list)->items) : ATTN2C_OK;
}

int chat_list_add(attn2c_chat_work *work, chat_list *list, chat_value value) {
  if (list->count == list->capacity) {
    uint32_t capacity = list->capacity < 4 ? 8 : list->capacity * 2;
    chat_value *moved;
    if (capacity > UINT32_MAX / 64) return chat_refuse(work, "a list is too long");
    ATTN2C_TRY(chat_allocate(work, capacity * sizeof *moved, &moved));
    if (list->count) memcpy(moved, list->items, list->count * sizeof *moved);
    list->items = moved, list->capacity = capacity;
  }
  list->items[list->count++] = value;
  return chat_spend(work, 1);
}

int chat_dict_make(attn2c_chat_work *work, chat_dict **dict) {
  int status = chat_allocate(work, sizeof **dict, dict);
  if (status == ATTN2C_OK) **dict = (chat_dict){0};
  return status;
}

int chat_order_numbers(const chat_value *a, const chat_value *b) {
  if (chat_is_whole(a) && chat_is_whole(b))
    return a->as.integer < b->as.integer ? -1 : a->as.integer > b->as.integer;
  if (chat_is_whole(b)) {
    int order = chat_order_numbers(b, a);
    return order == 2 ? 2 : -order;
  }
  double y = b->as.real;
  if (isnan(y)) return 2;
  if (!chat_is_whole(a)) {
    double x = a->as.real;
    return isnan(x) ? 2 : x < y ? -1 : x > y;
  }
  if (y >= 9223372036854775808.0) return -1;
  if (y < -9223372036854775808.0) return 1;
  int64_t whole = (int64_t)y;
  if (a->as.integer != whole) return a->as.integer < whole ? -1 : 1;
  double rest = y - (double)whole;
  return rest > 0 ? -1 : rest < 0;
}

int chat_same(const chat_value *a, const chat_value *b) {
  if (chat_is_number(a) && chat_is_number(b)) return chat_order_numbers(a, b) == 0;
  if (a->kind != b->kind) return 0;
  switch (a->kind) {
  case CHAT_NONE:
  case CHAT_UNDEFINED:
    return 1;
  case CHAT_STRING:
    return a->length == b->length && (!a->length || memcmp(a->as.text, b->as.text, a->length) == 0);
  case CHAT_MACRO:
  case CHAT_FUNCTION:
    return a->as.integer == b->as.integer;
  case CHAT_LOOP:
    return a->as.loop == b->as.loop;
  case CHAT_ITERATOR:
  case CHAT_LIST:
    return a->as.list == b->as.list;
  case CHAT_DICT:
  case CHAT_NAMESPACE:
    return a->as.dict == b->as.dict;
  default:
    return 0;
  }
}

chat_value *chat_dict_find(attn2c_chat_work *work, const chat_dict *dict, const chat_value *key) {
  work->budget.steps += dict->count;
  for (uint32_t i = 0; i < dict->count; i++) {
    chat_value *own = &dict->entries[i].key;
    if (own->kind == CHAT_STRING || key->kind == CHAT_STRING) {
      if (own->kind == key->kind && own->length == key->length &&
          (own->length == 0 || memcmp(own->as.text, key->as.text, own->length) == 0))
        return &dict->entries[i].value;
    } else if (chat_same(own, key)) {
      return &dict->entries[i].value;
    }
  }
  return NULL;
}

int chat_dict_set(attn2c_chat_work *work, chat_dict *dict, chat_value key, chat_value value) {
  if (key.kind != CHAT_STRING && key.kind != CHAT_INTEGER && key.kind != CHAT_BOOLEAN &&
      key.kind != CHAT_NONE && key.kind != CHAT_REAL)
    return chat_refuse(work, "%s as a key of a dictionary is not supported", chat_type(&key));
  chat_value *found = chat_dict_find(work, dict, &key);
  if (found) return *found = value, ATTN2C_OK;
  if (dict->count == dict->capacity) {
    uint32_t capacity = dict->capacity ? dict->capacity * 2 : 4;
    chat_entry *moved;
    if (capacity > UINT32_MAX / 64) return chat_refuse(work, "a dictionary is too large");
    ATTN2C_TRY(chat_allocate(work, capacity * sizeof *moved, &moved));
    if (dict->count) memcpy(moved, dict->entries, dict->count * sizeof *moved);
    dict->entries = moved, dict->capacity = capacity;
  }
  dict->entries[dict->count++] = (chat_entry){key, value};
  return chat_spend(work, 1);
}

int chat_dict_set_word(attn2c_chat_work *work, chat_dict *dict, const char *name, chat_value value) {
  return chat_dict_set(work, dict, chat_string(name, strlen(name)), value);
}

int chat_dict_view(attn2c_chat_work *work, const chat_dict *dict, chat_form form, chat_list **list) {
  ATTN2C_TRY(chat_list_make(work, form, dict->count, list));
  for (uint32_t i = 0; i < dict->count; i++) {
    const chat_entry *entry = &dict->entries[i];
    if (form != CHAT_OF_ITEMS) {
      ATTN2C_TRY(chat_list_add(work, *list, form == CHAT_OF_KEYS ? entry->key : entry->value));
      continue;
    }
    chat_list *pair;
    ATTN2C_TRY(chat_list_make(work, CHAT_OF_TUPLE, 2, &pair));
    pair->items[0] = entry->key, pair->items[1] = entry->value, pair->count = 2;
    ATTN2C_TRY(chat_list_add(work, *list, chat_of_list(pair)));
  }
  return ATTN2C_OK;
}

int chat_iterate(attn2c_chat_work *work, chat_value value, chat_list **list) {
  int status = ATTN2C_OK;
  switch (value.kind) {
  case CHAT_UNDEFINED:
    return chat_list_make(work, CHAT_OF_LIST, 0, list);
  case CHAT_LIST:
    return *list = value.as.list, ATTN2C_OK;
  case CHAT_DICT:
    return chat_dict_view(work, value.as.dict, CHAT_OF_KEYS, list);
  case CHAT_ITERATOR: {
    chat_list *from = value.as.list;
    ATTN2C_TRY(chat_list_make(work, CHAT_OF_LIST, 0, list));
    **list = (chat_list){.items = from->items ? from->items + from->read : NULL,
                         .count = from->count - from->read};
    (*list)->capacity = (*list)->count;
    from->read = from->count;
    return ATTN2C_OK;
  }
  case CHAT_STRING:
    status = chat_list_make(work, CHAT_OF_LIST, 0, list);
    for (uint32_t at = 0; at < value.length && status == ATTN2C_OK;) {
      size_t width;
      text_read((const uint8_t *)value.as.text + at, &width);
      status = chat_list_add(work, *list, chat_string(value.as.text + at, width));
      at += (uint32_t)width;
    }
    return status;
  default:
    return chat_refuse(work, "%s has no items to iterate over", chat_type(&value));
  }
}

const char *chat_type(const chat_value *value) {
  static const char *const forms[] = {
      "a list", "a tuple", "items of a dictionary", "keys of a dictionary", "values of a dictionary",
      "a range"};
  static const char *const names[] = {
      "None",    "a boolean",   "an integer",         "a real number",     "a text",
      "",        "a generator", "a dictionary",       "a namespace",       "a loop",
      "a macro", "a function",  "an undefined value", "a missing argument"};
  return value->kind == CHAT_LIST ? forms[value->as.list->form] : names[value->kind];
}

int chat_write(attn2c_chat_work *work, const char *text, size_t length) {
  chat_output *output = &work->output;
  ATTN2C_TRY(chat_spend(work, length / 16 + 1));
  if (length > work->budget.longest || output->length > work->budget.longest - length)
    return chat_refuse(work, "the text has more than %zu bytes", work->budget.longest);
  ATTN2C_TRY(attn2c_grow((void **)&output->bytes, &output->capacity, output->length + length, 1));
  if (length) memcpy(output->bytes + output->length, text, length);
  output->length += length;
  return ATTN2C_OK;
}

int chat_take(attn2c_chat_work *work, size_t from, chat_value *text) {
  char *copy;
  size_t length = work->output.length - from;
  ATTN2C_TRY(chat_allocate_text(work, length, &copy));
  if (length) memcpy(copy, work->output.bytes + from, length);
  work->output.length = from;
  *text = chat_string(copy, length);
  return ATTN2C_OK;
}
