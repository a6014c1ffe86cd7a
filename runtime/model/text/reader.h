/* reader.h - a caller's tokenizer with the texts of a call, and the sizes of their outputs. */
#pragma once

#include "base/text_facts.h"
#include "chat/chat_template.h"
#include "model/model.h"
#include "model/text/padded.h"

/* Puts a model's prompt before each text that is encoded, like sentence-transformers. The places of tokens
 * stay as in the caller's own text. */

typedef struct {
  const char *text; /* NULL: the model has no prompt */
  size_t length;    /* in bytes */
  uint32_t characters;
  size_t tokens; /* tokens of only the prompt, with special tokens before it and without one after it */
  char *joined;  /* the prompt and the last text */
  attn2c_text_place *places;       /* places of the last tokens */
  size_t joined_size, places_size; /* bytes */
} attn2c_prompt;

/* Cuts the prompt into tokens; text may be NULL. Returns ATTN2C_OK, _FORMAT or _MEMORY. */
int attn2c_prompt_open(attn2c_prompt *prompt, attn2c_text_work *work, const char *text);
void attn2c_prompt_close(attn2c_prompt *prompt);

/* Puts the prompt before the input's text, in the prompt's memory. Returns ATTN2C_OK or _MEMORY. */
int attn2c_prompt_add(attn2c_prompt *prompt, attn2c_text_input *input);

/* Changes the places of an input's tokens to the places in its text without the prompt. A token of the prompt
 * is at 0. Returns ATTN2C_OK or _MEMORY. */
int attn2c_prompt_hide(attn2c_prompt *prompt, attn2c_text_tokens *tokens);

/* A word of a page or of a question: its place in the caller's text, and among the joined words. */
typedef struct attn2c_page_word {
  attn2c_text_place place, joined;
  int32_t box[4];
} attn2c_page_word;

typedef struct attn2c_page_text {
  char *joined; /* the words, with a space between two */
  attn2c_page_word *words;
  size_t length, count, joined_size, words_capacity; /* length: bytes of `joined` */
} attn2c_page_text;

/* Texts whose words have boxes (page.h). Readers of models without boxes have none: these functions are
 * pointers, so that such a model's library is without them. */
typedef struct attn2c_page {
  attn2c_page_text texts[2];          /* the text, and the pair */
  int of_pair;                        /* 1: the pair has the boxes */
  int32_t separator, separator_place; /* the special token that has a box, and all of its sides */
  int32_t *boxes;                     /* [tokens][4] of the text that was encoded last */
  attn2c_text_place *places;          /* [tokens], the same */
  size_t tokens, boxes_capacity, places_capacity;
  /* Gives tokens the boxes and the places of their words, in this memory. Returns ATTN2C_OK or _MEMORY. */
  int (*place)(struct attn2c_page *page, attn2c_text_tokens *tokens);
  void (*close)(struct attn2c_page *page);
} attn2c_page;

/* Which spans are given: those with a larger score than the threshold. The best of spans that overlap stays;
 * nested: spans within others stay, too; several: a span may have several labels. */
typedef struct attn2c_span_options {
  float threshold;
  int nested, several;
} attn2c_span_options;

/* A caller's tokenizer, and buffers that grow with its texts. */
typedef struct attn2c_reader {
  const attn2c_descriptor *model;
  const attn2c_text_facts *facts;
  attn2c_tokenizer *text;
  attn2c_text_work *work;
  attn2c_tokenizer *written; /* of the texts that the model writes, if it is another one; else NULL */
  attn2c_text_work *writing;
  size_t longest;    /* tokens that a call takes */
  size_t dimensions; /* numbers of an embedding that are kept; 0: all */
  attn2c_prompt prompt;
  int is_query;             /* 1: texts are queries, which the model computes differently, else documents */
  size_t keys;              /* of the last text that was encoded: tokens that the others see; 0: all */
  int32_t language;         /* of texts: attn2c_text_input */
  attn2c_text_strategy cut; /* of pairs that are too long */
  int has_words;            /* 1: texts are the page's words, which have boxes */
  attn2c_page *page;        /* NULL until there are such words */
  int32_t adapter;          /* of texts that are added; 0: none */
  attn2c_padded padded;     /* memory of the last text, if texts are filled up */
  struct attn2c_reader_text *texts;
  size_t count, capacity;
  int32_t *tokens; /* ids and types of all texts, and the boxes of a model that takes boxes */
  size_t used, tokens_capacity;
  attn2c_chat_work *chat;     /* NULL until the first chat */
  attn2c_text_input windowed; /* the pair whose windows are read, and the tokens that two neighbours share */
  size_t stride;
  int (*stops)(void); /* asked between calls of the model; nonzero stops them. NULL: never stops */
  struct attn2c_span_work *spans; /* labels of texts; NULL until there are any */
  attn2c_span_options span_options;
  char fault[256]; /* reason of the last failure */
} attn2c_reader;

/* Writes the reason of a failure, and has its status. */
#define attn2c_reader_fail(reader, status, ...)                                                              \
  (snprintf((reader)->fault, sizeof(reader)->fault, __VA_ARGS__), (int)(status))

/* An encoded text of a call. */
typedef struct attn2c_reader_text {
  size_t first; /* place in reader->tokens: `length` ids, then `length` types and boxes */
  size_t length;
  size_t hidden; /* tokens of a query that the model does not see, while it is called */
  size_t keys;   /* of its tokens, those that the others see */
  int is_query;  /* as the reader has it */
  int32_t adapter;
  size_t prompt;      /* its first tokens that are of the prompt */
  const float *image; /* of its page, which is the caller's; NULL: none was given */
  int64_t number;     /* the caller's own number */
} attn2c_reader_text;

/* Returns why a text must have the length of a call, or NULL. Lengths hide the rows between a text and its
 * picture. */
static inline const char *attn2c_reader_exact(const attn2c_reader *reader) {
  const attn2c_text_facts *facts = reader->facts;
  return facts->image >= 0 && facts->lengths >= 0 ? NULL : facts->calls->exact;
}

/* Copies the rows of one text of output number `output` from an array of `from_rows` rows to one of
 * `to_rows`. */
void attn2c_reader_place(const attn2c_reader *reader, int output, const void *from, int64_t from_rows,
                         int64_t length, void *to, int64_t to_rows);

/* Returns the extent of an axis of output number `output` for `texts` texts of `rows` rows. */
int64_t attn2c_reader_extent(const attn2c_reader *reader, int output, int axis, int64_t texts, int64_t rows);

/* Returns the elements of output number `output` for one text of `rows` rows: of an embedding, those that are
 * kept. */
int64_t attn2c_reader_elements(const attn2c_reader *reader, int output, int64_t rows);

/* Keeps the first numbers of embeddings of texts (Kusupati et al. 2022, "Matryoshka"). The result of a model
 * that gives unit vectors is a unit vector again. */

/* Returns the numbers of an output's embedding that are kept, or 0: it is none, or all are kept. */
size_t attn2c_text_kept(const attn2c_reader *reader, int output);

/* Copies the first `kept` numbers of an embedding; scales: 1 to make them a unit vector. */
void attn2c_text_keep(const float *values, size_t kept, int scales, float *to);

/* Computes the reader's texts with whole embeddings by `run`, and writes the numbers that are kept to the
 * outputs. Returns `run`'s status, or ATTN2C_MEMORY. */
typedef int attn2c_text_run(attn2c_reader *reader, attn2c_context *context, int64_t rows,
                            void *const *outputs);
int attn2c_text_kept_run(attn2c_reader *reader, attn2c_context *context, int64_t rows, void *const *outputs,
                         attn2c_text_run *run);

/* Calls a model of any length with texts one after the other, without padding. */

/* Computes the reader's texts, and copies the rows of each to its place in the outputs, as attn2c_reader_run
 * does. Texts are called in their order; a call takes texts that have the rows of the longest sequence at
 * most. Returns ATTN2C_OK, _USAGE, _FORMAT or _MEMORY, with the reason in reader->fault. */
int attn2c_text_rows_run(attn2c_reader *reader, attn2c_context *context, int64_t rows, void *const *outputs);
