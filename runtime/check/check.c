/* check.c - checks a program against the reference, entry by entry. It sees that all can be judged, runs the
 * trace variant, judges each op, then the outputs end to end, then the shipped variant's bits. */
#include "check/check.h"
#include "check/check_parts.h"
#include "check/check_sequence.h"
#include "check/check_sources.h"
#include "reference/types.h"
#include "model/team.h"
#include "packing/scale_blocks.h"

static void *allocate_floats(int64_t floats) {
  size_t bytes;
  if (floats < 0 || __builtin_mul_overflow((size_t)floats, sizeof(float), &bytes)) return NULL;
  return attn2c_allocate(bytes ? bytes : 1);
}

/* Rounds a weight in scale blocks, row by row. */
static int round_blocks(attn2c_check_job *job, attn2c_source *source, int number) {
  const attn2c_tensor *tensor = attn2c_check_tensor(job, job->descriptor->weights[number].tensor);
  const attn2c_type_facts *facts = attn2c_facts_of(job->descriptor->packings[number].type);
  const attn2c_factors *factors = job->descriptor->factors ? &job->descriptor->factors[number] : NULL;
  const signed char *powers = factors && factors->sign == 0 ? factors->powers : NULL;
  const int64_t columns = attn2c_elements(tensor) / tensor->shape[0];
  attn2c_scale_block *blocks = attn2c_allocate((size_t)attn2c_blocks_of(columns) * sizeof *blocks);
  if (!blocks) return attn2c_check_no_memory(job, tensor->name);
  int status = ATTN2C_OK;
  for (int64_t r = 0; r < tensor->shape[0] && status == ATTN2C_OK; r++) {
    int found = 0;
    status = attn2c_source_stored_blocks(source, number, r, 1, blocks, &found, job->message);
    attn2c_reference_blocks(facts, found ? blocks : NULL, powers,
                            (float *)job->weights[job->descriptor->weights[number].tensor] + r * columns,
                            columns);
  }
  attn2c_free(blocks);
  return status;
}

static int read_weights(attn2c_check_job *job, attn2c_source *source) {
  for (int number = 0; number < job->descriptor->weight_count; number++) {
    int tensor = job->descriptor->weights[number].tensor;
    job->weights[tensor] = attn2c_reference_allocate(attn2c_check_tensor(job, tensor));
    if (!job->weights[tensor]) return attn2c_check_no_memory(job, attn2c_check_tensor(job, tensor)->name);
    int status = attn2c_source_read(source, number, job->weights[tensor], job->message);
    if (status != ATTN2C_OK) return status;
    attn2c_reference_packed(job->descriptor, number, job->weights);
    if (job->descriptor->packings && attn2c_facts_of(job->descriptor->packings[number].type)->bits)
      status = round_blocks(job, source, number);
    if (status != ATTN2C_OK) return status;
  }
  return ATTN2C_OK;
}

/* Checks that integer inputs are within their tensor's range, like the model itself. */
static int verify_inputs(const attn2c_check_job *job) {
  for (int input = 0; input < job->entry->input_count; input++) {
    const attn2c_tensor *tensor = attn2c_check_tensor(job, job->entry->inputs[input]);
    const int32_t *values = job->inputs[input];
    int64_t elements = attn2c_elements(tensor);
    for (int64_t i = 0; tensor->type == ATTN2C_I32 && i < elements; i++) {
      if (values[i] >= tensor->minimum && values[i] < tensor->limit) continue;
      return attn2c_fail(job->message, ATTN2C_FORMAT,
                         "%s: element %" PRId64 " is %" PRId32 ", but must be from %" PRId64 " to %" PRId64,
                         tensor->name, i, values[i], tensor->minimum, tensor->limit - 1);
    }
  }
  return ATTN2C_OK;
}

/* The reference must know every op: one that is not judged must not look like one that passed. */
static int verify_ops(const attn2c_check_job *job) {
  for (int number = 0; number < job->entry->op_count; number++) {
    const attn2c_op *op = &job->entry->ops[number];
    if (attn2c_reference_knows(op->op)) continue;
    return attn2c_fail(job->message, ATTN2C_USAGE, "entry %s, op %d: the reference does not know %s",
                       job->entry->name, number, op->op);
  }
  return ATTN2C_OK;
}

/* Adds all rows of an entry whose trace arena is allocated. */
static int check_rows(attn2c_check_job *job, attn2c_run trace) {
  const int is_open = attn2c_lengths_of(job->descriptor, job->entry) != NULL;
  ATTN2C_TRY(attn2c_check_orders(job));
  attn2c_checked_call shipped;
  int status = attn2c_check_longest(job, trace, &shipped);
  if (status == ATTN2C_OK && is_open) status = attn2c_check_mixed(job, trace);
  attn2c_checked_call_end(&shipped);
  return status;
}

static int allocate_outputs(attn2c_check_job *job, void ***outputs) {
  *outputs = calloc((size_t)job->entry->output_count + 1, sizeof **outputs);
  if (!*outputs) return attn2c_check_no_memory(job, "outputs");
  for (int output = 0; output < job->entry->output_count; output++) {
    const attn2c_tensor *shape = attn2c_check_tensor(job, job->entry->outputs[output]);
    (*outputs)[output] = attn2c_reference_allocate(shape);
    if (!(*outputs)[output]) return attn2c_check_no_memory(job, shape->name);
  }
  return ATTN2C_OK;
}

/* Gives the job the memory of a state. calls: set for an entry that continues sequences; else NULL. */
static int begin_state(attn2c_check_sequence *calls, attn2c_check_job *job) {
  const attn2c_continued *of = job->model->descriptor->continued;
  ATTN2C_TRY(calls ? attn2c_check_call_begin(calls, job) : ATTN2C_OK);
  const int64_t sequences = of->sequences < ATTN2C_CHECK_SEQUENCES ? of->sequences : ATTN2C_CHECK_SEQUENCES;
  job->state = attn2c_reserve((size_t)(sequences * of->state_floats) * sizeof(float));
  return job->state ? ATTN2C_OK : attn2c_check_no_memory(job, "state");
}

/* Says that the trace has no memory, and returns ATTN2C_MEMORY. It has tensors of queries times keys. */
static int no_trace(const attn2c_check_job *job, int64_t floats) {
  return attn2c_fail(job->message, ATTN2C_MEMORY,
                     "trace arena: no memory for the check, which keeps every tensor: %.1f GB%s",
                     (double)floats * sizeof(float) / 1e9,
                     job->descriptor->is_open && !job->descriptor->continued
                         ? "; sequences of a model that is built with seq=any(512) have the same bits"
                         : "");
}

static int check_entry(attn2c_check_job *job, attn2c_run trace) {
  attn2c_check_sequence calls;
  attn2c_check_sources sources;
  calls.job = sources.call.job = NULL;
  const int encodes = attn2c_plain_entry(job->descriptor, job->entry) == attn2c_encode_entry(job->descriptor);
  const int continues =
      job->descriptor->continued && !encodes && attn2c_lengths_of(job->descriptor, job->entry);
  int status = verify_inputs(job);
  if (status == ATTN2C_OK && (continues || encodes)) status = begin_state(continues ? &calls : NULL, job);
  if (status == ATTN2C_OK) status = verify_ops(job);
  if (status == ATTN2C_OK) status = allocate_outputs(job, &job->traced);
  if (status == ATTN2C_OK) status = allocate_outputs(job, &job->shipped);
  if (status == ATTN2C_OK) {
    int64_t floats = job->program->trace_floats;
    job->trace = (attn2c_check_trace){.model = job->descriptor,
                                      .entry = job->entry,
                                      .arena = allocate_floats(floats),
                                      .floats = floats,
                                      .inputs = job->inputs,
                                      .outputs = job->traced,
                                      .weights = job->weights};
    status = job->trace.arena ? attn2c_check_trace_verify(&job->trace, job->message) : no_trace(job, floats);
  }
  if (status == ATTN2C_OK && attn2c_model_team(job->model, &job->team) != ATTN2C_OK)
    status = attn2c_check_no_memory(job, "team");
  if (status == ATTN2C_OK && continues && attn2c_encode_entry(job->descriptor))
    status = attn2c_check_sources_begin(&sources, job);
  if (status == ATTN2C_OK) status = job->nan ? attn2c_check_nan(job, trace) : check_rows(job, trace);
  attn2c_team_end(job->team);
  job->team = NULL;
  attn2c_free(job->trace.arena);
  attn2c_check_free_arrays(job->traced, job->entry->output_count);
  attn2c_check_free_arrays(job->shipped, job->entry->output_count);
  job->trace.arena = NULL;
  job->traced = job->shipped = NULL;
  attn2c_free(job->state);
  job->state = NULL;
  if (calls.job) attn2c_check_sequence_end(&calls);
  if (status == ATTN2C_OK && continues && !job->nan) status = attn2c_check_continued(job);
  if (sources.call.job) attn2c_check_sources_end(&sources, job);
  return status;
}

static int report_entry(attn2c_check_job *job, const char *name, FILE *out, int json,
                        const char *repeat_command) {
  const ptrdiff_t number = job->entry - job->descriptor->entries;
  int status = attn2c_check_report_begin(&job->report, out, json, job->descriptor->name, name, &job->seed);
  if (status == ATTN2C_OK) status = check_entry(job, job->program->trace[number]);
  int end = attn2c_check_report_end(&job->report, repeat_command, status == ATTN2C_OK);
  if (end == ATTN2C_IO) attn2c_say(job->message, "the check's report could not be written");
  if ((status == ATTN2C_MEMORY || end == ATTN2C_MEMORY) && job->message && job->message->used == 0)
    (void)attn2c_check_no_memory(job, "report");
  return status != ATTN2C_OK ? status : end;
}

/* Reports an entry of a model with adapters next to its weights: a plain one without any; an adapted one with
 * each of them for the first sequence, and others, or none, for those after it. Its inputs may say which
 * instead. */
static int report_adapters(attn2c_check_job *job, FILE *out, int json, const char *repeat_command) {
  const attn2c_descriptor *model = job->descriptor;
  const attn2c_entry *plain = attn2c_plain_entry(model, job->entry);
  const int last = job->entry->input_count - 1, is_plain = job->entry == plain;
  const int64_t batch = attn2c_elements(attn2c_check_tensor(job, job->entry->inputs[last]));
  const int64_t all = attn2c_check_tensor(job, job->entry->inputs[last])->limit;
  const int is_given = !is_plain && attn2c_entry_of_call(model, plain, job->inputs, batch) != plain;
  const void **in = calloc((size_t)last + 1, sizeof *in);
  int32_t *adapters = calloc((size_t)batch, sizeof *adapters);
  int status = in && adapters ? ATTN2C_OK : attn2c_check_no_memory(job, "adapters"), mismatch = 0;
  for (int i = 0; i <= last && in; i++) in[i] = i == last && !is_given ? adapters : job->inputs[i];
  for (int64_t n = is_plain ? 0 : 1; n < (is_plain ? 1 : is_given ? 2 : all) && !status; n++) {
    char name[128];
    for (int64_t i = 0; i < batch && n > 0; i++) adapters[i] = (int32_t)((n + i) % all);
    snprintf(name, sizeof name, "%s%s%s", job->entry->name, is_plain || is_given ? "" : " ",
             is_plain || is_given ? "" : model->adapters[n - 1]);
    job->inputs = in;
    status = report_entry(job, name, out, json, repeat_command);
    if (status == ATTN2C_MISMATCH) mismatch = 1, status = ATTN2C_OK;
  }
  ATTN2C_FREE(in, adapters);
  return status == ATTN2C_OK && mismatch ? ATTN2C_MISMATCH : status;
}

int attn2c_check(const attn2c_program *program, const attn2c_model *model, attn2c_source *source,
                 const void *const *inputs, uint64_t seed, int nan, FILE *out, int json,
                 const char *repeat_command, attn2c_message *message) {
  const attn2c_descriptor *descriptor = program->model;
  size_t count = (size_t)descriptor->tensor_count + 1;
  attn2c_check_job job = {.program = program,
                          .model = model,
                          .descriptor = descriptor,
                          .source = source,
                          .source_inputs = inputs,
                          .seed = seed,
                          .nan = nan,
                          .message = message};
  job.weights = calloc(count, sizeof *job.weights);
  job.tensors = calloc(count, sizeof *job.tensors);
  int status =
      job.weights && job.tensors ? read_weights(&job, source) : attn2c_check_no_memory(&job, "tensors");
  int mismatch = 0;
  for (int number = 0; number < descriptor->entry_count && status == ATTN2C_OK; number++) {
    job.entry = &descriptor->entries[number];
    job.inputs = inputs;
    inputs += job.entry->input_count;
    const attn2c_entry *plain = attn2c_plain_entry(descriptor, job.entry);
    if (attn2c_adapted_entry(descriptor, plain))
      status = report_adapters(&job, out, json, repeat_command);
    else
      status = report_entry(&job, job.entry->name, out, json, repeat_command);
    /* A wrong entry does not stop the check of the next one. */
    if (status == ATTN2C_MISMATCH) mismatch = 1, status = ATTN2C_OK;
  }
  attn2c_check_free_arrays(job.weights, job.weights ? descriptor->tensor_count : 0);
  free(job.tensors);
  return status == ATTN2C_OK && mismatch ? ATTN2C_MISMATCH : status;
}
