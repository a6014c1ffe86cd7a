/* tools.h - the calls of tools in an answer: the form in which a chat template writes them, the calls that an
 * answer's text has, and the grammar of answers that must be calls. */
#pragma once

#include <jansson.h>

#include "chat/chat_template.h"

/* A form of calls. A call is BEGIN, then {NAME: "f", ARGUMENTS: {...}}, or a list of such objects, then END.
 * With a `middle` it is BEGIN f MIDDLE {...} END. A text that is NULL is none. */
typedef struct attn2c_tool_form {
  const char *signs[2];         /* that a template of this form has */
  const char *begin;            /* NULL: calls of this form are not read */
  const char *end;              /* may be missing */
  const char *open, *close;     /* around all calls */
  const char *middle, *id;      /* id: in front of an id before `middle`; may be missing */
  const char *name, *arguments; /* keys of an object; NULL: of these names */
  const char *lead;             /* between `begin` and a call, as the template writes it */
  int is_list;                  /* the template writes a list of objects */
  int is_bare;                  /* `begin` may be missing before an answer's first call */
  int takes_text;               /* the template takes arguments as text */
} attn2c_tool_form;

/* Returns the form of a template by the texts in it; NULL if it is none that is known. */
const attn2c_tool_form *attn2c_tool_form_of(const attn2c_chat_template *template);

/* The tools of a request. */
typedef struct attn2c_tools {
  const attn2c_tool_form *form; /* NULL: calls stay in the text */
  json_t *list;                 /* as given: {"type": "function", "function": {"name", "parameters"}} */
  const char *only;             /* the tool that must be called; NULL: any */
  int is_forced;                /* the answer is calls; the prompt has the first `begin` */
  int is_parallel;              /* several calls are allowed */
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
} attn2c_tool_place;

/* Reads a text on. is_whole: nothing will follow. Appends calls to `calls`, as objects that a reply has, and
 * writes what is none to `content`, which has the capacity length - place->at. seed: of the calls' ids.
 * Returns the bytes of the content. Text that may become a call is left for later, and so is white space,
 * which is dropped beside calls. */
size_t attn2c_tools_take(const attn2c_tools *tools, uint64_t seed, const char *text, size_t length,
                         int is_whole, attn2c_tool_place *place, char *content, json_t *calls);

/* Returns GBNF of answers that are calls after the first `begin`. Returns ATTN2C_OK; ATTN2C_FORMAT and a line
 * if a tool's schema is not supported; ATTN2C_MEMORY. */
int attn2c_tools_grammar(const attn2c_tools *tools, char **text, attn2c_message *message);

/* Returns what a prompt has after the template's text if a call must follow; "" if nothing. */
const char *attn2c_tools_opening(const attn2c_tools *tools, char *buffer, size_t size);

/* True if a text is a part of what surrounds calls: a token of it is shown even if it is special. */
int attn2c_tools_have(const attn2c_tools *tools, const char *text, size_t length);
