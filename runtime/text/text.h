/* text.h - the tokenizer: text into token ids with their positions, and ids back into text. It reads tables
 * that gen/text/ made from a tokenizer.json; they may lie in a mapped file or in the program.
 * An opened tokenizer never changes, any number of threads may share it; a work belongs to one caller. */
#ifndef ATTN2C_TEXT_TEXT_H
#define ATTN2C_TEXT_TEXT_H

#include "base/attn2c.h"

typedef struct attn2c_tokenizer attn2c_tokenizer;
typedef struct attn2c_text_work attn2c_text_work;

/* Flags of opening. */
#define ATTN2C_TEXT_JIT    1u /* compile patterns to machine code, where memory may become executable */
#define ATTN2C_TEXT_VERIFY 2u /* read all tables and compare their checksum */

/* Uses the tables in place: they must stay until the tokenizer is closed. They need not be aligned or
 * trusted: whatever they hold, nothing outside of them is read. ATTN2C_FORMAT: they are damaged, or of
 * another version.
 */
int attn2c_text_open(const void *tables, size_t size, unsigned flags, attn2c_tokenizer **text,
                     attn2c_message *message);
void attn2c_text_close(attn2c_tokenizer *text);
/* One more than the largest token id. */
size_t attn2c_text_vocabulary(const attn2c_tokenizer *text);
/* The text of a token as the vocabulary has it; NULL where there is none. Not terminated. */
const char *attn2c_text_token(const attn2c_tokenizer *text, int32_t id, size_t *length);

int attn2c_text_work_create(const attn2c_tokenizer *text, attn2c_text_work **work);
void attn2c_text_work_destroy(attn2c_text_work *work);

/* What is taken away where texts are too long. */
typedef enum attn2c_text_strategy {
  ATTN2C_TEXT_LONGEST_FIRST = 0, /* from the longer one, then from both */
  ATTN2C_TEXT_ONLY_FIRST = 1,
  ATTN2C_TEXT_ONLY_SECOND = 2
} attn2c_text_strategy;

#define ATTN2C_TEXT_ANY_LENGTH ((size_t)-1)

typedef struct attn2c_text_limit {
  size_t tokens; /* with special tokens; ATTN2C_TEXT_ANY_LENGTH: nothing is taken away */
  attn2c_text_strategy strategy;
  int from_left; /* takes the first tokens away, not the last */
} attn2c_text_limit;

/* The limit that tokenizer.json states. */
attn2c_text_limit attn2c_text_stated_limit(const attn2c_tokenizer *text);

typedef struct attn2c_text_input {
  const char *text; /* UTF-8; may hold NUL. Bytes that are no UTF-8 count as U+FFFD, one for each */
  size_t length;    /* maximal part of a character, as Python's errors="replace" reads them. */
  const char *pair; /* a second text, or NULL */
  size_t pair_length;
  int plain; /* without special tokens at the ends */
  attn2c_text_limit limit;
} attn2c_text_input;

/* Where a token comes from: bytes and characters [begin, end) of its text. Special tokens: all 0. */
typedef struct attn2c_text_place {
  uint32_t byte_begin, byte_end, begin, end;
} attn2c_text_place;

/* Of the last call: in the work's memory, until its next call. */
typedef struct attn2c_text_tokens {
  size_t length;
  const int32_t *ids, *types;
  const attn2c_text_place *places;
  const uint8_t *sources; /* 0: the text, 1: the pair, 2: a special token that was added */
  size_t removed; /* tokens that the limit took away (at least), of windows: that come in later ones */
} attn2c_text_tokens;

/* Encoding stops where the limit needs no more tokens: of one text, and of a pair, where tokens are taken
 * from the end by LONGEST_FIRST. Then time and memory do not depend on the rest of the text. ATTN2C_FORMAT: a
 * text of 1 GB or more, a word without an unknown token to stand for it, a limit that leaves nothing of the
 * text it cuts, a pattern that gives up, or a text beyond its budget: more than 2^27 steps and 1,024 for each
 * of its bytes, or a stage that makes more than 256 KiB and 32 times the text of it. ATTN2C_USAGE: stopped
 * (below). */
int attn2c_text_encode(attn2c_text_work *work, const attn2c_text_input *input, attn2c_text_tokens *tokens);

/* The next window over the text that the limit cut, whose strategy is ONLY_FIRST or ONLY_SECOND: of the input
 * of the last call, the tokens behind those of the last call (or before them: from_left), with `stride` of
 * them again. tokens->length is 0 where the last call reached the end, removed is 0 where this one does.
 * ATTN2C_FORMAT: as many as a window has, or more, are to be shared. */
int attn2c_text_encode_next(attn2c_text_work *work, const attn2c_text_input *input, size_t stride,
                            attn2c_text_tokens *tokens);

/* Ids into text, in the work's memory until its next call; not terminated. Ids without a token vanish. */
int attn2c_text_decode(attn2c_text_work *work, const int32_t *ids, size_t count, int skip_special,
                       const char **text, size_t *length);

/* Asks `stops` while a text is encoded or ids are decoded, every few milliseconds; where it returns other
 * than 0 the call ends with ATTN2C_USAGE. NULL: no call is stopped. */
void attn2c_text_stop_by(attn2c_text_work *work, int (*stops)(void));

/* The steps that the last call took: the same for the same text, whatever the machine. */
uint64_t attn2c_text_steps(const attn2c_text_work *work);

/* What the last call that failed ran into. */
const char *attn2c_text_fault(const attn2c_text_work *work);

#endif
