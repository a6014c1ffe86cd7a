/* routes.h - what the routes of texts share: a request's job, and how its reply is written. */
#pragma once

#include "program/serve/request.h"
#include "program/serve/text/work.h"

struct attn2c_serve_text {
  attn2c_text_worker *worker;
  attn2c_context *context; /* NULL: the model continues, and another part calls it */
  int rows;                /* number of the output with a row for each token; -1: none */
  size_t width;            /* numbers of an answer */
  char **labels;           /* [width] JSON of their names, of a classifier; else NULL */
  size_t label_bytes;      /* the most of a reply's list of all labels */
};

typedef struct attn2c_text_job attn2c_text_job;
struct attn2c_text_job {
  attn2c_job job;
  attn2c_texts_work work;
  json_t *given;     /* has the texts */
  int32_t *ids;      /* of all lists of ids, and of boxes */
  const char *field; /* that has the texts, for errors */
  const char *first; /* that has the first of them; NULL: the same */
  /* Makes the reply in the loop's thread; NULL without memory. */
  char *(*write)(const attn2c_text_job *job, size_t *length);
  int is_base64, has_texts, is_single; /* of the reply */
  attn2c_label_function function;      /* of scores */
  size_t top;                          /* texts of a ranking, or labels of a text; 0: all */
  size_t label_count;                  /* of labels that came with the request, for each text; 0: none did */
  int is_several;                      /* 1: each of these has a probability of its own */
};

/* The most texts of a request. */
enum { ATTN2C_MOST_ASKED = 2048 };

/* The forms that a text may have in a request. */
enum {
  ATTN2C_MAY_BE_IDS = 1,
  ATTN2C_MAY_BE_PAIR = 2,
  ATTN2C_TEXT_OBJECT = 4,
  ATTN2C_MAY_BE_PAGE = 8 /* of models whose words have boxes: {"text", "boxes", "image"} */
};

/* Begins a job for the texts of a field. first: with each text of the list as its pair; NULL: they have none.
 * Returns NULL after a refusal. */
attn2c_text_job *attn2c_text_job_of(attn2c_server *server, attn2c_request *r, const char *name, int forms,
                                    const char *first);
void attn2c_text_job_free(attn2c_job *job);

/* Reads `truncate` and `prompt_name`. */
void attn2c_text_job_options(attn2c_server *server, attn2c_request *r, attn2c_text_job *job);

/* Reserves memory and submits the job, or frees it after a refusal. */
void attn2c_text_job_submit(attn2c_server *server, attn2c_request *r, attn2c_text_job *job);

/* Writers of replies (reply.c). */
char *attn2c_reply_embeddings(const attn2c_text_job *job, size_t *length); /* of OpenAI */
char *attn2c_reply_lists(const attn2c_text_job *job, size_t *length);   /* of TEI: values, or JSON of each */
char *attn2c_reply_ranks(const attn2c_text_job *job, size_t *length);   /* of TEI */
char *attn2c_reply_results(const attn2c_text_job *job, size_t *length); /* of Jina and Cohere */
char *attn2c_reply_sparse(const attn2c_text_job *job, size_t *length);  /* of TEI */
/* As Hugging Face's pipelines have labels of tokens and answers to questions; others as JSON of each. */
char *attn2c_reply_pipeline(const attn2c_text_job *job, size_t *length);
char *attn2c_reply_labels(const attn2c_text_job *job, size_t *length); /* of TEI */
char *attn2c_reply_similarities(const attn2c_text_job *job,
                                size_t *length); /* of the first text with others */
char *attn2c_reply_zero_shot(const attn2c_text_job *job,
                             size_t *length); /* of labels that came (zero_shot.c) */
/* Returns the text of a list, or of its only element, and releases it; NULL after a failure. */
char *attn2c_reply_of(json_t *list, int is_single, int failed, size_t *length);

/* zero_shot.c: */
/* Returns the number of the label that says that one text follows from another, or -1. */
int attn2c_entailing_label(const attn2c_text_facts *facts);
/* Begins a job that gives texts labels of the request. Returns NULL after a refusal. */
attn2c_text_job *attn2c_zero_shot_job(attn2c_server *server, attn2c_request *r);
