/* nearest.h - finds the word that a misspelt one resembles, for "did you mean". */
#pragma once

/* Returns the word nearest to `word` if it is near, else NULL. The candidates are of(list, 0) to of(list,
 * count - 1). */
const char *attn2c_nearest(const char *word, int count, const char *(*of)(const void *list, int i),
                           const void *list);
