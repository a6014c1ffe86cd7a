/* numbers.h - the numbers that a tokenizer's tables contain: sections, settings, kinds of components, flags.
 * gen/text/numbers.lua reads them here, and has NORMALIZE_LOWERCASE as numbers.NORMALIZE.lowercase. */
/* clang-format off */
#pragma once

/* Version of the tables. It changes with any of the numbers below. */
#define TEXT_TABLES_VERSION 4

/* In place of an id or a number: there is none. */
#define TEXT_NONE 0xffffffffu

/* Sections of the tables, in their order. */
enum text_section {
  SECTION_SETTINGS, /* uint32 by enum text_setting */
  SECTION_STRINGS, /* bytes that the other sections point into */
  SECTION_TOKENS, /* uint32 [vocabulary + 1]: offset of a token's text in the strings */
  SECTION_FLAGS, /* uint8 [vocabulary]: TOKEN_ */
  /* { uint32 hash, id } [a power of 2]: open addressing by the text's hash, which begins with the seed */
  SECTION_VOCABULARY,
  SECTION_MERGES, /* { uint32 left, right, rank, result } [a power of 2]: by both ids */
  SECTION_TRIE, /* { uint32 node << 8 | byte, child } [a power of 2]; nodes below the vocabulary are tokens */
  SECTION_SCORES, /* double [vocabulary] of a Unigram model */
  SECTION_COMPONENTS, /* struct text_record, in the order of their stages */
  SECTION_ADDED, /* { uint32 text, length, id, flags } */
  SECTION_TEMPLATES, /* { uint32 kind, id, type, for pairs } */
  SECTION_BYTES, /* uint32 [256]: the tokens <0x00> to <0xFF>, or TEXT_NONE */
  SECTION_LETTERS, /* uint32 [512]: tokens of one character below U+0200, or TEXT_NONE */
  SECTION_LANGUAGES, /* { uint32 text, length, id }: a language's code, and the id of its token */
  SECTION_COUNT
};

/* Numbers of the section of settings. */
enum text_setting {
  SETTING_MODEL, /* MODEL_ */
  SETTING_OPTIONS, /* OPTION_ */
  SETTING_UNKNOWN, /* id, or TEXT_NONE */
  SETTING_VOCABULARY, /* one more than the largest id */
  SETTING_KNOWN, /* ids from here on are pieces that become the unknown token */
  SETTING_LONGEST_WORD,
  SETTING_PREFIX, /* text and length: continuing_subword_prefix */
  SETTING_PREFIX_LENGTH,
  SETTING_SUFFIX, /* end_of_word_suffix */
  SETTING_SUFFIX_LENGTH,
  SETTING_LONGEST_TOKEN, /* bytes */
  SETTING_LIMIT, /* truncation; TEXT_NONE: none */
  SETTING_STRATEGY, SETTING_FROM_LEFT,
  SETTING_WORD, /* the pattern of a letter of a word, for single_word */
  SETTING_WORD_LENGTH,
  SETTING_ROOT, /* root node of the trie */
  SETTING_UNKNOWN_LOW, /* the score of an unknown character: the two halves of a double */
  SETTING_UNKNOWN_HIGH,
  SETTING_SEED, /* first value of all hashes */
  SETTING_TARGET, /* ATTN2C_TEXT_TARGET_: how the model is told the language to write */
  SETTING_COUNT
};

/* Kinds of models. */
enum { MODEL_WORDPIECE = 1, MODEL_BPE, MODEL_UNIGRAM };

/* Options of a model. */
enum {
  OPTION_FUSE_UNKNOWN = 1, OPTION_BYTE_FALLBACK = 2, OPTION_IGNORE_MERGES = 4, OPTION_NEEDS_UNKNOWN = 8,
  OPTION_LIBRARY = 16, /* as SentencePiece's own library */
  OPTION_CODES = 32, /* a text may begin with a code, >>xxx<< */
  OPTION_SPLIT_SPECIAL = 64 /* a special token's text is like any other */
};

/* Flags of a token. */
enum { TOKEN_PRESENT = 1, TOKEN_SPECIAL = 2 };

/* Flags of an added token. */
enum {
  ADDED_LSTRIP = 1, ADDED_RSTRIP = 2, ADDED_SINGLE_WORD = 4, ADDED_NORMALIZED = 8, ADDED_SPECIAL = 16
};

/* Kinds of pieces of a template. */
enum {
  TEMPLATE_FIRST, TEMPLATE_SECOND, TEMPLATE_TOKEN,
  TEMPLATE_LANGUAGE /* the language's token that the caller chooses; id: if none is chosen, or TEXT_NONE */
};

/* How a model is told the language to write; ATTN2C_TEXT_TARGET_ has the same numbers. */
enum {
  TARGET_NONE,
  TARGET_FIRST, /* the language's token is the first that is written */
  TARGET_START, /* writing starts with it */
  TARGET_SOURCE /* it is in front of the source */
};

/* Stages that have components. */
enum text_stage { STAGE_NORMALIZE, STAGE_CUT, STAGE_TRIM, STAGE_DECODE, STAGE_COUNT };

/* Normalizers, with what each has in its record. */
enum {
  NORMALIZE_BERT, /* flags: BERT_ */
  NORMALIZE_LOWERCASE,
  NORMALIZE_STRIP, /* flags: 1 left, 2 right */
  NORMALIZE_ACCENTS,
  NORMALIZE_PREPEND, /* a: text */
  NORMALIZE_REPLACE, /* a: packed pattern, b: content; flag 1: a is a text */
  NORMALIZE_NMT,
  NORMALIZE_PRECOMPILED, /* a: charsmap; flag 1: the longest entry counts, not the shortest of a cluster */
  NORMALIZE_FORM, /* flags: FORM_ */
  NORMALIZE_BYTES, NORMALIZE_KINDS
};

/* Flags of NORMALIZE_BERT. */
enum { BERT_CLEAN = 1, BERT_CHINESE = 2, BERT_STRIP = 4, BERT_LOWER = 8 };

/* Flags of NORMALIZE_FORM. */
enum { FORM_COMPATIBLE = 1, FORM_COMPOSED = 2 };

/* Pre-tokenizers, with what each has in its record. */
enum {
  CUT_CHARACTERS, /* number: CLASS_; flags: BEHAVIOR_ */
  CUT_PATTERN, /* a: packed pattern; flags: BEHAVIOR_, CUT_INVERT */
  CUT_BYTES, /* a: packed pattern or empty; flag 1: prefix space */
  CUT_METASPACE, /* a: replacement; number: SCHEME_; flag 1: split */
  CUT_KINDS
};

/* Classes of characters. */
enum { CLASS_WHITE, CLASS_PUNCTUATION, CLASS_NUMBER, CLASS_COUNT };

/* The fate of the text that a cut finds. */
enum {
  BEHAVIOR_REMOVED, BEHAVIOR_ISOLATED, BEHAVIOR_WITH_PREVIOUS, BEHAVIOR_WITH_NEXT, BEHAVIOR_CONTIGUOUS
};

/* A flag in addition to BEHAVIOR_: a cut finds the text between matches. */
enum { CUT_INVERT = 8 };

/* Pieces that get a prefix. */
enum { SCHEME_ALWAYS, SCHEME_FIRST, SCHEME_NEVER };

/* Components that change the places of tokens. */
enum {
  TRIM_SPACES, /* flag 1: add_prefix_space */
  TRIM_KINDS
};

/* Decoders, with what each has in its record. */
enum {
  DECODE_WORDPIECE, /* a: prefix; flag 1: cleanup */
  DECODE_BYTES,
  DECODE_METASPACE, /* a: replacement; number: SCHEME_ */
  DECODE_BYTE_FALLBACK, DECODE_FUSE,
  DECODE_STRIP, /* a: character; number: at the start; flags: at the end */
  DECODE_REPLACE, /* a: packed pattern, b: content */
  DECODE_BPE, /* a: suffix */
  DECODE_JOIN, /* a: the text between tokens; used if there is no decoder */
  DECODE_KINDS
};
/* clang-format on */
