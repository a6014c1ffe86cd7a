/* grammar.h - reads grammars as llama.cpp writes them (GBNF), and turns them into automata over bytes.
 *
 * A file is a list of rules, NAME ::= WHAT. A rule is made of "literals", classes such as [^a-z],
 * . for any character, names of rules, (groups), alternatives with |, and repetitions with ? * + {m}, {m,}
 * and {m,n}. Names have letters, digits and -. Literals and classes have the escapes \n \r \t \\ \" \[ \] \-
 * \xHH \uHHHH \UHHHHHHHH. A comment begins with # and ends with its line. A rule ends with its line, but not
 * inside of a group, after ::= and after |. The text is what `root` allows. */
#pragma once

#include "base/attn2c.h"

typedef struct attn2c_grammar attn2c_grammar;

/* Limits of a grammar: states of all its automata, copies of a repetition, groups in groups. */
enum { ATTN2C_GRAMMAR_NODES = 1 << 19, ATTN2C_GRAMMAR_REPEATS = 10000, ATTN2C_GRAMMAR_DEPTH = 200 };

/* Reads a grammar. name: of its file, for messages. ATTN2C_FORMAT: it is malformed; the message has the line,
 * the column and what is allowed. A rule that calls itself before it has read a byte is malformed, too.
 * ATTN2C_MEMORY: there is no memory. *grammar is then NULL. A grammar never changes. */
int attn2c_grammar_read(const char *text, size_t length, const char *name, attn2c_grammar **grammar,
                        attn2c_message *message);
void attn2c_grammar_free(attn2c_grammar *grammar);
