#include "check/check_calls.h"
#include "check/check_parts.h"
#include "check/check_sequence.h"
#include "check/check_sources.h"
#include "model/sequences.h"
#include "weights/random.h"

/* With at most this number of outputs, each is also the only unwanted one of a call. */
enum { MOST_LEFT_OUT = 8 };

static size_t elements_of(const attn2c_checked_call *call, int tensor) {
  const attn2c_descriptor *model = call->job->descriptor;
  if (!model->growth || model->growth[tensor].is_shared)
    return (size_t)attn2c_elements(&model->tensors[tensor]);
  return (size_t)attn2c_check_sequence_elements(call->job, tensor, &call->n, call->n.count);
}

/* Returns the part of an array that a sequence of a call has. */
static uint32_t *part_of(const attn2c_checked_call *call, void *array, int tensor, ptrdiff_t number) {
  return (uint32_t *)array + attn2c_check_sequence_elements(call->job, tensor, &call->n, number);
}

static attn2c_tensor shape_of(const attn2c_checked_call *call, int tensor, ptrdiff_t number) {
  return attn2c_check_sequence_tensor(call->job, tensor, &call->n, number);
}

void attn2c_checked_call_end(attn2c_checked_call *call) {
  attn2c_check_free_arrays(call->in, call->job->entry->input_count);
  attn2c_check_free_arrays(call->out, call->job->entry->output_count);
  attn2c_free(call->kept);
  free(call->first);
}

/* Returns the floats of a sequence's state. */
static int64_t state_floats(const attn2c_checked_call *call) {
  return call->job->model->descriptor->continued->state_floats;
}

/* Copies what a call of the entry `encode` has kept of its sequences. */
static void keep_state(const attn2c_checked_call *call, const float *state) {
  for (ptrdiff_t i = 0; call->kept && i < call->n.count; i++)
    memcpy(call->kept + i * state_floats(call), state + call->slot[i] * state_floats(call),
           (size_t)state_floats(call) * sizeof(float));
}

static void **allocate_arrays(const attn2c_checked_call *call, const int *tensors, int count) {
  void **arrays = calloc((size_t)count + 1, sizeof *arrays);
  for (int i = 0; arrays && i < count; i++) {
    const size_t elements = elements_of(call, tensors[i]);
    arrays[i] = attn2c_allocate((elements + 1) * sizeof(uint32_t));
    if (!arrays[i]) return attn2c_check_free_arrays(arrays, i), NULL;
    attn2c_check_fill(arrays[i], (int64_t)elements);
  }
  return arrays;
}

/* Gives sequence i of a call its place in the state, and so its source. */
static void place(attn2c_checked_call *call, ptrdiff_t i, int32_t slot) {
  const attn2c_check_sources *sources = call->job->sources;
  call->slot[i] = slot;
  call->source[i] = sources ? sources->lengths[slot] : 0;
}

int attn2c_checked_call_begin(attn2c_checked_call *call, attn2c_check_job *job, const int32_t *lengths,
                              ptrdiff_t count) {
  *call = (attn2c_checked_call){.job = job, .n = {.count = count}};
  call->first = calloc((size_t)count * (5 + ATTN2C_MOST_WINDOWS) + 1, sizeof *call->first);
  if (!call->first) return attn2c_check_no_memory(job, "sequences");
  call->lengths = call->first + count + 1;
  call->slot = call->lengths + count;
  call->past = call->slot + count;
  call->source = call->past + count;
  for (ptrdiff_t i = 0; i < count; i++) {
    place(call, i, (int32_t)i);
    call->lengths[i] = lengths[i];
    call->first[i + 1] = call->first[i] + lengths[i];
  }
  call->n.rows = call->first[count];
  call->n.first = call->first, call->n.past = call->past, call->n.slot = call->slot;
  call->n.source = job->sources ? call->source : NULL, call->n.origin = call->slot;
  call->n.forgotten = call->source + count;
  call->in = allocate_arrays(call, job->entry->inputs, job->entry->input_count);
  call->out = allocate_arrays(call, job->entry->outputs, job->entry->output_count);
  if (!call->in || !call->out) return attn2c_check_no_memory(job, "arrays of sequences");
  const attn2c_entry *plain = attn2c_plain_entry(job->descriptor, job->entry);
  if (plain == attn2c_encode_entry(job->descriptor)) {
    call->kept = attn2c_reserve((size_t)(count * state_floats(call)) * sizeof(float));
    if (!call->kept) return attn2c_check_no_memory(job, "state");
  }
  for (int i = 0; i < job->entry->input_count; i++) {
    const int tensor = job->entry->inputs[i];
    const size_t known = (size_t)attn2c_elements(&job->descriptor->tensors[tensor]);
    for (size_t k = 0; k < elements_of(call, tensor); k++)
      ((uint32_t *)call->in[i])[k] = ((const uint32_t *)job->inputs[i])[k % known];
  }
  /* Sequences have the adapters in turn, and none. */
  if (job->entry != plain)
    for (ptrdiff_t i = 1, last = job->entry->input_count - 1; i < count; i++)
      ((int32_t *)call->in[last])[i] = (int32_t)((((const int32_t *)call->in[last])[0] + i) %
                                                 job->descriptor->tensors[job->entry->inputs[last]].limit);
  return ATTN2C_OK;
}

static void copy_inputs(const attn2c_checked_call *to, ptrdiff_t at, const attn2c_checked_call *from,
                        ptrdiff_t number) {
  for (int i = 0; i < to->job->entry->input_count; i++) {
    const int tensor = to->job->entry->inputs[i];
    const attn2c_tensor shape = shape_of(from, tensor, number);
    memcpy(part_of(to, to->in[i], tensor, at), part_of(from, from->in[i], tensor, number),
           (size_t)attn2c_elements(&shape) * sizeof(uint32_t));
  }
}

/* Gives a sequence other inputs: NaN, or other integers of the range. */
static void spoil(const attn2c_checked_call *call, ptrdiff_t number) {
  const attn2c_descriptor *model = call->job->descriptor;
  for (int i = 0; i < call->job->entry->input_count; i++) {
    const int tensor = call->job->entry->inputs[i];
    const attn2c_tensor shape = shape_of(call, tensor, number);
    if (model->growth[tensor].is_shared) continue;
    uint32_t *values = part_of(call, call->in[i], tensor, number);
    if (shape.type == ATTN2C_I32)
      attn2c_random_integers(call->job->seed + 1, shape.name, (int32_t *)values, attn2c_elements(&shape),
                             shape.minimum, shape.limit);
    else
      attn2c_check_fill(values, attn2c_elements(&shape));
  }
}

static int run(const attn2c_checked_call *call, attn2c_run variant, float *arena, void *const *outputs,
               const char *name) {
  attn2c_check_job *job = call->job;
  const void *const *inputs = job->inputs;
  job->inputs = (const void *const *)call->in;
  job->sequences = attn2c_lengths_of(job->descriptor, job->entry) ? &call->n : NULL;
  if (call->kept) attn2c_check_fill(job->state, call->n.count * state_floats(call));
  const int status = attn2c_check_run(job, variant, arena, outputs, name);
  keep_state(call, job->state);
  job->inputs = inputs;
  job->sequences = NULL;
  return status;
}

int attn2c_checked_call_through(const attn2c_checked_call *call, attn2c_context *context,
                                void *const *outputs, const char *what) {
  const void *const *in = (const void *const *)call->in;
  if (call->kept) attn2c_check_fill(context->state, call->n.count * state_floats(call));
  const int status =
      call->kept ? attn2c_encode_outputs(context, call->n.count, call->slot, call->lengths, in, outputs)
                 : attn2c_sequences_run(context, call->n.count, call->lengths, 0, in, outputs);
  keep_state(call, context->state);
  if (status != ATTN2C_OK)
    attn2c_say(call->job->message, "entry %s, %s: %s", call->job->entry->name, what, attn2c_strerror(status));
  return status;
}

/* Adds a row for the keys and values of a source that two calls of `encode` have kept. */
static int same_state(const attn2c_checked_call *want, ptrdiff_t number, const attn2c_checked_call *got,
                      ptrdiff_t at, const char *what) {
  attn2c_check_job *job = want->job;
  const int64_t floats = state_floats(want);
  const attn2c_tensor row = {.name = "source", .type = ATTN2C_F32, .rank = 1, .shape = {floats}};
  attn2c_comparison comparison;
  char name[128];
  attn2c_compare_bits(&row, want->kept + number * floats, got->kept + at * floats, &comparison);
  snprintf(name, sizeof name, "%s, %s", row.name, what);
  return attn2c_check_report_row(&job->report, name, &row, &comparison);
}

/* Adds rows for the outputs of a sequence, whose bits must be the same in two calls. */
static int same(const attn2c_checked_call *want, ptrdiff_t number, const attn2c_checked_call *got,
                void *const *outputs, ptrdiff_t at, const char *what) {
  attn2c_check_job *job = want->job;
  if (want->n.count > 1) attn2c_check_report_collect(&job->report, (int)number, (int)want->n.count);
  if (want->kept) ATTN2C_TRY(same_state(want, number, got, at, what));
  for (int i = 0; i < job->entry->output_count; i++) {
    const int tensor = job->entry->outputs[i];
    const attn2c_tensor shape = shape_of(want, tensor, number);
    attn2c_comparison comparison;
    if (!outputs[i]) continue; /* is not wanted */
    attn2c_compare_bits(&shape, part_of(want, want->out[i], tensor, number),
                        part_of(got, outputs[i], tensor, at), &comparison);
    char name[128];
    snprintf(name, sizeof name, "output %s, %s", shape.name, what);
    ATTN2C_TRY(attn2c_check_report_row(&job->report, name, &shape, &comparison));
  }
  return ATTN2C_OK;
}

static int32_t number_of(const attn2c_check_repeat *repeat, ptrdiff_t i) {
  return repeat->count ? repeat->numbers[i] : (int32_t)i;
}

/* Makes the call, whose arrays are ready, for the outputs that are not NULL, and compares these. */
static int make(const attn2c_checked_call *known, const attn2c_check_repeat *repeat,
                const attn2c_checked_call *call, void *const *outputs, const char *what) {
  ATTN2C_TRY(repeat->context ? attn2c_checked_call_through(call, repeat->context, outputs, what)
                             : run(call, call->job->entry->run, repeat->arena, outputs, "shipped"));
  for (ptrdiff_t i = 0; i < call->n.count; i++)
    if (!repeat->is_spoiled || !repeat->is_spoiled[i])
      ATTN2C_TRY(same(known, number_of(repeat, i), call, outputs, i, what));
  return ATTN2C_OK;
}

int attn2c_check_repeat_call(const attn2c_checked_call *known, const attn2c_check_repeat *repeat,
                             attn2c_checked_call *made) {
  attn2c_check_job *job = known->job;
  const ptrdiff_t count = repeat->count ? repeat->count : known->n.count;
  const size_t outputs = (size_t)job->entry->output_count + 1;
  attn2c_checked_call own, *call = made ? made : &own;
  ATTN2C_OWN int32_t *lengths = calloc((size_t)count, sizeof *lengths);
  ATTN2C_OWN void **wanted = calloc(outputs, sizeof *wanted);
  for (ptrdiff_t i = 0; lengths && i < count; i++) lengths[i] = known->lengths[number_of(repeat, i)];
  *call = (attn2c_checked_call){.job = job};
  int status = lengths && wanted ? attn2c_checked_call_begin(call, job, lengths, count)
                                 : attn2c_check_no_memory(job, "a call");
  if (status == ATTN2C_OK) {
    for (ptrdiff_t i = 0; i < count; i++) {
      if (job->sources) place(call, i, number_of(repeat, i));
      copy_inputs(call, i, known, number_of(repeat, i));
      if (repeat->is_spoiled && repeat->is_spoiled[i]) spoil(call, i);
    }
    memcpy(wanted, call->out, outputs * sizeof *wanted);
    const char *what = repeat->what;
    char words[32];
    if (repeat->is_some) {
      what = attn2c_check_some_outputs(job, repeat->choice, call->out, wanted);
      snprintf(words, sizeof words, "%s%s", what, repeat->context ? " in calls" : "");
      what = words;
    }
    status = make(known, repeat, call, wanted, what);
  }
  if (!made) attn2c_checked_call_end(call);
  return status;
}

const char *attn2c_check_some_outputs(const attn2c_check_job *job, int number, void *const *all,
                                      void **some) {
  const int count = job->entry->output_count, is_alone = number < count;
  const int left_out = count > 2 && count <= MOST_LEFT_OUT ? count : 0;
  if (count < 2 || number >= count + left_out) return NULL;
  for (int output = 0; output < count; output++)
    some[output] = (output == number % count) == is_alone ? all[output] : NULL;
  return is_alone ? "by itself" : "all but one";
}

int attn2c_check_some(const attn2c_checked_call *known, attn2c_context *context, float *arena) {
  attn2c_check_job *job = known->job;
  const int count = job->entry->output_count;
  ATTN2C_OWN void **some = calloc((size_t)count + 1, sizeof *some);
  ATTN2C_TRY(some ? ATTN2C_OK : attn2c_check_no_memory(job, "outputs"));
  for (int i = 0; attn2c_check_some_outputs(job, i, known->out, some); i++) {
    const attn2c_check_repeat repeat = {.is_some = 1, .choice = i, .context = context, .arena = arena};
    if (known->n.count == 1 && i >= count) attn2c_check_report_collect(&job->report, i - count, count);
    if (arena) attn2c_check_fill(arena, job->descriptor->arena_floats);
    ATTN2C_TRY(attn2c_check_repeat_call(known, &repeat, NULL));
  }
  return attn2c_check_report_release(&job->report);
}

/* Repeats a call once, and adds the rows that were collected of its sequences. */
static int repeat(const attn2c_checked_call *known, attn2c_check_repeat repeat, attn2c_checked_call *made) {
  const int status = attn2c_check_repeat_call(known, &repeat, made);
  return status == ATTN2C_OK ? attn2c_check_report_release(&known->job->report) : status;
}

/* Runs the trace on the call, and checks every tensor of each sequence, and the outputs end to end. */
static int check_trace(const attn2c_checked_call *call, attn2c_run trace) {
  attn2c_check_job *job = call->job;
  attn2c_check_trace_fill_arena(&job->trace);
  int status = run(call, trace, job->trace.arena, call->out, "trace");
  for (ptrdiff_t i = 0; i < call->n.count && status == ATTN2C_OK; i++) {
    attn2c_check_sequence view;
    if (call->n.count > 1) attn2c_check_report_collect(&job->report, (int)i, (int)call->n.count);
    status = attn2c_check_sequence_begin(&view, job, &call->n, i, (const void *const *)call->in, call->out);
    for (int number = 0; number < job->entry->op_count && status == ATTN2C_OK; number++)
      status = attn2c_check_op(job, &job->entry->ops[number]);
    if (status == ATTN2C_OK) status = attn2c_check_end_to_end(job);
    attn2c_check_sequence_end(&view);
  }
  return status == ATTN2C_OK ? attn2c_check_report_release(&job->report) : status;
}

static float *allocate_arena(const attn2c_check_job *job) {
  float *arena = attn2c_allocate((size_t)(job->descriptor->arena_floats + 1) * sizeof *arena);
  if (arena) attn2c_check_fill(arena, job->descriptor->arena_floats);
  if (!arena) (void)attn2c_check_no_memory(job, "arena");
  return arena;
}

int attn2c_check_longest(attn2c_check_job *job, attn2c_run trace, attn2c_checked_call *made) {
  const attn2c_lengths *open = attn2c_lengths_of(job->descriptor, job->entry);
  const int32_t lengths[] = {open ? (int32_t)open->sizes[0].seq : 0};
  attn2c_checked_call traced;
  *made = (attn2c_checked_call){.job = job};
  int status = attn2c_checked_call_begin(&traced, job, lengths, 1);
  if (status == ATTN2C_OK) status = check_trace(&traced, trace);
  if (!open) {
    attn2c_free(job->trace.arena);
    job->trace.arena = NULL;
  }
  ATTN2C_OWN_ALIGNED float *arena = status == ATTN2C_OK ? allocate_arena(job) : NULL;
  if (status == ATTN2C_OK && !arena) status = ATTN2C_MEMORY;
  if (status == ATTN2C_OK)
    status = repeat(&traced, (attn2c_check_repeat){.what = "shipped = trace", .arena = arena}, made);
  attn2c_checked_call_end(&traced);
  /* The second run starts with the first one's data in the arena. */
  if (status == ATTN2C_OK)
    status = repeat(made, (attn2c_check_repeat){.what = "run again", .arena = arena}, NULL);
  if (status == ATTN2C_OK) status = attn2c_check_some(made, NULL, arena);
  return status;
}

/* Each sequence as a call of its own. */
static int check_alone(const attn2c_checked_call *known, float *arena) {
  for (int32_t i = 0; i < known->n.count; i++) {
    const attn2c_check_repeat alone = {.what = "by itself", .count = 1, .numbers = &i, .arena = arena};
    ATTN2C_TRY(attn2c_check_repeat_call(known, &alone, NULL));
  }
  return attn2c_check_report_release(&known->job->report);
}

/* Every other sequence next to others: first those with an even number, then those with an odd one. */
static int check_neighbours(const attn2c_checked_call *known, float *arena) {
  for (int odd = 0; odd < 2 && known->n.count > 1; odd++) {
    int is_spoiled[ATTN2C_CHECK_SEQUENCES];
    for (int i = 0; i < ATTN2C_CHECK_SEQUENCES; i++) is_spoiled[i] = i % 2 != odd;
    const attn2c_check_repeat other = {.what = "beside others", .is_spoiled = is_spoiled, .arena = arena};
    ATTN2C_TRY(attn2c_check_repeat_call(known, &other, NULL));
  }
  return attn2c_check_report_release(&known->job->report);
}

/* Calls of several sizes on one context, in order. The second has the sequences so often that it is divided.
 * Sequences with a source are there once: each has one place. */
static int check_calls(const attn2c_checked_call *known) {
  attn2c_check_job *job = known->job;
  const int64_t most = attn2c_lengths_of(job->descriptor, job->entry)->sizes[0].seq;
  const ptrdiff_t times = attn2c_encode_entry(job->descriptor) ? 1 : most / known->n.rows + 2;
  ATTN2C_OWN int32_t *numbers = calloc((size_t)(times * known->n.count), sizeof *numbers);
  attn2c_context *context = NULL;
  int status = ATTN2C_MEMORY;
  if (numbers) status = attn2c_context_create(job->model, &context);
  if (status == ATTN2C_OK) status = attn2c_sequences_prepare(context);
  if (status != ATTN2C_OK) status = attn2c_check_no_memory(job, "context");
  if (status == ATTN2C_OK && job->sources)
    status = attn2c_checked_call_through(&job->sources->call, context, NULL, "sources");
  for (ptrdiff_t i = 0; numbers && i < times * known->n.count; i++)
    numbers[i] = (int32_t)(i % known->n.count);
  const attn2c_check_repeat calls[] = {{.what = "call 1 of 3", .context = context},
                                       {.what = "call 2 of 3, divided",
                                        .count = times * known->n.count,
                                        .numbers = numbers,
                                        .context = context},
                                       {.what = "call 3 of 3", .context = context}};
  for (int i = 0; i < 3 && status == ATTN2C_OK; i++)
    if (i != 1 || times > 1) status = repeat(known, calls[i], NULL);
  attn2c_context_destroy(context);
  return status;
}

ptrdiff_t attn2c_check_draw_lengths(uint64_t seed, int64_t least, int64_t most, int64_t sequences,
                                    int32_t *lengths) {
  int32_t drawn[2 * ATTN2C_CHECK_SEQUENCES];
  attn2c_random_integers(seed, "lengths of sequences", drawn, 2 * ATTN2C_CHECK_SEQUENCES, 0, 1 << 20);
  ptrdiff_t count = 0;
  int64_t rest = most;
  while (count < ATTN2C_CHECK_SEQUENCES && count < sequences && rest >= least) {
    const int32_t a = drawn[2 * count], b = drawn[2 * count + 1];
    const int64_t room = count == ATTN2C_CHECK_SEQUENCES - 1 ? rest : (rest + 1) / 2;
    int64_t length = 1 + a % (room > 0 ? room : 1);
    if (count == 0) length = least;
    if (count % 3 == 1) length = (1 + b % 5) * 16 + a % 3 - 1;
    if (length > rest) length = 1 + a % rest;
    if (length < least) length = least;
    lengths[count++] = (int32_t)length;
    rest -= length;
  }
  const ptrdiff_t at = drawn[0] % count;
  const int32_t swapped = lengths[at];
  lengths[at] = lengths[0], lengths[0] = swapped;
  return count;
}

int attn2c_check_mixed(attn2c_check_job *job, attn2c_run trace) {
  const attn2c_lengths *sizes = attn2c_lengths_of(job->descriptor, job->entry);
  int32_t lengths[ATTN2C_CHECK_SEQUENCES] = {0}, reverse[ATTN2C_CHECK_SEQUENCES];
  const attn2c_continued *continued = job->descriptor->continued;
  const ptrdiff_t count =
      attn2c_check_draw_lengths(job->seed, sizes->least, sizes->sizes[0].seq,
                                continued ? continued->sequences : ATTN2C_CHECK_SEQUENCES, lengths);
  for (ptrdiff_t i = 0; i < count; i++) reverse[i] = (int32_t)(count - 1 - i);
  ATTN2C_OWN_ALIGNED float *arena = allocate_arena(job);
  if (!arena) return ATTN2C_MEMORY;
  attn2c_checked_call traced, shipped = {.job = job};
  int status = attn2c_checked_call_begin(&traced, job, lengths, count);
  if (status == ATTN2C_OK) status = check_trace(&traced, trace);
  if (status == ATTN2C_OK)
    status = repeat(&traced, (attn2c_check_repeat){.what = "shipped = trace", .arena = arena}, &shipped);
  if (status == ATTN2C_OK) status = attn2c_check_some(&shipped, NULL, arena);
  if (status == ATTN2C_OK) status = check_alone(&shipped, arena);
  if (status == ATTN2C_OK)
    status = repeat(
        &shipped,
        (attn2c_check_repeat){.what = "in another order", .count = count, .numbers = reverse, .arena = arena},
        NULL);
  if (status == ATTN2C_OK) status = check_neighbours(&shipped, arena);
  if (status == ATTN2C_OK) status = check_calls(&shipped);
  attn2c_checked_call_end(&shipped);
  attn2c_checked_call_end(&traced);
  return status;
}
