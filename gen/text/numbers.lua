-- numbers.lua: lists the numbers that a tokenizer's tables contain: sections, settings, kinds of components, flags.
-- The compiler reads them here, as numbers.NORMALIZE.lowercase. The runtime reads them as NORMALIZE_LOWERCASE in
-- runtime/text/numbers.h, which `make headers` writes from this table.
local words = require("common.words")

local numbers = {}

--- Version of the tables. It changes with any of the numbers below.
numbers.VERSION = 3

--- In place of an id or a number: there is none.
numbers.NONE = 0xffffffff

--- The enumerations. Each has a prefix, a purpose, and members { name, comment }, which count from 0, or from `first`,
--- or, with `bits`, by powers of 2. type: the name of the type in C; count: the name of one more member in C, which is
--- the number of the others.
numbers.list = {
  { prefix = "SECTION", type = "text_section", count = "COUNT", purpose = "sections of the tables, in their order",
    { "settings", "uint32 by enum text_setting" },
    { "strings", "bytes that the other sections point into" },
    { "tokens", "uint32 [vocabulary + 1]: offset of a token's text in the strings" },
    { "flags", "uint8 [vocabulary]: TOKEN_" },
    { "vocabulary",
      "{ uint32 hash, id } [a power of 2]: open addressing by the text's hash, which begins with the seed" },
    { "merges", "{ uint32 left, right, rank, result } [a power of 2]: by both ids" },
    { "trie", "{ uint32 node << 8 | byte, child } [a power of 2]; nodes below the vocabulary are tokens" },
    { "scores", "double [vocabulary] of a Unigram model" },
    { "components", "struct text_record, in the order of their stages" },
    { "added", "{ uint32 text, length, id, flags }" },
    { "templates", "{ uint32 kind, id, type, for pairs }" },
    { "bytes", "uint32 [256]: the tokens <0x00> to <0xFF>, or TEXT_NONE" },
    { "letters", "uint32 [512]: tokens of one character below U+0200, or TEXT_NONE" },
    { "languages", "{ uint32 text, length, id }: a language's code, and the id of its token" },
  },
  { prefix = "SETTING", type = "text_setting", count = "COUNT", purpose = "numbers of the section of settings",
    { "model", "MODEL_" },
    { "options", "OPTION_" },
    { "unknown", "id, or TEXT_NONE" },
    { "vocabulary", "one more than the largest id" },
    { "known", "ids from here on are pieces that become the unknown token" },
    { "longest_word" },
    { "prefix", "text and length: continuing_subword_prefix" },
    { "prefix_length" },
    { "suffix", "end_of_word_suffix" },
    { "suffix_length" },
    { "longest_token", "bytes" },
    { "limit", "truncation; TEXT_NONE: none" },
    { "strategy" },
    { "from_left" },
    { "word", "the pattern of a letter of a word, for single_word" },
    { "word_length" },
    { "root", "root node of the trie" },
    { "unknown_low", "the score of an unknown character: the two halves of a double" },
    { "unknown_high" },
    { "seed", "first value of all hashes" },
    { "target", "ATTN2C_TEXT_TARGET_: how the model is told the language to write" },
  },
  { prefix = "MODEL", purpose = "kinds of models", first = 1, { "wordpiece" }, { "bpe" }, { "unigram" } },
  { prefix = "OPTION", purpose = "options of a model", bits = true,
    { "fuse_unknown" }, { "byte_fallback" }, { "ignore_merges" }, { "needs_unknown" },
    { "library", "as SentencePiece's own library" }, { "codes", "a text may begin with a code, >>xxx<<" } },
  { prefix = "TOKEN", purpose = "flags of a token", bits = true, { "present" }, { "special" } },
  { prefix = "ADDED", purpose = "flags of an added token", bits = true,
    { "lstrip" }, { "rstrip" }, { "single_word" }, { "normalized" }, { "special" } },
  { prefix = "TEMPLATE", purpose = "kinds of pieces of a template", { "first" }, { "second" }, { "token" },
    { "language", "the language's token that the caller chooses; id: if none is chosen, or TEXT_NONE" } },
  { prefix = "TARGET", purpose = "how a model is told the language to write; ATTN2C_TEXT_TARGET_ has the same numbers",
    { "none" }, { "first", "the language's token is the first that is written" },
    { "start", "writing starts with it" }, { "source", "it is in front of the source" } },
  { prefix = "STAGE", type = "text_stage", count = "COUNT", purpose = "stages that have components",
    { "normalize" }, { "cut" }, { "trim" }, { "decode" } },
  { prefix = "NORMALIZE", count = "KINDS", purpose = "normalizers, with what each has in its record",
    { "bert", "flags: BERT_" },
    { "lowercase" },
    { "strip", "flags: 1 left, 2 right" },
    { "accents" },
    { "prepend", "a: text" },
    { "replace", "a: packed pattern, b: content; flag 1: a is a text" },
    { "nmt" },
    { "precompiled", "a: charsmap; flag 1: the longest entry counts, not the shortest of a cluster" },
    { "form", "flags: FORM_" },
    { "bytes" },
  },
  { prefix = "BERT", purpose = "flags of NORMALIZE_BERT", bits = true,
    { "clean" }, { "chinese" }, { "strip" }, { "lower" } },
  { prefix = "FORM", purpose = "flags of NORMALIZE_FORM", bits = true, { "compatible" }, { "composed" } },
  { prefix = "CUT", count = "KINDS", purpose = "pre-tokenizers, with what each has in its record",
    { "characters", "number: CLASS_; flags: BEHAVIOR_" },
    { "pattern", "a: packed pattern; flags: BEHAVIOR_, CUT_INVERT" },
    { "bytes", "a: packed pattern or empty; flag 1: prefix space" },
    { "metaspace", "a: replacement; number: SCHEME_; flag 1: split" },
  },
  { prefix = "CLASS", count = "COUNT", purpose = "classes of characters",
    { "white" }, { "punctuation" }, { "number" } },
  { prefix = "BEHAVIOR", purpose = "the fate of the text that a cut finds",
    { "removed" }, { "isolated" }, { "with_previous" }, { "with_next" }, { "contiguous" } },
  { prefix = "CUT", purpose = "a flag in addition to BEHAVIOR_: a cut finds the text between matches", first = 8,
    { "invert" } },
  { prefix = "SCHEME", purpose = "pieces that get a prefix", { "always" }, { "first" }, { "never" } },
  { prefix = "TRIM", count = "KINDS", purpose = "components that change the places of tokens",
    { "spaces", "flag 1: add_prefix_space" } },
  { prefix = "DECODE", count = "KINDS", purpose = "decoders, with what each has in its record",
    { "wordpiece", "a: prefix; flag 1: cleanup" },
    { "bytes" },
    { "metaspace", "a: replacement; number: SCHEME_" },
    { "byte_fallback" },
    { "fuse" },
    { "strip", "a: character; number: at the start; flags: at the end" },
    { "replace", "a: packed pattern, b: content" },
    { "bpe", "a: suffix" },
    { "join", "a: the text between tokens; used if there is no decoder" },
  },
}

--- Names of the members, in order, by the prefix of their first enumeration.
numbers.names = {}

for _, enum in ipairs(numbers.list) do
  local values, names = numbers[enum.prefix] or {}, {}
  for i, member in ipairs(enum) do
    values[member[1]] = enum.bits and 1 << (i - 1) or (enum.first or 0) + i - 1
    names[i] = member[1]
  end
  numbers[enum.prefix], numbers.names[enum.prefix] = values, numbers.names[enum.prefix] or names
end

--- Returns the values of a table by name as a list in the order of an enumeration. Each member has one.
function numbers.in_order(prefix, values)
  local list = words.map(numbers.names[prefix], function(name) return assert(values[name], name) end)
  assert(#words.sorted_keys(values) == #list, prefix)
  return list
end

return numbers
