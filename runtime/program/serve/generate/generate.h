/* generate.h - requests for texts that a model writes: what is asked, and how it becomes known. The loop's
 * thread reads a request and writes its reply; the engine's thread writes its answers (writer.c). */
#pragma once

#include "generate/answers.h"
#include "program/grammar/open.h"
#include "program/serve/generate/tools.h"
#include "program/text/generate.h"
#include "program/serve/request.h"

/* The most answers to a request, prompts of one, and tokens beside each token of an answer. */
enum { ATTN2C_ASK_ANSWERS = 128, ATTN2C_ASK_PROMPTS = 64, ATTN2C_ASK_TOP = 20 };

typedef struct attn2c_ask attn2c_ask;

/* A token of a text whose log-probabilities are asked for. */
typedef struct {
  int32_t id;
  float log_probability; /* NaN: of the first token, which has none */
  size_t at;             /* bytes of the text before it */
  int32_t tops;          /* most probable tokens, from `first` of the answer's list */
  int32_t first;
} attn2c_asked_token;

typedef struct {
  int32_t id;
  float log_probability;
} attn2c_top_token;

/* An answer. */
typedef struct attn2c_asked {
  attn2c_ask *ask;
  int32_t number;        /* from 0 */
  const int32_t *prompt; /* [prompt_count], or a source */
  int32_t prompt_count;
  /* Both threads use the next fields, under the engine's lock. */
  char *text;
  size_t length, capacity;
  attn2c_asked_token *tokens;
  size_t token_count;
  attn2c_top_token *tops;
  size_t top_count;
  attn2c_end end;
  int32_t written, kept; /* tokens of the answer; tokens of the prompt that were computed before */
  char fault[200];
  /* The loop's thread uses these. */
  size_t shown, shown_tokens; /* that are in the stream */
  int is_begun, is_ended;
  attn2c_tool_place read; /* of the text, if there are tools */
} attn2c_asked;

/* A request. */
struct attn2c_ask {
  attn2c_job job;
  attn2c_ask *next; /* of the engine's thread */
  int is_chat, is_streamed, with_usage, echo;
  int top;         /* most probable tokens of each; -1: no log-probabilities */
  int32_t adapter; /* of its answers; 0: none */
  char id[48];
  int64_t created;
  attn2c_sampling sampling; /* the lists are the request's own, but for stop tokens */
  int32_t *bias_tokens;
  float *biases;
  int32_t *breakers; /* of DRY */
  char *order;       /* of samplers */
  int64_t tokens;    /* the most of an answer */
  int32_t length;    /* the most of a prompt and its answer; 0: any */
  char **stops;
  int stop_count;
  attn2c_grammar_use *grammar; /* of the answers; NULL: none */
  attn2c_tools tools;          /* form NULL: answers are text only */
  uint64_t seed;               /* of the calls' ids */
  attn2c_language_tokens languages;
  int32_t *ids; /* of all prompts */
  size_t id_count;
  size_t ends[ATTN2C_ASK_PROMPTS]; /* of each prompt in ids */
  char *texts[ATTN2C_ASK_PROMPTS]; /* of echo; NULL: none */
  int prompt_count;
  int32_t n;
  attn2c_asked *answers; /* [prompt_count * n] */
  int32_t answer_count;
  int32_t begun, ended; /* of the engine's thread */
};

/* A grammar of earlier requests, with what is known of its states. */
typedef struct {
  char *text; /* of the grammar, or of the schema as JSON; NULL: none */
  int is_schema;
  attn2c_grammar_use *use;
  uint64_t used; /* the number of the last request */
} attn2c_known_grammar;

enum { ATTN2C_KNOWN_GRAMMARS = 8 };

/* The part of a server that writes. */
typedef struct attn2c_serve_generate {
  const attn2c_text_facts *facts;
  attn2c_tokenizer *tokenizer, *written; /* written: of answers, if it is another one; else NULL */
  attn2c_text_work *reading, *showing;   /* of the loop's thread */
  attn2c_vocabulary *vocabulary;         /* of grammars; NULL before the first */
  attn2c_known_grammar known[ATTN2C_KNOWN_GRAMMARS];
  attn2c_beam_options processors;
  struct attn2c_writing *writing;
  attn2c_calls calls;
  void *draft_model; /* that guesses; NULL: none */
  attn2c_calls draft;
  attn2c_context *context;
  struct attn2c_chat_work *chat; /* of the loop's thread; NULL before the first chat */
  uint64_t asks;
} attn2c_serve_generate;

/* Makes a request with all fields that chats and completions have in common; NULL after a fault, which was
 * replied. tools: of a chat, whose list the request takes; NULL: a completion. */
attn2c_ask *attn2c_ask_read(attn2c_server *server, attn2c_request *request, const attn2c_tools *tools);
void attn2c_ask_free(attn2c_ask *ask);
/* Adds a prompt. Returns 0 after a fault, which was replied; name: the field it is in. */
int attn2c_ask_add_text(attn2c_server *server, attn2c_request *request, attn2c_ask *ask, const char *name,
                        const char *text, size_t length);
/* Gives a request with all its prompts to the engine. */
void attn2c_ask_submit(attn2c_server *server, attn2c_request *request, attn2c_ask *ask);

/* The replies (reply.c). */
extern const attn2c_job_kind attn2c_ask_kind;

/* The routes. */
void attn2c_serve_completions(attn2c_server *server, attn2c_exchange *exchange, const json_t *given);
void attn2c_serve_chat(attn2c_server *server, attn2c_exchange *exchange, const json_t *given);

/* Writes the answers of all requests side by side, in the engine's thread. A step gives each answer its next
 * token, and reads parts of new prompts in the same call of the model. */

typedef struct attn2c_writing attn2c_writing;

/* sequences: answers at a time. is_guessed: 1: repetitions of texts are guesses (generate/guess.h), or tokens
 * of the server's second model. Returns ATTN2C_OK or _MEMORY. */
int attn2c_writing_create(attn2c_server *server, int32_t sequences, int is_guessed, attn2c_writing **writing);
/* Frees also the requests that it has. */
void attn2c_writing_free(attn2c_writing *writing);
/* The two functions of attn2c_engine_writer. */
int attn2c_writing_admit(void *writing, attn2c_job *job);
int attn2c_writing_step(void *writing);
