/* nearest.h - the word that a misspelt one resembles, for "did you mean". */
#ifndef ATTN2C_NEAREST_H
#define ATTN2C_NEAREST_H

/* The word nearest to `word` of `count` that `of` gives by number, where it is near; NULL: none is. */
const char *attn2c_nearest(const char *word, int count, const char *(*of)(const void *list, int i),
                           const void *list);

#endif
