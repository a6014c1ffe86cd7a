/* test_bench_compare.c - old and new times side by side: which differences count as more than the spread.
 * The times are given, so that what the machine does beside the test changes nothing. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "program/bench/bench.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Returns the text that the comparison of an old median and deviation with a new median prints; free it. */
static char *compared(double old_ms, double old_deviation, double new_ms, double new_deviation) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  cr_assert_not_null(out);
  char model_name[] = "m", entry_name[] = "forward";
  attn2c_old_row row = {model_name, entry_name, 2, old_ms, old_deviation};
  const attn2c_old_rows old = {.path = "old.json", .rows = &row, .count = 1};
  const attn2c_descriptor model = {.name = "m", .threads = 2};
  const attn2c_entry entry = {.name = "forward"};
  const attn2c_bench_result result = {
      .model = &model, .entry = &entry, .threads = 2, .ms = {.median = new_ms, .deviation = new_deviation}};
  attn2c_bench_compare(&old, &result, 1, out);
  fclose(out);
  return text;
}

static void expect(const char *verdict, double old_ms, double old_deviation, double new_ms,
                   double new_deviation) {
  char *text = compared(old_ms, old_deviation, new_ms, new_deviation);
  cr_expect_not_null(strstr(text, verdict), "%s", text);
  free(text);
}

Test(bench_compare, tells_a_difference_from_the_spread) {
  /* The deviation of the difference is 5 where the times' are 3 and 4; twice it is 10. */
  expect("| 1.090 | within the spread |", 100.0, 3.0, 109.0, 4.0);
  expect("| 1.110 | slower, by more than the spread |", 100.0, 3.0, 111.0, 4.0);
  expect("| 0.910 | within the spread |", 100.0, 3.0, 91.0, 4.0);
  expect("| 0.890 | faster, by more than the spread |", 100.0, 3.0, 89.0, 4.0);
}

Test(bench_compare, says_which_times) {
  expect("| m | forward | 2 | 100 ± 3 | 109 ± 4 |", 100.0, 3.0, 109.0, 4.0);
}

/* The later of two benches in one file counts, and times with other threads are others. */
Test(bench_compare, of_two_rows_takes_the_last_of_its_kind) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  cr_assert_not_null(out);
  char model_name[] = "m", entry_name[] = "forward", other[] = "forward_8";
  attn2c_old_row rows[] = {{model_name, entry_name, 2, 100.0, 1.0},
                           {model_name, entry_name, 2, 50.0, 1.0},
                           {model_name, entry_name, 4, 25.0, 1.0},
                           {model_name, other, 2, 12.5, 1.0}};
  const attn2c_old_rows old = {.path = "old.json", .rows = rows, .count = 4};
  const attn2c_descriptor model = {.name = "m", .threads = 2};
  const attn2c_entry entry = {.name = "forward"};
  const attn2c_bench_result result = {
      .model = &model, .entry = &entry, .threads = 2, .ms = {.median = 50.0, .deviation = 1.0}};
  attn2c_bench_compare(&old, &result, 1, out);
  fclose(out);
  cr_expect_not_null(strstr(text, "| 50 ± 1 | 50 ± 1 | 1.000 | within the spread |"), "%s", text);
  free(text);
}
