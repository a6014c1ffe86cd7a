/* spans.h - spans of labels that are given with texts: the labels of the command line, and answers. */
#pragma once

#include "model/text/spans.h"
#include "program/arguments.h"
#include "program/text/view.h"

/* Gives the reader the labels and options that were asked for. Reports a fault in one line. */
int attn2c_spans_asked(attn2c_reader *reader, const attn2c_arguments *arguments, attn2c_message *message);

/* Writes a line for each span, and an empty one. Returns ATTN2C_OK or _MEMORY. */
int attn2c_spans_write(const attn2c_view_of_text *view, FILE *out);

/* Returns the spans as a list of objects; NULL without memory. */
json_t *attn2c_spans_json(const attn2c_view_of_text *view);
