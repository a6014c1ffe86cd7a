/* generate_side.h - the part for text of the commands `generate` and `chat` (attn2c_generation_text). */
#pragma once

#include "generate/text_writer.h"
#include "program/generate/command.h"
#include "program/grammar/open.h"
#include "program/text/generate.h"
#include "program/text/generate_turns.h"
#include "program/text/source.h"

struct attn2c_text_side {
  const attn2c_text_facts *facts;
  attn2c_tokenizer *tokenizer;
  attn2c_tokenizer *written;           /* of answers, if it is another one; else NULL */
  attn2c_text_work *reading, *writing; /* of prompts, of answers */
  attn2c_text_source *source;
  attn2c_turns *turns;     /* of a chat; or the system message of prompts in the chat template; else NULL */
  attn2c_writer **writers; /* [places] */
  int32_t places;
  int32_t language;            /* of prompts: attn2c_text_input */
  const char *prefix;          /* put in front of each prompt; NULL: none */
  int splits;                  /* 1: a prompt is a sentence of a line */
  attn2c_line line;            /* its text: what is left of it */
  int64_t sentence;            /* number of the last one, from 1 */
  char *prompt;                /* the last prompt with it */
  char fault[300];             /* of the template */
  attn2c_grammar_use *grammar; /* NULL: none */
};

/* The caller closes it in every case. */
int attn2c_text_side_open(const attn2c_text_facts *facts, const attn2c_arguments *arguments, int32_t places,
                          attn2c_text_side **side, attn2c_message *message);
void attn2c_text_side_close(attn2c_text_side *side);
