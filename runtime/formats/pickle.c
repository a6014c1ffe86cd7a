/* pickle.c - a machine for the pickles of a state_dict (protocol 2): a stack of values, and a memo of those
 * that are used again. Each instruction adds one value at most, so that memory is bounded by the pickle's
 * size. */
#include "formats/pickle.h"

/* OTHER is a value that no tensor needs, such as True or a list. */
typedef enum { OTHER, MARK, INTEGER, TEXT, TUPLE, GLOBAL, STORAGE, TENSOR, DICT } kind_of_value;

/* A pickle may name these. */
typedef enum { MAKES_DICT, MAKES_TENSOR, MAKES_PARAMETER, MAKES_STORAGE } maker;
static const struct {
  const char *module, *name;
  maker makes;
  const char *type; /* of a storage */
} globals[] = {
    {"collections", "OrderedDict", MAKES_DICT, NULL},
    {"torch._utils", "_rebuild_tensor_v2", MAKES_TENSOR, NULL},
    {"torch._utils", "_rebuild_parameter", MAKES_PARAMETER, NULL},
    {"torch", "FloatStorage", MAKES_STORAGE, "F32"},
    {"torch", "HalfStorage", MAKES_STORAGE, "F16"},
    {"torch", "BFloat16Storage", MAKES_STORAGE, "BF16"},
    {"torch", "DoubleStorage", MAKES_STORAGE, "F64"},
    {"torch", "LongStorage", MAKES_STORAGE, "I64"},
    {"torch", "IntStorage", MAKES_STORAGE, "I32"},
    {"torch", "ShortStorage", MAKES_STORAGE, "I16"},
    {"torch", "CharStorage", MAKES_STORAGE, "I8"},
    {"torch", "ByteStorage", MAKES_STORAGE, "U8"},
    {"torch", "BoolStorage", MAKES_STORAGE, "BOOL"},
};

typedef struct {
  kind_of_value kind;
  int64_t number;   /* INTEGER; TUPLE: its first item; GLOBAL: of the table; TENSOR, DICT: its number */
  const char *text; /* TEXT; STORAGE: its key */
  size_t count;     /* TUPLE: items; STORAGE: the number of its type in the table */
} value;

typedef struct {
  value *values;
  size_t count, capacity;
} list;

typedef struct {
  unsigned char *bytes;
  size_t size, at;
  const char *name;
  list stack, memo, items; /* items: of all tuples */
  attn2c_pickled *tensors;
  size_t tensor_count, tensor_capacity;
  struct entry {
    int64_t dict, tensor;
    const char *name;
  } * entries;
  size_t entry_count, entry_capacity;
  int64_t dicts;
  attn2c_message *message;
  int status;
} machine;

static void refuse(machine *m, const char *what) {
  if (m->status) return;
  m->status = attn2c_fail(m->message, ATTN2C_FORMAT, "%s: its pickle: %s, at byte %zu", m->name, what, m->at);
}

/* Takes the next bytes. A pickle that ends before gives zeros, and a fault. */
static const unsigned char *take_bytes(machine *m, uint64_t count) {
  static const unsigned char none[8] = {0};
  if (count > m->size - m->at) {
    refuse(m, "it is cut");
    return none;
  }
  m->at += (size_t)count;
  return m->bytes + m->at - count;
}

static uint64_t take_number(machine *m, size_t bytes) {
  uint64_t number = 0;
  memcpy(&number, take_bytes(m, bytes), bytes);
  return number;
}

static void append(machine *m, list *to, value added) {
  if (m->status) return;
  m->status = attn2c_grow((void **)&to->values, &to->capacity, to->count + 1, sizeof *to->values);
  if (!m->status) to->values[to->count++] = added;
}

static void push(machine *m, kind_of_value kind, int64_t number) {
  append(m, &m->stack, (value){.kind = kind, .number = number});
}

static value pop(machine *m) {
  if (m->stack.count) return m->stack.values[--m->stack.count];
  refuse(m, "its stack is empty");
  return (value){0};
}

/* Returns the place after the last mark, and leaves the values from there on; the mark goes. */
static size_t after_mark(machine *m) {
  list *stack = &m->stack;
  for (size_t i = stack->count; i-- > 0;)
    if (stack->values[i].kind == MARK) {
      memmove(stack->values + i, stack->values + i + 1, (stack->count - i - 1) * sizeof *stack->values);
      stack->count--;
      return i;
    }
  refuse(m, "a mark is missing");
  return stack->count;
}

/* Replaces the values from `first` on by a tuple. */
static void make_tuple(machine *m, size_t first) {
  const value made = {.kind = TUPLE, .number = (int64_t)m->items.count, .count = m->stack.count - first};
  for (size_t i = first; i < m->stack.count; i++) append(m, &m->items, m->stack.values[i]);
  if (m->status) return;
  m->stack.count = first;
  append(m, &m->stack, made);
}

static void make_tuple_of(machine *m, size_t count) {
  if (m->stack.count < count) refuse(m, "its stack is empty");
  if (!m->status) make_tuple(m, m->stack.count - count);
}

/* Pushes a text, which moves by a byte, over its length, and so has place for its end. */
static void push_text(machine *m) {
  const uint64_t length = take_number(m, 4);
  const unsigned char *from = take_bytes(m, length);
  if (m->status) return;
  unsigned char *to = m->bytes + (from - m->bytes) - 1;
  memmove(to, from, (size_t)length);
  to[length] = 0;
  if (strlen((char *)to) != length) refuse(m, "a text has a zero");
  append(m, &m->stack, (value){.kind = TEXT, .text = (char *)to});
}

/* Takes a line, without its end. */
static const char *take_line(machine *m) {
  unsigned char *line = m->bytes + m->at, *end = memchr(line, '\n', m->size - m->at);
  if (!end) {
    refuse(m, "it is cut");
    return "";
  }
  *end = 0;
  m->at += (size_t)(end - line) + 1;
  return (char *)line;
}

static void push_global(machine *m) {
  const char *module = take_line(m), *name = take_line(m);
  for (size_t i = 0; i < sizeof globals / sizeof *globals; i++)
    if (strcmp(module, globals[i].module) == 0 && strcmp(name, globals[i].name) == 0) {
      push(m, GLOBAL, (int64_t)i);
      return;
    }
  if (m->status) return;
  m->status = attn2c_fail(m->message, ATTN2C_FORMAT,
                          "%s: its pickle needs %.60s.%.60s, which is not supported; save a state_dict of "
                          "dense tensors only",
                          m->name, module, name);
}

static int is_maker(const value *v, maker makes) {
  return v->kind == GLOBAL && globals[v->number].makes == makes;
}

/* Turns ("storage", type, key, place, elements) into a storage. */
static void find_storage(machine *m) {
  const value tuple = pop(m);
  const value *items = m->items.values + tuple.number;
  if (tuple.kind != TUPLE || tuple.count < 5 || items[0].kind != TEXT ||
      strcmp(items[0].text, "storage") != 0 || !is_maker(&items[1], MAKES_STORAGE) || items[2].kind != TEXT) {
    refuse(m, "a storage is expected");
    return;
  }
  append(m, &m->stack, (value){.kind = STORAGE, .text = items[2].text, .count = (size_t)items[1].number});
}

/* Reads a tuple of numbers. Returns how many there are, or -1. */
static int read_numbers(const machine *m, const value *tuple, int64_t *numbers) {
  const value *items = m->items.values + tuple->number;
  if (tuple->kind != TUPLE || tuple->count > ATTN2C_FILE_MAX_RANK) return -1;
  for (size_t i = 0; i < tuple->count; i++) {
    if (items[i].kind != INTEGER) return -1;
    numbers[i] = items[i].number;
  }
  return (int)tuple->count;
}

/* Makes a tensor of (storage, first element, shape, strides, needs gradients, hooks). A seventh argument says
 * that the values are the negatives of those in the storage, or conjugate. */
static void make_tensor(machine *m, const value *arguments) {
  const value *items = m->items.values + arguments->number;
  attn2c_pickled made = {0};
  if (arguments->count > 6) {
    refuse(m, "a tensor is a negative or conjugate view; save it after .clone()");
  } else if (arguments->count >= 4 && items[0].kind == STORAGE && items[1].kind == INTEGER &&
             (made.rank = read_numbers(m, &items[2], made.shape)) >= 0 &&
             read_numbers(m, &items[3], made.strides) == made.rank) {
    made.storage = items[0].text, made.type = globals[items[0].count].type, made.first = items[1].number;
    m->status = attn2c_grow((void **)&m->tensors, &m->tensor_capacity, m->tensor_count + 1, sizeof made);
    if (m->status) return;
    m->tensors[m->tensor_count] = made;
    push(m, TENSOR, (int64_t)m->tensor_count++);
  } else {
    refuse(m, "a tensor is of another form");
  }
}

static void call(machine *m) {
  const value arguments = pop(m), callee = pop(m);
  if (m->status) return;
  if (callee.kind != GLOBAL || arguments.kind != TUPLE || is_maker(&callee, MAKES_STORAGE))
    refuse(m, "a call of nothing that makes tensors");
  else if (is_maker(&callee, MAKES_DICT))
    push(m, DICT, m->dicts++);
  else if (is_maker(&callee, MAKES_TENSOR))
    make_tensor(m, &arguments);
  else if (arguments.count == 0)
    refuse(m, "a parameter without its tensor");
  else
    append(m, &m->stack, m->items.values[arguments.number]);
}

/* Puts pairs of values, from `first` on, into the dictionary before them. */
static void set_items(machine *m, size_t first) {
  const size_t count = m->stack.count;
  if (m->status) return;
  if (first < 1 || first > count || (count - first) % 2) {
    refuse(m, "a dictionary is expected");
    return;
  }
  const value *dict = &m->stack.values[first - 1];
  for (size_t i = first; i < count && !m->status; i += 2) {
    const value *key = &m->stack.values[i], *item = key + 1;
    if (key->kind != TEXT || item->kind != TENSOR) continue;
    m->status = attn2c_grow((void **)&m->entries, &m->entry_capacity, m->entry_count + 1, sizeof *m->entries);
    if (!m->status)
      m->entries[m->entry_count++] =
          (struct entry){dict->kind == DICT ? dict->number : -1, item->number, key->text};
  }
  m->stack.count = first;
}

/* Drops values from `first` on, which were put into a list, or changed an object. */
static void drop(machine *m, size_t first) {
  if (first < 1 || first > m->stack.count)
    refuse(m, "its stack is empty");
  else
    m->stack.count = first;
}

static void keep(machine *m, uint64_t number) {
  if (m->stack.count == 0 || number > m->memo.count)
    refuse(m, "a value of the memo is missing");
  else if (number == m->memo.count)
    append(m, &m->memo, m->stack.values[m->stack.count - 1]);
  else
    m->memo.values[number] = m->stack.values[m->stack.count - 1];
}

static void push_kept(machine *m, uint64_t number) {
  if (number < m->memo.count)
    append(m, &m->stack, m->memo.values[number]);
  else
    refuse(m, "a value of the memo is missing");
}

static void push_long(machine *m) {
  const uint64_t bytes = take_number(m, 1);
  const unsigned char *from = take_bytes(m, bytes);
  uint64_t number = 0;
  if (bytes > sizeof number) {
    refuse(m, "a number is too large");
    return;
  }
  if (m->status) return;
  memcpy(&number, from, (size_t)bytes);
  const int unused = 64 - 8 * (int)bytes;
  push(m, INTEGER, bytes ? (int64_t)(number << unused) >> unused : 0);
}

/* Obeys one instruction; returns 0 after the last one. */
static int step(machine *m) {
  const unsigned char instruction = *take_bytes(m, 1);
  const size_t count = m->stack.count;
  switch (instruction) {
  case 0x80: /* protocol */
    if (take_number(m, 1) != 2) refuse(m, "a protocol other than 2, the one of torch.save()");
    break;
  case '(':
    push(m, MARK, 0);
    break;
  case ')':
    make_tuple(m, count);
    break;
  case 't':
    make_tuple(m, after_mark(m));
    break;
  case 0x85:
  case 0x86:
  case 0x87:
    make_tuple_of(m, instruction - 0x84u);
    break;
  case '}':
    push(m, DICT, m->dicts++);
    break;
  case ']':
  case 'N':
  case 0x88:
  case 0x89:
    push(m, OTHER, 0);
    break;
  case 'G':
    take_bytes(m, 8);
    push(m, OTHER, 0);
    break;
  case 'K':
    push(m, INTEGER, (int64_t)take_number(m, 1));
    break;
  case 'M':
    push(m, INTEGER, (int64_t)take_number(m, 2));
    break;
  case 'J':
    push(m, INTEGER, (int32_t)(uint32_t)take_number(m, 4));
    break;
  case 0x8a:
    push_long(m);
    break;
  case 'X':
    push_text(m);
    break;
  case 'c':
    push_global(m);
    break;
  case 'q':
    keep(m, take_number(m, 1));
    break;
  case 'r':
    keep(m, take_number(m, 4));
    break;
  case 'h':
    push_kept(m, take_number(m, 1));
    break;
  case 'j':
    push_kept(m, take_number(m, 4));
    break;
  case 'Q':
    find_storage(m);
    break;
  case 'R':
    call(m);
    break;
  case 's':
    set_items(m, count < 2 ? 0 : count - 2);
    break;
  case 'u':
    set_items(m, after_mark(m));
    break;
  case 'a':
  case 'b':
    drop(m, count - (count > 0));
    break;
  case 'e':
    drop(m, after_mark(m));
    break;
  case '.':
    return 0;
  default:
    refuse(m, "an instruction that no state_dict has");
  }
  return !m->status;
}

static void give(machine *m, int (*take)(void *context, const attn2c_pickled *tensor), void *context) {
  const value dict = pop(m);
  size_t given = 0;
  for (size_t i = 0; i < m->entry_count && !m->status; i++) {
    if (dict.kind != DICT || m->entries[i].dict != dict.number) continue;
    m->tensors[m->entries[i].tensor].name = m->entries[i].name;
    m->status = take(context, &m->tensors[m->entries[i].tensor]);
    given++;
  }
  if (!given) refuse(m, "its outermost value is no dictionary of tensors; save model.state_dict() only");
}

int attn2c_pickle_read(unsigned char *bytes, size_t size, const char *name,
                       int (*take)(void *context, const attn2c_pickled *tensor), void *context,
                       attn2c_message *message) {
  machine m = {.bytes = bytes, .size = size, .name = name, .message = message};
  /* make_tuple() and find_storage() point into it also if it is empty */
  m.status = attn2c_grow((void **)&m.items.values, &m.items.capacity, 1, sizeof *m.items.values);
  while (!m.status && step(&m)) {
  }
  if (!m.status) give(&m, take, context);
  ATTN2C_FREE(m.stack.values, m.memo.values, m.items.values, m.tensors, m.entries);
  return m.status;
}
