/* chat_numbers.h - the steps, filters, tests and methods of chat templates, by number.
 * gen/text/chat/numbers.lua reads them here. The names of filters, tests and methods are Jinja's and
 * Python's, and their parameters have Jinja's and Python's order. */
/* clang-format off */
#pragma once

/* Steps, with the meaning of their numbers a and b. "word": an index in the list of texts. "slot": a variable's
 * place. */
enum {
  CHAT_STEP_TEXT, /* writes word a */
  CHAT_STEP_PRINT, /* writes the value */
  CHAT_STEP_WORD, /* pushes word a */
  CHAT_STEP_INTEGER, /* pushes a */
  CHAT_STEP_REAL, /* pushes real number a */
  CHAT_STEP_CONSTANT, /* pushes none, false, true, an argument that is not given, or undefined: 0 to 4 */
  CHAT_STEP_LOAD, /* pushes slot a */
  CHAT_STEP_LOAD_ROOT, /* pushes slot a of the template, in a macro */
  CHAT_STEP_STORE, /* pops slot a */
  CHAT_STEP_CLEAR, /* makes slot a undefined, of the name word b */
  CHAT_STEP_RESOLVE, /* fills slot a with the input of the name word b */
  CHAT_STEP_GIVEN, /* goes to step a if slot b has an argument */
  CHAT_STEP_JUMP, /* goes to step a */
  CHAT_STEP_JUMP_FALSE, /* pops; goes to step a if it is false */
  CHAT_STEP_AND, /* goes to step a if the value is false, else pops */
  CHAT_STEP_OR, /* goes to step a if the value is true, else pops */
  CHAT_STEP_POP, /* pops a value */
  CHAT_STEP_UNDER, /* removes the value under the last one */
  CHAT_STEP_NOT, CHAT_STEP_NEGATIVE, CHAT_STEP_POSITIVE, CHAT_STEP_ADD, CHAT_STEP_SUBTRACT,
  CHAT_STEP_MULTIPLY, CHAT_STEP_DIVIDE, CHAT_STEP_FLOOR_DIVIDE, CHAT_STEP_REMAINDER, CHAT_STEP_POWER,
  CHAT_STEP_JOIN, /* joins a values as text */
  CHAT_STEP_COMPARE, /* comparison a; b: keeps the right value under the result */
  CHAT_STEP_LIST, /* makes a list of a values */
  CHAT_STEP_TUPLE, /* makes a tuple of a values */
  CHAT_STEP_DICT, /* makes a dictionary of a pairs */
  CHAT_STEP_ITEM, /* object[key] */
  CHAT_STEP_ATTRIBUTE, /* object.word a */
  CHAT_STEP_SLICE, /* object[start:stop:step] */
  CHAT_STEP_FILTER, /* filter a; b: the number of its inner filter or test */
  CHAT_STEP_TEST, /* test a */
  CHAT_STEP_METHOD, /* method a */
  CHAT_STEP_CALL, /* calls a value with a arguments and b named ones */
  CHAT_STEP_MACRO, /* pushes macro a */
  CHAT_STEP_RETURN, /* ends a macro */
  CHAT_STEP_CAPTURE, /* begins a text that becomes a value */
  CHAT_STEP_CAPTURED, /* pushes the text */
  CHAT_STEP_LOOP, /* pops what a loop iterates over */
  CHAT_STEP_NEXT, /* pushes the next item, or goes to step a */
  CHAT_STEP_ITSELF, /* fills slot a with the loop */
  CHAT_STEP_ROUND, /* an iteration has reached its end */
  CHAT_STEP_END_LOOP, /* ends the loop */
  CHAT_STEP_END_ELSE, /* ends the loop; goes to step a if an iteration reached its end */
  CHAT_STEP_UNPACK, /* pops a values out of one */
  CHAT_STEP_SET, /* sets attribute word a of a namespace to the value under it */
  CHAT_STEP_APPEND, /* adds the value to the list under it; both stay */
  CHAT_STEP_KEEP, /* pops; if it is false, removes the last value of the list */
  CHAT_STEP_REFUSE, /* refuses the chat for the reason word a */
  CHAT_STEP_STOP, /* ends the template */
  CHAT_STEPS
};

/* Comparisons. */
enum { CHAT_IS_EQ, CHAT_IS_NE, CHAT_IS_LT, CHAT_IS_LE, CHAT_IS_GT, CHAT_IS_GE, CHAT_IS_IN, CHAT_IS_NOT_IN };

/* X(member, name, number of parameters, their names); !: it must be given. */
/* Filters. From map on they take the name of a filter or a test, which the compiler knows. */
#define CHAT_FILTER_ROWS(X) \
  X(ABS, "abs", 0, "") X(ATTR, "attr", 1, "!name") X(CAPITALIZE, "capitalize", 0, "") \
  X(DEFAULT, "default", 2, "default_value boolean") \
  X(DICTSORT, "dictsort", 3, "case_sensitive by reverse") X(FIRST, "first", 0, "") \
  X(FLOAT, "float", 1, "default") X(INDENT, "indent", 3, "width first blank") \
  X(INT, "int", 2, "default base") X(ITEMS, "items", 0, "") X(JOIN, "join", 2, "d attribute") \
  X(LAST, "last", 0, "") X(LENGTH, "length", 0, "") X(LIST, "list", 0, "") X(LOWER, "lower", 0, "") \
  X(MAX, "max", 0, "") X(MIN, "min", 0, "") X(REPLACE, "replace", 3, "!old !new count") \
  X(REVERSE, "reverse", 0, "") X(ROUND, "round", 2, "precision method") X(SAFE, "safe", 0, "") \
  X(SORT, "sort", 3, "reverse case_sensitive attribute") X(STRING, "string", 0, "") X(SUM, "sum", 0, "") \
  X(TITLE, "title", 0, "") X(TOJSON, "tojson", 4, "ensure_ascii indent separators sort_keys") \
  X(TRIM, "trim", 1, "chars") X(UNIQUE, "unique", 0, "") X(UPPER, "upper", 0, "") X(MAP, "map", 0, "") \
  X(MAP_ATTRIBUTE, "map_attribute", 2, "!attribute default") X(SELECT, "select", 0, "") \
  X(REJECT, "reject", 0, "") X(SELECTATTR, "selectattr", 1, "!attribute") \
  X(REJECTATTR, "rejectattr", 1, "!attribute")
/* Tests. truth: select without a test. */
#define CHAT_TEST_ROWS(X) \
  X(TRUTH, "truth", 0, "") X(BOOLEAN, "boolean", 0, "") X(CALLABLE, "callable", 0, "") \
  X(DEFINED, "defined", 0, "") X(DIVISIBLEBY, "divisibleby", 1, "!num") X(EQ, "eq", 1, "!other") \
  X(EVEN, "even", 0, "") X(FALSE, "false", 0, "") X(FLOAT, "float", 0, "") X(GE, "ge", 1, "!other") \
  X(GT, "gt", 1, "!other") X(IN, "in", 1, "!seq") X(INTEGER, "integer", 0, "") \
  X(ITERABLE, "iterable", 0, "") X(LE, "le", 1, "!other") X(LOWER, "lower", 0, "") \
  X(LT, "lt", 1, "!other") X(MAPPING, "mapping", 0, "") X(NE, "ne", 1, "!other") X(NONE, "none", 0, "") \
  X(NUMBER, "number", 0, "") X(ODD, "odd", 0, "") X(SAMEAS, "sameas", 1, "!other") \
  X(SEQUENCE, "sequence", 0, "") X(STRING, "string", 0, "") X(TRUE, "true", 0, "") \
  X(UNDEFINED, "undefined", 0, "") X(UPPER, "upper", 0, "")
/* Methods of texts, dictionaries, lists and `loop`. transformers allows none that changes a list or dictionary. */
#define CHAT_METHOD_ROWS(X) \
  X(CAPITALIZE, "capitalize", 0, "") X(COUNT, "count", 1, "!sub") X(CYCLE, "cycle", 1, "!values") \
  X(ENDSWITH, "endswith", 1, "!suffix") X(FIND, "find", 1, "!sub") X(GET, "get", 2, "!key default") \
  X(INDEX, "index", 1, "!value") X(ISDIGIT, "isdigit", 0, "") X(ISSPACE, "isspace", 0, "") \
  X(ITEMS, "items", 0, "") X(JOIN, "join", 1, "!iterable") X(KEYS, "keys", 0, "") X(LOWER, "lower", 0, "") \
  X(LSTRIP, "lstrip", 1, "chars") X(REMOVEPREFIX, "removeprefix", 1, "!prefix") \
  X(REMOVESUFFIX, "removesuffix", 1, "!suffix") X(REPLACE, "replace", 3, "!old !new count") \
  X(RFIND, "rfind", 1, "!sub") X(RSPLIT, "rsplit", 2, "sep maxsplit") X(RSTRIP, "rstrip", 1, "chars") \
  X(SPLIT, "split", 2, "sep maxsplit") X(SPLITLINES, "splitlines", 1, "keepends") \
  X(STARTSWITH, "startswith", 1, "!prefix") X(STRIP, "strip", 1, "chars") X(TITLE, "title", 0, "") \
  X(UPPER, "upper", 0, "") X(VALUES, "values", 0, "")

#define CHAT_FILTER_MEMBER(member, name, count, parameters) CHAT_FILTER_##member,
#define CHAT_TEST_MEMBER(member, name, count, parameters) CHAT_TEST_##member,
#define CHAT_METHOD_MEMBER(member, name, count, parameters) CHAT_METHOD_##member,
enum { CHAT_FILTER_ROWS(CHAT_FILTER_MEMBER) CHAT_FILTERS };
enum { CHAT_TEST_ROWS(CHAT_TEST_MEMBER) CHAT_TESTS };
enum { CHAT_METHOD_ROWS(CHAT_METHOD_MEMBER) CHAT_METHODS };

/* Insides of arrays of all rows: names, and numbers of parameters. */
#define CHAT_NAME(member, name, count, parameters) name,
#define CHAT_COUNT(member, name, count, parameters) count,
/* clang-format on */
