/* numbers.h - the numbers that a tokenizer's tables contain.
 * `make headers` writes this file from gen/text/numbers.lua. */
/* clang-format off */
#pragma once

#define TEXT_TABLES_VERSION 3
#define TEXT_NONE 0xffffffffu

/* Sections of the tables, in their order. */
enum text_section {
  SECTION_SETTINGS = 0, /* uint32 by enum text_setting */
  SECTION_STRINGS = 1, /* bytes that the other sections point into */
  SECTION_TOKENS = 2, /* uint32 [vocabulary + 1]: offset of a token's text in the strings */
  SECTION_FLAGS = 3, /* uint8 [vocabulary]: TOKEN_ */
  SECTION_VOCABULARY = 4, /* { uint32 hash, id } [a power of 2]: open addressing by the text's hash, which begins with the seed */
  SECTION_MERGES = 5, /* { uint32 left, right, rank, result } [a power of 2]: by both ids */
  SECTION_TRIE = 6, /* { uint32 node << 8 | byte, child } [a power of 2]; nodes below the vocabulary are tokens */
  SECTION_SCORES = 7, /* double [vocabulary] of a Unigram model */
  SECTION_COMPONENTS = 8, /* struct text_record, in the order of their stages */
  SECTION_ADDED = 9, /* { uint32 text, length, id, flags } */
  SECTION_TEMPLATES = 10, /* { uint32 kind, id, type, for pairs } */
  SECTION_BYTES = 11, /* uint32 [256]: the tokens <0x00> to <0xFF>, or TEXT_NONE */
  SECTION_LETTERS = 12, /* uint32 [512]: tokens of one character below U+0200, or TEXT_NONE */
  SECTION_LANGUAGES = 13, /* { uint32 text, length, id }: a language's code, and the id of its token */
  SECTION_COUNT = 14
};

/* Numbers of the section of settings. */
enum text_setting {
  SETTING_MODEL = 0, /* MODEL_ */
  SETTING_OPTIONS = 1, /* OPTION_ */
  SETTING_UNKNOWN = 2, /* id, or TEXT_NONE */
  SETTING_VOCABULARY = 3, /* one more than the largest id */
  SETTING_KNOWN = 4, /* ids from here on are pieces that become the unknown token */
  SETTING_LONGEST_WORD = 5,
  SETTING_PREFIX = 6, /* text and length: continuing_subword_prefix */
  SETTING_PREFIX_LENGTH = 7,
  SETTING_SUFFIX = 8, /* end_of_word_suffix */
  SETTING_SUFFIX_LENGTH = 9,
  SETTING_LONGEST_TOKEN = 10, /* bytes */
  SETTING_LIMIT = 11, /* truncation; TEXT_NONE: none */
  SETTING_STRATEGY = 12, SETTING_FROM_LEFT = 13,
  SETTING_WORD = 14, /* the pattern of a letter of a word, for single_word */
  SETTING_WORD_LENGTH = 15,
  SETTING_ROOT = 16, /* root node of the trie */
  SETTING_UNKNOWN_LOW = 17, /* the score of an unknown character: the two halves of a double */
  SETTING_UNKNOWN_HIGH = 18,
  SETTING_SEED = 19, /* first value of all hashes */
  SETTING_TARGET = 20, /* ATTN2C_TEXT_TARGET_: how the model is told the language to write */
  SETTING_COUNT = 21
};

/* Kinds of models. */
enum { MODEL_WORDPIECE = 1, MODEL_BPE = 2, MODEL_UNIGRAM = 3 };

/* Options of a model. */
enum {
  OPTION_FUSE_UNKNOWN = 1, OPTION_BYTE_FALLBACK = 2, OPTION_IGNORE_MERGES = 4, OPTION_NEEDS_UNKNOWN = 8,
  OPTION_LIBRARY = 16, /* as SentencePiece's own library */
  OPTION_CODES = 32 /* a text may begin with a code, >>xxx<< */
};

/* Flags of a token. */
enum { TOKEN_PRESENT = 1, TOKEN_SPECIAL = 2 };

/* Flags of an added token. */
enum {
  ADDED_LSTRIP = 1, ADDED_RSTRIP = 2, ADDED_SINGLE_WORD = 4, ADDED_NORMALIZED = 8, ADDED_SPECIAL = 16
};

/* Kinds of pieces of a template. */
enum {
  TEMPLATE_FIRST = 0, TEMPLATE_SECOND = 1, TEMPLATE_TOKEN = 2,
  TEMPLATE_LANGUAGE = 3 /* the language's token that the caller chooses; id: if none is chosen, or TEXT_NONE */
};

/* How a model is told the language to write; ATTN2C_TEXT_TARGET_ has the same numbers. */
enum {
  TARGET_NONE = 0,
  TARGET_FIRST = 1, /* the language's token is the first that is written */
  TARGET_START = 2, /* writing starts with it */
  TARGET_SOURCE = 3 /* it is in front of the source */
};

/* Stages that have components. */
enum text_stage { STAGE_NORMALIZE = 0, STAGE_CUT = 1, STAGE_TRIM = 2, STAGE_DECODE = 3, STAGE_COUNT = 4 };

/* Normalizers, with what each has in its record. */
enum {
  NORMALIZE_BERT = 0, /* flags: BERT_ */
  NORMALIZE_LOWERCASE = 1,
  NORMALIZE_STRIP = 2, /* flags: 1 left, 2 right */
  NORMALIZE_ACCENTS = 3,
  NORMALIZE_PREPEND = 4, /* a: text */
  NORMALIZE_REPLACE = 5, /* a: packed pattern, b: content; flag 1: a is a text */
  NORMALIZE_NMT = 6,
  NORMALIZE_PRECOMPILED = 7, /* a: charsmap; flag 1: the longest entry counts, not the shortest of a cluster */
  NORMALIZE_FORM = 8, /* flags: FORM_ */
  NORMALIZE_BYTES = 9, NORMALIZE_KINDS = 10
};

/* Flags of NORMALIZE_BERT. */
enum { BERT_CLEAN = 1, BERT_CHINESE = 2, BERT_STRIP = 4, BERT_LOWER = 8 };

/* Flags of NORMALIZE_FORM. */
enum { FORM_COMPATIBLE = 1, FORM_COMPOSED = 2 };

/* Pre-tokenizers, with what each has in its record. */
enum {
  CUT_CHARACTERS = 0, /* number: CLASS_; flags: BEHAVIOR_ */
  CUT_PATTERN = 1, /* a: packed pattern; flags: BEHAVIOR_, CUT_INVERT */
  CUT_BYTES = 2, /* a: packed pattern or empty; flag 1: prefix space */
  CUT_METASPACE = 3, /* a: replacement; number: SCHEME_; flag 1: split */
  CUT_KINDS = 4
};

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
enum {
  TRIM_SPACES = 0, /* flag 1: add_prefix_space */
  TRIM_KINDS = 1
};

/* Decoders, with what each has in its record. */
enum {
  DECODE_WORDPIECE = 0, /* a: prefix; flag 1: cleanup */
  DECODE_BYTES = 1,
  DECODE_METASPACE = 2, /* a: replacement; number: SCHEME_ */
  DECODE_BYTE_FALLBACK = 3, DECODE_FUSE = 4,
  DECODE_STRIP = 5, /* a: character; number: at the start; flags: at the end */
  DECODE_REPLACE = 6, /* a: packed pattern, b: content */
  DECODE_BPE = 7, /* a: suffix */
  DECODE_JOIN = 8, /* a: the text between tokens; used if there is no decoder */
  DECODE_KINDS = 9
};
/* clang-format on */
