/* check_nan.c - checks how NaN and infinities in inputs and tables spread, against the reference. It puts one
 * into one place at a time, and compares which outputs it reaches in the trace variant and in the shipped
 * one. The places are rows of every input, visible ones and ones hidden by each mask that is an input, rows
 * of embedding tables, and arrays that are added to scores. Keys and values that an encoder keeps of a
 * source count as outputs. */
#include "check/check_parts.h"
#include "reference/ops.h"
#include "packing/pack.h"

#include <math.h>

/* The role of an entry's input, for the op that reads it first. */
typedef enum { VALUES, TOKENS, ADDED, BLOCKED, LENGTHS, FACTORS, OTHER } role;

typedef struct {
  attn2c_check_job *job;
  attn2c_run trace;
  const void *const *given; /* the original inputs */
  void **copies;            /* copies with the planted value, one per input */
  float *arena;             /* arena of the shipped variant */
  float *traced_state;      /* of the entry `encode`: what the trace has kept of a source; else NULL */
  int64_t samples;          /* number of places to test in one input */
  /* The current row of the report: several places of one kind. */
  char kind[96], name[160];
  attn2c_comparison worst;
  attn2c_tensor of;
  int tried;
} bed;

static const attn2c_tensor *input_of(const bed *bed, int input) {
  return &bed->job->descriptor->tensors[bed->job->entry->inputs[input]];
}

/* Returns the first op that reads the tensor, and its operand position; or NULL. */
static const attn2c_op *reader_of(const attn2c_entry *entry, int tensor, int *position) {
  for (int number = 0; number < entry->op_count; number++)
    for (*position = 0; *position < ATTN2C_MAX_OPERANDS; ++*position)
      if (entry->ops[number].operands[*position] == tensor) return &entry->ops[number];
  return NULL;
}

static role role_of(const bed *bed, int input) {
  static const struct {
    const char *op;
    int position;
    role role;
  } roles[] = {
      {"embed", 0, TOKENS}, {"add_array", 1, ADDED}, {"block_array", 1, BLOCKED}, {"head_scale", 1, FACTORS}};
  const attn2c_tensor *tensor = input_of(bed, input);
  int position;
  const attn2c_op *op = reader_of(bed->job->entry, bed->job->entry->inputs[input], &position);
  for (size_t row = 0; op && row < sizeof roles / sizeof roles[0]; row++)
    if (strcmp(op->op, roles[row].op) == 0 && position == roles[row].position) return roles[row].role;
  if (tensor->type == ATTN2C_I32) return tensor->rank == 1 ? LENGTHS : OTHER;
  return VALUES;
}

/* Returns the positions of a sequence in an array: [batch][sequence][width], or [sequence][batch][width]; by
 * head always [batch][heads][sequence][width]. */
static int64_t positions_of(const bed *bed, const attn2c_tensor *tensor) {
  if (tensor->rank < 2) return 1;
  if (tensor->rank == 4) return tensor->shape[2];
  return tensor->shape[bed->job->descriptor->seq_first ? 0 : 1];
}

/* Finds the sequence of a row, and the row's position in it. */
static void locate_row(const bed *bed, const attn2c_tensor *tensor, int64_t row, int64_t *sequence,
                       int64_t *position) {
  if (tensor->rank == 4) {
    *sequence = row / (tensor->shape[1] * tensor->shape[2]);
    *position = row % tensor->shape[2];
    return;
  }
  const int64_t second = tensor->rank > 1 ? tensor->shape[1] : 1;
  *sequence = bed->job->descriptor->seq_first ? row % second : row / second;
  *position = bed->job->descriptor->seq_first ? row / second : row % second;
}

static void restore(bed *bed) {
  for (int input = 0; input < bed->job->entry->input_count; input++)
    memcpy(bed->copies[input], bed->given[input],
           (size_t)attn2c_elements(input_of(bed, input)) * sizeof(float));
}

/* True if both are NaN, both the same infinity, or both finite. The sign of a NaN is ignored. */
static int same_class(float a, float b) {
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  return isinf(a) || isinf(b) ? a == b : 1;
}

static int same_bits(float a, float b) { return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0; }

/* Counts an element that differs; the first one is reported. */
static void take(const attn2c_tensor *tensor, int64_t element, double want, double got, const char *why,
                 attn2c_comparison *comparison) {
  if (comparison->violations++ > 0) return;
  comparison->passed = 0;
  comparison->why = why;
  comparison->expected = want;
  comparison->got = got;
  comparison->largest_absolute = INFINITY;
  for (int axis = tensor->rank - 1; axis >= 0; axis--) {
    comparison->where[axis] = element % tensor->shape[axis];
    element /= tensor->shape[axis];
  }
}

/* Compares indices. Only the index of a NaN is certain; other values may be equally large. */
static void compare_indices(const bed *bed, const attn2c_op *op, const int32_t *got, const int32_t *shipped,
                            attn2c_comparison *comparison) {
  const attn2c_check_job *job = bed->job;
  const attn2c_tensor *shape = &job->descriptor->tensors[op->result];
  const int64_t picks = attn2c_reference_picks(op), elements = attn2c_elements(shape);
  const int64_t width = picks > 0 ? attn2c_reference_width(&job->descriptor->tensors[op->operands[0]]) : 0;
  const int32_t *want = job->tensors[op->result];
  for (int64_t i = 0; i < elements; i++) {
    if (picks > 0 && want[i] != got[i] &&
        isnan(((const float *)job->tensors[op->operands[0]])[i / picks * width + want[i]]))
      take(shape, i, want[i], got[i], "the index is not the NaN's", comparison);
    if (got[i] != shipped[i]) take(shape, i, got[i], shipped[i], "shipped and trace differ", comparison);
  }
}

/* Compares a result of the trace with the reference's, which is in job->tensors, and with the shipped
 * variant's; NULL: the shipped variant writes it to the state only. */
static int compare_result(const bed *bed, int tensor, const void *traced, const void *shipped_result,
                          attn2c_comparison *comparison) {
  attn2c_check_job *job = bed->job;
  const attn2c_tensor *shape = &job->descriptor->tensors[tensor];
  const attn2c_op *op = &job->entry->ops[attn2c_check_maker(job->entry, tensor)];
  *comparison = (attn2c_comparison){.rank = shape->rank, .passed = 1, .why = ""};
  if (shape->type == ATTN2C_I32) {
    compare_indices(bed, op, traced, shipped_result, comparison);
    return ATTN2C_OK;
  }
  float *want = job->tensors[tensor];
  const float *got = traced, *shipped = shipped_result;
  const int64_t elements = attn2c_elements(shape);
  ATTN2C_TRY(attn2c_check_settle_masked(job, op, got, attn2c_reference_width(shape), want));
  attn2c_check_settle_hidden(job, op, got, attn2c_reference_width(shape), want);
  for (int64_t i = 0; i < elements; i++) {
    if (!same_class(want[i], got[i])) take(shape, i, want[i], got[i], "NaN or infinity differs", comparison);
    if (shipped && !same_bits(got[i], shipped[i]))
      take(shape, i, got[i], shipped[i], "shipped and trace differ", comparison);
  }
  return ATTN2C_OK;
}

/* Returns the upper half of a float, shifted up by `bits`: one of a pair of bf16. */
static float half_of(float pair, int bits) {
  uint32_t word;
  memcpy(&word, &pair, sizeof word);
  word = word << bits & 0xffff0000u;
  memcpy(&pair, &word, sizeof pair);
  return pair;
}

/* Compares two floats of the state, which may be pairs of bf16. */
static int same_kept(attn2c_type type, float a, float b) {
  if (type != ATTN2C_BF16) return same_bits(a, b);
  return same_bits(half_of(a, 0), half_of(b, 0)) && same_bits(half_of(a, 16), half_of(b, 16));
}

/* Compares the keys and values that both variants have kept of a source. */
static void compare_state(const bed *bed, const attn2c_tensor *shape, attn2c_comparison *comparison) {
  const attn2c_continued *of = bed->job->descriptor->continued;
  const int64_t pages = (of->symbols[of->source].most + of->page - 1) / of->page;
  *comparison = (attn2c_comparison){.rank = shape->rank, .passed = 1, .why = ""};
  for (int number = 0; number < of->kept_count; number++) {
    const attn2c_state_part *part = &of->kept[number];
    if (part->grows_with != of->source) continue;
    for (int64_t i = part->offset; i < part->offset + pages * part->page_floats; i++)
      if (!same_kept(part->type, bed->traced_state[i], bed->job->state[i]))
        take(shape, i, bed->traced_state[i], bed->job->state[i], "shipped and trace differ", comparison);
  }
}

/* Begins a row of the report, for all places of a kind. */
static void begin_kind(bed *bed, const char *value, const char *input, const char *mask) {
  snprintf(bed->kind, sizeof bed->kind, "%s in %s%s%s", value, input, *mask ? ", hidden by " : "", mask);
  bed->tried = 0;
}

static int end_kind(bed *bed) {
  if (bed->tried == 0) return ATTN2C_OK;
  return attn2c_check_report_row(&bed->job->report, bed->name, &bed->of, &bed->worst);
}

/* Adds a comparison to the row of the report, which is of the first result that differs, or of the first. */
static void note(bed *bed, int64_t place, const attn2c_tensor *of, const attn2c_comparison *comparison) {
  if (bed->tried > 0 && (comparison->passed || !bed->worst.passed)) return;
  bed->worst = *comparison;
  bed->of = *of;
  bed->tried = 1;
  if (comparison->passed)
    snprintf(bed->name, sizeof bed->name, "%s", bed->kind);
  else
    snprintf(bed->name, sizeof bed->name, "%s, place %" PRId64 ", seen in %s", bed->kind, place, of->name);
}

/* Compares what the entry `encode` keeps: tensors of the trace with the reference's, and the states. */
static int compare_kept(bed *bed, int64_t place) {
  attn2c_check_job *job = bed->job;
  const attn2c_tensor state = {
      .name = "source", .rank = 1, .shape = {job->descriptor->continued->state_floats}};
  attn2c_comparison comparison;
  for (int number = 0; number < job->entry->op_count; number++) {
    const attn2c_op *op = &job->entry->ops[number];
    void *copy;
    if (strcmp(op->op, "keep") != 0) continue;
    const void *traced = attn2c_check_trace_view(&job->trace, op->result, &copy);
    const int status = traced ? compare_result(bed, op->result, traced, NULL, &comparison)
                              : attn2c_check_no_memory(job, "planted inputs");
    attn2c_free(copy);
    if (status != ATTN2C_OK) return status;
    note(bed, place, &job->descriptor->tensors[op->result], &comparison);
  }
  compare_state(bed, &state, &comparison);
  note(bed, place, &state, &comparison);
  return ATTN2C_OK;
}

/* Runs both variants with the copies. */
static int run_variants(const bed *bed) {
  attn2c_check_job *job = bed->job;
  const int64_t kept = bed->traced_state ? job->descriptor->continued->state_floats : 0;
  attn2c_check_trace_fill(&job->trace);
  attn2c_check_fill(job->state, kept);
  ATTN2C_TRY(attn2c_check_run(job, bed->trace, job->trace.arena, job->traced, "trace"));
  if (kept) memcpy(bed->traced_state, job->state, (size_t)kept * sizeof(float));
  attn2c_check_fill(job->state, kept);
  for (int output = 0; output < job->entry->output_count; output++)
    attn2c_check_fill(job->shipped[output],
                      attn2c_elements(&job->descriptor->tensors[job->entry->outputs[output]]));
  return attn2c_check_run(job, job->entry->run, bed->arena, job->shipped, "shipped");
}

/* Runs the reference and both variants with the copies, compares the results, and restores the copies. */
static int try_place(bed *bed, int64_t place) {
  attn2c_check_job *job = bed->job;
  int status = run_variants(bed);
  if (status == ATTN2C_OK) status = attn2c_check_run_reference(job, 0);
  for (int output = 0; output < job->entry->output_count && status == ATTN2C_OK; output++) {
    const int tensor = job->entry->outputs[output];
    attn2c_comparison comparison;
    status = compare_result(bed, tensor, job->traced[output], job->shipped[output], &comparison);
    if (status == ATTN2C_OK) note(bed, place, &job->descriptor->tensors[tensor], &comparison);
  }
  if (status == ATTN2C_OK && bed->traced_state) status = compare_kept(bed, place);
  attn2c_reference_release(job->entry, job->tensors);
  restore(bed);
  return status;
}

/* Hides a position of a sequence by the mask that is an input. It does so for all rows of the array, or for
 * every second. Returns 0 if the mask has no such key. */
static int hide(bed *bed, int mask, role of, int64_t sequence, int64_t position, int64_t positions,
                int alternately) {
  const attn2c_tensor *tensor = input_of(bed, mask);
  const int64_t columns = attn2c_reference_width(tensor), rows = attn2c_reference_rows(tensor);
  if (of == LENGTHS) {
    int32_t *lengths = bed->copies[mask];
    if (sequence >= tensor->shape[0] || position < tensor->minimum || position >= tensor->limit) return 0;
    lengths[sequence] = (int32_t)position;
    return 1;
  }
  /* Keys of a past come before the sequence's. */
  const int64_t column = position + columns - positions;
  if (columns < positions) return 0;
  int operand;
  const attn2c_op *reader = reader_of(bed->job->entry, bed->job->entry->inputs[mask], &operand);
  const int32_t hidden = attn2c_number(reader, "keeps", 0) == 1 ? 0 : (int32_t)(tensor->limit - 1);
  for (int64_t row = 0; row < rows; row++) {
    if (alternately && row % 2) continue;
    if (of == BLOCKED) ((int32_t *)bed->copies[mask])[row * columns + column] = hidden;
    if (of == ADDED) ((float *)bed->copies[mask])[row * columns + column] = -INFINITY;
  }
  return 1;
}

static int64_t sample(const bed *bed, int64_t number, int64_t of) {
  const int64_t samples = of < bed->samples ? of : bed->samples;
  return samples < 2 ? 0 : number * (of - 1) / (samples - 1);
}

/* Returns the embedding table whose rows the ids select; or NULL. */
static const attn2c_weight *table_of(const bed *bed, int input) {
  int position;
  const attn2c_op *op = reader_of(bed->job->entry, bed->job->entry->inputs[input], &position);
  for (int number = 0; number < bed->job->descriptor->weight_count; number++) {
    const attn2c_weight *weight = &bed->job->descriptor->weights[number];
    if (weight->tensor == op->operands[1]) return weight;
  }
  return NULL;
}

/* The places of a table row's NaN or infinity: in the reference's weights and in the packed block. Integers
 * cannot hold one, so the row's scale takes it, or the first scale of the element's scale block. */
typedef struct {
  float *unpacked;
  unsigned char *packed;
  size_t size; /* in the block: of a float, or of bf16, which is a float's upper half */
  int weight;  /* in scale blocks: the weight, of which row `id` is unpacked; else -1 */
  int is_half; /* 1: the place in the block is an f16 */
  int64_t id;
} table_place;

static table_place place_in_table(const bed *bed, const attn2c_weight *weight, int64_t id, int64_t column) {
  const attn2c_descriptor *descriptor = bed->job->descriptor;
  const int64_t width = attn2c_reference_width(&descriptor->tensors[weight->tensor]);
  const int number = (int)(weight - descriptor->weights);
  const attn2c_piece piece = attn2c_piece_of(descriptor, number, id);
  const attn2c_type_facts *facts = attn2c_facts_of(piece.type);
  float *packed = bed->job->model->own, *unpacked = bed->job->weights[weight->tensor];
  if (facts->has_scales) {
    const attn2c_weight *scales = &descriptor->weights[descriptor->packings[number].scales];
    return (table_place){(float *)bed->job->weights[scales->tensor] + id,
                         (unsigned char *)(packed + scales->offset + id),
                         sizeof(float),
                         -1,
                         0,
                         id};
  }
  if (facts->bits) {
    const attn2c_block_place blocks = attn2c_piece_blocks(&piece, packed, id);
    const size_t bytes = facts->unit ? sizeof(uint16_t) : (size_t)facts->scale_bytes;
    return (table_place){unpacked + id * width + column,
                         attn2c_block_scale(facts, &blocks, column / ATTN2C_BLOCK_NUMBERS),
                         bytes,
                         number,
                         bytes == 2,
                         id};
  }
  int64_t next;
  const float *row = packed + attn2c_piece_row(&piece, id, &next) + column / facts->group * next;
  const size_t size = sizeof(float) / (size_t)facts->group;
  return (table_place){unpacked + id * width + column,
                       (unsigned char *)row + (size_t)(column % facts->group) * size,
                       size,
                       -1,
                       0,
                       id};
}

/* Writes `value`, a NaN or an infinity, or restores the bytes `before` if they are given. */
static void write_scale(const bed *bed, const table_place *place, float value, const unsigned char *before) {
  const attn2c_descriptor *descriptor = bed->job->descriptor;
  const attn2c_tensor *tensor = &descriptor->tensors[descriptor->weights[place->weight].tensor];
  const uint16_t half = isnan(value) ? 0x7e00u : value < 0 ? 0xfc00u : 0x7c00u;
  const uint8_t power = 255; /* of two: no number */
  const void *from = place->size == 1 ? (const void *)&power
                     : place->is_half ? (const void *)&half
                                      : (const void *)&value;
  memcpy(place->packed, before ? before : from, place->size);
  attn2c_unpack(descriptor, place->weight, bed->job->model->own, place->id, 1,
                (float *)bed->job->weights[descriptor->weights[place->weight].tensor] +
                    place->id * attn2c_reference_width(tensor));
}

static void write_there(const table_place *place, float value) {
  *place->unpacked = value;
  memcpy(place->packed, (unsigned char *)&value + sizeof value - place->size, place->size);
}

/* Writes `value` into the table row of the token at `place`, and tests the outputs. It first makes this token
 * the only one of its id. */
static int try_token(bed *bed, int input, int64_t place, float value) {
  const attn2c_tensor *tensor = input_of(bed, input);
  const attn2c_weight *weight = table_of(bed, input);
  if (!weight || tensor->limit - tensor->minimum < 2) return ATTN2C_OK;
  const int64_t width = attn2c_reference_width(&bed->job->descriptor->tensors[weight->tensor]);
  int32_t *ids = bed->copies[input];
  const int32_t id = ids[place], other = (int32_t)(id > tensor->minimum ? id - 1 : id + 1);
  for (int64_t i = 0; i < attn2c_elements(tensor); i++)
    if (i != place && ids[i] == id) ids[i] = other;
  const table_place there = place_in_table(bed, weight, id, place % width);
  /* A product of a block whose scale is infinite is infinite or NaN, by the order of its multiplications. A
   * power of two cannot be NaN. */
  if (there.weight >= 0 && weight->panel > 0 && (there.size == 1 || !isnan(value))) return ATTN2C_OK;
  if (there.weight >= 0) {
    unsigned char bytes[sizeof(float)];
    memcpy(bytes, there.packed, there.size);
    write_scale(bed, &there, value, NULL);
    const int status = try_place(bed, place);
    write_scale(bed, &there, value, bytes);
    return status;
  }
  const float before = *there.unpacked;
  write_there(&there, value);
  const int status = try_place(bed, place);
  write_there(&there, before);
  return status;
}

/* Plants one value in sampled places of one input, with the given masks (-1) or where one mask hides it. */
static int plant(bed *bed, int input, role of, float value, const char *word, int mask, role mask_role) {
  const attn2c_tensor *tensor = input_of(bed, input);
  const int by_rows = of == VALUES && tensor->rank > 1;
  const int64_t width = by_rows ? attn2c_reference_width(tensor) : 1,
                places = attn2c_elements(tensor) / width;
  const int64_t positions = positions_of(bed, tensor);
  int status = ATTN2C_OK;
  begin_kind(bed, word, tensor->name, mask < 0 ? "" : input_of(bed, mask)->name);
  for (int64_t number = 0; number < places && number < bed->samples && status == ATTN2C_OK; number++) {
    const int64_t place = sample(bed, number, places);
    int64_t sequence, position;
    locate_row(bed, tensor, place, &sequence, &position);
    if (mask >= 0 && !hide(bed, mask, mask_role, sequence, position, positions, number % 2 == 1)) continue;
    if (of == TOKENS) {
      status = try_token(bed, input, place, value);
    } else {
      ((float *)bed->copies[input])[place * width + place % width] = value;
      status = try_place(bed, place);
    }
    restore(bed);
  }
  return status == ATTN2C_OK ? end_kind(bed) : status;
}

/* Plants all values in one input. */
static int plant_input(bed *bed, int input) {
  static const struct {
    const char *word;
    float value;
  } kinds[] = {{"NaN", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};
  const role of = role_of(bed, input);
  const attn2c_tensor *tensor = input_of(bed, input);
  if (of != VALUES && of != TOKENS && of != ADDED && of != FACTORS) return ATTN2C_OK;
  if (attn2c_elements(tensor) == 0) return ATTN2C_OK;
  for (size_t kind = 0; kind < 3; kind++) {
    ATTN2C_TRY(plant(bed, input, of, kinds[kind].value, kinds[kind].word, -1, OTHER));
    for (int mask = 0; mask < bed->job->entry->input_count; mask++) {
      const role mask_role = role_of(bed, mask);
      const int masks = mask_role == LENGTHS || mask_role == BLOCKED || mask_role == ADDED;
      if (!masks || (of != VALUES && of != TOKENS)) continue;
      ATTN2C_TRY(plant(bed, input, of, kinds[kind].value, kinds[kind].word, mask, mask_role));
    }
  }
  return ATTN2C_OK;
}

/* Returns the number of places to test in an input: fewer if a run of the reference takes seconds. */
static int64_t samples_for(double flops) { return flops < 50e6 ? 13 : flops < 1e9 ? 5 : 2; }

int attn2c_check_nan(attn2c_check_job *job, attn2c_run trace) {
  const int count = job->entry->input_count;
  if (!job->model->own)
    return attn2c_fail(job->message, ATTN2C_USAGE,
                       "entry %s: the model's weights are read-only; this check needs a copy",
                       job->entry->name);
  bed bed = {.job = job, .trace = trace, .given = job->inputs, .samples = samples_for(job->entry->flops)};
  bed.copies = calloc((size_t)count + 1, sizeof *bed.copies);
  bed.arena = attn2c_allocate((size_t)(job->descriptor->arena_floats + 1) * sizeof(float));
  const int keeps = attn2c_plain_entry(job->descriptor, job->entry) == attn2c_encode_entry(job->descriptor);
  if (keeps)
    bed.traced_state = attn2c_allocate((size_t)job->descriptor->continued->state_floats * sizeof(float));
  int status = bed.copies && bed.arena && (bed.traced_state || !keeps)
                   ? ATTN2C_OK
                   : attn2c_check_no_memory(job, "planted inputs");
  for (int input = 0; input < count && status == ATTN2C_OK; input++) {
    bed.copies[input] = attn2c_reference_allocate(input_of(&bed, input));
    if (!bed.copies[input]) status = attn2c_check_no_memory(job, input_of(&bed, input)->name);
  }
  if (status == ATTN2C_OK) {
    restore(&bed);
    job->inputs = job->trace.inputs = (const void *const *)bed.copies;
    attn2c_check_fill(bed.arena, job->descriptor->arena_floats);
  }
  for (int input = 0; input < count && status == ATTN2C_OK; input++) status = plant_input(&bed, input);
  if (status == ATTN2C_OK && job->report.passed + job->report.failed == 0)
    status = attn2c_fail(job->message, ATTN2C_USAGE,
                         "entry %s: no input and no row of a table can hold a NaN", job->entry->name);
  job->inputs = job->trace.inputs = bed.given;
  for (int input = 0; bed.copies && input < count; input++) attn2c_free(bed.copies[input]);
  free(bed.copies);
  ATTN2C_FREE_ALIGNED(bed.arena, bed.traced_state);
  return status;
}
