/* command.c - `run --text`. Lines that have come are encoded together, computed by length and answered
 * in their order, before more lines are waited for. The pair of a question is read in windows. */
#include "program/commands.h"

#include <unistd.h>

#include "program/inputs.h"
#include "measure/timing.h"
#include "program/output.h"
#include "program/run.h"
#include "program/text/arrays.h"
#include "program/text/group.h"
#include "program/text/cache.h"
#include "program/text/pairing.h"
#include "program/text/rank.h"
#include "model/text/page.h"
#include "program/text/view.h"

/* Numbers may be a list of JSON, too. */
#define BETWEEN " \t\r,[]"

/* Gives the words of a line its boxes; a line without boxes has no such words. Returns ATTN2C_OK, _FORMAT or
 * _MEMORY; reader->fault says why. */
static int read_boxes(attn2c_reader *reader, const attn2c_line *line) {
  const char *at = line->boxes ? line->boxes : "";
  ATTN2C_OWN int32_t *sides = malloc((strlen(at) / 2 + 1) * sizeof *sides);
  size_t count = 0;
  if (!sides) return attn2c_reader_fail(reader, ATTN2C_MEMORY, "no memory for its boxes");
  for (at += strspn(at, BETWEEN); *at; at += strspn(at, BETWEEN)) {
    const size_t width = strcspn(at, BETWEEN);
    if (width >= 9 || strspn(at, "0123456789") < width)
      return attn2c_reader_fail(reader, ATTN2C_FORMAT,
                                "number %zu of its boxes is %.*s, but whole numbers from 0 to %d are allowed",
                                count + 1, width < 40 ? (int)width : 40, at,
                                (int)attn2c_reader_most_side(reader));
    sides[count++] = (int32_t)strtol(at, NULL, 10);
    at += width;
  }
  return attn2c_reader_page(reader, line->text, line->length, line->pair, line->pair_length,
                            line->boxes ? sides : NULL, count);
}

/* Limits of the lines that are computed together: their number and their bytes. */
#define MOST_LINES ATTN2C_GROUP_TEXTS
#define LINE_BYTES ((size_t)16 << 20)

/* Lines that are computed together at first, and the time that they may take later: progress is shown, and
 * embeddings are kept, after each time. */
#define FIRST_LINES   8
#define LINES_SECONDS 5.0

#define TOP_TOKENS 5
#define TOP_TEXTS  10

typedef struct {
  const attn2c_descriptor *model;
  const attn2c_arguments *arguments;
  const attn2c_text_facts *facts;
  FILE *out;
  attn2c_message *message;
  attn2c_text_source *source; /* NULL with --rank */
  attn2c_pairing *pairing;    /* NULL without --rank */
  attn2c_text_group group;
  attn2c_reader *reader; /* of the group */
  attn2c_arrays *arrays;
  attn2c_model *opened;
  attn2c_context *context;
  attn2c_pictures *pictures; /* of the texts' pages; NULL: the model takes none with texts */
  const float *image;        /* of the page of `line` */
  attn2c_line line;          /* the last line that was read */
  int is_open;               /* 1: `line` has more windows */
  attn2c_found found;        /* the best answer in the windows of `line` so far */
  int together;              /* most lines that are computed together */
  int prints;                /* 1: at least one line is printed for each text */
  int gathers;               /* 1: the array of answers of all texts is needed */
  attn2c_rank *rank;         /* ranks of texts for queries; NULL: no queries */
  attn2c_cache *cache;       /* embeddings of texts; NULL: no --cache */
  attn2c_pick picks[ATTN2C_MAX_TOP];
  int64_t texts, cut;
  attn2c_text_facts own;   /* facts with the answer that was chosen */
  attn2c_meaning *similar; /* meanings of all texts, if these are no embeddings; NULL: not kept */
  size_t similar_count;
} job;

static int takes_top(attn2c_answer answer) {
  return answer == ATTN2C_ANSWER_LABEL || answer == ATTN2C_ANSWER_TOKENS || answer == ATTN2C_ANSWER_MASKED ||
         answer == ATTN2C_ANSWER_NEXT || answer == ATTN2C_ANSWER_LEXICAL;
}

/* True if the model gives one score for a text or a pair. */
static int is_scorer(const job *job) {
  const attn2c_tensor *tensor =
      &job->model->tensors[attn2c_primary_entry(job->model)->outputs[job->facts->output]];
  return job->facts->answer == ATTN2C_ANSWER_LABEL &&
         (tensor->rank < 2 || tensor->shape[tensor->rank - 1] == 1);
}

/* Reports options that do not go together, one line each. */
static int check_usage(job *job) {
  const attn2c_arguments *arguments = job->arguments;
  const attn2c_answer answer = job->facts->answer;
  const int ranks = arguments->query_count > 0 || arguments->rank;
  const char *faults[28];
  int count = 0;
  if (arguments->input_count > 0)
    faults[count++] = "--input: does not go with --text, which fills the inputs";
  if (arguments->entry != NULL)
    faults[count++] = "--entry: does not go with --text: the length of a text chooses its entry";
  if (arguments->top > 0 && !takes_top(answer) && !ranks)
    faults[count++] = answer == ATTN2C_ANSWER_EMBEDDING
                          ? "--top: goes with --query, or with models that give labels or tokens"
                          : "--top: goes with models that give labels or tokens";
  if (arguments->query_count > 0 && !attn2c_is_of_search(answer))
    faults[count++] = is_scorer(job) ? "--query: goes with models that give an embedding; this one scores "
                                       "pairs: --text QUERY --text-pair FILE --rank"
                                     : "--query: goes with models that give an embedding";
  if (arguments->query_count > 0 && arguments->pair_count > 0)
    faults[count++] = "--query: does not go with --text-pair";
  if (arguments->rank && !is_scorer(job))
    faults[count++] = answer == ATTN2C_ANSWER_EMBEDDING
                          ? "--rank: goes with models that score pairs (cross-encoders); this one gives "
                            "embeddings: --query QUERY --text-file FILE"
                          : "--rank: goes with models that give one score for a pair (cross-encoders)";
  if (arguments->rank && arguments->query_count > 0)
    faults[count++] = "--rank: its queries are given by --text, not by --query";
  if (arguments->rank && arguments->pair_count == 0)
    faults[count++] = "--rank: the texts to rank are missing; --text-pair gives them";
  if (ranks && arguments->output_count > 0)
    faults[count++] = "--output: does not go with --query and --rank; --format npy gives all scores";
  if (ranks && arguments->top > 0 && arguments->answers == ATTN2C_ANSWERS_NPY)
    faults[count++] = "--top: does not go with --format npy, which gives the scores of all texts";
  if (arguments->cache && arguments->query_count == 0)
    faults[count++] = "--cache: goes with --query, whose texts' embeddings it keeps";
  if (arguments->cache && answer != ATTN2C_ANSWER_EMBEDDING)
    faults[count++] = "--cache: goes with models that give an embedding";
  if (arguments->dimensions > 0 && answer != ATTN2C_ANSWER_EMBEDDING)
    faults[count++] = "--dimensions: goes with models that give an embedding";
  if (arguments->prompt && job->facts->prompt_count == 0)
    faults[count++] = "--prompt: this model has no prompts; put the words before the text itself";
  if (arguments->box_count > 0 && job->facts->boxes < 0)
    faults[count++] = "--boxes: this model does not read where words are on a page";
  if (arguments->box_count > 0 && ranks) faults[count++] = "--boxes: does not go with --query and --rank";
  if (job->facts->image >= 0 && ranks)
    faults[count++] = "--query and --rank: do not go with models that read the picture of each text's page";
  if (job->facts->image >= 0 && arguments->image_count == 0)
    faults[count++] = "run: the model reads the picture of each text's page, too; --image FILE gives it";
  if (arguments->stride >= 0 && answer != ATTN2C_ANSWER_SPAN)
    faults[count++] = "--stride: goes with models that answer questions";
  if (arguments->similar && !attn2c_is_of_search(answer))
    faults[count++] = "--similar: goes with models that give an embedding";
  if (job->prints && answer == ATTN2C_ANSWER_SPAN && arguments->pair_count == 0)
    faults[count++] = "run: --text gives questions; --text-pair with the text that has the answer is needed";
  if (arguments->answers >= ATTN2C_ANSWERS_SRT) faults[count++] = "--format srt and vtt: go with --audio";
  if (arguments->answers == ATTN2C_ANSWERS_NPY &&
      (answer == ATTN2C_ANSWER_SPAN || answer == ATTN2C_ANSWER_SPANS))
    faults[count++] =
        "--format npy: this model's answers are several arrays; --output NAME=F.npy writes each";
  if (arguments->answers == ATTN2C_ANSWERS_NPY && isatty(STDOUT_FILENO))
    faults[count++] = "--format npy: the standard output is a terminal; give a file or a pipe";
  const int lacks = attn2c_lacks_weights(job->model, arguments->weights, "run", job->message);
  for (int i = 0; i < count; i++) attn2c_say(job->message, "%s", faults[i]);
  return count || lacks ? ATTN2C_USAGE : ATTN2C_OK;
}

/* Takes the answer that --answer names in place of the usual one. */
static int choose_answer(job *job) {
  const attn2c_text_facts *facts = job->facts;
  const char *asked = job->arguments->answer;
  const attn2c_entry *entry = attn2c_primary_entry(job->model);
  char names[200] = "";
  if (!asked) return ATTN2C_OK;
  if (facts->answer_count == 0)
    return attn2c_fail(job->message, ATTN2C_USAGE, "--answer %.100s: this model has one kind of answer",
                       asked);
  for (int i = 0; i < facts->answer_count; i++) {
    const char *name = job->model->tensors[entry->outputs[facts->answers[i].output]].name;
    const size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", name);
    if (strcmp(name, asked) != 0) continue;
    job->own = *facts;
    job->own.answer = facts->answers[i].answer, job->own.output = facts->answers[i].output;
    job->facts = &job->own;
    return ATTN2C_OK;
  }
  return attn2c_fail(job->message, ATTN2C_USAGE, "--answer %.100s: no such answer; it has %s", asked, names);
}

static int open_model(job *job, FILE *notes) {
  ATTN2C_TRY(attn2c_run_open(job->model, job->arguments, notes, &job->opened, job->message));
  int status = attn2c_program_context(job->opened, &job->context);
  if (status != ATTN2C_OK) attn2c_say(job->message, "run: no memory for the arena");
  return status;
}

static void forget_lines(job *job) {
  if (!job->is_open && job->source) attn2c_text_source_forget(job->source);
  attn2c_group_forget(&job->group);
}

/* Encodes `line`: the tokens that a call takes, or the next window. */
static int encode_line(job *job, attn2c_text_tokens *tokens) {
  const attn2c_line line = job->line;
  if (job->is_open) return attn2c_reader_next_window(job->reader, tokens);
  job->texts++;
  if (job->facts->boxes >= 0) ATTN2C_TRY(read_boxes(job->reader, &line));
  if (job->facts->answer == ATTN2C_ANSWER_SPAN && line.pair)
    return attn2c_reader_window(job->reader, line.text, line.length, line.pair, line.pair_length,
                                job->arguments->stride, tokens);
  return attn2c_reader_encode(job->reader, line.text, line.length, line.pair, line.pair_length, 0, tokens);
}

/* Makes a text without tokens a BOS token, after which a token is predicted, as in transformers. */
static int begin_empty(job *job, attn2c_text_tokens *tokens) {
  static const attn2c_text_place nowhere;
  static const uint8_t special = 2;
  static const int32_t type;
  if (job->facts->bos_token < 0)
    return attn2c_reader_fail(job->reader, ATTN2C_FORMAT,
                              "has no tokens, and the tokenizer has no BOS token to begin with");
  *tokens = (attn2c_text_tokens){
      .length = 1, .ids = &job->facts->bos_token, .types = &type, .places = &nowhere, .sources = &special};
  return ATTN2C_OK;
}

/* Keeps `line` as a text whose embedding is known. */
static void add_known(job *job, const float *embedding) {
  job->texts++;
  job->group.views[job->group.count++] = (attn2c_view_of_text){
      .reader = job->reader, .line = job->line, .length = 1, .is_last = 1, .cached = embedding};
}

/* Reads the picture of the page of `line`. */
static int read_picture(job *job) {
  const char *name;
  char place[ATTN2C_LINE_PLACE];
  ATTN2C_TRY(attn2c_the_pictures->next(job->pictures, &job->image, &name, job->message));
  if (job->image) return ATTN2C_OK;
  attn2c_line_place(&job->line, place, sizeof place);
  return attn2c_fail(job->message, ATTN2C_USAGE, "%s: has no picture: --image gives fewer", place);
}

/* Encodes `line`, or its next window, and keeps the data that its answer needs. */
static int add_line(job *job) {
  attn2c_text_tokens tokens;
  char place[ATTN2C_LINE_PLACE];
  if (job->pictures && !job->is_open) ATTN2C_TRY(read_picture(job));
  int status = encode_line(job, &tokens);
  if (status == ATTN2C_OK && tokens.length == 0 && job->facts->answer == ATTN2C_ANSWER_NEXT)
    status = begin_empty(job, &tokens);
  if (status == ATTN2C_OK) status = attn2c_group_add(&job->group, &job->line, &tokens);
  if (status == ATTN2C_OK && job->pictures) status = attn2c_group_give_image(&job->group, job->image);
  if (status != ATTN2C_OK && attn2c_signal()) return status;
  if (status != ATTN2C_OK) {
    attn2c_line_place(&job->line, place, sizeof place);
    return attn2c_fail(job->message, status, "%s: %s", place, job->reader->fault);
  }
  job->reader->texts[job->reader->count - 1].number = job->texts - 1;
  const int has_windows = job->facts->answer == ATTN2C_ANSWER_SPAN && job->line.pair;
  job->is_open = has_windows && tokens.removed > 0;
  attn2c_view_of_text *view = &job->group.views[job->group.count - 1];
  view->is_last = !job->is_open;
  if (has_windows) view->removed = 0;
  job->cut += view->removed > 0;
  return ATTN2C_OK;
}

/* The name of the first prompt of a list that the model has; NULL: it has none of them. */
static const char *prompt_of(const attn2c_text_facts *facts, const char *const *names) {
  for (; *names; names++)
    for (int i = 0; i < facts->prompt_count; i++)
      if (strcmp(facts->prompts[i].name, *names) == 0) return *names;
  return NULL;
}

/* Chooses the prompt of the texts that come: sentence-transformers' encode_query and encode_document go by
 * the same names. A model without them has its usual prompt before both. */
static int choose_prompt(job *job, int is_query) {
  static const char *const of_queries[] = {"query", NULL};
  static const char *const of_texts[] = {"document", "passage", "corpus", NULL};
  const int ranks = job->arguments->query_count > 0;
  const char *name = !ranks || is_query ? job->arguments->prompt : NULL;
  if (!name && ranks) name = prompt_of(job->facts, is_query ? of_queries : of_texts);
  const int status = attn2c_reader_prompt(job->reader, name);
  if (status == ATTN2C_OK) return status;
  char names[400] = "";
  for (int i = 0; i < job->facts->prompt_count; i++) {
    const size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", job->facts->prompts[i].name);
  }
  return attn2c_fail(job->message, status, "--prompt %s: %s; it has %s", name ? name : "", job->reader->fault,
                     names);
}

/* Encodes `line`, unless the cache has its embedding. */
static int take_line(job *job) {
  if (!job->is_open && job->arguments->query_count > 0) ATTN2C_TRY(choose_prompt(job, job->line.is_query));
  if (job->cache && !job->line.is_query) {
    const float *embedding = attn2c_cache_find(job->cache, job->line.text, job->line.length);
    if (embedding) {
      add_known(job, embedding);
      return ATTN2C_OK;
    }
  }
  return add_line(job);
}

/* Reads the next text, with its pair. */
static attn2c_line_state next_line(job *job, int may_wait, int *status) {
  return job->pairing ? attn2c_pairing_next(job->pairing, may_wait, &job->line, status, job->message)
                      : attn2c_text_source_next(job->source, may_wait, &job->line, status, job->message);
}

/* Waits for one line, and then takes the lines that have come already. */
static attn2c_line_state read_lines(job *job, int *status) {
  const int fit = attn2c_group_most(&job->group), most = fit < job->together ? fit : job->together;
  size_t bytes = 0;
  attn2c_line_state state = ATTN2C_LINE_NONE;
  while (job->group.count < most && bytes < LINE_BYTES) {
    if (!job->is_open) {
      state = next_line(job, job->group.count == 0, status);
      if (state != ATTN2C_LINE_READ) break;
      bytes += job->line.length + job->line.pair_length;
    }
    *status = take_line(job);
    if (*status != ATTN2C_OK) return ATTN2C_LINE_FAULT;
  }
  return state;
}

/* Adds the score of a pair to its query, which comes with its first pair. */
static int rank_pair(job *job, const attn2c_view_of_text *view) {
  const attn2c_line *line = &view->line;
  if (line->is_query) ATTN2C_TRY(attn2c_rank_query(job->rank, line->text, line->length, NULL));
  attn2c_best(view->values, 1, job->facts->function, 1, job->picks);
  return attn2c_rank_pair(job->rank, line->place, line->pair, line->pair_length, job->picks[0].score);
}

/* Keeps a query, or compares a text with all queries. */
static int rank_text(job *job, const attn2c_view_of_text *view) {
  const attn2c_line *line = &view->line;
  ATTN2C_ENDS_BY(attn2c_meaning_free) attn2c_meaning meaning = {.count = 0};
  if (job->pairing) return rank_pair(job, view);
  ATTN2C_TRY(attn2c_meaning_make(view, &meaning));
  if (line->is_query) {
    ATTN2C_TRY(attn2c_rank_query(job->rank, line->text, line->length, &meaning));
  } else {
    const float *values = view->cached ? view->cached : meaning.values;
    if (job->cache) ATTN2C_TRY(attn2c_cache_add(job->cache, line->text, line->length, values));
    ATTN2C_TRY(attn2c_rank_text(job->rank, line->text, line->length, &meaning));
  }
  return ATTN2C_OK;
}

/* Keeps what a text means, until all are known. */
static int keep_meaning(job *job, const attn2c_view_of_text *view) {
  ATTN2C_TRY(ATTN2C_MORE(job->similar, job->similar_count));
  const int status = attn2c_meaning_make(view, &job->similar[job->similar_count]);
  job->similar_count += status == ATTN2C_OK;
  return status;
}

/* True if texts are compared by what is no embedding. */
static int compares_meanings(const job *job) {
  return job->arguments->similar && job->facts->answer != ATTN2C_ANSWER_EMBEDDING;
}

static int write_answers(job *job) {
  int status = ATTN2C_OK;
  for (int i = 0; i < job->group.count && status == ATTN2C_OK; i++) {
    attn2c_view_of_text *view = attn2c_group_view(&job->group, i);
    if (job->facts->answer == ATTN2C_ANSWER_SPAN) {
      attn2c_view_find(view, &job->found);
      view->found = job->found;
      if (!view->is_last) continue;
      job->found = (attn2c_found){.is_there = 0};
    }
    view->has_top = job->arguments->top > 0;
    const int is_tokens =
        job->facts->answer == ATTN2C_ANSWER_MASKED || job->facts->answer == ATTN2C_ANSWER_NEXT;
    view->top = view->has_top ? job->arguments->top : is_tokens ? TOP_TOKENS : 1;
    if (job->rank)
      status = rank_text(job, view);
    else if (compares_meanings(job))
      status = keep_meaning(job, view);
    else
      status = job->arguments->answers == ATTN2C_ANSWERS_JSONL
                   ? attn2c_write_json(view, job->picks, job->out)
                   : attn2c_write_text(view, job->picks, job->out);
  }
  if (status != ATTN2C_OK) return attn2c_fail(job->message, status, "run: no memory for an answer");
  return attn2c_output_flush(job->out, job->message);
}

static int answer_lines(job *job) {
  if (job->group.count == 0) return ATTN2C_OK;
  int status = attn2c_group_run(&job->group, job->context);
  if (status != ATTN2C_OK && !attn2c_signal()) attn2c_say(job->message, "run: %s", job->reader->fault);
  if (status == ATTN2C_OK && job->prints) {
    if (!job->rank) attn2c_progress_hide();
    status = write_answers(job);
  }
  if (status == ATTN2C_OK)
    status = attn2c_arrays_keep(job->arrays, job->reader, job->group.rows, job->group.outputs, job->message);
  attn2c_group_drop(&job->group);
  return status;
}

/* Chooses how many lines are computed together from now on, by the time that some have taken. */
static void choose_together(job *job, double seconds) {
  const double fit = (double)job->reader->count * LINES_SECONDS / seconds;
  const int most = job->together > MOST_LINES / 8 ? MOST_LINES : 8 * job->together;
  if (job->reader->count > 0) job->together = fit < 1 ? 1 : fit < most ? (int)fit : most;
}

/* Writes the embeddings that there are, now and then. A file that cannot be written is not tried again. */
static int keep(job *job) {
  const int status = attn2c_cache_keep(job->cache, job->message);
  if (status == ATTN2C_OK) return status;
  attn2c_cache_close(job->cache);
  job->cache = NULL;
  return status;
}

static int answer_all(job *job) {
  const int is_counted = job->source && attn2c_progress_is_seen();
  const int64_t all = is_counted ? attn2c_text_source_count(job->source) : 0;
  int status = ATTN2C_OK;
  attn2c_line_state state = ATTN2C_LINE_READ;
  job->together = FIRST_LINES;
  while (status == ATTN2C_OK && state != ATTN2C_LINE_END && state != ATTN2C_LINE_FAULT) {
    int fault = ATTN2C_OK;
    attn2c_progress("texts", job->texts, all);
    state = read_lines(job, &fault);
    const double start = attn2c_now();
    status = answer_lines(job); /* the lines before a wrong one are answered, too */
    choose_together(job, (attn2c_now() - start) / 1e9);
    if (status == ATTN2C_OK && job->cache) status = keep(job);
    if (status == ATTN2C_OK) status = fault;
    if (attn2c_signal()) status = attn2c_signals_status(job->message);
    forget_lines(job);
  }
  attn2c_progress_hide();
  return status;
}

static double likeness(const void *context, int64_t i, int64_t j) {
  const job *of = context;
  return attn2c_likeness(&of->similar[i], &of->similar[j], of->facts);
}

static int write_similar(job *job) {
  int64_t texts;
  if (compares_meanings(job))
    return attn2c_similar_scores("texts", likeness, job, (int64_t)job->similar_count, job->arguments->answers,
                                 job->out, job->message);
  const float *embeddings = attn2c_arrays_answer(job->arrays, job->reader, &texts);
  const int64_t width = attn2c_reader_elements(job->reader, job->facts->output, 1);
  return attn2c_similar_write("texts", job->facts->similarity, embeddings, texts, width,
                              job->arguments->answers, job->out, job->message);
}

static int open_rank(job *job) {
  const int top = job->arguments->top > 0 ? job->arguments->top : TOP_TEXTS;
  job->rank = attn2c_rank_open(job->pairing != NULL, job->facts, top, job->arguments->answers);
  if (job->rank) return ATTN2C_OK;
  return attn2c_fail(job->message, ATTN2C_MEMORY, "run: no memory");
}

/* Opens the file of embeddings, which have the prompt of texts. */
static int open_cache(job *job, FILE *notes) {
  const char *why = NULL;
  const int64_t width = attn2c_reader_elements(job->reader, job->facts->output, 1);
  int status = choose_prompt(job, 0);
  if (status == ATTN2C_OK)
    status = attn2c_cache_open(job->arguments->cache, job->opened, job->reader, width, &job->cache, &why,
                               job->message);
  if (why)
    fprintf(notes, "%s: --cache %s: %s; all embeddings are computed, and the file is made again\n",
            job->arguments->program, job->arguments->cache, why);
  return status;
}

/* Opens what gives the texts, or pairs of them. */
static int open_texts(job *job, FILE *notes) {
  return job->arguments->rank ? attn2c_pairing_open(job->arguments, notes, &job->pairing, job->message)
                              : attn2c_text_source_open(job->arguments, notes, &job->source, job->message);
}

/* Opens the pictures of a model that reads one with each text. */
static int open_pictures(job *job) {
  if (job->facts->image < 0) return ATTN2C_OK;
  return attn2c_the_pictures->open(attn2c_the_picture_facts, job->arguments, &job->pictures, job->message);
}

/* Refuses a picture after the last text. */
static int end_pictures(job *job) {
  const char *name = NULL;
  if (!job->pictures) return ATTN2C_OK;
  ATTN2C_TRY(attn2c_the_pictures->next(job->pictures, &job->image, &name, job->message));
  if (!name) return ATTN2C_OK;
  return attn2c_fail(job->message, ATTN2C_USAGE, "--image: %s is a picture without a text", name);
}

/* Sets the prompt and the dimensions that were asked for. */
static int set_reader(job *job) {
  const int count = job->arguments->dimensions;
  if (count > 0 && attn2c_reader_dimensions(job->reader, (size_t)count) != ATTN2C_OK)
    return attn2c_fail(job->message, ATTN2C_USAGE, "--dimensions %d: %s", count, job->reader->fault);
  const int status = attn2c_spans_asked(job->reader, job->arguments, job->message);
  return status == ATTN2C_OK ? choose_prompt(job, 1) : status;
}

static int run_job(job *job, FILE *notes) {
  const attn2c_arguments *arguments = job->arguments;
  const int is_asked = arguments->answers != ATTN2C_ANSWERS_NONE || arguments->top > 0 || arguments->similar;
  const int ranks = arguments->query_count > 0 || arguments->rank;
  const int answers = is_asked || arguments->output_count == 0;
  int status = choose_answer(job);
  const int gathers = arguments->answers == ATTN2C_ANSWERS_NPY && !arguments->similar;
  job->gathers = !ranks && (gathers || (arguments->similar && !compares_meanings(job)));
  job->prints = answers && !job->gathers;
  if (status == ATTN2C_OK) status = check_usage(job);
  if (status == ATTN2C_OK) status = open_texts(job, notes);
  if (status == ATTN2C_OK) status = open_pictures(job);
  if (status == ATTN2C_OK) status = attn2c_group_open(&job->group, job->model, job->message);
  job->reader = job->group.reader;
  if (job->reader) job->reader->facts = job->facts;
  if (status == ATTN2C_OK) status = set_reader(job);
  if (status == ATTN2C_OK)
    status = attn2c_adapter_asked(job->model, arguments, &job->reader->adapter, job->message);
  if (status == ATTN2C_OK)
    status =
        attn2c_arrays_open(job->reader, arguments, job->prints, job->gathers, &job->arrays, job->message);
  for (int o = 0; status == ATTN2C_OK && o < job->group.output_count; o++)
    job->group.wanted[o] = (unsigned char)(attn2c_arrays_wants(job->arrays, o) ||
                                           (job->prints && attn2c_answer_reads(job->facts, o)));
  if (status == ATTN2C_OK && ranks) status = open_rank(job);
  if (status == ATTN2C_OK) status = open_model(job, notes);
  if (status == ATTN2C_OK && job->facts->boxes >= 0 && arguments->box_count == 0)
    fprintf(notes, "%s: --boxes is not given: all words are at 0 0 0 0 of their page\n", arguments->program);
  if (status == ATTN2C_OK && arguments->cache) status = open_cache(job, notes);
  if (status != ATTN2C_OK) return status;
  attn2c_signals_note();
  job->reader->stops = attn2c_signal;
  attn2c_text_stop_by(job->reader->work, attn2c_signal);
  status = answer_all(job);
  if (status == ATTN2C_OK) status = end_pictures(job);
  if (job->cache) {
    const int kept = attn2c_cache_write(job->cache, status == ATTN2C_OK, job->message);
    if (status == ATTN2C_OK) status = kept;
  }
  if (status == ATTN2C_OK && ranks)
    status = attn2c_rank_write(job->rank, arguments, job->out, job->message);
  else if (status == ATTN2C_OK && arguments->similar)
    status = write_similar(job);
  if (status == ATTN2C_OK) status = attn2c_arrays_write(job->arrays, job->reader, job->message);
  if (job->cut > 0)
    fprintf(notes, "%s: %lld of %lld texts were cut to %zu tokens\n", arguments->program, (long long)job->cut,
            (long long)job->texts, job->reader->longest);
  return status;
}

static int run(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *out, FILE *notes,
               attn2c_message *message) {
  job *job = calloc(1, sizeof *job);
  if (!job) return ATTN2C_MEMORY;
  job->model = model, job->arguments = arguments, job->facts = model->text;
  job->out = out, job->message = message;
  const int status = run_job(job, notes);
  attn2c_context_destroy(job->context);
  attn2c_model_close(job->opened);
  attn2c_arrays_close(job->arrays);
  attn2c_rank_close(job->rank);
  attn2c_cache_close(job->cache);
  attn2c_group_close(&job->group);
  if (job->pictures) attn2c_the_pictures->close(job->pictures);
  attn2c_text_source_close(job->source);
  attn2c_pairing_close(job->pairing);
  for (size_t i = 0; i < job->similar_count; i++) attn2c_meaning_free(&job->similar[i]);
  ATTN2C_FREE(job->similar, job);
  return status;
}

const attn2c_text_commands attn2c_text_program = {.run = run};
