/* rank.c - ranks texts by their score with each query; each query has a sorted list of its best texts.
 */
#include "program/text/rank.h"

#include <math.h>

#include "formats/npy.h"

typedef struct {
  char *bytes;
  size_t length;
} kept_text;

typedef struct {
  double score;
  int64_t number; /* number of the text, from 1 */
  kept_text text;
} place;

typedef struct {
  kept_text text;
  attn2c_meaning meaning;
  place *best; /* the best texts, descending */
  int count;
} query;

struct attn2c_rank {
  int64_t query_count, texts;
  int is_paired, top;
  const attn2c_text_facts *facts;
  attn2c_answer_format format;
  query *queries;
  float *scores; /* only if the answer is an array: [texts][queries], or of pairs [queries][texts] */
  size_t score_capacity;
};

attn2c_rank *attn2c_rank_open(int is_paired, const attn2c_text_facts *facts, int top,
                              attn2c_answer_format format) {
  attn2c_rank *made = calloc(1, sizeof *made);
  if (made) made->is_paired = is_paired, made->facts = facts, made->top = top, made->format = format;
  return made;
}

void attn2c_rank_close(attn2c_rank *rank) {
  if (!rank) return;
  for (int64_t q = 0; q < rank->query_count; q++) {
    query *each = &rank->queries[q];
    for (int i = 0; i < each->count; i++) free(each->best[i].text.bytes);
    free(each->text.bytes);
    attn2c_meaning_free(&each->meaning);
    free(each->best);
  }
  ATTN2C_FREE(rank->queries, rank->scores, rank);
}

/* Copies a text. Returns 0 without memory. */
static int keep(const char *text, size_t length, kept_text *kept) {
  kept->bytes = attn2c_copied(text, length);
  kept->length = length;
  return kept->bytes != NULL;
}

int attn2c_rank_query(attn2c_rank *rank, const char *text, size_t length, attn2c_meaning *meaning) {
  ATTN2C_TRY(ATTN2C_MORE(rank->queries, rank->query_count));
  query *made = &rank->queries[rank->query_count++];
  *made = (query){.count = 0};
  if (meaning) made->meaning = *meaning, *meaning = (attn2c_meaning){.count = 0};
  made->best = calloc((size_t)rank->top + 1, sizeof *made->best);
  return made->best && keep(text, length, &made->text) ? ATTN2C_OK : ATTN2C_MEMORY;
}

/* Inserts a text into a query's best ones, after those with the same score. NaN is worse than any number. */
static int put(const attn2c_rank *rank, query *of, double score, int64_t number, const char *text,
               size_t length) {
  int at = of->count;
  while (at > 0 && (score > of->best[at - 1].score || (isnan(of->best[at - 1].score) && !isnan(score)))) at--;
  if (at == rank->top) return ATTN2C_OK;
  place made = {.score = score, .number = number};
  if (!keep(text, length, &made.text)) return ATTN2C_MEMORY;
  if (of->count == rank->top) free(of->best[--of->count].text.bytes);
  memmove(of->best + at + 1, of->best + at, (size_t)(of->count - at) * sizeof *of->best);
  of->best[at] = made;
  of->count++;
  return ATTN2C_OK;
}

/* Returns the place of `count` scores after `used` ones in the array of all; NULL without memory. */
static float *score_row(attn2c_rank *rank, size_t used, size_t count) {
  const int status =
      attn2c_grow((void **)&rank->scores, &rank->score_capacity, used + count, sizeof *rank->scores);
  return status == ATTN2C_OK ? rank->scores + used : NULL;
}

int attn2c_rank_text(attn2c_rank *rank, const char *text, size_t length, const attn2c_meaning *meaning) {
  const size_t queries = (size_t)rank->query_count, used = (size_t)rank->texts++ * queries;
  float *row = rank->format == ATTN2C_ANSWERS_NPY ? score_row(rank, used, queries) : NULL;
  if (!row && rank->format == ATTN2C_ANSWERS_NPY) return ATTN2C_MEMORY;
  for (int64_t q = 0; q < rank->query_count; q++) {
    query *each = &rank->queries[q];
    const double score = meaning ? attn2c_likeness(&each->meaning, meaning, rank->facts) : (double)NAN;
    if (row)
      row[q] = (float)score;
    else if (put(rank, each, score, rank->texts, text, length) != ATTN2C_OK)
      return ATTN2C_MEMORY;
  }
  return ATTN2C_OK;
}

int attn2c_rank_pair(attn2c_rank *rank, int64_t number, const char *text, size_t length, double score) {
  const int64_t before = rank->query_count - 1;
  if (number > rank->texts) rank->texts = number;
  if (rank->format != ATTN2C_ANSWERS_NPY)
    return put(rank, &rank->queries[before], score, number, text, length);
  float *row = score_row(rank, (size_t)(before * rank->texts + number - 1), 1);
  if (!row) return ATTN2C_MEMORY;
  *row = (float)score;
  return ATTN2C_OK;
}

static void write_lines(const attn2c_rank *rank, FILE *out) {
  for (int64_t q = 0; q < rank->query_count; q++) {
    const query *each = &rank->queries[q];
    if (rank->query_count > 1) {
      if (q) fputc('\n', out);
      attn2c_safe_write(each->text.bytes, each->text.length, out);
      fputc('\n', out);
    }
    for (int i = 0; i < each->count; i++) {
      fprintf(out, "%.4f\t%" PRId64 "\t", each->best[i].score, each->best[i].number);
      attn2c_safe_write(each->best[i].text.bytes, each->best[i].text.length, out);
      fputc('\n', out);
    }
  }
}

static json_t *json_text(const kept_text *text) { return attn2c_json_text(text->bytes, text->length); }

static json_t *json_query(const query *of) {
  json_t *list = json_array();
  int failed = 0;
  for (int i = 0; i < of->count && !failed; i++) {
    json_t *each = json_pack("{s:o, s:I, s:o}", "score", attn2c_json_number(of->best[i].score), "number",
                             (json_int_t)of->best[i].number, "text", json_text(&of->best[i].text));
    failed |= json_array_append_new(list, each) != 0;
  }
  if (!failed) return json_pack("{s:o, s:o}", "query", json_text(&of->text), "texts", list);
  json_decref(list);
  return NULL;
}

static int write_objects(const attn2c_rank *rank, FILE *out) {
  for (int64_t q = 0; q < rank->query_count; q++)
    ATTN2C_TRY(attn2c_json_line(json_query(&rank->queries[q]), 0, out));
  return ATTN2C_OK;
}

static int write_array(const attn2c_rank *rank, attn2c_message *message) {
  const int64_t shape[2] = {rank->query_count, rank->texts};
  if (rank->is_paired) return attn2c_npy_write("/dev/stdout", ATTN2C_F32, 2, shape, rank->scores, message);
  ATTN2C_OWN float *turned = malloc((size_t)(shape[0] * shape[1]) * sizeof *turned + 1);
  if (!turned) return ATTN2C_MEMORY;
  for (int64_t q = 0; q < shape[0]; q++)
    for (int64_t t = 0; t < shape[1]; t++) turned[q * shape[1] + t] = rank->scores[t * shape[0] + q];
  return attn2c_npy_write("/dev/stdout", ATTN2C_F32, 2, shape, turned, message);
}

/* Says which words of the command line gave no text, and returns ATTN2C_FORMAT. */
static int say_empty(const attn2c_text_word *words, attn2c_message *message) {
  return attn2c_fail(message, ATTN2C_FORMAT, "%s %.400s: it has no text, but at least one line is needed",
                     words->option, words->word);
}

int attn2c_rank_write(const attn2c_rank *rank, const attn2c_arguments *of, FILE *out,
                      attn2c_message *message) {
  int status = ATTN2C_OK;
  if (rank->query_count == 0) return say_empty(rank->is_paired ? of->texts : of->queries, message);
  if (rank->texts == 0) return say_empty(of->texts, message);
  if (rank->format == ATTN2C_ANSWERS_NPY)
    status = write_array(rank, message);
  else if (rank->format == ATTN2C_ANSWERS_JSONL)
    status = write_objects(rank, out);
  else
    write_lines(rank, out);
  if (status == ATTN2C_MEMORY) attn2c_say(message, "run: no memory for the ranks of texts");
  return status;
}
