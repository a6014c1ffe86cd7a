/* chat_numbers.h - the numbers of steps, filters, tests and methods of chat templates.
 * `make headers` writes this file from gen/text/chat/numbers.lua. */
/* clang-format off */
#pragma once

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

enum {
  CHAT_IS_EQ, CHAT_IS_NE, CHAT_IS_LT, CHAT_IS_LE, CHAT_IS_GT, CHAT_IS_GE, CHAT_IS_IN, CHAT_IS_NOT_IN, CHAT_ISS
};

enum {
  CHAT_FILTER_ABS, CHAT_FILTER_ATTR, CHAT_FILTER_CAPITALIZE, CHAT_FILTER_DEFAULT, CHAT_FILTER_DICTSORT,
  CHAT_FILTER_FIRST, CHAT_FILTER_FLOAT, CHAT_FILTER_INDENT, CHAT_FILTER_INT, CHAT_FILTER_ITEMS,
  CHAT_FILTER_JOIN, CHAT_FILTER_LAST, CHAT_FILTER_LENGTH, CHAT_FILTER_LIST, CHAT_FILTER_LOWER,
  CHAT_FILTER_MAX, CHAT_FILTER_MIN, CHAT_FILTER_REPLACE, CHAT_FILTER_REVERSE, CHAT_FILTER_ROUND,
  CHAT_FILTER_SAFE, CHAT_FILTER_SORT, CHAT_FILTER_STRING, CHAT_FILTER_SUM, CHAT_FILTER_TITLE,
  CHAT_FILTER_TOJSON, CHAT_FILTER_TRIM, CHAT_FILTER_UNIQUE, CHAT_FILTER_UPPER, CHAT_FILTER_MAP,
  CHAT_FILTER_MAP_ATTRIBUTE, CHAT_FILTER_SELECT, CHAT_FILTER_REJECT, CHAT_FILTER_SELECTATTR,
  CHAT_FILTER_REJECTATTR, CHAT_FILTERS
};
#define CHAT_FILTER_ARGUMENTS 0, 1, 0, 2, 3, 0, 1, 3, 2, 0, 2, 0, 0, 0, 0, 0, 0, 3, 0, 2, 0, 3, 0, 0, 0, 4, 1, 0, 0, 0, 2, 0, 0, 1, 1
#define CHAT_FILTER_NAMES "abs", "attr", "capitalize", "default", "dictsort", "first", "float", "indent", "int", "items", "join", "last", "length", "list", "lower", "max", "min", "replace", "reverse", "round", "safe", "sort", "string", "sum", "title", "tojson", "trim", "unique", "upper", "map", "map_attribute", "select", "reject", "selectattr", "rejectattr"

enum {
  CHAT_TEST_TRUTH, CHAT_TEST_BOOLEAN, CHAT_TEST_CALLABLE, CHAT_TEST_DEFINED, CHAT_TEST_DIVISIBLEBY,
  CHAT_TEST_EQ, CHAT_TEST_EVEN, CHAT_TEST_FALSE, CHAT_TEST_FLOAT, CHAT_TEST_GE, CHAT_TEST_GT, CHAT_TEST_IN,
  CHAT_TEST_INTEGER, CHAT_TEST_ITERABLE, CHAT_TEST_LE, CHAT_TEST_LOWER, CHAT_TEST_LT, CHAT_TEST_MAPPING,
  CHAT_TEST_NE, CHAT_TEST_NONE, CHAT_TEST_NUMBER, CHAT_TEST_ODD, CHAT_TEST_SAMEAS, CHAT_TEST_SEQUENCE,
  CHAT_TEST_STRING, CHAT_TEST_TRUE, CHAT_TEST_UNDEFINED, CHAT_TEST_UPPER, CHAT_TESTS
};
#define CHAT_TEST_ARGUMENTS 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0
#define CHAT_TEST_NAMES "truth", "boolean", "callable", "defined", "divisibleby", "eq", "even", "false", "float", "ge", "gt", "in", "integer", "iterable", "le", "lower", "lt", "mapping", "ne", "none", "number", "odd", "sameas", "sequence", "string", "true", "undefined", "upper"

enum {
  CHAT_METHOD_CAPITALIZE, CHAT_METHOD_COUNT, CHAT_METHOD_CYCLE, CHAT_METHOD_ENDSWITH, CHAT_METHOD_FIND,
  CHAT_METHOD_GET, CHAT_METHOD_INDEX, CHAT_METHOD_ISDIGIT, CHAT_METHOD_ISSPACE, CHAT_METHOD_ITEMS,
  CHAT_METHOD_JOIN, CHAT_METHOD_KEYS, CHAT_METHOD_LOWER, CHAT_METHOD_LSTRIP, CHAT_METHOD_REMOVEPREFIX,
  CHAT_METHOD_REMOVESUFFIX, CHAT_METHOD_REPLACE, CHAT_METHOD_RFIND, CHAT_METHOD_RSPLIT, CHAT_METHOD_RSTRIP,
  CHAT_METHOD_SPLIT, CHAT_METHOD_SPLITLINES, CHAT_METHOD_STARTSWITH, CHAT_METHOD_STRIP, CHAT_METHOD_TITLE,
  CHAT_METHOD_UPPER, CHAT_METHOD_VALUES, CHAT_METHODS
};
#define CHAT_METHOD_ARGUMENTS 0, 1, 1, 1, 1, 2, 1, 0, 0, 0, 1, 0, 0, 1, 1, 1, 3, 1, 2, 1, 2, 1, 1, 1, 0, 0, 0
#define CHAT_METHOD_NAMES "capitalize", "count", "cycle", "endswith", "find", "get", "index", "isdigit", "isspace", "items", "join", "keys", "lower", "lstrip", "removeprefix", "removesuffix", "replace", "rfind", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "title", "upper", "values"
/* clang-format on */
