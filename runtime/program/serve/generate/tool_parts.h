/* tool_parts.h - what the files that read calls of tools share. */
#pragma once

#include "program/serve/generate/tools.h"

/* A text that is read. */
typedef struct {
  const attn2c_tools *tools;
  const char *text;
  size_t length;
  int is_whole;
  uint64_t seed;
} tool_answer;

typedef enum { TOOL_NO, TOOL_YES, TOOL_LATER /* what is there may become it */ } tool_found;

enum { TOOL_MOST_NAME = 64 };

/* tool_parts.c: */
/* Returns what is found where the text ends too early. */
tool_found tool_at_end(const tool_answer *a);
size_t tool_skip_space(const tool_answer *a, size_t at);
/* Finds a marker at a place, which then is after it. White space in it is any white space, or none. NULL is
 * found nowhere. */
tool_found tool_take(const tool_answer *a, size_t *at, const char *marker);
/* Reads a word; the rest of one that is too long is left. */
size_t tool_take_word(const tool_answer *a, size_t *at, char *word);
/* True if a character ends the name of an argument in a form that is no JSON. */
int tool_ends_key(const attn2c_tool_form *form, char c);
/* Adds a call, if it is one. given: its arguments, or JSON in a text; NULL: none. Returns 1 for a call. */
int tool_add_call(const tool_answer *a, const char *name, const json_t *given, size_t number, json_t *calls);

/* tool_channels.c: takes what begins at place->at in an answer that has channels. Returns 0 if nothing can be
 * decided yet. */
int tool_take_channel(const tool_answer *a, attn2c_tool_place *place, attn2c_tool_news *news);

/* tool_values.c: */
/* A text of values, written as Python or JSON does. */
typedef struct {
  const char *text;
  size_t length, at;
  const char *quote; /* around texts, and keys are without; NULL: as in Python and JSON */
  int is_cut;        /* the text ended in a value */
} tool_literals;

/* Takes a value after white space; NULL: there is none. */
json_t *tool_take_literal(tool_literals *from);
/* Returns the value that a text stands for: one of the types that a tool's schema has for a key, else the
 * text. NULL: it is no UTF-8. */
json_t *tool_typed(const json_t *parameters, const char *key, const char *text, size_t length);
/* The values that a schema allows for a key. */
typedef struct {
  int takes_text, is_text; /* texts are allowed; nothing else is */
  json_t *values;          /* the only ones, if it is one of some; else NULL; to be released */
  const char *other;       /* what it says besides; NULL: nothing */
} tool_argument;

tool_argument tool_argument_of(const json_t *parameters, const char *key);
