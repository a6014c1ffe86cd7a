/* work.h - computes the texts of requests. Several requests share a call, without padding, and each gets
 * the bits of a request by itself. The thread that calls the model uses all of it. */
#pragma once

#include "program/text/group.h"

/* A text of a request, or ids in its place. */
typedef struct {
  const char *text, *pair; /* pair NULL: it has none */
  size_t length, pair_length;
  const int32_t *ids; /* NULL: a text */
  size_t id_count;
  const int32_t *boxes; /* numbers of the words' boxes; NULL: they have none */
  size_t box_count;
  uint8_t *picture; /* the file of the page's; NULL: it has none */
  size_t picture_size;
} attn2c_asked_text;

/* The results that a request gets for each text. */
typedef enum {
  ATTN2C_GETS_VALUES, /* `width` floats of an output without rows: an embedding or scores */
  ATTN2C_GETS_ROWS,   /* JSON of the rows of an output, [tokens][width] */
  ATTN2C_GETS_ANSWER, /* JSON of the answer, as `run --format jsonl` writes it */
  ATTN2C_GETS_TOKENS, /* JSON of its tokens with their places; the model is not called */
  ATTN2C_GETS_TEXT    /* JSON of the text of its ids; the model is not called */
} attn2c_text_result;

/* The texts of a request. The lists belong to the caller; attn2c_texts_free frees the results. */
typedef struct attn2c_texts_work {
  attn2c_asked_text *list;
  size_t count;
  const char *prompt; /* its name; NULL: the usual one */
  int32_t adapter;    /* 0: none */
  int cuts;           /* 1: a text that is too long is cut; 0: it is a fault */
  int cuts_first;     /* 1: of a pair only its first text is cut */
  attn2c_text_result gets;
  int output;          /* number of the output */
  size_t width;        /* of an embedding: the numbers that are kept */
  int scales;          /* 1: an embedding becomes a unit vector */
  int is_plain;        /* 1: tokens, or a text of ids, without special ones */
  int top;             /* of labels or tokens that an answer has; 0: the usual number */
  const char **labels; /* of spans; NULL: none */
  size_t label_count;
  attn2c_span_options spans;

  size_t next, done; /* texts that are in a call; that have a result */
  float *values;     /* [count][width] */
  char **answers;    /* [count] */
  size_t bytes;      /* of all answers */
  int64_t tokens;    /* of all texts */
  int status;        /* an attn2c_status; ATTN2C_USAGE: the request is wrong */
  int is_too_long;   /* 1: a text has more tokens than a call takes */
  size_t at;         /* the text that a fault is about */
  const char *field; /* the field that it is about; NULL: that of the texts */
  char fault[300];
} attn2c_texts_work;

/* Reserves the memory of the results. Returns ATTN2C_OK or _MEMORY; the caller frees them in every case. */
int attn2c_texts_reserve(attn2c_texts_work *work);
void attn2c_texts_free(attn2c_texts_work *work);

/* True once there is nothing to do for a request, because it has its results or a fault. */
int attn2c_texts_are_done(const attn2c_texts_work *work);

/* Where texts are computed. */
typedef struct attn2c_text_worker {
  const attn2c_descriptor *model;
  attn2c_context *context; /* of the caller */
  attn2c_text_group group;
  struct {
    attn2c_texts_work *work;
    size_t number;
  } owners[ATTN2C_GROUP_TEXTS]; /* by view */
  attn2c_found found;           /* the best answer in the windows of a text so far */
  attn2c_pick picks[ATTN2C_MAX_TOP];
} attn2c_text_worker;

/* Returns ATTN2C_OK, _FORMAT or _MEMORY. */
int attn2c_text_worker_open(attn2c_text_worker **worker, const attn2c_descriptor *model,
                            attn2c_context *context, attn2c_message *message);
void attn2c_text_worker_close(attn2c_text_worker *worker);

/* Fills a call of the model with texts, and computes it: the next one of each request in turn, so that none
 * waits for a longer request before it. */
void attn2c_texts_step(attn2c_text_worker *worker, attn2c_texts_work *const *works, size_t count);
