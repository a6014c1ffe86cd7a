/* test_program.c - drives the emitted program's main, linked with the hand-written model: options, arrays,
 * exit codes, messages, full disks, a lack of memory. Each call runs in a child, as from a shell. */
#define main attn2c_program_main
#include "program/main.c"
#undef main

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_model.h"
#include "faults.h"
#include "formats/npy.h"
#include "base/readers.h"
#include "safetensors_write.h"
#include "program/options.h"
#include "long.h"
#include "scratch.h"

enum { MOST_WORDS = 24, LEAK = 99, Y_SLICE = FAKE_ROWS * FAKE_OUT, X_SLICE = FAKE_ROWS * FAKE_IN };
enum { PARTS = ATTN2C_HELP_OF_TEXTS | ATTN2C_HELP_OF_PICTURES | ATTN2C_HELP_OF_SOUNDS }; /* of the help */

static char out[1 << 16], err[1 << 16];
static const char *stdout_path; /* NULL: into `out`; "-": closed */
static long failing_allocation;
static int failing_persistently;

static char x_path[200], y_path[200], pooled_path[200], lengths_path[200], weights_path[200];
static float weight[FAKE_OUT * FAKE_IN], bias[FAKE_OUT];

static void redirect(int descriptor, const char *path, int flags) {
  const int opened = open(path, flags, 0600);
  if (opened < 0 || dup2(opened, descriptor) < 0) _exit(97);
  close(opened);
}

static void collect(const char *path, char *into, size_t room) {
  into[scratch_get(path, into, room - 1)] = '\0';
}

/* Runs the program with the words of one line; its exit code. */
static int program(const char *line) {
  static char words[1 << 12];
  char *argv[MOST_WORDS + 2] = {(char *)"out/fake/fake"}, out_path[200], err_path[200];
  int argc = 1, status;
  snprintf(words, sizeof words, "%s", line);
  for (char *word = strtok(words, " "); word != NULL && argc <= MOST_WORDS; word = strtok(NULL, " "))
    argv[argc++] = word;
  snprintf(out_path, sizeof out_path, "%s", scratch_path("stdout"));
  snprintf(err_path, sizeof err_path, "%s", scratch_path("stderr"));
  fflush(NULL);
  const pid_t child = fork();
  cr_assert(child >= 0);
  if (child == 0) {
    if (stdout_path != NULL && strcmp(stdout_path, "-") == 0) {
      close(1);
    } else {
      redirect(1, stdout_path != NULL ? stdout_path : out_path, O_WRONLY | O_CREAT | O_TRUNC);
    }
    redirect(2, err_path, O_WRONLY | O_CREAT | O_TRUNC);
    faults_clear();
    if (failing_allocation > 0) faults_allocation(failing_allocation, failing_persistently);
    status = attn2c_program_main(argc, argv);
    /* Blocks that a library made and the program freed count as less than none. */
    _exit(failing_allocation > 0 && faults_live_blocks() > 0 ? LEAK : status);
  }
  cr_assert_eq(waitpid(child, &status, 0), child);
  if (stdout_path == NULL) collect(out_path, out, sizeof out);
  collect(err_path, err, sizeof err);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 200 + WTERMSIG(status);
}

static int lines_of(const char *text) {
  int lines = 0;
  for (; *text != '\0'; text++) lines += *text == '\n';
  return lines;
}

static int programf(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int programf(const char *format, ...) {
  char line[2000];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  return program(line);
}

static void put_array(const char *path, attn2c_type type, int rank, const int64_t *shape,
                      const void *values) {
  cr_assert_eq(attn2c_npy_write(path, type, rank, shape, values, NULL), ATTN2C_OK);
}

static float x_value(int64_t i) { return (float)((i * 37) % 23) * 0.1f - 1.1f; }

static void put_x(int sequences) {
  const int64_t shape[] = {sequences, FAKE_ROWS, FAKE_IN};
  float *values = malloc(sizeof *values * (size_t)sequences * X_SLICE);
  cr_assert_not_null(values);
  for (int i = 0; i < sequences * X_SLICE; i++) values[i] = x_value(i);
  put_array(x_path, ATTN2C_F32, 3, shape, values);
  free(values);
}

static void put_lengths(int sequences, const int32_t *values) {
  const int64_t shape[] = {sequences};
  put_array(lengths_path, ATTN2C_I32, 1, shape, values);
}

static void put_weights(int with_bias, int with_more) {
  const int64_t matrix[] = {FAKE_OUT, FAKE_IN}, vector[] = {FAKE_OUT};
  safetensors_item items[3] = {{"fc.weight", 2, matrix, weight}};
  int count = 1;
  if (with_bias) items[count++] = (safetensors_item){"fc.bias", 1, vector, bias};
  if (with_more) items[count++] = (safetensors_item){"head.\x1b[31m", 1, vector, bias};
  cr_assert_eq(safetensors_write(weights_path, items, count, NULL), ATTN2C_OK);
}

static void setup(void) {
  scratch_open();
  snprintf(x_path, sizeof x_path, "%s", scratch_path("x.npy"));
  snprintf(y_path, sizeof y_path, "%s", scratch_path("y.npy"));
  snprintf(pooled_path, sizeof pooled_path, "%s", scratch_path("pooled.npy"));
  snprintf(lengths_path, sizeof lengths_path, "%s", scratch_path("lengths.npy"));
  snprintf(weights_path, sizeof weights_path, "%s", scratch_path("w.safetensors"));
  for (int i = 0; i < FAKE_OUT * FAKE_IN; i++) weight[i] = 0.05f * (float)((i * 29) % 31) - 0.7f;
  for (int i = 0; i < FAKE_OUT; i++) bias[i] = 0.1f * (float)i;
  const int32_t lengths[] = {3, 1};
  put_lengths(2, lengths);
  put_x(2);
  put_weights(1, 0);
  stdout_path = NULL;
  failing_allocation = 0;
}

TestSuite(program, .init = setup, .fini = scratch_close);

/* y of one sequence's row as the equation says, in double. */
static double expected_y(int sequence, int row, int column) {
  double sum = bias[column];
  for (int k = 0; k < FAKE_IN; k++) {
    sum += (double)weight[column * FAKE_IN + k] * x_value((sequence * FAKE_ROWS + row) * FAKE_IN + k);
  }
  return sum < 0.0 ? 0.0 : sum;
}

/* Verifies that y.npy holds that many sequences, and the right ones. */
static void expect_y(int sequences) {
  attn2c_npy array;
  cr_assert_eq(attn2c_npy_read(y_path, &array, NULL), ATTN2C_OK);
  cr_assert_eq(array.rank, 3);
  cr_assert_eq(array.shape[0], sequences);
  const float *y = array.data;
  for (int i = 0; i < sequences * Y_SLICE; i++) {
    const double want = expected_y(i / Y_SLICE, i / FAKE_OUT % FAKE_ROWS, i % FAKE_OUT);
    cr_assert_float_eq(y[i], want, 1e-5, "%d sequences, element %d: %g, expected %g", sequences, i, y[i],
                       want);
  }
  attn2c_npy_free(&array);
}

/* A command line that must be refused: the exit code, the lines on stderr, and a part of them. */
typedef struct {
  const char *line;
  int status, lines;
  const char *part;
} refusal;

static void expect_refusals(const refusal *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const int status = program(cases[i].line);
    cr_expect_eq(status, cases[i].status, "'%s' gave %d: %s", cases[i].line, status, err);
    cr_expect_eq(lines_of(err), cases[i].lines, "'%s' gave other lines: %s", cases[i].line, err);
    cr_expect_not_null(strstr(err, cases[i].part), "'%s' gave: %s", cases[i].line, err);
    cr_expect_eq(strncmp(err, "fake: ", 6), 0, "'%s' gave: %s", cases[i].line, err);
    cr_expect_str_empty(out, "'%s' printed: %s", cases[i].line, out);
  }
}

Test(program, refuses_wrong_usage) {
  static const refusal cases[] = {
      {"", 2, 1, "info, run, check, bench or pack"},
      {"walk", 2, 1, "no command 'walk'; allowed are info, run, check, bench and pack"},
      {"chek", 2, 1, "no command 'chek'; did you mean check?"},
      {"check --weigths x", 2, 1, "check: no option '--weigths'; did you mean --weights?"},
      {"run --sed=3 --txt x", 2, 2, "allowed are --weights, --input, --output, --entry, --verbose, --help"},
      {"--text x", 2, 1, "a command comes before '--text'; allowed are info, run, check, bench and pack"},
      {"run words", 2, 1, "run: 'words' is not an option; a value follows its option: --text WORD"},
      {"info --jso --fast", 2, 1, "info: no option '--fast'; allowed are --json, --licenses, --help"},
      {"pack", 2, 2, "pack: -o FILE is needed"},
      {"pack -o x", 2, 1, "pack: --weights F.safetensors is needed"},
      {"pack -o x -o y --weights w", 2, 1, "-o: given twice"},
      {"pack --weights w -o -", 2, 1, "-o -: a file is needed; /dev/stdout is the standard output"},
      {"pack --weights w -o w", 2, 1, "-o w: this file belongs to the weights"},
      {"pack --verify w --weights w", 2, 1, "--verify FILE allows no other option"},
      {"check --threads 1", 2, 1, "'--threads': this model was built for one thread; build it with"},
      {"run --model=w -x", 2, 2, "'--model=w'; did you mean --weights?\nfake: run: no option '-x'; allowed"},
      {"info --json=yes", 2, 1, "'--json=yes' has a value, but none is allowed"},
      {"info more", 2, 1, "'more' is not an option"},
      {"bench --length 0", 2, 1, "--length: '0', but a number of tokens from 1 is allowed"},
      {"run --weights", 2, 1, "--weights needs a value"},
      {"run --weights w --input x=a --input lengths=b", 2, 1, "nothing to write"},
      {"run", 2, 4, "nothing to write"},
      {"run --output y=z", 2, 3, "--input x=X.npy is needed: float32 [2, 3, 8]"},
      {"run --output y=z", 2, 3, "--input lengths=X.npy is needed: int32 [2], 1 to 3"},
      {"run --output y=z", 2, 3, "--weights F.safetensors is needed"},
      {"run --weights w --input x=a --input lengths=b --output z=c", 2, 1, "no such name; known: y, pooled"},
      {"run --weights w --input z=a --input lengths=b --output y=c", 2, 1, "no such name; known: x, lengths"},
      {"run --weights w --input a --input lengths=b --output y=c", 2, 1, "a name is needed, NAME=PATH"},
      {"run --weights w --input x=a --input lengths=b --input x=c --output y=d", 2, 1,
       "this one is given twice"},
      {"run --weights w --weights v --input x=a --input lengths=b --output y=c", 2, 1,
       "--weights: given twice"},
      {"run --weights w --input x= --input lengths=b --output y=c", 2, 1, "a path is needed"},
      {"run --weights w --input x=a --input lengths=b --output y=c --output pooled=c", 2, 1,
       "y is already written to it"},
      {"check --seed -1", 2, 1, "--seed: '-1', but 0 to 18446744073709551615 is allowed"},
      {"check --seed 18446744073709551616", 2, 1, "--seed"},
      {"check --input z=a", 2, 1, "no such name; known: x, lengths"},
      {"bench -r 0", 2, 1, "-r: '0', but 1 to 1000000 is allowed"},
      {"bench -r 3x -o xml", 2, 2, "-o: 'xml', but md, json or csv is allowed"},
      {"bench -r", 2, 1, "-r needs a value"},
  };
  expect_refusals(cases, sizeof cases / sizeof cases[0]);
}

Test(program, shows_help) {
  static const char *const lines[] = {"-h", "--help", "info -h", "run --help", "check -h", "bench -h"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    cr_expect_eq(program(lines[i]), 0);
    cr_expect_eq(strncmp(out, "Usage: fake ", 12), 0, "%s printed: %s", lines[i], out);
    cr_expect_str_empty(err);
  }
}

/* Each option of a command has its line in the help, and no line of options is wider than 100. */
Test(program, helps_with_each_option) {
  static const char *const names[] = {"info", "run", "check", "bench", "pack"};
  int count = 0;
  for (int command = 0; command < 5; command++) {
    cr_assert_eq(programf("%s --help", names[command]), 0, "%s", err);
    for (int i = 0; i < ATTN2C_OPTIONS; i++) {
      const attn2c_option *row = &attn2c_options[i];
      const unsigned own = row->help ? row->commands : 0;
      char label[80];
      if (own & PARTS || !(own >> (command + 1) & 1) || !attn2c_option_is_offered(row)) continue;
      snprintf(label, sizeof label, "\n  %s%s%s%s%s", row->letter ? row->letter : "", row->letter ? ", " : "",
               row->name, row->value ? " " : "", row->value ? row->value : "");
      cr_expect_not_null(strstr(out, label), "%s --help without%s: %s", names[command], label, out);
      count++;
    }
    const char *meaning = strstr(strstr(out, "\n  -"), "\n    "); /* a line that only goes on */
    const int column = meaning ? (int)strspn(meaning + 1, " ") : 0;
    for (const char *line = out; *line; line += strcspn(line, "\n") + 1) {
      const int width = (int)strcspn(line, "\n"), is_option = strncmp(line, "  -", 3) == 0;
      const int begins = !column || width <= column || (line[column - 1] == ' ' && line[column] != ' ');
      cr_expect(strncmp(line, "  ", 2) != 0 || (width <= 100 && (!is_option || begins)), "%s", line);
    }
  }
  cr_expect_geq(count, 26);
}

Test(program, runs_any_number_of_sequences) {
  fake_select(FAKE_ONE_INPUT);
  for (int sequences = 1; sequences <= 7; sequences++) {
    put_x(sequences);
    const int status = programf("run --weights %s --input %s --output %s", weights_path, x_path, y_path);
    cr_assert_eq(status, 0, "%s", err);
    cr_expect_str_empty(out);
    cr_expect_str_empty(err);
    expect_y(sequences);
  }
}

Test(program, runs_several_inputs_and_writes_what_is_asked_for) {
  const int32_t lengths[] = {3, 1, 2};
  put_x(3);
  put_lengths(3, lengths);
  cr_assert_eq(programf("run --weights %s --input lengths=%s --input x=%s --output pooled=%s", weights_path,
                        lengths_path, x_path, pooled_path),
               0, "%s", err);
  cr_expect_neq(access(y_path, F_OK), 0, "y was not asked for");
  attn2c_npy array;
  cr_assert_eq(attn2c_npy_read(pooled_path, &array, NULL), ATTN2C_OK);
  cr_assert_eq(array.rank, 2);
  cr_assert_eq(array.shape[0], 3);
  for (int s = 0; s < 3; s++) {
    for (int j = 0; j < FAKE_OUT; j++) {
      double sum = 0.0;
      for (int r = 0; r < lengths[s]; r++) sum += expected_y(s, r, j);
      cr_expect_float_eq(((const float *)array.data)[s * FAKE_OUT + j], sum / lengths[s], 1e-5);
    }
  }
  attn2c_npy_free(&array);
}

/* An input without a batch serves every sequence; an output without one has no meaning for several batches.
 */
Test(program, shares_an_input_among_all_batches) {
  const int64_t shape[] = {FAKE_OUT};
  const float gain[FAKE_OUT] = {1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f};
  fake_select(FAKE_SHARED);
  put_array(lengths_path, ATTN2C_F32, 1, shape, gain);
  put_x(5);
  cr_expect_eq(programf("run --weights %s --input gain=%s --input x=%s --output y=%s", weights_path,
                        lengths_path, x_path, y_path),
               0, "%s", err);
  expect_y(5);
  char line[2000];
  snprintf(line, sizeof line, "run --weights %s --input gain=%s --input x=%s --output y=%s --output total=%s",
           weights_path, lengths_path, x_path, y_path, pooled_path);
  cr_expect_eq(program(line), 2);
  cr_expect_not_null(strstr(err, "--output total: "), "%s", err);
  put_x(2);
  cr_expect_eq(program(line), 0, "%s", err);
  attn2c_npy array;
  cr_assert_eq(attn2c_npy_read(pooled_path, &array, NULL), ATTN2C_OK);
  cr_assert_eq(array.rank, 1);
  for (int j = 0; j < FAKE_OUT; j++) {
    double sum = 0.0;
    for (int row = 0; row < 2 * FAKE_ROWS; row++) sum += expected_y(row / FAKE_ROWS, row % FAKE_ROWS, j);
    cr_expect_float_eq(((const float *)array.data)[j], sum, 1e-5);
  }
  attn2c_npy_free(&array);
}

/* The kind decides, and not the leading dimension, which is the batch's by chance. */
Test(program, shares_an_input_whose_kind_says_so) {
  const int64_t shape[] = {FAKE_BATCH}, longer[] = {4};
  const float pair[4] = {0.0f, 1.0f, 0.0f, 0.0f};
  fake_select(FAKE_PAIR);
  put_array(lengths_path, ATTN2C_F32, 1, shape, pair);
  for (int sequences = 1; sequences <= 5; sequences++) {
    put_x(sequences);
    cr_expect_eq(programf("run --weights %s --input pair=%s --input x=%s --output %s", weights_path,
                          lengths_path, x_path, y_path),
                 0, "%s", err);
    expect_y(sequences);
  }
  put_array(lengths_path, ATTN2C_F32, 1, longer, pair);
  cr_expect_eq(programf("run --weights %s --input pair=%s --input x=%s --output %s", weights_path,
                        lengths_path, x_path, y_path),
               3);
  cr_expect_not_null(strstr(err, "pair: float32 [2] expected"), "%s", err);
  cr_expect_eq(program("info"), 0);
  cr_expect_not_null(strstr(out, "pair: float32 [2], one for all sequences\n"), "%s", out);
  cr_expect_eq(program("info --json"), 0);
  json_t *info = json_loads(out, 0, NULL);
  const json_t *in = json_object_get(json_array_get(json_object_get(info, "entries"), 0), "inputs");
  cr_expect(json_is_true(json_object_get(json_array_get(in, 0), "shared")));
  cr_expect_null(json_object_get(json_array_get(in, 1), "shared"));
  json_decref(info);
}

Test(program, takes_exactly_one_batch_where_no_input_has_one_in_front) {
  fake_select(FAKE_WHOLE);
  put_x(2);
  cr_expect_eq(programf("run --weights %s --input %s --output %s", weights_path, x_path, y_path), 0, "%s",
               err);
  expect_y(2);
  for (int sequences = 1; sequences <= 4; sequences += 3) {
    put_x(sequences);
    cr_expect_eq(programf("run --weights %s --input %s --output %s", weights_path, x_path, y_path), 3);
    cr_expect_not_null(strstr(err, "x: float32 [2, 3, 8] expected"), "%s", err);
  }
}

Test(program, runs_without_weights_where_there_are_none) {
  fake_select(FAKE_NO_WEIGHTS);
  cr_expect_eq(programf("run --input x=%s --output relu=%s", x_path, y_path), 0, "%s", err);
}

Test(program, names_a_length_out_of_range) {
  const int32_t lengths[] = {3, 1, 0, 4};
  put_x(4);
  put_lengths(4, lengths);
  cr_expect_eq(programf("run --weights %s --input lengths=%s --input x=%s --output y=%s", weights_path,
                        lengths_path, x_path, y_path),
               3);
  cr_expect_str_eq(err, "fake: lengths[2]: 0, but 1 to 3 is allowed\n");
  const int32_t longer[] = {3, 1, 1, 4};
  put_lengths(4, longer);
  cr_expect_eq(programf("run --weights %s --input lengths=%s --input x=%s --output y=%s", weights_path,
                        lengths_path, x_path, y_path),
               3);
  cr_expect_str_eq(err, "fake: lengths[3]: 4, but 1 to 3 is allowed\n");
  cr_expect_neq(access(y_path, F_OK), 0);
}

Test(program, refuses_inputs_that_do_not_fit) {
  const int64_t rank_two[] = {6, FAKE_IN}, narrow[] = {2, FAKE_ROWS, FAKE_IN - 1};
  float values[2 * X_SLICE] = {0};
  put_x(3);
  char whole[2000];
  snprintf(whole, sizeof whole, "run --weights %s --input lengths=%s --input x=%s --output y=%s",
           weights_path, lengths_path, x_path, y_path);
  cr_expect_eq(program(whole), 3);
  cr_expect_not_null(strstr(err, "lengths: 2 sequences, but x has 3"), "%s", err);
  put_array(x_path, ATTN2C_F32, 2, rank_two, values);
  cr_expect_eq(program(whole), 3);
  cr_expect_not_null(strstr(err, "x: float32 [2, 3, 8] expected"), "%s", err);
  put_array(x_path, ATTN2C_F32, 3, narrow, values);
  cr_expect_eq(program(whole), 3);
  cr_expect_not_null(strstr(err, "[2, 3, 7]"), "%s", err);
  scratch_put(x_path, "none", 4);
  cr_expect_eq(program(whole), 3);
  cr_expect_eq(lines_of(err), 1);
  cr_expect_eq(unlink(x_path), 0);
  cr_expect_eq(program(whole), 4);
  cr_expect_eq(lines_of(err), 1);
  put_x(2);
  put_weights(0, 0);
  cr_expect_eq(program(whole), 3);
  cr_expect_not_null(strstr(err, "fc.bias"), "%s", err);
  cr_expect_neq(access(y_path, F_OK), 0);
}

Test(program, names_unused_tensors_when_asked) {
  fake_select(FAKE_ONE_INPUT);
  put_weights(1, 1);
  cr_expect_eq(programf("run --weights %s --input %s --output %s", weights_path, x_path, y_path), 0);
  cr_expect_str_empty(err);
  cr_expect_eq(programf("run -v --weights %s --input %s --output %s", weights_path, x_path, y_path), 0);
  cr_expect_eq(lines_of(err), 2, "%s", err);
  cr_expect_not_null(strstr(err, "1 tensor not used"), "%s", err);
  cr_expect_not_null(strstr(err, "not used: head.?[31m"), "%s", err);
}

Test(program, reports_outputs_that_fail) {
  fake_select(FAKE_ONE_INPUT);
  const int files = scratch_count();
  cr_expect_eq(programf("run --weights %s --input %s --output /dev/full", weights_path, x_path), 4);
  cr_expect_eq(lines_of(err), 1, "%s", err);
  cr_expect_eq(programf("run --weights %s --input %s --output %s/none/y.npy", weights_path, x_path, x_path),
               4);
  cr_expect_leq(scratch_count(), files + 2, "only the two streams' files are new");
  static const char *const lines[] = {"info",   "info --json", "info --licenses",
                                      "--help", "check",       "bench -r 1"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    stdout_path = "/dev/full";
    cr_expect_eq(program(lines[i]), 4, "%s on a full disk: %s", lines[i], err);
    cr_expect_eq(lines_of(err), 1, "%s", err);
    stdout_path = "-";
    cr_expect_eq(program(lines[i]), 4, "%s without stdout: %s", lines[i], err);
  }
  cr_expect_eq(programf("run --weights %s --input %s --output %s", weights_path, x_path, y_path), 0);
  expect_y(2);
}

Test(program, tells_what_it_is) {
  cr_expect_eq(program("info"), 0);
  cr_expect_not_null(strstr(out, "x: float32 [2, 3, 8]"), "%s", out);
  cr_expect_not_null(strstr(out, "lengths: int32 [2], 1 to 3"), "%s", out);
  cr_expect_not_null(strstr(out, "54 parameters"), "%s", out);
  cr_expect_not_null(strstr(out, "do not help"), "%s", out);
  cr_expect_eq(program("info --json"), 0);
  json_t *info = json_loads(out, JSON_REJECT_DUPLICATES, NULL);
  cr_assert_not_null(info);
  cr_expect_str_eq(json_string_value(json_object_get(info, "name")), "fake");
  cr_expect_eq(json_integer_value(json_object_get(info, "parameters")), 54);
  cr_expect_eq(json_integer_value(json_object_get(info, "arena_bytes")), 6 * 16 * 4);
  cr_expect_eq(json_integer_value(json_object_get(info, "weight_bytes")), 9 * 16 * 4);
  cr_expect_eq(json_integer_value(json_object_get(info, "kernels")), 1);
  cr_expect_eq(json_array_size(json_object_get(info, "kernel_shapes")), 1);
  const json_t *second = json_object_get(info, "second_thread");
  cr_expect(json_is_false(json_object_get(second, "pays")));
  cr_expect_eq(json_real_value(json_object_get(second, "share")), 0.0);
  const json_t *entry = json_array_get(json_object_get(info, "entries"), 0);
  cr_expect_eq(json_integer_value(json_object_get(entry, "flops")), 576);
  const json_t *lengths = json_array_get(json_object_get(entry, "inputs"), 1);
  cr_expect_eq(json_integer_value(json_object_get(lengths, "maximum")), 3);
  json_decref(info);
  cr_expect_eq(program("info --licenses"), 0);
  cr_expect_not_null(strstr(out, "attn2c: MIT licence"));
  cr_expect_null(strstr(out, "Intel Corporation"), "libxsmm is not in this program");
  cr_expect_not_null(strstr(out, "Petri Lehtinen"));
}

Test(program, checks_against_the_reference) {
  cr_expect_eq(program("check"), 0, "%s%s", out, err);
  cr_expect_not_null(strstr(out, " 0 failed"), "%s", out);
  cr_expect_eq(programf("check --json --seed 7 --weights %s --input x=%s", weights_path, x_path), 0, "%s",
               err);
  json_t *result = json_loads(out, 0, NULL);
  cr_assert_not_null(result, "%s", out);
  cr_expect_eq(json_integer_value(json_object_get(result, "failed")), 0);
  json_decref(result);
  put_x(3);
  cr_expect_eq(programf("check --input x=%s", x_path), 3, "check takes exactly a batch");
  put_x(2);
  fake_select(FAKE_WRONG);
  cr_expect_eq(programf("check --seed 3 --input x=%s", x_path), 1);
  char repeat[600];
  snprintf(repeat, sizeof repeat, "out/fake/fake check --seed 3 --input x=%s", x_path);
  cr_expect(strstr(out, repeat) != NULL || strstr(err, repeat) != NULL, "%s%s", out, err);
}

Test(program, benches_with_exactly_these_keys) {
  static const char *const keys[] = {
      "model",          "entry",        "threads", "target",  "ms_median",   "ms_min",
      "ms_sd",          "reps",         "flops",   "gflops",  "roof_gflops", "roof_fraction",
      "arena_bytes",    "weight_bytes", "kernels", "open_ms", "first_ms",    "open_peak_bytes",
      "ms_percentiles", "precision",    "ms_p95",  "ms_p99",  "peak_gflops"};
  cr_expect_eq(program("bench -r 3 -o json"), 0, "%s", err);
  json_t *row = json_loads(out, JSON_REJECT_DUPLICATES, NULL);
  cr_assert_not_null(row, "%s", out);
  cr_expect_eq(json_object_size(row), sizeof keys / sizeof keys[0]);
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) cr_expect_not_null(json_object_get(row, keys[i]));
  cr_expect_eq(json_integer_value(json_object_get(row, "reps")), 3);
  cr_expect_gt(json_real_value(json_object_get(row, "ms_median")), 0.0);
  const double speed = 576.0 / (1e6 * json_number_value(json_object_get(row, "ms_median")));
  cr_expect_float_eq(json_number_value(json_object_get(row, "gflops")) / speed, 1.0, 0.01);
  cr_expect_gt(json_integer_value(json_object_get(row, "open_peak_bytes")), 100000);
  json_decref(row);
  cr_expect_eq(program("bench -r 3 -o csv"), 0, "%s", err);
  cr_expect_eq(lines_of(out), 2, "%s", out);
  cr_expect_eq(program("bench -r 3"), 0, "%s", err);
  cr_expect_not_null(strstr(out, "| fake | forward | 1 | x86_64 |"), "%s", out);
}

Test(program, compares_with_an_earlier_bench) {
  char path[200], line[600];
  snprintf(path, sizeof path, "%s", scratch_path("old.json"));
  cr_assert_eq(program("bench -r 3 -o json"), 0, "%s", err);
  scratch_put(path, out, strlen(out));
  cr_expect_eq(programf("bench -r 3 --compare %s", path), 0, "%s", err);
  cr_expect_not_null(strstr(out, "| model | entry | threads | old ms | new ms | new / old | difference |"));
  cr_expect(strstr(out, "the spread |") != NULL, "%s", out);
  static const char row[] = "{\"model\": \"%s\", \"entry\": \"forward\", \"threads\": 1, \"ms_median\": %s, "
                            "\"ms_sd\": 0.0}\n";
  snprintf(line, sizeof line, row, "fake", "1e9");
  scratch_put(path, line, strlen(line));
  cr_expect_eq(programf("bench -r 3 --compare %s", path), 0, "%s", err);
  cr_expect_not_null(strstr(out, "faster, by more than the spread"), "%s", out);
  snprintf(line, sizeof line, row, "fake", "1e-9");
  scratch_put(path, line, strlen(line));
  cr_expect_eq(programf("bench -r 3 --compare %s", path), 0, "a ratio is no failure");
  snprintf(line, sizeof line, row, "another", "1");
  scratch_put(path, line, strlen(line));
  cr_expect_eq(programf("bench -r 3 --compare %s", path), 0, "%s", err);
  cr_expect_not_null(strstr(out, "no such row"), "%s", out);
  cr_expect_eq(programf("bench -r 3 -o csv --compare %s", path), 2);
  cr_expect_eq(programf("bench -r 3 --compare %s.none", path), 4);
}

Test(program, refuses_what_no_bench_wrote) {
  static const char *const texts[] = {
      "",
      "{",
      "[]",
      "1",
      "null",
      "{}",
      "{}{}",
      "\x1b[31m",
      "\xff\xfe",
      "{\"model\": 1}",
      "{\"model\": \"fake\", \"entry\": \"\"}",
      "{\"model\": \"fake\", \"entry\": \"forward\", \"threads\": 1.5}",
      "{\"model\": \"fake\", \"entry\": \"forward\", \"threads\": 99999}",
      "{\"model\": \"fake\", \"model\": \"fake\"}",
      "{\"model\": \"fake\", \"entry\": \"forward\", \"threads\": 1, \"ms_median\": 1, \"ms_sd\": 0, "
      "\"ms_sd\": 1}",
      "{\"model\": \"fake\", \"entry\": \"forward\", \"threads\": 1, \"ms_median\": 0, \"ms_sd\": 0}",
      "{\"model\": \"fake\", \"entry\": \"forward\", \"threads\": 1, \"ms_median\": 1e999, \"ms_sd\": 0}",
      "{\"model\": \"fake\", \"entry\": \"forward\", \"threads\": 1, \"ms_median\": 1, \"ms_sd\": -1}",
      "{\"model\": \"fake\", \"entry\": \"forward\", \"threads\": 1, \"ms_median\": 1, \"ms_sd\": 0} "
      "{\"model",
      "{\"model\": \"fake\", \"entry\": \"forward\", \"threads\": 1, \"ms_median\": 1, \"ms_sd\": 0} x"};
  char path[200];
  snprintf(path, sizeof path, "%s", scratch_path("old.json"));
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    scratch_put(path, texts[i], strlen(texts[i]));
    cr_expect_eq(programf("bench -r 3 --compare %s", path), 3, "%s: %s", texts[i], err);
    cr_expect_eq(lines_of(err), 1, "%s: %s", texts[i], err);
    cr_expect_null(strchr(err, '\x1b'), "%s", err);
    cr_expect_eq(lines_of(out), 0, "nothing is timed: %s", out);
  }
  char *deep = malloc(100001);
  cr_assert_not_null(deep);
  memset(deep, '[', 100000);
  scratch_put(path, deep, 100000);
  free(deep);
  cr_expect_eq(programf("bench -r 3 --compare %s", path), 3, "%s", err);
}

Test(program, says_its_version) {
  cr_expect_eq(program("--version"), 0, "%s", err);
  cr_expect_str_eq(out, "fake, compiled by attn2c by hand from fake.lua (0123456789abcdef) for x86_64\n");
}

Test(program, plants_nan) {
  cr_expect_eq(program("check --nan"), 0, "%s%s", out, err);
  cr_expect_not_null(strstr(out, "NaN in x "), "%s", out);
  cr_expect_not_null(strstr(out, "NaN in x, hidden by lengths"), "%s", out);
  cr_expect_not_null(strstr(out, "6 passed, 0 failed"), "%s", out);
  fake_select(FAKE_NOT_FINITE);
  cr_expect_eq(program("check --nan --seed 3"), 1, "%s%s", out, err);
  cr_expect_not_null(strstr(out, "repeat: out/fake/fake check --seed 3 --nan"), "%s", out);
  cr_expect_eq(program("check --nan --json"), 1, "%s%s", out, err);
}

Test(program, profiles_by_op_and_section) {
  cr_expect_eq(program("bench -r 3 --profile -o json"), 0, "%s", err);
  json_t *row = json_loads(out, JSON_REJECT_DUPLICATES, NULL);
  const json_t *profile = json_object_get(row, "profile");
  cr_assert_not_null(profile, "%s", out);
  cr_expect_eq(json_array_size(json_object_get(profile, "ops")), 3);
  cr_expect_eq(json_array_size(json_object_get(profile, "sections")), 2);
  cr_expect_eq(json_array_size(json_object_get(profile, "results")), 3);
  double share = 0.0, flops = 0.0;
  for (size_t i = 0; i < 2; i++)
    flops +=
        json_number_value(json_object_get(json_array_get(json_object_get(profile, "sections"), i), "flops"));
  cr_expect_float_eq(flops, 576.0, 1e-9);
  for (size_t i = 0; i < 3; i++) {
    share += json_number_value(json_object_get(json_array_get(json_object_get(profile, "ops"), i), "share"));
  }
  cr_expect_float_eq(share, 1.0, 1e-4);
  json_decref(row);
  cr_expect_eq(program("bench -r 3 --profile"), 0);
  cr_expect_not_null(strstr(out, "| linear"), "%s", out);
  cr_expect_not_null(strstr(out, "| layer 0"), "%s", out);
  cr_expect_eq(program("bench -r 3 --profile -o csv"), 0);
  cr_expect_eq(lines_of(out), 12, "%s", out);
}

/* Without libxsmm no kernels are made at run time, so here the bound is not available. */
Test(program, says_where_there_is_no_bound) {
  cr_expect_eq(program("bench -r 3 --bound -o json"), 0, "%s", err);
  json_t *row = json_loads(out, JSON_REJECT_DUPLICATES, NULL);
  cr_assert_not_null(row, "%s", out);
  cr_expect(json_is_null(json_object_get(row, "bound_ms")));
  cr_expect(json_is_null(json_object_get(row, "bound_fraction")));
  cr_expect_eq(json_array_size(json_object_get(row, "bound")), 0);
  json_decref(row);
  cr_expect_eq(program("bench -r 3 --bound"), 0);
  cr_expect_not_null(strstr(out, "\nforward: bound n/a"), "%s", out);
}

Test(program, times_nothing_that_is_wrong) {
  static const struct {
    fake_form form;
    int status;
    const char *part;
  } cases[] = {
      {FAKE_NOT_FINITE, 1, "bench: y[0][1][1] is nan, but finite is expected"},
      {FAKE_UNSTEADY, 1, "bench: y[0][1][1] differs between two calls"},
      {FAKE_UNLIKE, 1, "bench: y[0][1][1] differs between the model and its trace variant"},
      {FAKE_UNWRITTEN, 1, "bench: y[1][2][5] differs between two calls"},
      {FAKE_WRONG, 1, "bench: differs from the reference"},
      {FAKE_FAILING, 3, "bench: forward: a malformed input"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fake_select(cases[i].form);
    cr_expect_eq(program("bench -r 3"), cases[i].status, "%s", err);
    cr_expect_not_null(strstr(err, cases[i].part), "%s", err);
    cr_expect_str_empty(out);
  }
}

/* Each allocation (some of bench, which starts processes) fails, also with all after it: nothing is left. */
static void expect_survival(const char *line, int least_allocations) {
  for (failing_persistently = 0; failing_persistently < 2; failing_persistently++) {
    int status = ATTN2C_MEMORY, step = is_long() || strncmp(line, "bench", 5) ? 1 : 4 + failing_persistently;
    for (failing_allocation = 1; failing_allocation < 1000; failing_allocation += step) {
      unlink(y_path);
      status = program(line);
      if (status == ATTN2C_OK) break;
      cr_assert_eq(status, ATTN2C_MEMORY, "%s: allocation %ld: %d: %s", line, failing_allocation, status,
                   err);
      cr_assert_geq(lines_of(err), 1);
      cr_assert_neq(access(y_path, F_OK), 0);
    }
    cr_expect_gt(failing_allocation, least_allocations, "%s: %ld", line, failing_allocation);
    cr_expect_eq(status, ATTN2C_OK);
  }
}

Test(program, survives_a_lack_of_memory) {
  const int32_t lengths[] = {3, 1, 2};
  char line[2000];
  snprintf(line, sizeof line, "run --weights %s --input lengths=%s --input x=%s --output y=%s", weights_path,
           lengths_path, x_path, y_path);
  put_x(3);
  put_lengths(3, lengths);
  expect_survival(line, 15);
  expect_survival("check", 10);
  expect_survival("check --nan", 10);
  char old[200];
  snprintf(old, sizeof old, "%s", scratch_path("old.json"));
  cr_assert_eq(program("bench -r 3 -o json"), 0, "%s", err);
  scratch_put(old, out, strlen(out));
  snprintf(line, sizeof line, "bench -r 1 --compare %s", old);
  expect_survival(line, 15);
  expect_survival("bench -r 1 --profile", 15);
  expect_survival("bench -r 1 --bound", 20);
}
