/* numbers.h - the numbers that a tokenizer's tables contain.
 * `make headers` writes this file from gen/text/numbers.lua, which says what each means. */
/* clang-format off */
#pragma once

#define TEXT_TABLES_VERSION 3
#define TEXT_NONE 0xffffffffu

/* Sections of the tables, in their order. */
enum text_section {
  SECTION_SETTINGS = 0, SECTION_STRINGS = 1, SECTION_TOKENS = 2, SECTION_FLAGS = 3, SECTION_VOCABULARY = 4,
  SECTION_MERGES = 5, SECTION_TRIE = 6, SECTION_SCORES = 7, SECTION_COMPONENTS = 8, SECTION_ADDED = 9,
  SECTION_TEMPLATES = 10, SECTION_BYTES = 11, SECTION_LETTERS = 12, SECTION_LANGUAGES = 13, SECTION_COUNT = 14
};

/* Numbers of the section of settings. */
enum text_setting {
  SETTING_MODEL = 0, SETTING_OPTIONS = 1, SETTING_UNKNOWN = 2, SETTING_VOCABULARY = 3, SETTING_KNOWN = 4,
  SETTING_LONGEST_WORD = 5, SETTING_PREFIX = 6, SETTING_PREFIX_LENGTH = 7, SETTING_SUFFIX = 8,
  SETTING_SUFFIX_LENGTH = 9, SETTING_LONGEST_TOKEN = 10, SETTING_LIMIT = 11, SETTING_STRATEGY = 12,
  SETTING_FROM_LEFT = 13, SETTING_WORD = 14, SETTING_WORD_LENGTH = 15, SETTING_ROOT = 16,
  SETTING_UNKNOWN_LOW = 17, SETTING_UNKNOWN_HIGH = 18, SETTING_SEED = 19, SETTING_TARGET = 20,
  SETTING_COUNT = 21
};

/* Kinds of models. */
enum { MODEL_WORDPIECE = 1, MODEL_BPE = 2, MODEL_UNIGRAM = 3 };

/* Options of a model. */
enum {
  OPTION_FUSE_UNKNOWN = 1, OPTION_BYTE_FALLBACK = 2, OPTION_IGNORE_MERGES = 4, OPTION_NEEDS_UNKNOWN = 8,
  OPTION_LIBRARY = 16, OPTION_CODES = 32
};

/* Flags of a token. */
enum { TOKEN_PRESENT = 1, TOKEN_SPECIAL = 2 };

/* Flags of an added token. */
enum {
  ADDED_LSTRIP = 1, ADDED_RSTRIP = 2, ADDED_SINGLE_WORD = 4, ADDED_NORMALIZED = 8, ADDED_SPECIAL = 16
};

/* Kinds of pieces of a template. */
enum { TEMPLATE_FIRST = 0, TEMPLATE_SECOND = 1, TEMPLATE_TOKEN = 2, TEMPLATE_LANGUAGE = 3 };

/* How a model is told the language to write; ATTN2C_TEXT_TARGET_ has the same numbers. */
enum { TARGET_NONE = 0, TARGET_FIRST = 1, TARGET_START = 2, TARGET_SOURCE = 3 };

/* Stages that have components. */
enum text_stage { STAGE_NORMALIZE = 0, STAGE_CUT = 1, STAGE_TRIM = 2, STAGE_DECODE = 3, STAGE_COUNT = 4 };

/* Normalizers, with what each has in its record. */
enum {
  NORMALIZE_BERT = 0, NORMALIZE_LOWERCASE = 1, NORMALIZE_STRIP = 2, NORMALIZE_ACCENTS = 3,
  NORMALIZE_PREPEND = 4, NORMALIZE_REPLACE = 5, NORMALIZE_NMT = 6, NORMALIZE_PRECOMPILED = 7,
  NORMALIZE_FORM = 8, NORMALIZE_BYTES = 9, NORMALIZE_KINDS = 10
};

/* Flags of NORMALIZE_BERT. */
enum { BERT_CLEAN = 1, BERT_CHINESE = 2, BERT_STRIP = 4, BERT_LOWER = 8 };

/* Flags of NORMALIZE_FORM. */
enum { FORM_COMPATIBLE = 1, FORM_COMPOSED = 2 };

/* Pre-tokenizers, with what each has in its record. */
enum { CUT_CHARACTERS = 0, CUT_PATTERN = 1, CUT_BYTES = 2, CUT_METASPACE = 3, CUT_KINDS = 4 };

/* Classes of characters. */
enum { CLASS_WHITE = 0, CLASS_PUNCTUATION = 1, CLASS_NUMBER = 2, CLASS_COUNT = 3 };

/* The fate of the text that a cut finds. */
enum {
  BEHAVIOR_REMOVED = 0, BEHAVIOR_ISOLATED = 1, BEHAVIOR_WITH_PREVIOUS = 2, BEHAVIOR_WITH_NEXT = 3,
  BEHAVIOR_CONTIGUOUS = 4
};

/* A flag in addition to BEHAVIOR_: a cut finds the text between matches. */
enum { CUT_INVERT = 8 };

/* Pieces that get a prefix. */
enum { SCHEME_ALWAYS = 0, SCHEME_FIRST = 1, SCHEME_NEVER = 2 };

/* Components that change the places of tokens. */
enum { TRIM_SPACES = 0, TRIM_KINDS = 1 };

/* Decoders, with what each has in its record. */
enum {
  DECODE_WORDPIECE = 0, DECODE_BYTES = 1, DECODE_METASPACE = 2, DECODE_BYTE_FALLBACK = 3, DECODE_FUSE = 4,
  DECODE_STRIP = 5, DECODE_REPLACE = 6, DECODE_BPE = 7, DECODE_JOIN = 8, DECODE_KINDS = 9
};
/* clang-format on */
