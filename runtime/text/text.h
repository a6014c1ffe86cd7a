/* text.h - the tokenizer: turns text into token ids with their places, and ids back into text. It reads
 * tables that gen/text/ made from a tokenizer.json; they may be in a mapped file or in the program. An opened
 * tokenizer never changes, so that any number of threads may share it. A work belongs to one caller. */
#pragma once

#include "base/attn2c.h"

typedef struct attn2c_tokenizer attn2c_tokenizer;
typedef struct attn2c_text_work attn2c_text_work;

/* Flags of attn2c_text_open. */
#define ATTN2C_TEXT_JIT    1u /* compile patterns to machine code if memory may become executable */
#define ATTN2C_TEXT_VERIFY 2u /* read all tables and compare their checksum */

/* Uses the tables in place, until the tokenizer is closed. They need not be aligned or trusted: whatever they
 * hold, nothing outside of them is read. Returns ATTN2C_FORMAT if they are damaged or of another version. */
int attn2c_text_open(const void *tables, size_t size, unsigned flags, attn2c_tokenizer **text,
                     attn2c_message *message);
void attn2c_text_close(attn2c_tokenizer *text);
/* Returns the text of a token in the vocabulary; NULL if there is none. It is not terminated. */
const char *attn2c_text_token(const attn2c_tokenizer *text, int32_t id, size_t *length);

int attn2c_text_work_create(const attn2c_tokenizer *text, attn2c_text_work **work);
void attn2c_text_work_destroy(attn2c_text_work *work);

/* The text that is cut if the tokens are more than the limit. */
typedef enum attn2c_text_strategy {
  ATTN2C_TEXT_LONGEST_FIRST = 0, /* the longer one, then both */
  ATTN2C_TEXT_ONLY_FIRST = 1,
  ATTN2C_TEXT_ONLY_SECOND = 2
} attn2c_text_strategy;

#define ATTN2C_TEXT_ANY_LENGTH ((size_t)-1)

typedef struct attn2c_text_limit {
  size_t tokens; /* with special tokens; ATTN2C_TEXT_ANY_LENGTH: no limit */
  attn2c_text_strategy strategy;
  int from_left; /* 1: the first tokens are removed, not the last */
} attn2c_text_limit;

/* Returns the limit of tokenizer.json, and the side that it or tokenizer_config.json states. */
attn2c_text_limit attn2c_text_stated_limit(const attn2c_tokenizer *text);

/* How a model is told the language to write. */
typedef enum attn2c_text_target {
  ATTN2C_TEXT_TARGET_NONE = 0,  /* it knows one language, or languages in no list */
  ATTN2C_TEXT_TARGET_FIRST = 1, /* the language's token is the first that the model writes */
  ATTN2C_TEXT_TARGET_START = 2, /* the model starts to write after it */
  ATTN2C_TEXT_TARGET_SOURCE = 3 /* it is in front of the source, in which input.language puts it */
} attn2c_text_target;

attn2c_text_target attn2c_text_target_of(const attn2c_tokenizer *text);
/* Returns the code of a language, and sets *id to its token; NULL: no more. It is not terminated. */
const char *attn2c_text_language(const attn2c_tokenizer *text, size_t index, size_t *length, int32_t *id);

/* Sets *id to the token of the language with a code. ATTN2C_USAGE: none; the message has all. */
int attn2c_text_find_language(const attn2c_tokenizer *text, const char *code, int32_t *id,
                              attn2c_message *message);

typedef struct attn2c_text_input {
  const char *text; /* UTF-8; may have NUL. Malformed bytes count as U+FFFD, one for each */
  size_t length;    /* maximal part of a character, as Python's errors="replace" reads them. */
  const char *pair; /* a second text, or NULL */
  size_t pair_length;
  int plain;     /* 1: no special tokens are added */
  int has_words; /* 1: text and pair are words with a space between them */
  int32_t
      language; /* the token of the source's language (of the target's: TARGET_SOURCE); 0: the usual one */
  attn2c_text_limit limit;
} attn2c_text_input;

/* The place of a token: bytes and characters [begin, end) of its text. Special tokens: all 0. */
typedef struct attn2c_text_place {
  uint32_t byte_begin, byte_end, begin, end;
} attn2c_text_place;

/* The result of a call, in the work's memory until its next call. */
typedef struct attn2c_text_tokens {
  size_t length;
  const int32_t *ids, *types;
  const attn2c_text_place *places;
  const uint8_t *sources; /* 0: the text, 1: the pair, 2: a special token that was added */
  size_t removed; /* tokens that the limit removed (at least); for windows: tokens that are in later ones */
} attn2c_text_tokens;

/* Encodes a text, or a pair. Encoding stops when the limit needs no more tokens: for one text, and for a pair
 * if LONGEST_FIRST removes tokens from the end. Then time and memory do not depend on the rest of the text.
 *
 * Returns ATTN2C_USAGE if the call was stopped (below). Returns ATTN2C_FORMAT for
 * - a text of 1 GB or more, or one beyond its budget;
 * - an unknown word, if there is no unknown token;
 * - a limit that leaves nothing of the text that it cuts;
 * - a pattern that takes too many steps.
 * The budget is 2^27 steps and 1,024 for each byte of the text. The result of a stage may have 256 KiB and 32
 * times the bytes of the text. */
int attn2c_text_encode(attn2c_text_work *work, const attn2c_text_input *input, attn2c_text_tokens *tokens);

/* Returns the next window of a text that the limit cut, for the input of the last call. The strategy is
 * ONLY_FIRST or ONLY_SECOND. The window has the tokens after the last call's (or before them:
 * from_left), and `stride` of them again. tokens->length is 0 if the last call reached the end; removed is 0
 * if this one does. Returns ATTN2C_FORMAT if `stride` is the tokens of a window or more. */
int attn2c_text_encode_next(attn2c_text_work *work, const attn2c_text_input *input, size_t stride,
                            attn2c_text_tokens *tokens);

/* Turns ids into text, in the work's memory until its next call, not terminated. Unknown ids add nothing. */
int attn2c_text_decode(attn2c_text_work *work, const int32_t *ids, size_t count, int skip_special,
                       const char **text, size_t *length);

/* Whether the bytes that a token adds to a text are known without the other tokens. */
typedef enum attn2c_text_pieces {
  ATTN2C_TEXT_PIECES_NONE,  /* they depend on the tokens after it */
  ATTN2C_TEXT_PIECES_FIRST, /* they differ at the beginning of a text */
  ATTN2C_TEXT_PIECES_SAME   /* they are the same everywhere */
} attn2c_text_pieces;

attn2c_text_pieces attn2c_text_pieces_of(const attn2c_tokenizer *text);
/* Returns these bytes, which may be a part of a character, in the work's memory until its next call. None: of
 * special tokens, and of ids without a token. */
int attn2c_text_piece(attn2c_text_work *work, int32_t id, int is_first, const char **bytes, size_t *length);

/* Sets a function that is called every few milliseconds while a text is encoded or ids are decoded. If it
 * returns other than 0, the call ends with ATTN2C_USAGE. NULL: no call is stopped. */
void attn2c_text_stop_by(attn2c_text_work *work, int (*stops)(void));

/* Returns the reason why the last call failed. */
const char *attn2c_text_fault(const attn2c_text_work *work);
