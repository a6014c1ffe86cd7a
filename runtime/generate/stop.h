/* stop.h - finds stop strings in a text that comes in pieces, and says how much of it may be shown already.
 *
 * A piece is the text of a token: any bytes, also a part of a character. These bytes are held back:
 * - the longest end of the text that may become a stop string;
 * - an end that may become a UTF-8 character. Bytes that cannot be part of a character are not held back.
 * The text ends before the stop string that is complete first; of several that end at the same byte, before
 * the longest. A stop string may begin in one piece and end in another. Each byte costs a few steps for each
 * stop string (Knuth, Morris and Pratt). No call but create allocates. */
#pragma once

#include "base/attn2c.h"

/* The most stop strings, and bytes of one. */
enum { ATTN2C_STOP_STRINGS = 64, ATTN2C_STOP_BYTES = 1024 };

typedef struct attn2c_stop attn2c_stop;

/* Makes a matcher of `count` strings, from 0; it copies them. ATTN2C_USAGE, a line each: a string is empty,
 * too long, or not UTF-8. ATTN2C_MEMORY: no memory. *stop is then NULL. */
int attn2c_stop_create(attn2c_stop **stop, const char *const *strings, int count, attn2c_message *message);
void attn2c_stop_free(attn2c_stop *stop);

/* Begins a new text. */
void attn2c_stop_reset(attn2c_stop *stop);

/* Takes the next piece of the text. Returns the number of the stop string that ended the text, or -1. A text
 * that has ended takes no more. */
int attn2c_stop_feed(attn2c_stop *stop, const char *piece, size_t size);
/* Takes a piece that is not shown, such as a special token's, and is not of the text: a stop string may have
 * it as a part, and the text's own stop strings go on after it. */
int attn2c_stop_feed_hidden(attn2c_stop *stop, const char *piece, size_t size);

/* Returns the number of the stop string that a text is, or -1; 1 if there are any. */
int attn2c_stop_equal(const attn2c_stop *stop, const char *text, size_t size);
int attn2c_stop_has_any(const attn2c_stop *stop);

/* Ends the text: a stop string that has only begun is text. A character that is not complete is never shown.
 */
void attn2c_stop_end(attn2c_stop *stop);

/* Returns how many bytes of the text, from its beginning, may be shown. It never becomes smaller. */
uint64_t attn2c_stop_shown(const attn2c_stop *stop);
