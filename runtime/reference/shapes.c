/* shapes.c - compares the shapes of an op's operands and result with a notation such as
 * "bq(hd), bk(gd) -> bhqk". */
#include "reference/ops.h"

int attn2c_reference_fault(const attn2c_reference_call *call, const char *rule) {
  return attn2c_fail(call->message, ATTN2C_USAGE, "%s, which makes %s: %s", call->op->op,
                     attn2c_reference_result(call)->name, rule);
}

int64_t attn2c_reference_count(const attn2c_reference_call *call, const char *name, int64_t otherwise) {
  double number = attn2c_number(call->op, name, (double)otherwise);
  return number >= 0 && number <= (double)INT32_MAX && number == (double)(int64_t)number ? (int64_t)number
                                                                                         : -1;
}

/* The tensor whose first `count` axes are those that `*` stands for; NULL: not known yet. */
typedef struct {
  const attn2c_tensor *tensor;
  int count;
} leading;

/* Compares an axis with the letters at *at, and moves *at past them. It finds a size that is the only
 * unknown one; several must be found before the last pass. */
static int fits_axis(const char **at, int64_t extent, int is_last, attn2c_reference_sizes n) {
  const int is_product = **at == '(';
  const char *text = *at + is_product;
  int64_t known = 1;
  int unknown = 0, letter = 0;
  do {
    const int each = *text++;
    if (each == '1') continue;
    if (n[each] > 0)
      known *= n[each];
    else
      letter = each, unknown++;
  } while (is_product && *text != ')');
  *at = text + is_product;
  if (unknown == 0) return known == extent;
  if (unknown > 1) return !is_last;
  n[letter] = extent / known;
  return extent % known == 0;
}

static int fits_tensor(const char *at, size_t length, const attn2c_tensor *tensor, leading *all, int is_last,
                       attn2c_reference_sizes n) {
  const int has_leading = *at == '*';
  int axes = 0, is_inside = 0;
  for (size_t i = (size_t)has_leading; i < length; i++) {
    if (!is_inside) axes++;
    if (at[i] == '(' || at[i] == ')') is_inside = at[i] == '(';
  }
  const int first = tensor->rank - axes;
  if (first < 0 || (first > 0 && !has_leading)) return 0;
  if (has_leading) {
    if (all->tensor && (all->count != first || !attn2c_reference_same(all->tensor, tensor, first))) return 0;
    *all = (leading){tensor, first};
    n['*'] = 1;
    for (int axis = 0; axis < first; axis++) n['*'] *= tensor->shape[axis];
    at++;
  }
  for (int axis = first; axis < tensor->rank; axis++)
    if (!fits_axis(&at, tensor->shape[axis], is_last, n)) return 0;
  return 1;
}

/* Sets the sizes of the words after the shapes. */
static int set_sizes(const attn2c_reference_call *call, const char *shapes, attn2c_reference_sizes n) {
  char name[32], rule[64];
  for (const char *at = strchr(shapes, '='); at; at = strchr(at + 1, '=')) {
    int64_t *size = &n[(int)at[-1]];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 1, " "), at + 1);
    *size = *name <= '9' ? *name - '0' : attn2c_reference_count(call, name, 0);
    snprintf(rule, sizeof rule, "%s must be at least 1", name);
    if (*size < 1) return attn2c_reference_fault(call, rule);
  }
  return ATTN2C_OK;
}

int attn2c_reference_fits(const attn2c_reference_call *call, const char *shapes, attn2c_reference_sizes n) {
  leading all = {NULL, 0};
  int fits = 1;
  if (set_sizes(call, shapes, n) != ATTN2C_OK) return 0;
  for (int letter = 0; letter < ATTN2C_LETTERS; letter++) fits &= n[letter] >= 0;
  for (int pass = 0; pass < 2; pass++) {
    int position = 0, is_result = 0;
    for (const char *at = shapes; !is_result && fits; position++) {
      is_result = strncmp(at, "-> ", 3) == 0;
      if (is_result) at += 3;
      const size_t length = strcspn(at, ", ");
      const attn2c_tensor *tensor =
          is_result ? attn2c_reference_result(call) : attn2c_reference_operand(call, position);
      if (tensor && *at != '?') fits = fits_tensor(at, length, tensor, &all, pass == 1, n);
      at += length + strspn(at + length, ", ");
    }
  }
  char rule[200];
  snprintf(rule, sizeof rule, "operands and result must have the shapes %s", shapes);
  if (!fits) attn2c_reference_fault(call, rule);
  return fits;
}
