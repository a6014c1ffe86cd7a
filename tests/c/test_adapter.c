/* test_adapter.c - LoRA adapters that are merged while a checkpoint is read (reading/adapter.c): against
 * plain sums, whole, by parts of rows, of tensors stored either way, and where tensors do not fit or memory
 * fails. */
#define _DEFAULT_SOURCE
#include "readers.h"
#include "faults.h"
#include "reading/adapter.h"
#include "safetensors_write.h"
#include "scratch.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { OUT = 3, IN = 5, RANK = 2, TASKS = 3, MOST = 64 };
static const int64_t by_out[] = {OUT, IN}, by_in[] = {IN, OUT}, outputs_shape[] = {OUT, RANK};
static const int64_t inputs_shape[] = {RANK, IN}, out_shape[] = {OUT}, tasks_a[] = {TASKS, RANK, IN};
static const int64_t tasks_b[] = {TASKS, OUT, RANK};
static float numbers[8][MOST]; /* tensors of random values */
static char text[1024];
static unsigned char adapter_bytes[8192];

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
static const attn2c_merge merges[] = {
    {NAMES("none.w", "w"), NULL, "b", "a", NULL, 1.5, RANK, 0, -1},
    {NAMES("turned"), NULL, "b", "a", NULL, -0.5, RANK, 1, -1},
    {NAMES("long"), NULL, "b", "a", "m", 2, RANK, 0, -1},
    {NAMES("new"), "base", NULL, NULL, NULL, 1, 0, 0, -1},
    {NAMES("both"), "base", "b", "a", NULL, 1.5, RANK, 0, -1},
    {NAMES("long_turned"), NULL, "b", "a", "m", 2, RANK, 1, -1},
    {NAMES("absent"), "base", NULL, NULL, NULL, 1, 0, 0, -1},
};
static const attn2c_merge of_task = {NAMES("w"), NULL, "tasks.b", "tasks.a", NULL, 1.5, RANK, 0, 1};
static attn2c_adapter adapter;
static attn2c_readers readers;

static const char *const names[] = {"w", "turned", "long", "new", "both", "long_turned"};

static void fill(void) {
  unsigned state = 7;
  for (int t = 0; t < 8; t++)
    for (int i = 0; i < MOST; i++) {
      state = state * 1664525u + 1013904223u;
      numbers[t][i] = (float)(state >> 16) / 32768.0f - 1.0f;
    }
}

/* Writes the checkpoint and an adapter; a: the shape of its factor of inputs. */
static void prepare(const int64_t *a) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  fill();
  const safetensors_item base[] = {{"both", 2, by_out, numbers[0]},       {"long", 2, by_out, numbers[0]},
                                   {"long_turned", 2, by_in, numbers[0]}, {"new", 2, by_out, numbers[0]},
                                   {"plain", 2, by_out, numbers[0]},      {"tasks.a", 3, tasks_a, numbers[5]},
                                   {"tasks.b", 3, tasks_b, numbers[6]},   {"turned", 2, by_in, numbers[0]},
                                   {"w", 2, by_out, numbers[0]}};
  const safetensors_item own[] = {{"a", 2, a, numbers[1]},
                                  {"b", 2, outputs_shape, numbers[2]},
                                  {"base", 2, by_out, numbers[3]},
                                  {"m", 1, out_shape, numbers[4]}};
  cr_assert_eq(safetensors_write(scratch_path("base"), base, 9, &message), ATTN2C_OK, "%s", text);
  cr_assert_eq(safetensors_write(scratch_path("own"), own, 4, &message), ATTN2C_OK, "%s", text);
  FILE *file = fopen(scratch_path("own"), "rb");
  cr_assert_not_null(file);
  const size_t size = fread(adapter_bytes, 1, sizeof adapter_bytes, file);
  fclose(file);
  readers = all_readers;
  adapter = (attn2c_adapter){&attn2c_lora_reader, merges, 7, adapter_bytes, adapter_bytes + size};
  readers.adapter = &adapter;
}

static int open_base(attn2c_checkpoint **checkpoint) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  return attn2c_checkpoint_open(scratch_path("base"), &readers, checkpoint, &message);
}

/* scale times element (o, i) of the product of factors. */
static double product(const float *b, const float *a, int o, int i, double scale) {
  double sum = 0;
  for (int k = 0; k < RANK; k++) sum += (double)b[o * RANK + k] * (double)a[k * IN + i];
  return scale * sum;
}

/* Element (o, i) of a changed tensor. */
static double want(int tensor, int o, int i) {
  const float *w = numbers[0], *a = numbers[1], *b = numbers[2], *base = numbers[3];
  if (tensor == 1) return (double)w[i * OUT + o] + product(b, a, o, i, -0.5);
  if (tensor == 3) return base[o * IN + i];
  if (tensor == 4) return (double)base[o * IN + i] + product(b, a, o, i, 1.5);
  if (tensor == 0) return (double)w[o * IN + i] + product(b, a, o, i, 1.5);
  const int step = tensor == 5 ? OUT : 1, first = tensor == 5 ? o : o * IN; /* of an output's weights */
  double squares = 0;
  for (int j = 0; j < IN; j++) squares += pow((double)w[first + j * step] + product(b, a, o, j, 2), 2);
  return (double)numbers[4][o] * ((double)w[first + i * step] + product(b, a, o, i, 2)) / sqrt(squares);
}

static int read_values(const attn2c_checkpoint *checkpoint, const char *name, int first, int count,
                       float *values) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  return attn2c_checkpoint_read(checkpoint, attn2c_checkpoint_find(checkpoint, name), first, count, values,
                                &message);
}

TestSuite(adapter, .init = scratch_open, .fini = scratch_close);

Test(adapter, changes_tensors_whole_and_by_parts) {
  attn2c_checkpoint *checkpoint;
  float values[OUT * IN];
  prepare(inputs_shape);
  cr_assert_eq(open_base(&checkpoint), ATTN2C_OK, "%s", text);
  for (int first = 0; first < OUT * IN; first++)
    for (int count = 1; first + count <= OUT * IN; count += 3)
      for (int t = 0; t < 6; t++) {
        cr_assert_eq(read_values(checkpoint, names[t], first, count, values), ATTN2C_OK, "%s", text);
        for (int e = 0; e < count; e++) {
          const int at = first + e, turned = t == 1 || t == 5;
          const int o = turned ? at % OUT : at / IN, i = turned ? at / OUT : at % IN;
          cr_assert(fabs((double)values[e] - want(t, o, i)) <= 1e-6, "%s[%d]: %g, not %g", names[t], at,
                    (double)values[e], want(t, o, i));
        }
      }
  cr_assert_eq(read_values(checkpoint, "plain", 0, OUT * IN, values), ATTN2C_OK);
  cr_assert_eq(memcmp(values, numbers[0], sizeof values), 0);
  attn2c_checkpoint_close(checkpoint);
}

Test(adapter, takes_the_part_of_a_task_from_the_checkpoint) {
  attn2c_checkpoint *checkpoint;
  float values[OUT * IN];
  prepare(inputs_shape);
  adapter = (attn2c_adapter){&attn2c_lora_reader, &of_task, 1, NULL, NULL};
  cr_assert_eq(open_base(&checkpoint), ATTN2C_OK, "%s", text);
  cr_assert_eq(read_values(checkpoint, "w", 0, OUT * IN, values), ATTN2C_OK, "%s", text);
  for (int e = 0; e < OUT * IN; e++) {
    const double is =
        (double)numbers[0][e] + product(numbers[6] + OUT * RANK, numbers[5] + RANK * IN, e / IN, e % IN, 1.5);
    cr_assert(fabs((double)values[e] - is) <= 1e-6, "[%d]: %g, not %g", e, (double)values[e], is);
  }
  attn2c_checkpoint_close(checkpoint);
}

Test(adapter, refuses_tensors_that_do_not_fit) {
  static const int64_t wide[] = {RANK, IN + 1};
  attn2c_checkpoint *checkpoint;
  prepare(wide);
  cr_assert_eq(open_base(&checkpoint), ATTN2C_FORMAT);
  cr_assert_not_null(strstr(text, "adapter: a: F32 [2, 6], but 10 numbers are expected"), "%s", text);
  prepare(inputs_shape);
  attn2c_merge other = of_task;
  other.part = TASKS;
  adapter = (attn2c_adapter){&attn2c_lora_reader, &other, 1, NULL, NULL};
  cr_assert_eq(open_base(&checkpoint), ATTN2C_FORMAT);
  other.part = 0, other.inputs = "c";
  cr_assert_eq(open_base(&checkpoint), ATTN2C_FORMAT);
  cr_assert_not_null(strstr(text, "adapter: c: missing"), "%s", text);
}

Test(adapter, the_nth_allocation_or_read_fails) {
  prepare(inputs_shape);
  for (int reads = 0; reads < 2; reads++) {
    int nth = 1;
    for (;; nth++) {
      float values[OUT * IN];
      attn2c_checkpoint *checkpoint = NULL;
      faults_clear();
      if (reads)
        faults_read(nth, FAULT_ERROR, 0);
      else
        faults_allocation(nth, 0);
      int status = open_base(&checkpoint);
      for (int t = 0; t < 6 && !status; t++) status = read_values(checkpoint, names[t], 0, OUT * IN, values);
      attn2c_checkpoint_close(checkpoint);
      cr_assert_eq(faults_live_blocks(), 0);
      if (faults_met() == 0) break;
      cr_assert_eq(status, reads ? ATTN2C_IO : ATTN2C_MEMORY, "%d: %d, %s", nth, status, text);
    }
    cr_assert(nth > 6, "%d were made", nth - 1);
  }
}
