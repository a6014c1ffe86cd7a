/* tools.h - the calls of tools in an answer: the form in which a chat template writes them, the calls that an
 * answer's text has, and the grammar of answers that must be calls. */
#pragma once

#include <jansson.h>

#include "chat/chat_template.h"

/* A form of calls. A call is BEGIN, then {NAME: "f", ARGUMENTS: {...}}, or a list of such objects, then END.
 * With a `middle` it is BEGIN f MIDDLE {...} END. With `assign` arguments are no JSON, but
 * - with a `key`: KEY name ASSIGN text VALUE_END, for each;
 * - else name ASSIGN value with commas between them, and VALUE_END after all.
 * A text that is NULL is none. */
typedef struct attn2c_tool_form {
  const char *signs[2]; /* that a template of this form has */
  const char *begin;
  const char *end;              /* may be missing after JSON */
  const char *open, *close;     /* around a call; may be missing */
  const char *middle, *id;      /* id: in front of an id before `middle`; may be missing */
  const char *name, *arguments; /* keys of an object; NULL: of these names */
  const char *lead;             /* between `begin` and a call, as the template writes it */
  const char *key, *assign, *value_end;
  const char *between, *next;          /* of arguments; of calls in a list that is no JSON */
  const char *quote;                   /* around texts; NULL: as in Python */
  const char *shown;                   /* more texts whose tokens are shown */
  int is_list;                         /* the template writes a list of calls */
  int is_block;                        /* `open` and `close` are around all calls */
  int is_bare;                         /* `begin` may be missing before an answer's first call */
  int is_first;                        /* calls are only at an answer's beginning */
  int has_lines;                       /* texts have lines of their own */
  int has_channels;                    /* answers have headers (tool_channels.c) */
  int takes_text;                      /* the template takes arguments as text */
  const struct attn2c_tool_form *also; /* another form of calls in answers; NULL: none */
} attn2c_tool_form;

/* Returns the form of a template by the texts in it; NULL if it is none that is known. */
const attn2c_tool_form *attn2c_tool_form_of(const attn2c_chat_template *template);

/* Returns the keys of an object that is a call. */
const char *attn2c_tool_name_key(const attn2c_tool_form *form);
const char *attn2c_tool_arguments_key(const attn2c_tool_form *form);

/* The tools of a request. */
typedef struct attn2c_tools {
  const attn2c_tool_form *form; /* NULL: calls stay in the text */
  json_t *list;     /* as given: {"type": "function", "function": {"name", "parameters"}}; NULL: none */
  const char *only; /* the tool that must be called; NULL: any */
  int is_forced;    /* the answer is calls; the prompt has the first `begin` */
  int is_parallel;  /* several calls are allowed */
} attn2c_tools;

/* True if a text may be the name of a tool. */
int attn2c_tool_name(const char *name);
/* True if there is a tool of this name. */
int attn2c_tools_find(const attn2c_tools *tools, const char *name);

/* How far an answer is read. */
typedef struct attn2c_tool_place {
  size_t at;        /* bytes of its text */
  int32_t calls;    /* that it has */
  int has_content;  /* text that is no call came before */
  int follows_call; /* what comes next follows a call */
  int stage;        /* of a message with a header */
  size_t name;      /* the place of the tool's name in it */
  int32_t failed;   /* beginnings of calls that were none */
  size_t read;      /* bytes of the text when it was read last */
} attn2c_tool_place;

/* Text and calls that are new. */
typedef struct {
  char *content, *reasoning; /* with the capacity length - place->at */
  size_t content_length, reasoning_length;
  json_t *calls; /* as objects that a reply has */
} attn2c_tool_news;

/* Reads a text on. is_whole: nothing will follow. Appends calls, and text that is none. seed: of the calls'
 * ids. Text that may become a call is left for later, and so is white space, which is dropped beside calls.
 */
void attn2c_tools_take(const attn2c_tools *tools, uint64_t seed, const char *text, size_t length,
                       int is_whole, attn2c_tool_place *place, attn2c_tool_news *news);

/* Returns GBNF of answers that are calls after the first `begin`. Returns ATTN2C_OK; ATTN2C_FORMAT and a line
 * if a tool's schema is not supported; ATTN2C_MEMORY. */
int attn2c_tools_grammar(const attn2c_tools *tools, char **text, attn2c_message *message);

/* Returns what a prompt has after the template's text if a call must follow; "" if nothing. */
const char *attn2c_tools_opening(const attn2c_tools *tools, char *buffer, size_t size);

/* True if a text is a part of what surrounds calls: a token of it is shown even if it is special. */
int attn2c_tools_have(const attn2c_tools *tools, const char *text, size_t length);
