/* options.h - the table of the program's options: how each is read, and its lines of --help. The manual page
 * attn2c-program(1) is made from the same table (gen/deploy/program_manual.lua). */
#pragma once

#include "program/arguments.h"

/* How the value of an option is read. */
typedef enum {
  ATTN2C_OPTION_FLAG,   /* no value */
  ATTN2C_OPTION_ONCE,   /* a word, given once */
  ATTN2C_OPTION_PATH,   /* a word of a list */
  ATTN2C_OPTION_TEXT,   /* a word of a list of texts; `least` is its kind */
  ATTN2C_OPTION_WORD,   /* one of `words`; `least` is the first word's value */
  ATTN2C_OPTION_INT,    /* a number, into an int */
  ATTN2C_OPTION_TOKENS, /* a number of tokens, into an int64_t */
  ATTN2C_OPTION_SEED,   /* a number, into a uint64_t; `count`: of a flag that it sets, or 0 */
  ATTN2C_OPTION_REAL,   /* any number, into an attn2c_real */
  ATTN2C_OPTION_THREADS /* a number of threads that the model is for, into an int */
} attn2c_option_kind;

typedef struct {
  const char *name;
  const char *letter; /* NULL: none */
  const char *value;  /* in the help; NULL: no value */
  unsigned commands;  /* bits 1 << ATTN2C_COMMAND_ of the commands that take it; ATTN2C_HELP_OF_TEXTS */
  attn2c_option_kind kind;
  size_t place, count;  /* of the value in attn2c_arguments; of the length of a list */
  uint64_t least, most; /* of a number */
  const char *words;    /* that the value may be; "": a second name, which messages leave out */
  const char *help;     /* one paragraph; NULL: none */
} attn2c_option;

/* A bit of `commands`: the row's help is in the part about texts of the help of `run`. A row with this bit
 * by itself is help for an option of another row. */
#define ATTN2C_HELP_OF_TEXTS (1U << 15)
/* The same for the part about pictures. */
#define ATTN2C_HELP_OF_PICTURES (1U << 14)
/* The same for the part about sounds. */
#define ATTN2C_HELP_OF_SOUNDS (1U << 13)

/* A page of help. usage: the words after the command's name, one line for each form. */
typedef struct {
  const char *command, *usage, *text, *notes;
} attn2c_help_page;

/* The rows. Messages and help list a command's options in their order. Rows after the last are empty. */
enum { ATTN2C_OPTIONS = 74 };
extern const attn2c_option attn2c_options[ATTN2C_OPTIONS];

/* Returns row number i, from 0 to ATTN2C_ROWS - 1. First are the rows of all programs, next the rows of
 * models that continue, and last the rows of `serve`. A row that the program does not have is empty. */
enum {
  ATTN2C_GENERATION_OPTIONS = 75,
  ATTN2C_SERVER_OPTIONS = 16,
  ATTN2C_ROWS = ATTN2C_OPTIONS + ATTN2C_GENERATION_OPTIONS + ATTN2C_SERVER_OPTIONS
};
const attn2c_option *attn2c_option_at(int i);

/* Returns the first of some options, with spaces between their names, that has another value than without the
 * option; NULL: none. Options of a server's request count, too. */
const char *attn2c_first_given(const attn2c_arguments *arguments, const char *names);

/* True if the program's model can have the option. */
int attn2c_option_is_offered(const attn2c_option *row);

/* Returns the number of a text among words such as "a, b or c", from 0; -1: it is none of them. */
int attn2c_number_of_word(const char *words, const char *text);

/* Finds the word that a misspelt one resembles, for "did you mean". */

/* Returns the word near to `word`, or NULL, of the candidates of(list, 0) to of(list, count - 1). */
const char *attn2c_nearest(const char *word, int count, const char *(*of)(const void *list, int i),
                           const void *list);
