/* stages.h - the stages of a tokenizer and their data: normalize, cut, tokenize, add special tokens, decode.
 * Each stage is a list of components. A component is one file, or a few small ones are in one file, and one
 * row of its stage's table. Comments call Hugging Face's tokenizers "the library". */
#pragma once

#include "text/buffer.h"
#include "text/regex.h"
#include "text/text.h"

typedef struct text_component {
  uint32_t kind, flags, number;
  text_span a, b;
  text_regex *regex;
} text_component;

typedef struct text_list {
  text_component *list;
  size_t count;
} text_list;

/* A node of a trie of added tokens, which are stored backwards. Node 0 is the root. */
typedef struct text_added_node {
  uint32_t child, next; /* the first child, the next sibling; 0: none */
  uint32_t token;       /* index of an added token, or TEXT_NONE */
  uint32_t depth;       /* length in bytes, from the root */
  uint32_t shorter;     /* the node of the longest proper suffix of this one's text that is in the trie */
  uint32_t found; /* the node of the longest such suffix, or of this text itself, that is a token; 0: none */
  uint8_t byte;
} text_added_node;

typedef struct text_added_trie {
  text_added_node *nodes;
  size_t count, capacity;
  size_t longest;      /* bytes of the longest token */
  uint32_t first[256]; /* the root's children */
} text_added_trie;

/* The text of an added token when ids become text. */
typedef struct text_spelling {
  uint32_t id, offset, length, special;
} text_spelling;

struct attn2c_tokenizer {
  text_tables tables;
  text_list stages[STAGE_COUNT];
  text_added_trie raw, normalized;
  size_t added;
  /* Added tokens whose normalized text differs from their own, ascending by id, and these texts' bytes. */
  text_spelling *spellings;
  size_t spelled, spellings_capacity;
  uint8_t *letters;
  size_t letters_length, letters_capacity;
  text_regex *word;
  text_span prefix, suffix;
  double unknown_score;
};

/* A token of the model: bytes [begin, end) of its piece. */
typedef struct text_token {
  uint32_t id, begin, end;
} text_token;

typedef struct text_token_list {
  text_token *list;
  size_t count, capacity;
} text_token_list;

/* Number of white characters at the two ends of a token, if the tables exclude them from its place. */
typedef struct text_blanks {
  uint32_t leading, trailing;
} text_blanks;

/* The tokens of one text with their places. */
typedef struct text_encoding {
  int32_t *ids;
  attn2c_text_place *places;
  text_blanks *blanks;
  size_t count, capacity;
  uint32_t *characters; /* index of the character that each byte of the caller's text is part of */
  size_t characters_capacity, text_length; /* text_length: bytes of the text that were read */
  int is_whole;                            /* 1: the list has all tokens of the text */
  size_t first, length;                    /* the range of tokens that a limit leaves */
} text_encoding;

struct text_symbol; /* defined in model_bpe.c */
struct text_merge_entry;
struct text_path; /* defined in model_unigram.c */
struct text_cache;
struct text_order;

typedef struct text_bytes {
  uint8_t *bytes;
  size_t length, capacity;
} text_bytes;

/* The words of a decoder: their text, and the end of each. */
typedef struct text_words {
  text_bytes text;
  uint32_t *ends;
  size_t count, capacity, most; /* most: limit of the text's bytes */
} text_words;

struct attn2c_text_work {
  const attn2c_tokenizer *text;
  text_matcher *matcher;
  text_budget budget;
  const char *fault;
  char fault_text[160];
  int is_part;   /* 1: the caller's text continues after the part that was read */
  int is_open;   /* 1: the last piece continues: its bytes may begin a longer piece */
  size_t enough; /* number of pieces after which a cutter may stop */
  int are_words; /* 1: texts are words with a space between them */
  text_buffer whole, normalized, scratch[2], spare[2];
  text_pieces pieces, next_pieces, spans;
  text_changes changes, ordered;
  text_token_list tokens;
  uint32_t *hashes;
  size_t hashes_capacity;
  struct text_symbol *symbols;
  size_t symbols_capacity;
  struct text_merge_entry *heap;
  size_t heap_count, heap_capacity;
  struct text_path *paths;
  size_t paths_capacity;
  struct text_cache *cache;
  uint8_t *pairs; /* defined in border.c */
  text_encoding encodings[2];
  int32_t *ids, *types;
  attn2c_text_place *places;
  uint8_t *sources;
  size_t results_capacity[4], results;
  text_words words, next_words;
  text_bytes decoded;
  int place;    /* of the words that are decoded in their text: flags TEXT_AFTER, TEXT_BEFORE */
  int is_fused; /* 1: the words are one, which is the whole text */
  int is_held;  /* 1: the end of the text depends on the words that follow */
  int is_raw;   /* 1: bytes stay that are not UTF-8 by themselves */
};

/* Words come before those that are decoded, or follow them. */
enum { TEXT_AFTER = 1, TEXT_BEFORE = 2 };

static inline int text_fail(attn2c_text_work *work, const char *fault) {
  work->fault = fault;
  return ATTN2C_FORMAT;
}

/* Normalizes `in` to `out`; both belong to the same part of the caller's text. If the work is open, more text
 * follows `in`, and `out` gets only the part that does not depend on it. */
typedef int text_normalizer(attn2c_text_work *work, const text_component *component, const text_buffer *in,
                            text_buffer *out);
text_normalizer text_normalize_bert, text_normalize_lowercase, text_normalize_strip, text_normalize_accents,
    text_normalize_prepend, text_normalize_replace, text_normalize_nmt, text_normalize_precompiled,
    text_normalize_form, text_normalize_bytes;
/* Runs all normalizers on bytes [begin, end) of `from`, and appends the result to `to`. */
int text_normalize(attn2c_text_work *work, const text_buffer *from, size_t begin, size_t end,
                   text_buffer *to);

/* Cuts the work's pieces, and may rewrite its text; pieces that are tokens stay. If the work is open, the
 * last piece is the beginning of one. Cutters without support leave it out and close the work. */
typedef int text_cutter(attn2c_text_work *work, const text_component *component);
text_cutter text_cut_characters, text_cut_pattern, text_cut_bytes, text_cut_metaspace;
int text_cut(attn2c_text_work *work);
/* Adds the parts of a piece to next_pieces, by spans. A span's token is 1 for a match, 0 between matches. */
int text_cut_spans(attn2c_text_work *work, uint32_t behavior);
/* True if a piece is the last one of a work that is open. */
static inline int text_is_open_piece(const attn2c_text_work *work, size_t index) {
  return work->is_open && index + 1 == work->pieces.count;
}
/* Returns 1 if there are enough pieces; pieces that were not cut are then left out. */
static inline int text_has_enough(attn2c_text_work *work, size_t pieces) {
  if (pieces < work->enough) return 0;
  work->is_part = 1;
  work->is_open = 0;
  return 1;
}

/* Splits bytes [begin, end) of a buffer at added tokens, and appends to pieces. If the work is open, it
 * leaves out the bytes that the text after `end` could change. */
int text_split_added(attn2c_text_work *work, const text_buffer *buffer, size_t begin, size_t end,
                     const text_added_trie *trie, text_pieces *pieces);
/* Adds a text to a trie. If two texts are equal, the first counts; the library uses any of them. */
int text_trie_insert(text_added_trie *trie, const uint8_t *bytes, size_t length, uint32_t token);
/* Prepares a trie for searches. */
int text_trie_close(text_added_trie *trie);
/* Finds the longest token that begins at each byte, from the text's end to its beginning. */
int text_trie_find(const text_added_trie *trie, const uint8_t *bytes, size_t begin, size_t end,
                   text_pieces *found, text_budget *budget);
int text_open_added(attn2c_tokenizer *text, attn2c_message *message);
/* Sets *span to the text of an added token if it differs from the vocabulary's. */
int text_spelled(const attn2c_tokenizer *text, uint32_t id, text_span *span, int *special);

/* Appends the tokens of one piece to the work's. */
typedef int text_model(attn2c_text_work *work, const uint8_t *bytes, size_t length);
text_model text_wordpiece, text_bpe, text_unigram;
int text_tokenize(attn2c_text_work *work, const uint8_t *bytes, size_t length);
int text_token_add(attn2c_text_work *work, uint32_t id, size_t begin, size_t end);
int text_cache_find(attn2c_text_work *work, const uint8_t *bytes, size_t length, uint32_t *slot, int *found);
void text_cache_keep(attn2c_text_work *work, const uint8_t *bytes, size_t length, uint32_t slot,
                     size_t first);

/* Sets the limit of the work's buffers in bytes. */
void text_bound_buffers(attn2c_text_work *work, size_t most);
/* Starts the budget for a text of `bytes` bytes, and the fault for a text that grows beyond it. */
void text_begin(attn2c_text_work *work, size_t bytes);
/* Returns the status of a text. If the budget ended it, the fault becomes the budget's. */
int text_end(attn2c_text_work *work, int status);
/* Finds the last place of an open piece before which its tokens are known; 0: there is none. */
int text_last_border(attn2c_text_work *work, const uint8_t *bytes, size_t length, size_t *border);
/* Encodes one text. `most`: number of tokens after which no more are needed. */
int text_encode_one(attn2c_text_work *work, const char *bytes, size_t length, size_t most,
                    text_encoding *encoding);
/* Returns the number of special tokens around one text or a pair. language: as the caller's input has it. */
size_t text_special_tokens(const text_tables *tables, int32_t language, int has_pair);
int text_limit(attn2c_text_work *work, const attn2c_text_input *input, int has_pair, size_t *removed);
/* Moves to the next window over an encoding that the limit cut. Returns 0 if the last one reached its end. */
int text_slide(text_encoding *cut, size_t stride, int from_left);
int text_assemble(attn2c_text_work *work, const attn2c_text_input *input, int has_pair);
/* Counts the white characters at a token's ends. */
text_blanks text_count_blanks(text_span token);

typedef int text_decoder(attn2c_text_work *work, const text_component *component);
text_decoder text_decode_wordpiece, text_decode_bytes, text_decode_metaspace, text_decode_byte_fallback,
    text_decode_fuse, text_decode_strip, text_decode_replace, text_decode_bpe, text_decode_join;
/* Returns 1, and the text of a token, if decoding does not leave the token out. */
int text_has_word(const attn2c_tokenizer *text, int32_t id, int skip_special, text_span *span);
/* Decodes a part of a text. place: TEXT_AFTER, TEXT_BEFORE, or 0 for a whole text. */
int text_decode_part(attn2c_text_work *work, const int32_t *ids, size_t count, int skip_special, int place,
                     const char **text, size_t *length);
int text_word_bytes(text_words *words, const uint8_t *bytes, size_t length);
int text_word_end(text_words *words);
