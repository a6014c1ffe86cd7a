/* chat_numbers.h - the numbers of steps, filters, tests and methods of chat templates.
 * `make headers` writes this file from gen/text/chat/numbers.lua. */
/* clang-format off */
#pragma once

enum {
  CHAT_STEP_TEXT = 0, /* writes word a */
  CHAT_STEP_PRINT = 1, /* writes the value */
  CHAT_STEP_WORD = 2, /* pushes word a */
  CHAT_STEP_INTEGER = 3, /* pushes a */
  CHAT_STEP_REAL = 4, /* pushes real number a */
  CHAT_STEP_CONSTANT = 5, /* pushes none, false, true, an argument that is not given, or undefined: 0 to 4 */
  CHAT_STEP_LOAD = 6, /* pushes slot a */
  CHAT_STEP_LOAD_ROOT = 7, /* pushes slot a of the template, in a macro */
  CHAT_STEP_STORE = 8, /* pops slot a */
  CHAT_STEP_CLEAR = 9, /* makes slot a undefined, of the name word b */
  CHAT_STEP_RESOLVE = 10, /* fills slot a with the input of the name word b */
  CHAT_STEP_GIVEN = 11, /* goes to step a if slot b has an argument */
  CHAT_STEP_JUMP = 12, /* goes to step a */
  CHAT_STEP_JUMP_FALSE = 13, /* pops; goes to step a if it is false */
  CHAT_STEP_AND = 14, /* goes to step a if the value is false, else pops */
  CHAT_STEP_OR = 15, /* goes to step a if the value is true, else pops */
  CHAT_STEP_POP = 16, /* pops a value */
  CHAT_STEP_UNDER = 17, /* removes the value under the last one */
  CHAT_STEP_NOT = 18,
  CHAT_STEP_NEGATIVE = 19,
  CHAT_STEP_POSITIVE = 20,
  CHAT_STEP_ADD = 21,
  CHAT_STEP_SUBTRACT = 22,
  CHAT_STEP_MULTIPLY = 23,
  CHAT_STEP_DIVIDE = 24,
  CHAT_STEP_FLOOR_DIVIDE = 25,
  CHAT_STEP_REMAINDER = 26,
  CHAT_STEP_POWER = 27,
  CHAT_STEP_JOIN = 28, /* joins a values as text */
  CHAT_STEP_COMPARE = 29, /* comparison a; b: keeps the right value under the result */
  CHAT_STEP_LIST = 30, /* makes a list of a values */
  CHAT_STEP_TUPLE = 31, /* makes a tuple of a values */
  CHAT_STEP_DICT = 32, /* makes a dictionary of a pairs */
  CHAT_STEP_ITEM = 33, /* object[key] */
  CHAT_STEP_ATTRIBUTE = 34, /* object.word a */
  CHAT_STEP_SLICE = 35, /* object[start:stop:step] */
  CHAT_STEP_FILTER = 36, /* filter a; b: the number of its inner filter or test */
  CHAT_STEP_TEST = 37, /* test a */
  CHAT_STEP_METHOD = 38, /* method a */
  CHAT_STEP_CALL = 39, /* calls a value with a arguments and b named ones */
  CHAT_STEP_MACRO = 40, /* pushes macro a */
  CHAT_STEP_RETURN = 41, /* ends a macro */
  CHAT_STEP_CAPTURE = 42, /* begins a text that becomes a value */
  CHAT_STEP_CAPTURED = 43, /* pushes the text */
  CHAT_STEP_LOOP = 44, /* pops what a loop iterates over */
  CHAT_STEP_NEXT = 45, /* pushes the next item, or goes to step a */
  CHAT_STEP_ITSELF = 46, /* fills slot a with the loop */
  CHAT_STEP_ROUND = 47, /* an iteration has reached its end */
  CHAT_STEP_END_LOOP = 48, /* ends the loop */
  CHAT_STEP_END_ELSE = 49, /* ends the loop; goes to step a if an iteration reached its end */
  CHAT_STEP_UNPACK = 50, /* pops a values out of one */
  CHAT_STEP_SET = 51, /* sets attribute word a of a namespace to the value under it */
  CHAT_STEP_APPEND = 52, /* adds the value to the list under it; both stay */
  CHAT_STEP_KEEP = 53, /* pops; if it is false, removes the last value of the list */
  CHAT_STEP_REFUSE = 54, /* refuses the chat for the reason word a */
  CHAT_STEP_STOP = 55, /* ends the template */
  CHAT_STEPS = 56
};

enum {
  CHAT_IS_EQ = 0,
  CHAT_IS_NE = 1,
  CHAT_IS_LT = 2,
  CHAT_IS_LE = 3,
  CHAT_IS_GT = 4,
  CHAT_IS_GE = 5,
  CHAT_IS_IN = 6,
  CHAT_IS_NOT_IN = 7,
  CHAT_ISS = 8
};

enum {
  CHAT_FILTER_ABS = 0,
  CHAT_FILTER_ATTR = 1,
  CHAT_FILTER_CAPITALIZE = 2,
  CHAT_FILTER_DEFAULT = 3,
  CHAT_FILTER_DICTSORT = 4,
  CHAT_FILTER_FIRST = 5,
  CHAT_FILTER_FLOAT = 6,
  CHAT_FILTER_INDENT = 7,
  CHAT_FILTER_INT = 8,
  CHAT_FILTER_ITEMS = 9,
  CHAT_FILTER_JOIN = 10,
  CHAT_FILTER_LAST = 11,
  CHAT_FILTER_LENGTH = 12,
  CHAT_FILTER_LIST = 13,
  CHAT_FILTER_LOWER = 14,
  CHAT_FILTER_MAX = 15,
  CHAT_FILTER_MIN = 16,
  CHAT_FILTER_REPLACE = 17,
  CHAT_FILTER_REVERSE = 18,
  CHAT_FILTER_ROUND = 19,
  CHAT_FILTER_SAFE = 20,
  CHAT_FILTER_SORT = 21,
  CHAT_FILTER_STRING = 22,
  CHAT_FILTER_SUM = 23,
  CHAT_FILTER_TITLE = 24,
  CHAT_FILTER_TOJSON = 25,
  CHAT_FILTER_TRIM = 26,
  CHAT_FILTER_UNIQUE = 27,
  CHAT_FILTER_UPPER = 28,
  CHAT_FILTER_MAP = 29,
  CHAT_FILTER_MAP_ATTRIBUTE = 30,
  CHAT_FILTER_SELECT = 31,
  CHAT_FILTER_REJECT = 32,
  CHAT_FILTER_SELECTATTR = 33,
  CHAT_FILTER_REJECTATTR = 34,
  CHAT_FILTERS = 35
};
#define CHAT_FILTER_ARGUMENTS 0, 1, 0, 2, 3, 0, 1, 3, 2, 0, 2, 0, 0, 0, 0, 0, 0, 3, 0, 2, 0, 3, 0, 0, 0, 4, 1, 0, 0, 0, 2, 0, 0, 1, 1
#define CHAT_FILTER_NAMES "abs", "attr", "capitalize", "default", "dictsort", "first", "float", "indent", "int", "items", "join", "last", "length", "list", "lower", "max", "min", "replace", "reverse", "round", "safe", "sort", "string", "sum", "title", "tojson", "trim", "unique", "upper", "map", "map_attribute", "select", "reject", "selectattr", "rejectattr"

enum {
  CHAT_TEST_TRUTH = 0,
  CHAT_TEST_BOOLEAN = 1,
  CHAT_TEST_CALLABLE = 2,
  CHAT_TEST_DEFINED = 3,
  CHAT_TEST_DIVISIBLEBY = 4,
  CHAT_TEST_EQ = 5,
  CHAT_TEST_EVEN = 6,
  CHAT_TEST_FALSE = 7,
  CHAT_TEST_FLOAT = 8,
  CHAT_TEST_GE = 9,
  CHAT_TEST_GT = 10,
  CHAT_TEST_IN = 11,
  CHAT_TEST_INTEGER = 12,
  CHAT_TEST_ITERABLE = 13,
  CHAT_TEST_LE = 14,
  CHAT_TEST_LOWER = 15,
  CHAT_TEST_LT = 16,
  CHAT_TEST_MAPPING = 17,
  CHAT_TEST_NE = 18,
  CHAT_TEST_NONE = 19,
  CHAT_TEST_NUMBER = 20,
  CHAT_TEST_ODD = 21,
  CHAT_TEST_SAMEAS = 22,
  CHAT_TEST_SEQUENCE = 23,
  CHAT_TEST_STRING = 24,
  CHAT_TEST_TRUE = 25,
  CHAT_TEST_UNDEFINED = 26,
  CHAT_TEST_UPPER = 27,
  CHAT_TESTS = 28
};
#define CHAT_TEST_ARGUMENTS 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0
#define CHAT_TEST_NAMES "truth", "boolean", "callable", "defined", "divisibleby", "eq", "even", "false", "float", "ge", "gt", "in", "integer", "iterable", "le", "lower", "lt", "mapping", "ne", "none", "number", "odd", "sameas", "sequence", "string", "true", "undefined", "upper"

enum {
  CHAT_METHOD_CAPITALIZE = 0,
  CHAT_METHOD_COUNT = 1,
  CHAT_METHOD_CYCLE = 2,
  CHAT_METHOD_ENDSWITH = 3,
  CHAT_METHOD_FIND = 4,
  CHAT_METHOD_GET = 5,
  CHAT_METHOD_INDEX = 6,
  CHAT_METHOD_ISDIGIT = 7,
  CHAT_METHOD_ISSPACE = 8,
  CHAT_METHOD_ITEMS = 9,
  CHAT_METHOD_JOIN = 10,
  CHAT_METHOD_KEYS = 11,
  CHAT_METHOD_LOWER = 12,
  CHAT_METHOD_LSTRIP = 13,
  CHAT_METHOD_REMOVEPREFIX = 14,
  CHAT_METHOD_REMOVESUFFIX = 15,
  CHAT_METHOD_REPLACE = 16,
  CHAT_METHOD_RFIND = 17,
  CHAT_METHOD_RSPLIT = 18,
  CHAT_METHOD_RSTRIP = 19,
  CHAT_METHOD_SPLIT = 20,
  CHAT_METHOD_SPLITLINES = 21,
  CHAT_METHOD_STARTSWITH = 22,
  CHAT_METHOD_STRIP = 23,
  CHAT_METHOD_TITLE = 24,
  CHAT_METHOD_UPPER = 25,
  CHAT_METHOD_VALUES = 26,
  CHAT_METHODS = 27
};
#define CHAT_METHOD_ARGUMENTS 0, 1, 1, 1, 1, 2, 1, 0, 0, 0, 1, 0, 0, 1, 1, 1, 3, 1, 2, 1, 2, 1, 1, 1, 0, 0, 0
#define CHAT_METHOD_NAMES "capitalize", "count", "cycle", "endswith", "find", "get", "index", "isdigit", "isspace", "items", "join", "keys", "lower", "lstrip", "removeprefix", "removesuffix", "replace", "rfind", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "title", "upper", "values"
/* clang-format on */
