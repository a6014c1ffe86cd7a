/* chat_values.h - the values of a chat template while it runs: Python's, as far as templates use them. They
 * are in blocks of memory that a call takes and gives back at once. */
#pragma once

#include "chat/chat_numbers.h"
#include "chat/chat_template.h"
#include "text/budget.h"

typedef enum {
  CHAT_NONE = 0,
  CHAT_BOOLEAN,
  CHAT_INTEGER,
  CHAT_REAL,
  CHAT_STRING,   /* well-formed UTF-8 */
  CHAT_LIST,     /* lists, tuples, views of dictionaries and ranges */
  CHAT_ITERATOR, /* a generator: a list that is read once */
  CHAT_DICT,
  CHAT_NAMESPACE, /* a dictionary whose attributes a template may set */
  CHAT_LOOP,      /* the variable `loop` */
  CHAT_MACRO,
  CHAT_FUNCTION,
  CHAT_UNDEFINED,
  CHAT_MISSING /* an argument that is not given */
} chat_kind;

typedef enum {
  CHAT_FUNCTION_RAISE,
  CHAT_FUNCTION_NOW,
  CHAT_FUNCTION_RANGE,
  CHAT_FUNCTION_NAMESPACE,
  CHAT_FUNCTION_DICT
} chat_function;

typedef struct chat_list chat_list;
typedef struct chat_dict chat_dict;
typedef struct chat_loop chat_loop;

typedef struct chat_value {
  uint16_t kind;      /* chat_kind */
  uint16_t is_markup; /* 1: a string that the filter safe made; joined with others, these would be escaped */
  uint32_t length;    /* bytes of a string, or of an undefined value's name */
  union {
    const char *text;
    int64_t integer; /* also a boolean, a macro's index, a function */
    double real;
    chat_list *list;
    chat_dict *dict;
    chat_loop *loop;
  } as;
} chat_value;

typedef enum {
  CHAT_OF_LIST,
  CHAT_OF_TUPLE,
  CHAT_OF_ITEMS,
  CHAT_OF_KEYS,
  CHAT_OF_VALUES,
  CHAT_OF_RANGE
} chat_form;

struct chat_list {
  chat_value *items;
  uint32_t count, capacity;
  uint32_t read; /* items that an iterator has given */
  chat_form form;
};

typedef struct chat_entry {
  chat_value key, value;
} chat_entry;

struct chat_dict {
  chat_entry *entries;
  uint32_t count, capacity;
};

struct chat_loop {
  chat_list *list;
  uint32_t index; /* items given so far */
  uint32_t depth;
  int has_round; /* an iteration has reached its end */
};

/* A growing array of bytes: the text that is written. */
typedef struct chat_output {
  char *bytes;
  size_t length, capacity;
} chat_output;

typedef struct chat_block chat_block;

/* Most bytes of fault texts. */
#define CHAT_FAULT 256

typedef struct chat_frame {
  int32_t back;    /* the step after the call */
  uint32_t slots;  /* the first slot of the caller */
  uint32_t loops;  /* its loops */
  uint32_t output; /* its captures */
} chat_frame;

/* One call. */
struct attn2c_chat_work {
  const attn2c_chat_template *template;
  const attn2c_chat_options *options;
  text_budget budget;
  chat_block *blocks;
  size_t used, most; /* bytes of values, and their limit */
  chat_output output;
  size_t captures[256];
  uint32_t capture_count;
  chat_value *stack, *slots;
  size_t depth, stack_capacity, slot_count, slot_capacity;
  uint32_t base; /* the first slot of the macro that runs */
  chat_loop *loops[256];
  uint32_t loop_count;
  chat_frame frames[128];
  uint32_t frame_count;
  chat_dict *inputs;
  uint32_t line;
  char fault[CHAT_FAULT];
};

/* Sets the reason of a failure, with the line of the template; returns ATTN2C_FORMAT. */
int chat_refuse(attn2c_chat_work *work, const char *format, ...) __attribute__((format(ATTN2C_PRINTF, 2, 3)));

/* Returns the bytes of a string that a fault quotes. */
static inline int chat_name_length(const chat_value *name) {
  return name->length < 60 ? (int)name->length : 60;
}

/* Counts work that grows with a size. */
#define chat_spend(work, steps) text_spend(&(work)->budget, (steps))

/* Returns aligned memory of a call in *memory. */
int chat_allocate(attn2c_chat_work *work, size_t bytes, void *memory);
/* Returns memory for a string, which later chat_extend may lengthen in place. */
int chat_allocate_text(attn2c_chat_work *work, size_t bytes, char **text);
/* Lengthens a string by `more` bytes: in place if it is the last one that was allocated. *text is then the
 * new place of its `length` bytes, with space for `more`. */
int chat_extend(attn2c_chat_work *work, const char *old, size_t length, size_t more, char **text);
void chat_free_blocks(attn2c_chat_work *work, int keeps_first);

static inline chat_value chat_none(void) { return (chat_value){.kind = CHAT_NONE}; }
static inline chat_value chat_boolean(int is) {
  return (chat_value){.kind = CHAT_BOOLEAN, .as.integer = is != 0};
}
static inline chat_value chat_integer(int64_t value) {
  return (chat_value){.kind = CHAT_INTEGER, .as.integer = value};
}
static inline chat_value chat_real(double value) { return (chat_value){.kind = CHAT_REAL, .as.real = value}; }
static inline chat_value chat_string(const char *text, size_t length) {
  return (chat_value){.kind = CHAT_STRING, .length = (uint32_t)length, .as.text = text};
}
/* An undefined value. name: of what is undefined, in messages. */
static inline chat_value chat_undefined(const char *name, size_t length) {
  return (chat_value){.kind = CHAT_UNDEFINED, .length = (uint32_t)length, .as.text = name};
}
#define CHAT_WORD(literal) chat_string(literal, sizeof(literal) - 1)

static inline int chat_is_text(const chat_value *value, const char *text) {
  size_t length = strlen(text);
  return value->kind == CHAT_STRING && value->length == length && memcmp(value->as.text, text, length) == 0;
}

int chat_list_make(attn2c_chat_work *work, chat_form form, size_t capacity, chat_list **list);
int chat_list_add(attn2c_chat_work *work, chat_list *list, chat_value value);
static inline chat_value chat_of_list(chat_list *list) {
  return (chat_value){.kind = CHAT_LIST, .as.list = list};
}
/* A generator over a new list. */
static inline chat_value chat_iterator(chat_list *list) {
  return (chat_value){.kind = CHAT_ITERATOR, .as.list = list};
}

int chat_dict_make(attn2c_chat_work *work, chat_dict **dict);
/* Returns the value of a key, or NULL. */
chat_value *chat_dict_find(attn2c_chat_work *work, const chat_dict *dict, const chat_value *key);
int chat_dict_set(attn2c_chat_work *work, chat_dict *dict, chat_value key, chat_value value);
int chat_dict_set_word(attn2c_chat_work *work, chat_dict *dict, const char *name, chat_value value);
/* Makes a list of a dictionary's items, keys or values. */
int chat_dict_view(attn2c_chat_work *work, const chat_dict *dict, chat_form form, chat_list **list);

/* Makes the list that a loop over a value iterates: characters of a string, keys of a dictionary. An iterator
 * is read to its end. */
int chat_iterate(attn2c_chat_work *work, chat_value value, chat_list **list);

/* Returns a type's name as Python calls it. */
const char *chat_type(const chat_value *value);

/* Appends to the text that is written. */
int chat_write(attn2c_chat_work *work, const char *text, size_t length);

/* True if a value is a number: a boolean, an integer or a real number. */
static inline int chat_is_number(const chat_value *value) {
  return value->kind == CHAT_BOOLEAN || value->kind == CHAT_INTEGER || value->kind == CHAT_REAL;
}
static inline int chat_is_whole(const chat_value *value) {
  return value->kind == CHAT_BOOLEAN || value->kind == CHAT_INTEGER;
}

/* Compares two numbers exactly: -1, 0, 1, or 2 for NaN. */
int chat_order_numbers(const chat_value *a, const chat_value *b);
/* True if two values without parts are equal. */
int chat_same(const chat_value *a, const chat_value *b);

/* Ends a text that was written to work->output from `from` on: returns it as a string, and removes it. */
int chat_take(attn2c_chat_work *work, size_t from, chat_value *text);
