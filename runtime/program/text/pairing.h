/* pairing.h - pairs each query with every text, for `run --rank`. Queries are read one by one, and the
 * texts once, at the beginning. */
#pragma once

#include "program/text/source.h"

typedef struct attn2c_pairing attn2c_pairing;

/* Opens the words of --text as queries, and reads the ones of --text-pair. Returns any status. */
int attn2c_pairing_open(const attn2c_arguments *arguments, FILE *notes, attn2c_pairing **pairing,
                        attn2c_message *message);
void attn2c_pairing_close(attn2c_pairing *pairing);

/* Reads the next pair: line->text is a query and line->pair a text, whose file, option and number the line
 * has. Both stay until the pairing is closed. line->is_query: 1 for the first pair of a query; line->place:
 * the text's number. */
attn2c_line_state attn2c_pairing_next(attn2c_pairing *pairing, int may_wait, attn2c_line *line, int *status,
                                      attn2c_message *message);
