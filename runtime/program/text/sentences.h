/* sentences.h - finds where the sentences of a text end. */
#pragma once

#include <stddef.h>

/* Returns the bytes of the first sentence of a text, with the blanks after it. A sentence ends with a line,
 * and with a mark such as . ! ? and quotes or brackets after it, before a blank and no small letter of ASCII.
 * The marks of Chinese and Japanese need no blank. A full stop after one letter or a usual abbreviation ends
 * none.
 */
size_t attn2c_sentence(const char *text, size_t length);
