/* check_continued.c - checks calls that continue sequences. A whole sequence, longer than a call, is compared
 * with the reference: its outputs, and the keys and values that the state keeps. Then scripts of calls must
 * give the bits of that sequence: the same for some of the outputs, chunks of every size, tokens one by one
 * beside other sequences, mixtures of prompts, guesses and single tokens, after going back, from a copy. A
 * sequence at its end takes no token. */
#include "check/check_parts.h"
#include "check/check_sequence.h"
#include "check/check_sources.h"
#include "model/continue.h"
#include "model/sequences.h"
#include "weights/random.h"

/* Numbers that are drawn; tokens of a sequence whose logits are all compared. */
enum { MOST_DRAWN = 64, GUESS = 4 };

/* A step of a script: ADD: the tokens of a sequence from its position to `to` are added in one call; the
 * logits of the last are compared. OTHERS: a call with other tokens. TOO_MANY: a call with one token more
 * than there is room for, refused. BACK: the sequence goes back to `to`. COPY: it becomes a copy of sequence
 * `to`. SOURCE: it begins anew with the source that all logits are for; OTHER_SOURCE: with another one. */
typedef enum { ADD, OTHERS, TOO_MANY, BACK, COPY, SOURCE, OTHER_SOURCE } verb;
typedef struct {
  verb verb;
  int64_t sequence, to;
} step;

/* A context, the tokens of one sequence, and the logits that each must give. */
typedef struct {
  attn2c_check_job *job;
  attn2c_context *context;
  const attn2c_continued *of;
  const int32_t *ids;
  int32_t *others;         /* other tokens than ids, and one more than a sequence has room for */
  int64_t count, width;    /* tokens; floats of a token's logits */
  attn2c_checked_call all; /* the whole sequence; the logits are all.out[of->logits] */
  float *logits;           /* [sequences][GUESS][width], of a call */
  int32_t drawn[MOST_DRAWN];
  attn2c_comparison worst; /* of a script's calls */
  int calls;
} script;

static int failed(const script *s, const char *what, int status) {
  return attn2c_fail(s->job->message, status, "entry %s, %s: %s", s->job->entry->name, what,
                     attn2c_strerror(status));
}

/* Compares the logits of one token; the first that differ, or the last, stand for the script. */
static void compare(script *s, int64_t position, const float *got) {
  attn2c_tensor row = s->job->descriptor->tensors[s->job->entry->outputs[s->of->logits]];
  attn2c_comparison comparison;
  row.rank = 1, row.shape[0] = s->width;
  attn2c_compare_bits(&row, (const float *)s->all.out[s->of->logits] + position * s->width, got, &comparison);
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

/* Adds the tokens of a sequence up to `to` in one call, and compares the logits of the last. */
static int add(script *s, int64_t sequence, int64_t to) {
  const int64_t from = attn2c_position(s->context, sequence);
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
  if (status == ATTN2C_USAGE && s->of->window_count > 0) {
    status = attn2c_rewind(s->context, sequence, 0);
    if (status == ATTN2C_OK)
      status = attn2c_prefill(s->context, sequence, s->ids, position, ATTN2C_LOGITS_LAST, NULL);
  }
  return status == ATTN2C_OK ? ATTN2C_OK : failed(s, "rewind", status);
}

/* More tokens than there is room for are refused, and the sequence stays as it was. */
static int ask_too_many(const script *s, int64_t sequence) {
  const int64_t from = attn2c_position(s->context, sequence),
                room = s->job->descriptor->lengths->sizes[0].seq - from;
  const int status = attn2c_prefill(s->context, sequence, s->others, room + 1, ATTN2C_LOGITS_LAST, s->logits);
  if (status == ATTN2C_FORMAT && attn2c_position(s->context, sequence) == from) return ATTN2C_OK;
  return attn2c_fail(s->job->message, ATTN2C_USAGE, "a sequence takes more tokens than its context has");
}

static int take(script *s, const step *step) {
  const int64_t from = attn2c_position(s->context, step->sequence);
  int status = ATTN2C_OK;
  switch (step->verb) {
  case ADD:
    return add(s, step->sequence, step->to);
  case OTHERS:
    status = attn2c_prefill(s->context, step->sequence, s->others, step->to - from, ATTN2C_LOGITS_LAST, NULL);
    return status == ATTN2C_OK ? ATTN2C_OK : failed(s, "prefill", status);
  case TOO_MANY:
    return ask_too_many(s, step->sequence);
  case BACK:
    return go_back(s, step->sequence, step->to);
  case COPY:
    status = attn2c_sequence_copy(s->context, step->to, step->sequence, 0);
    return status == ATTN2C_OK ? ATTN2C_OK : failed(s, "copy", status);
  case SOURCE:
  case OTHER_SOURCE:
    return attn2c_check_sources_read(s->job->sources, s->context, step->sequence, step->verb == OTHER_SOURCE);
  }
  return ATTN2C_USAGE;
}

static int run_script(script *s, const char *what, const step *steps, int count) {
  int status = ATTN2C_OK;
  for (int i = 0; i < count && status == ATTN2C_OK; i++) status = take(s, &steps[i]);
  return status == ATTN2C_OK ? report(s, what) : status;
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
        1 + s->drawn[(step * 7 + i) % MOST_DRAWN] % (d->is_anywhere && step == 0 ? rest - 1 : most);
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
  ATTN2C_OWN int32_t *ids = calloc((size_t)(d->sequences * s->count), sizeof *ids);
  int status = ids ? ATTN2C_OK : attn2c_check_no_memory(s->job, "tokens");
  for (int64_t i = 0; i < d->sequences && status == ATTN2C_OK; i++) status = attn2c_rewind(s->context, i, 0);
  for (int step = 0; (d->sequences == 1 || step < 10) && status == ATTN2C_OK; step++) {
    const int64_t count = choose(s, d, step, order, counts);
    if (count == 0) break;
    status = call_together(s, ids, count, order, counts);
  }
  return status == ATTN2C_OK ? report(s, d->what) : failed(s, d->what, status);
}

/* Chunks of drawn sizes: one token, up to a page, up to more than a call takes. Then every sequence goes on
 * from a place of its own, token by token; then prompts, guesses and single tokens are mixed. */
static int check_divisions(script *s) {
  const int64_t all = s->of->sequences, rows = s->of->call_rows;
  const division list[] = {{"in chunks", 1, 0, {3, s->of->page + 3, rows + 3}},
                           {"token by token", all, 1, {1, 1, 1}},
                           {"in mixed calls", all, 0, {1, GUESS, rows}}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) ATTN2C_TRY(check_division(s, &list[i]));
  return ATTN2C_OK;
}

/* Scripts of one sequence: other tokens in the place of a part, and back again; a sequence and its copy,
 * which go on by themselves; more tokens than there is room for. */
static int check_steps(script *s) {
  const int64_t last = s->of->sequences - 1, all = s->count, middle = all / 2;
  const int64_t from = s->drawn[1] % all, to = from + 1 + s->drawn[2] % (all - from);
  const int64_t copied = 1 + s->drawn[3] % (all - 1);
  const step rewind[] = {{BACK, 0, 0},     {ADD, 0, to},    {BACK, 0, from},
                         {OTHERS, 0, all}, {BACK, 0, from}, {ADD, 0, all}};
  const step copy[] = {{BACK, 0, 0}, {ADD, 0, copied}, {COPY, last, 0}, {ADD, 0, all}, {ADD, last, all}};
  const step end[] = {{BACK, 0, 0}, {ADD, 0, middle}, {TOO_MANY, 0, 0}, {ADD, 0, all}};
  ATTN2C_TRY(run_script(s, "after going back", rewind, sizeof rewind / sizeof *rewind));
  if (last > 0) ATTN2C_TRY(run_script(s, "from a copy", copy, sizeof copy / sizeof *copy));
  return run_script(s, "after a refusal", end, sizeof end / sizeof *end);
}

/* Scripts of sources: another and the first again; a sequence with another, and its copy with the first. */
static int check_source_steps(script *s) {
  const int64_t last = s->of->sequences - 1, all = s->count, middle = 1 + s->drawn[4] % (all - 1);
  const step other[] = {{BACK, 0, 0},     {ADD, 0, middle}, {OTHER_SOURCE, 0, 0},
                        {OTHERS, 0, all}, {SOURCE, 0, 0},   {ADD, 0, all}};
  const step copy[] = {{BACK, 0, 0},         {ADD, 0, middle}, {COPY, last, 0},
                       {OTHER_SOURCE, 0, 0}, {OTHERS, 0, all}, {ADD, last, all},
                       {COPY, 0, last},      {BACK, 0, 0},     {OTHER_SOURCE, last, 0},
                       {ADD, 0, middle},     {SOURCE, last, 0}};
  if (!s->job->sources) return ATTN2C_OK;
  const int status = run_script(s, "after another source", other, sizeof other / sizeof *other);
  if (status != ATTN2C_OK || last == 0) return status;
  return run_script(s, "beside another source", copy, sizeof copy / sizeof *copy);
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

/* Notes the results that the state keeps as further outputs of an entry. */
static void add_kept(const script *s, attn2c_entry *with, int *outputs) {
  int64_t column;
  for (int number = 0; number < with->op_count; number++) {
    const int result = with->ops[number].result, own = own_tensor(s, result, &column);
    int is_kept = 0;
    for (int i = 0; i < s->of->kept_count; i++) is_kept |= s->of->kept[i].tensor == own;
    if (is_kept) outputs[with->output_count++] = result;
  }
  with->outputs = outputs;
}

/* Returns what the state keeps of a tensor of all heads, in sequence 0. Rows that a window has forgotten, and
 * columns of other ranks, are the reference's. NULL: no memory. */
static float *kept_of(const script *s, int number) {
  const attn2c_tensor *shape = &s->job->descriptor->tensors[number];
  const int64_t all = shape->shape[shape->rank - 1];
  int64_t column;
  const int own = own_tensor(s, number, &column);
  float *rows = attn2c_reference_allocate(shape);
  if (rows) memcpy(rows, s->job->tensors[number], (size_t)(s->count * all) * sizeof *rows);
  for (int i = 0; i < s->of->kept_count && rows; i++)
    if (s->of->kept[i].tensor == own) read_kept(s, &s->of->kept[i], rows + column, all);
  return rows;
}

/* Compares the whole sequence's outputs, and its keys and values in the state, with the reference. */
static int compare_whole(script *s, int *outputs, void **got) {
  attn2c_check_job *job = s->job;
  const attn2c_entry *own = job->entry;
  attn2c_entry with = *own;
  memcpy(outputs, own->outputs, (size_t)own->output_count * sizeof *outputs);
  memcpy(got, job->traced, (size_t)own->output_count * sizeof *got);
  add_kept(s, &with, outputs);
  job->entry = &with, job->traced = got, job->kept_outputs = with.output_count - own->output_count;
  int status = attn2c_check_run_guided(job, NULL);
  for (int i = own->output_count; i < with.output_count && status == ATTN2C_OK; i++)
    if (!(got[i] = kept_of(s, outputs[i]))) status = attn2c_check_no_memory(job, "state");
  if (status == ATTN2C_OK) status = attn2c_check_outputs(job, "in several calls");
  attn2c_reference_release(&with, job->tensors);
  for (int i = own->output_count; i < with.output_count; i++) attn2c_free(got[i]);
  job->entry = own, job->kept_outputs = 0;
  return status;
}

static int check_whole(script *s) {
  attn2c_check_job *job = s->job;
  const size_t most = (size_t)(job->entry->output_count + job->entry->op_count);
  ATTN2C_OWN int *outputs = calloc(most, sizeof *outputs);
  ATTN2C_OWN void **got = calloc(most, sizeof *got);
  attn2c_check_sequence view;
  int status =
      attn2c_check_sequence_begin(&view, job, &s->all.n, 0, (const void *const *)s->all.in, s->all.out);
  if (status == ATTN2C_OK)
    status = outputs && got ? compare_whole(s, outputs, got) : attn2c_check_no_memory(job, "state");
  attn2c_check_sequence_end(&view);
  return status;
}

/* Runs the whole sequence as N_forward does. */
static int run_whole(script *s) {
  attn2c_check_job *job = s->job;
  const int32_t count = (int32_t)s->count;
  const int64_t context = job->descriptor->lengths->sizes[0].seq;
  const attn2c_tensor *tensor = &job->descriptor->tensors[job->entry->inputs[0]];
  s->width = attn2c_logits_width(job->model->descriptor);
  s->others = calloc((size_t)context + 1, sizeof *s->others);
  s->logits = attn2c_allocate((size_t)(s->of->sequences * GUESS * s->width) * sizeof(float));
  if (!s->others || !s->logits || attn2c_context_create(job->model, &s->context) != ATTN2C_OK ||
      attn2c_sequences_prepare(s->context) != ATTN2C_OK)
    return attn2c_check_no_memory(job, "context");
  attn2c_random_integers(job->seed + 1, "other tokens", s->others, context + 1, tensor->minimum,
                         tensor->limit);
  /* Keys and values that no call has written are read by none. */
  attn2c_check_fill(s->context->state, s->of->sequences * s->of->state_floats);
  int status = attn2c_checked_call_begin(&s->all, job, &count, 1);
  s->ids = status == ATTN2C_OK ? s->all.in[0] : NULL;
  const int is_adapted = job->entry != attn2c_plain_entry(job->descriptor, job->entry);
  for (int64_t i = 0; i < s->of->sequences && status == ATTN2C_OK; i++) {
    if (is_adapted) status = attn2c_set_adapter(s->context, i, ((const int32_t *)s->all.in[1])[0]);
    if (job->sources && status == ATTN2C_OK)
      status = attn2c_check_sources_read(job->sources, s->context, i, 0);
  }
  return status == ATTN2C_OK ? attn2c_checked_call_through(&s->all, s->context, s->all.out, "forward")
                             : status;
}

/* True if an entry rounds to bf16 or to integers. Its roundings are followed by a trace of one call. */
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
  script s = {.job = job, .of = of, .all = {.job = job}};
  s.count = tokens_of(of, job->descriptor->lengths->sizes[0].seq);
  attn2c_random_integers(job->seed, "calls", s.drawn, MOST_DRAWN, 0, 1 << 20);
  int status = run_whole(&s);
  if (status == ATTN2C_OK && !rounds(job->entry)) status = check_whole(&s);
  if (status == ATTN2C_OK) status = attn2c_check_some(&s.all, s.context, NULL);
  if (status == ATTN2C_OK) status = check_divisions(&s);
  if (status == ATTN2C_OK) status = check_steps(&s);
  if (status == ATTN2C_OK) status = check_source_steps(&s);
  attn2c_context_destroy(s.context);
  attn2c_checked_call_end(&s.all);
  attn2c_free(s.logits);
  free(s.others);
  return status;
}
