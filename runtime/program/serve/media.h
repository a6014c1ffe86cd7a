/* media.h - requests with sounds or pictures. Their files are written to memory that has a path, so that the
 * program's own commands read them, and their answers come back as lines of JSON. */
#pragma once

#include "base/picture_facts.h"
#include "program/serve/request.h"
#include "program/system.h"

/* The data of the parts of sound and of pictures. */
struct attn2c_serve_media {
  attn2c_context *context;
  attn2c_texts_model *texts; /* that is linked into a program of pictures; NULL: none */
  FILE *notes; /* in place of the standard error, which libsndfile's users turn off for a moment */
};

/* The most files of a request, and texts. */
enum { ATTN2C_MOST_FILES = 16, ATTN2C_MOST_MEDIA_TEXTS = 2048 };

typedef struct attn2c_media_job attn2c_media_job;
struct attn2c_media_job {
  attn2c_job job;
  attn2c_scratch files[ATTN2C_MOST_FILES];
  int count;                   /* of files */
  json_t *given;               /* the fields of the request; of a form, texts */
  json_t *unread;              /* of the exchange */
  json_t *texts;               /* the inputs in their order: texts, and null for pictures; or NULL */
  attn2c_text_vectors vectors; /* of the texts */
  attn2c_arguments arguments;
  int32_t adapter;           /* 0: none */
  attn2c_text_word words[1]; /* of the arguments */
  void (*reply)(attn2c_media_job *job);
  double (*measure)(const char *path), seconds; /* of the first file; NULL: not wanted */
  int is_base64, is_single, form;               /* of the reply */
  int status;                                   /* an attn2c_status */
  char *said;                                   /* what the command wrote */
  size_t length;
  const char *field; /* that has the files, for errors */
  char fault[400];   /* begins with a field's name, or with none */
};

/* The part's memory. Returns ATTN2C_OK or _MEMORY. */
int attn2c_media_open(attn2c_server *server, attn2c_message *message);
void attn2c_media_close(attn2c_server *server);

/* Reads a request: a form with a file of the name `file`, or JSON, whose fields `read` reads. Sets `r` to its
 * fields. Returns NULL after a refusal. */
attn2c_media_job *attn2c_media_job_of(attn2c_server *server, attn2c_exchange *exchange,
                                      void (*read)(attn2c_request *r, attn2c_media_job *job),
                                      attn2c_request *r);
/* Adds a picture: a data URL, or an object with one. */
void attn2c_media_add_picture(attn2c_request *r, attn2c_media_job *job, const char *field,
                              const json_t *value);
/* Submits the job, or frees it after a refusal. */
void attn2c_media_job_submit(attn2c_server *server, attn2c_request *r, attn2c_media_job *job);

/* Returns the lines of a job as a list of objects; NULL without memory. */
json_t *attn2c_media_lines(const attn2c_media_job *job);

/* Replies: labels and the like, and embeddings. */
void attn2c_media_predict(attn2c_server *server, attn2c_exchange *exchange, const json_t *given);
void attn2c_media_embed(attn2c_server *server, attn2c_exchange *exchange, const json_t *given);
