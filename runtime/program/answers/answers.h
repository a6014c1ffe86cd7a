/* answers.h - answers from a model's scores for a text: the best labels or tokens, a span, a cosine; labels
 * and numbers as text and as JSON; the files of --output; texts from users, for a terminal and as JSON.
 * Labels and tokens have probabilities. Each function reads one row of scores. */
#pragma once

#include <jansson.h>

#include "base/text_facts.h"
#include "program/arguments.h"

typedef struct {
  int64_t number;
  double score;
} attn2c_pick;

/* Writes the best `most` of `count` scores, as probabilities, best first; equal scores keep their order. NaN
 * is worse than any number. Returns how many were written. */
int attn2c_best(const float *scores, int64_t count, attn2c_label_function function, int most,
                attn2c_pick *picks);

typedef struct {
  int64_t first, last; /* rows; -1: no span */
  double score;
} attn2c_span;

/* Returns the span with the largest product of probabilities, of at most `longest` rows. Its rows must have 1
 * in `may`. Row `none`, whose scores say that there is no answer, counts in the probabilities, too; -1: there
 * is no such row. */
attn2c_span attn2c_best_span(const float *begins, const float *ends, int64_t rows, const unsigned char *may,
                             int64_t none, int64_t longest);

/* Returns the cosine of two vectors; 0 if one is zero. */
double attn2c_cosine(const float *a, const float *b, int64_t width);

/* Returns how much two vectors are like each other. */
double attn2c_similarity_of(attn2c_similarity similarity, const float *a, const float *b, int64_t width);

typedef struct {
  const char *const *names; /* NULL: labels are numbers */
  int count;                /* of names */
  attn2c_label_function function;
  int64_t width; /* scores */
  int top;       /* labels that are wanted; 0: the best, or all of at least 0.5 if each is true by itself */
} attn2c_labels;

/* Write the best labels of some scores, "-" if there are none; a label by its index; numbers: each as one
 * line. `picks` has a capacity of ATTN2C_MAX_TOP. */
void attn2c_labels_write(const attn2c_labels *labels, const float *scores, attn2c_pick *picks, FILE *out);
void attn2c_label_write(const attn2c_labels *labels, const float *index, FILE *out);
void attn2c_numbers_write(const float *values, int64_t count, FILE *out);

/* Writes a text with its score. */
void attn2c_pick_write(const char *text, size_t length, double score, FILE *out);

/* Add the same to an object: the best label, or a list if there may be several. Nonzero: no memory. */
int attn2c_labels_json(const attn2c_labels *labels, const float *scores, attn2c_pick *picks, json_t *object);
int attn2c_label_json(const attn2c_labels *labels, const float *index, json_t *object);

/* The arrays that a command may write to files, and what it reads. */
typedef struct {
  const char *const *names;
  int count, plain; /* plain: 1 if a word without a name means the first array */
  int prints;       /* 1: answers are printed on the standard output */
  const char *of;   /* "texts" or "pictures" */
} attn2c_answer_files;

/* Sets paths[i] to the file of each array; NULL: none. Returns ATTN2C_OK, _MEMORY or _USAGE, with a line for
 * each file that is read, holds the weights or is given twice. */
int attn2c_answer_files_bind(const attn2c_answer_files *files, const attn2c_arguments *arguments,
                             const char **paths, attn2c_message *message);

/* `run --similar`: the matrix of cosines of each pair of embeddings. */

#define ATTN2C_MAX_SIMILAR 2000

/* Writes the matrix of score(context, i, j), how much j is like i, for `count` texts, as one line each or as
 * an array. context NULL: there was no memory for it. */
int attn2c_similar_scores(const char *of, double (*score)(const void *context, int64_t i, int64_t j),
                          const void *context, int64_t count, attn2c_answer_format format, FILE *out,
                          attn2c_message *message);

/* Does the same for the cosines of `count` embeddings of `width` numbers. of: "texts" or "pictures". */
int attn2c_similar_write(const char *of, attn2c_similarity similarity, const float *embeddings, int64_t count,
                         int64_t width, attn2c_answer_format format, FILE *out, attn2c_message *message);

/* JSON of texts from users, one object a line. Malformed UTF-8 is replaced, and control characters that
 * JSON allows are escaped, too, so that a terminal may show the line. */

/* Returns a string; NULL without memory. */
json_t *attn2c_json_text(const char *text, size_t length);

/* Returns a value; if something failed while it was made, releases it and returns NULL. */
static inline json_t *attn2c_json_made(json_t *value, int failed) {
  if (failed) json_decref(value);
  return failed ? NULL : value;
}

/* Returns a number, or null if it is not finite. */
json_t *attn2c_json_number(double value);

/* Returns a list of such numbers; NULL without memory. */
json_t *attn2c_json_numbers(const float *values, int64_t count);

/* Returns the text of a value, whose numbers have the fewest digits that stand for them; NULL without memory.
 */
char *attn2c_json_shortest(const json_t *value);

/* Writes an object as a line and releases it. Returns ATTN2C_MEMORY if the object is NULL or memory is
 * missing; failed: it was while the object was made. */
int attn2c_json_line(json_t *object, int failed, FILE *out);

/* Escapes a text for a line of output. It stays one line, has no tab, and nothing for a terminal. */

/* Writes the bytes as UTF-8. Escapes are \n, \r, \t and
 * for those characters, \u{202E} for other control and invisible characters; malformed bytes become
 * U+FFFD. */
void attn2c_safe_write(const char *text, size_t length, FILE *out);
/* The same for a text of lines: line ends, tabs and backslashes stay as they are. */
void attn2c_safe_write_lines(const char *text, size_t length, FILE *out);

/* Copies `length` bytes to `to`, with U+FFFD for each maximal part that is malformed UTF-8. The capacity of
 * `to` is 3 * length. Returns the bytes written. */
size_t attn2c_utf8_mend(const char *text, size_t length, char *to);
