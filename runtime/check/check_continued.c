/* check_continued.c - checks calls that continue sequences. A whole sequence, longer than a call, is compared
 * with the reference: its outputs, and the keys and values that the state keeps. Then scripts of calls must
 * give the bits of that sequence: the same for some of the outputs, chunks of every size, tokens one by one
 * beside other sequences, mixtures of prompts, guesses and single tokens, after going back, from a copy. A
 * sequence at its end takes no token. */
#include "check/check_job.h"
#include "check/check_sequence.h"
#include "model/continue.h"
#include "model/sequences.h"
#include "weights/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls of a script; tokens of a sequence whose logits are all compared. */
enum { MOST_CALLS = 64, GUESS = 4 };

/* A context, the tokens of one sequence, and the logits that each must give. */
typedef struct {
  attn2c_check_job *job;
  attn2c_context *context;
  const attn2c_continued *of;
  const int32_t *ids;
  int64_t count, width; /* tokens; floats of a token's logits */
  void **out;           /* outputs of the whole sequence; the logits are out[of->logits] */
  float *logits;        /* [sequences][GUESS][width], of a call */
  int32_t drawn[MOST_CALLS];
  attn2c_comparison worst; /* of a script's calls */
  int calls;
} script;

static const float *want_of(const script *s, int64_t position) {
  return (const float *)s->out[s->of->logits] + position * s->width;
}

static int failed(const script *s, const char *what, int status) {
  attn2c_say(s->job->message, "entry %s, %s: %s", s->job->entry->name, what, attn2c_strerror(status));
  return status;
}

/* Compares the logits of one token; the first that differ, or the last, stand for the script. */
static void compare(script *s, int64_t position, const float *got) {
  attn2c_tensor row = s->job->descriptor->tensors[s->job->entry->outputs[s->of->logits]];
  attn2c_comparison comparison;
  row.rank = 1, row.shape[0] = s->width;
  attn2c_compare_bits(&row, want_of(s, position), got, &comparison);
  if (s->calls == 0 || s->worst.passed) s->worst = comparison;
  s->calls++;
}

static int report(script *s, const char *what) {
  attn2c_tensor row = s->job->descriptor->tensors[s->job->entry->outputs[s->of->logits]];
  char name[128];
  row.rank = 1, row.shape[0] = s->width;
  snprintf(name, sizeof name, "output %s, %s", row.name, what);
  const int status = attn2c_check_report_row(&s->job->report, name, &row, &s->worst);
  s->calls = 0;
  return status;
}

/* Adds the tokens [from, to) to a sequence in one call, and compares the logits of the last. */
static int prefill(script *s, int64_t sequence, int64_t from, int64_t to) {
  attn2c_check_fill(s->logits, s->width);
  const int status =
      attn2c_prefill(s->context, sequence, s->ids + from, to - from, ATTN2C_LOGITS_LAST, s->logits);
  if (status != ATTN2C_OK) return failed(s, "prefill", status);
  compare(s, to - 1, s->logits);
  return ATTN2C_OK;
}

/* Goes back in a sequence. Where a window has forgotten keys that are needed, the sequence begins anew. */
static int go_back(script *s, int64_t sequence, int64_t position) {
  int status = attn2c_rewind(s->context, sequence, position);
  if (status != ATTN2C_USAGE || s->of->window_count == 0) return status;
  status = attn2c_rewind(s->context, sequence, 0);
  if (status != ATTN2C_OK) return status;
  return attn2c_prefill(s->context, sequence, s->ids, position, ATTN2C_LOGITS_LAST, NULL);
}

/* How sequences are divided among calls that all of them share. */
typedef struct {
  const char *what;
  int64_t sequences;
  int is_anywhere; /* 1: the first call gives each sequence a beginning of its own */
  int64_t most[3]; /* tokens of a sequence in a call, in turn */
} division;

/* Chooses the tokens of a call, [count] of each sequence of `order`. Returns how many sequences there are. */
static int64_t choose(const script *s, const division *d, int step, int32_t *order, int32_t *counts) {
  int64_t count = 0;
  for (int64_t i = d->sequences; i-- > 0;) {
    const int64_t rest = s->count - attn2c_position(s->context, i), most = d->most[(step + i) % 3];
    int64_t rows =
        1 + s->drawn[(step * 7 + i) % MOST_CALLS] % (d->is_anywhere && step == 0 ? rest - 1 : most);
    if (rows > rest) rows = rest;
    if (rows > 0) order[count] = (int32_t)i, counts[count++] = (int32_t)rows;
  }
  return count;
}

/* Makes one of the calls, and compares the logits of all its tokens if they are few, or of each last one. */
static int call_together(script *s, int32_t *ids, int64_t count, const int32_t *order,
                         const int32_t *counts) {
  int64_t tokens = 0;
  for (int64_t i = 0; i < count; tokens += counts[i++])
    memcpy(ids + tokens, s->ids + attn2c_position(s->context, order[i]), (size_t)counts[i] * sizeof *ids);
  const int is_of_all = tokens <= s->of->sequences * GUESS;
  const float *row = s->logits;
  attn2c_check_fill(s->logits, (is_of_all ? tokens : count) * s->width);
  const int status = attn2c_extend(s->context, count, order, counts, ids,
                                   is_of_all ? ATTN2C_LOGITS_ALL : ATTN2C_LOGITS_LAST, s->logits);
  for (int64_t i = 0; i < count && status == ATTN2C_OK; i++) {
    const int64_t end = attn2c_position(s->context, order[i]);
    for (int64_t at = is_of_all ? end - counts[i] : end - 1; at < end; at++, row += s->width)
      compare(s, at, row);
  }
  return status;
}

/* Sequences from their first token on, in calls of a division. */
static int check_division(script *s, const division *d) {
  int32_t order[ATTN2C_MOST_SEQUENCES], counts[ATTN2C_MOST_SEQUENCES];
  int32_t *ids = calloc((size_t)(d->sequences * s->count), sizeof *ids);
  int status = ids ? ATTN2C_OK : attn2c_check_no_memory(s->job, "tokens");
  for (int64_t i = 0; i < d->sequences && status == ATTN2C_OK; i++) status = attn2c_rewind(s->context, i, 0);
  for (int step = 0; (d->sequences == 1 || step < 10) && status == ATTN2C_OK; step++) {
    const int64_t count = choose(s, d, step, order, counts);
    if (count == 0) break;
    status = call_together(s, ids, count, order, counts);
  }
  free(ids);
  return status == ATTN2C_OK ? report(s, d->what) : failed(s, d->what, status);
}

/* Chunks of drawn sizes: one token, up to a page, up to more than a call takes. Then every sequence goes on
 * from a place of its own, token by token; then prompts, guesses and single tokens are mixed. */
static int check_divisions(script *s) {
  const int64_t all = s->of->sequences, rows = s->of->call_rows;
  const division list[] = {{"in chunks", 1, 0, {3, s->of->page + 3, rows + 3}},
                           {"token by token", all, 1, {1, 1, 1}},
                           {"in mixed calls", all, 0, {1, GUESS, rows}}};
  int status = ATTN2C_OK;
  for (size_t i = 0; i < sizeof list / sizeof *list && status == ATTN2C_OK; i++)
    status = check_division(s, &list[i]);
  return status;
}

/* Other tokens in the place of a part, and back again. */
static int check_rewind(script *s) {
  const attn2c_tensor *tensor = &s->job->descriptor->tensors[s->job->entry->inputs[0]];
  const int64_t from = s->drawn[1] % s->count, to = from + 1 + s->drawn[2] % (s->count - from);
  int32_t *others = calloc((size_t)s->count, sizeof *others);
  if (!others) return attn2c_check_no_memory(s->job, "tokens");
  attn2c_random_integers(s->job->seed + 1, "other tokens", others, (int)s->count, tensor->minimum,
                         tensor->limit);
  int status = attn2c_rewind(s->context, 0, 0);
  if (status == ATTN2C_OK) status = prefill(s, 0, 0, to);
  if (status == ATTN2C_OK) status = go_back(s, 0, from);
  if (status == ATTN2C_OK)
    status = attn2c_prefill(s->context, 0, others, s->count - from, ATTN2C_LOGITS_LAST, NULL);
  if (status == ATTN2C_OK) status = go_back(s, 0, from);
  free(others);
  if (status != ATTN2C_OK) return failed(s, "rewind", status);
  status = prefill(s, 0, from, s->count);
  return status == ATTN2C_OK ? report(s, "after going back") : status;
}

/* A sequence and its copy go on by themselves. */
static int check_copy(script *s) {
  const int64_t last = s->of->sequences - 1, from = 1 + s->drawn[3] % (s->count - 1);
  if (last == 0) return ATTN2C_OK;
  int status = attn2c_rewind(s->context, 0, 0);
  if (status == ATTN2C_OK) status = prefill(s, 0, 0, from);
  if (status == ATTN2C_OK) status = attn2c_sequence_copy(s->context, 0, last);
  if (status == ATTN2C_OK) status = prefill(s, 0, from, s->count);
  if (status == ATTN2C_OK) status = prefill(s, last, from, s->count);
  if (status != ATTN2C_OK) return failed(s, "copy", status);
  return report(s, "from a copy");
}

/* More tokens than there is room for are refused, and the sequence goes on as if nothing had been asked. */
static int check_end(script *s) {
  const int64_t context = s->job->descriptor->lengths->sizes[0].seq, from = s->count / 2;
  int32_t *ids = calloc((size_t)(context + 1), sizeof *ids);
  if (!ids) return attn2c_check_no_memory(s->job, "tokens");
  int status = attn2c_rewind(s->context, 0, 0);
  if (status == ATTN2C_OK) status = prefill(s, 0, 0, from);
  const int refused = attn2c_prefill(s->context, 0, ids, context - from + 1, ATTN2C_LOGITS_LAST, s->logits);
  free(ids);
  if (status == ATTN2C_OK && (refused != ATTN2C_FORMAT || attn2c_position(s->context, 0) != from))
    return attn2c_say(s->job->message, "a sequence takes more tokens than its context has"), ATTN2C_USAGE;
  if (status == ATTN2C_OK) status = prefill(s, 0, from, s->count);
  return status == ATTN2C_OK ? report(s, "after a refusal") : status;
}

/* Returns the number that a tensor of the whole model has in the context's, which may be one of several
 * ranks, and the first column that this rank has; -1: another stage has the tensor. */
static int own_tensor(const script *s, int number, int64_t *column) {
  const attn2c_divided *divided = s->job->descriptor->divided;
  *column = 0;
  if (!divided) return number;
  const attn2c_division *of = &divided->divisions[number];
  const int each = divided->count / divided->stages, rank = s->job->model->descriptor->rank;
  if (of->stage != rank / each) return -1;
  if (of->first) *column = of->first[rank % each];
  return of->own;
}

/* Writes what the state keeps of a head of sequence 0 into rows of its tensor, `all` floats apart. */
static void read_kept(const script *s, const attn2c_state_part *kept, float *rows, int64_t all) {
  const int64_t page = s->of->page, width = kept->page_floats / page;
  const int64_t forgotten = kept->window < 0 ? 0 : s->context->forgotten[kept->window * s->of->sequences];
  for (int64_t i = forgotten; i < s->count; i++) {
    const float *of_page = s->context->state + kept->offset + (i - forgotten) / page * kept->page_floats;
    for (int64_t j = 0; j < width; j++)
      rows[i * all + kept->column + j] =
          kept->is_transposed ? of_page[j * page + i % page] : of_page[i % page * width + j];
  }
}

/* Compares what the state keeps of all heads of sequence 0 with the reference's tensor. */
static int compare_kept(script *s, int number, const float *want) {
  attn2c_check_job *job = s->job;
  const attn2c_tensor *shape = &job->descriptor->tensors[number];
  const attn2c_tolerance tolerance = attn2c_tolerance_model(job->descriptor->layers);
  const int64_t all = shape->shape[shape->rank - 1];
  float *rows = attn2c_reference_allocate(shape);
  if (!rows) return attn2c_check_no_memory(job, shape->name);
  memcpy(rows, want, (size_t)(s->count * all) * sizeof *rows);
  int64_t column;
  const int own = own_tensor(s, number, &column);
  for (int i = 0; i < s->of->kept_count; i++)
    if (s->of->kept[i].tensor == own) read_kept(s, &s->of->kept[i], rows + column, all);
  attn2c_comparison comparison;
  char name[128];
  attn2c_compare(shape, want, rows, all, &tolerance, &comparison);
  snprintf(name, sizeof name, "state of %s", shape->name);
  const int status = attn2c_check_report_row(&job->report, name, shape, &comparison);
  attn2c_free(rows);
  return status;
}

/* A guide of the reference, which compares the results that the state keeps. */
static int see_result(void *of_script, const attn2c_op *op, void *const *tensors) {
  script *s = of_script;
  int64_t column;
  const int own = own_tensor(s, op->result, &column);
  for (int i = 0; i < s->of->kept_count; i++)
    if (s->of->kept[i].tensor == own) return compare_kept(s, op->result, tensors[op->result]);
  return ATTN2C_OK;
}

/* Compares the outputs of the whole sequence, and the state that it left, with the reference. */
static int check_whole(script *s) {
  attn2c_check_job *job = s->job;
  const int32_t first[] = {0, (int32_t)s->count};
  const attn2c_sequences n = {.rows = s->count, .count = 1, .first = first};
  const attn2c_reference_guide guide = {see_result, s};
  attn2c_check_sequence view;
  int status = attn2c_check_sequence_begin(&view, job, &n, 0, job->inputs, s->out);
  if (status == ATTN2C_OK) status = attn2c_check_run_guided(job, &guide);
  if (status == ATTN2C_OK) status = attn2c_check_outputs(job, "in several calls");
  attn2c_reference_release(job->entry, job->tensors);
  attn2c_check_sequence_end(&view);
  return status;
}

/* Runs the whole sequence as N_forward does. */
static int run_whole(script *s) {
  attn2c_check_job *job = s->job;
  const int32_t lengths[] = {(int32_t)s->count};
  int status = attn2c_sequences_prepare(s->context);
  if (status != ATTN2C_OK) return attn2c_check_no_memory(job, "context");
  status = attn2c_sequences_run(s->context, 1, lengths, 0, job->inputs, s->out);
  if (status != ATTN2C_OK) return failed(s, "forward", status);
  s->width = attn2c_logits_width(job->model->descriptor);
  s->logits = attn2c_allocate((size_t)(s->of->sequences * GUESS * s->width) * sizeof(float));
  return s->logits ? ATTN2C_OK : attn2c_check_no_memory(job, "logits");
}

/* Returns an output's shape for the whole sequence. */
static attn2c_tensor shape_of(const script *s, int output) {
  return attn2c_check_sequence_tensor(s->job->descriptor, s->job->entry->outputs[output], s->count);
}

static int allocate_outputs(const script *s, void ***out) {
  attn2c_check_job *job = s->job;
  *out = calloc((size_t)job->entry->output_count + 1, sizeof **out);
  if (!*out) return attn2c_check_no_memory(job, "outputs");
  for (int i = 0; i < job->entry->output_count; i++) {
    const attn2c_tensor shape = shape_of(s, i);
    (*out)[i] = attn2c_reference_allocate(&shape);
    if (!(*out)[i]) return attn2c_check_no_memory(job, shape.name);
  }
  return ATTN2C_OK;
}

static void free_outputs(const script *s, void **out) {
  for (int i = 0; out && i < s->job->entry->output_count; i++) attn2c_free(out[i]);
  free(out);
}

/* Runs the whole sequence for the outputs that are not NULL, whose bits must be those of all outputs. */
static int compare_some(const script *s, void *const *some, const char *what) {
  attn2c_check_job *job = s->job;
  const int32_t lengths[] = {(int32_t)s->count};
  int status = attn2c_sequences_run(s->context, 1, lengths, 0, job->inputs, some);
  if (status != ATTN2C_OK) return failed(s, "forward", status);
  for (int i = 0; i < job->entry->output_count && status == ATTN2C_OK; i++) {
    const attn2c_tensor shape = shape_of(s, i);
    attn2c_comparison comparison;
    char name[128];
    if (!some[i]) continue;
    attn2c_compare_bits(&shape, s->out[i], some[i], &comparison);
    snprintf(name, sizeof name, "output %s, %s in calls", shape.name, what);
    status = attn2c_check_report_row(&job->report, name, &shape, &comparison);
  }
  return status;
}

/* The whole sequence for some of the outputs. */
static int check_some(const script *s) {
  attn2c_check_job *job = s->job;
  const int count = job->entry->output_count;
  void **again = NULL, **some = calloc((size_t)count + 1, sizeof *some);
  int status = some ? allocate_outputs(s, &again) : attn2c_check_no_memory(job, "outputs");
  for (int number = 0; status == ATTN2C_OK; number++) {
    const char *what = attn2c_check_some_outputs(job, number, again, some);
    if (!what) break;
    if (number >= count) attn2c_check_report_collect(&job->report, number - count, count);
    for (int i = 0; i < count; i++) {
      const attn2c_tensor shape = shape_of(s, i);
      attn2c_check_fill(again[i], attn2c_elements(&shape));
    }
    status = compare_some(s, some, what);
  }
  free_outputs(s, again);
  free(some);
  return status == ATTN2C_OK ? attn2c_check_report_release(&job->report) : status;
}

/* True if an entry rounds to bf16 or to integers. Its roundings are followed by a trace, which shows one
 * call. */
static int rounds(const attn2c_entry *entry) {
  for (int i = 0; i < entry->op_count; i++)
    if (strncmp(entry->ops[i].op, "round", 5) == 0 || strncmp(entry->ops[i].op, "quantise", 8) == 0) return 1;
  return 0;
}

/* Returns the tokens of the whole sequence: more than a call takes, and than the state of a window keeps. */
static int64_t tokens_of(const attn2c_continued *of, int64_t context) {
  int64_t most = of->call_rows;
  for (int i = 0; i < of->window_count; i++)
    if (of->windows[i].keys > most) most = of->windows[i].keys;
  most += of->call_rows / 2 + 7;
  return most < context ? most : context;
}

int attn2c_check_continued(attn2c_check_job *job) {
  const attn2c_continued *of = job->model->descriptor->continued;
  const int64_t context = job->descriptor->lengths->sizes[0].seq;
  script s = {.job = job, .of = of, .ids = job->inputs[0], .count = tokens_of(of, context)};
  attn2c_random_integers(job->seed, "calls", s.drawn, MOST_CALLS, 0, 1 << 20);
  int status = allocate_outputs(&s, &s.out);
  if (status == ATTN2C_OK && attn2c_context_create(job->model, &s.context) != ATTN2C_OK)
    status = attn2c_check_no_memory(job, "context");
  /* Keys and values that no call has written are read by none. */
  if (status == ATTN2C_OK) attn2c_check_fill(s.context->state, of->sequences * of->state_floats);
  if (status == ATTN2C_OK) status = run_whole(&s);
  if (status == ATTN2C_OK && !rounds(job->entry)) status = check_whole(&s);
  if (status == ATTN2C_OK) status = check_some(&s);
  if (status == ATTN2C_OK) status = check_divisions(&s);
  if (status == ATTN2C_OK) status = check_rewind(&s);
  if (status == ATTN2C_OK) status = check_copy(&s);
  if (status == ATTN2C_OK) status = check_end(&s);
  attn2c_context_destroy(s.context);
  attn2c_free(s.logits);
  free_outputs(&s, s.out);
  return status;
}
