/* check_orders.c - compares weights in groups that are apart (act-order) with the file's own numbers. The
 * model has their columns in the order of the groups, and brings the numbers that they meet into the same
 * order. The reference reads both orders as the model does, so that it would not see a wrong one. Here each
 * weight is also read as the file has it, and every element is found there by following the graph. */
#include "check/check_parts.h"
#include "reference/ops.h"
#include "packing/scale_blocks.h"

#include <math.h>

/* A product is added to a minimum: three roundings. */
#define ALLOWED_ROUNDINGS (3 * 0x1p-24f)

/* Returns the number of the weight that a tensor is, or -1. */
static int weight_of(const attn2c_check_job *job, int tensor) {
  for (int i = 0; i < job->descriptor->weight_count; i++)
    if (job->descriptor->weights[i].tensor == tensor) return i;
  return -1;
}

static int is_in_groups(const attn2c_check_job *job, int weight) {
  const attn2c_weight *of = &job->descriptor->weights[weight];
  int flags = 0;
  for (int v = 0; v < of->view_count; v++) flags |= job->descriptor->views[of->first_view + v].flags;
  return (flags & ATTN2C_VIEW_IN_GROUPS) != 0;
}

static int is_one_of(const char *op, const char *const *list) {
  while (*list && strcmp(op, *list) != 0) list++;
  return *list != NULL;
}

static int find_columns(const attn2c_check_job *job, int tensor, int64_t width, int32_t *columns);

/* Sets columns to -1 where a second operand has others. */
static int compare_columns(const attn2c_check_job *job, int tensor, int64_t width, int32_t *columns) {
  ATTN2C_OWN int32_t *others = malloc((size_t)width * sizeof *others);
  if (!others) return attn2c_check_no_memory(job, attn2c_check_tensor(job, tensor)->name);
  const int status = find_columns(job, tensor, width, others);
  for (int64_t j = 0; j < width && !status; j++)
    if (columns[j] != others[j]) columns[j] = -1;
  return status;
}

/* Finds for each column of a tensor its number in the file's order; -1: it has none. */
static int find_columns(const attn2c_check_job *job, int tensor, int64_t width, int32_t *columns) {
  static const char *const of_one[] = {"activate", "quantise_blocks", "quantise_blocks_finely", NULL};
  static const char *const of_two[] = {"add", "multiply", NULL};
  const int maker = attn2c_check_maker(job->entry, tensor);
  const attn2c_op *op = maker < 0 ? NULL : &job->entry->ops[maker];
  for (int64_t j = 0; j < width; j++) columns[j] = (int32_t)j;
  if (!op) return ATTN2C_OK;
  if (strcmp(op->op, "linear") == 0) {
    const int weight = weight_of(job, op->operands[1]);
    const int of = weight < 0 ? -1 : attn2c_ordered_by(job->descriptor, weight);
    return of < 0 ? ATTN2C_OK : attn2c_source_order(job->source, of, columns, job->message);
  }
  if (strcmp(op->op, "gather_columns") == 0) {
    const float *order = job->weights[op->operands[1]];
    for (int64_t j = 0; j < width; j++)
      columns[j] = order[j] >= 0 && order[j] < (float)width ? (int32_t)order[j] : -1;
    return ATTN2C_OK;
  }
  if (!is_one_of(op->op, of_one) && !is_one_of(op->op, of_two)) return ATTN2C_OK;
  const int status = find_columns(job, op->operands[0], width, columns);
  return status || is_one_of(op->op, of_one) ? status : compare_columns(job, op->operands[1], width, columns);
}

/* The numbers of a weight, as the model has them and as the file has them. */
typedef struct {
  int weight;
  int64_t rows, width;
  float *got, *own, *want, *allowed; /* of all elements */
  int32_t *columns, *lines;          /* of each column and each row, its number in the file */
} numbers;

static void free_numbers(numbers *n) {
  attn2c_free(n->got), attn2c_free(n->own), attn2c_free(n->want), attn2c_free(n->allowed);
  free(n->columns), free(n->lines);
}

static int make_numbers(const attn2c_check_job *job, int weight, numbers *n) {
  const attn2c_tensor *tensor = attn2c_check_tensor(job, job->descriptor->weights[weight].tensor);
  *n = (numbers){
      .weight = weight, .rows = tensor->shape[0], .width = attn2c_elements(tensor) / tensor->shape[0]};
  n->got = attn2c_reference_allocate(tensor), n->own = attn2c_reference_allocate(tensor);
  n->want = attn2c_reference_allocate(tensor), n->allowed = attn2c_reference_allocate(tensor);
  n->columns = malloc((size_t)n->width * sizeof *n->columns);
  n->lines = malloc((size_t)n->rows * sizeof *n->lines);
  const int has_all = n->got && n->own && n->want && n->allowed && n->columns && n->lines;
  for (int64_t j = 0; has_all && j < n->width; j++) n->columns[j] = (int32_t)j;
  for (int64_t r = 0; has_all && r < n->rows; r++) n->lines[r] = (int32_t)r;
  return has_all ? ATTN2C_OK : attn2c_check_no_memory(job, tensor->name);
}

/* Reads a row as the model has it: from blocks, if the file has them. */
static int read_row(const attn2c_check_job *job, const numbers *n, int64_t row, attn2c_scale_block *blocks) {
  float *got = n->got + row * n->width, *allowed = n->allowed + row * n->width;
  int found = 0;
  const int status =
      attn2c_source_stored_blocks(job->source, n->weight, row, 1, blocks, &found, job->message);
  memset(allowed, 0, (size_t)n->width * sizeof *allowed);
  if (status || !found)
    return status ? status : attn2c_source_read_rows(job->source, n->weight, row, 1, got, job->message);
  for (int64_t j = 0; j < n->width; j++) {
    const attn2c_scale_block *block = &blocks[j / ATTN2C_BLOCK_NUMBERS];
    const int i = (int)(j % ATTN2C_BLOCK_NUMBERS), part = i / ATTN2C_PART_NUMBERS;
    got[j] = attn2c_block_number(block, i);
    allowed[j] = ALLOWED_ROUNDINGS *
                 (fabsf(block->scale[part] * (float)block->integers[i]) + fabsf(block->least[part]));
  }
  return ATTN2C_OK;
}

/* Compares a weight or a bias with the file's, and adds a row. */
static int compare(attn2c_check_job *job, const numbers *n) {
  const attn2c_tensor *tensor = attn2c_check_tensor(job, job->descriptor->weights[n->weight].tensor);
  ATTN2C_OWN attn2c_scale_block *blocks = malloc((size_t)attn2c_blocks_of(n->width) * sizeof *blocks);
  int status = blocks ? ATTN2C_OK : attn2c_check_no_memory(job, tensor->name);
  for (int64_t r = 0; r < n->rows && !status; r++) status = read_row(job, n, r, blocks);
  if (!status) status = attn2c_source_read_own(job->source, n->weight, n->own, job->message);
  if (status) return status;
  for (int64_t r = 0; r < n->rows; r++)
    for (int64_t j = 0; j < n->width; j++)
      n->want[r * n->width + j] = n->columns[j] < 0 ? NAN : n->own[n->lines[r] * n->width + n->columns[j]];
  const attn2c_tolerance tolerance = {.allowed = n->allowed, .relative_l2 = -1};
  attn2c_comparison comparison;
  char name[160];
  attn2c_compare(tensor, n->want, n->got, attn2c_reference_width(tensor), &tolerance, &comparison);
  snprintf(name, sizeof name, "%s, as in the file", tensor->name);
  return attn2c_check_report_row(&job->report, name, tensor, &comparison);
}

/* Compares one operand of a product. x: the product's input if its columns meet the operand's, else -1; of:
 * the weight whose order of inputs its rows have, or -1. */
static int check_operand(attn2c_check_job *job, int operand, int x, int of) {
  numbers n;
  int status = make_numbers(job, weight_of(job, operand), &n);
  if (!status && x >= 0) status = find_columns(job, x, n.width, n.columns);
  if (!status && of >= 0) status = attn2c_source_order(job->source, of, n.lines, job->message);
  int is_plain = of < 0 && attn2c_ordered_by(job->descriptor, n.weight) < 0 && !is_in_groups(job, n.weight);
  for (int64_t j = 0; is_plain && !status && j < n.width; j++) is_plain = n.columns[j] == j;
  if (!status && !is_plain) status = compare(job, &n);
  free_numbers(&n);
  return status;
}

int attn2c_check_orders(attn2c_check_job *job) {
  const attn2c_descriptor *model = job->descriptor;
  if (!model->orders || !attn2c_source_is_file(job->source)) return ATTN2C_OK;
  int status = ATTN2C_OK;
  for (int number = 0; number < job->entry->op_count && !status; number++) {
    const attn2c_op *op = &job->entry->ops[number];
    const int weight = strcmp(op->op, "linear") == 0 ? weight_of(job, op->operands[1]) : -1;
    if (weight < 0) continue;
    const int of = attn2c_ordered_by(model, weight);
    status = check_operand(job, op->operands[1], op->operands[0], of);
    if (!status && op->operands[2] >= 0) status = check_operand(job, op->operands[2], -1, of);
  }
  return status;
}
