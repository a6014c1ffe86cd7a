/* test_bench.c - the parts of the bench that can be judged without a clock: statistics,
 * the number of repetitions, the grouping of a profile, the forms of the report; and that
 * the roof is a positive rate which repeats. */
#define _POSIX_C_SOURCE 200809L
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program/bench/bench.h"
#include "program/inputs.h"
#include "measure/bandwidth.h"
#include "measure/parts.h"
#include "measure/peak.h"
#include "measure/roof.h"

Test(bench, spread_of_odd_and_even_counts) {
  double odd[] = {5.0, 1.0, 3.0}, even[] = {4.0, 1.0, 2.0, 9.0}, one[] = {7.0};
  attn2c_spread spread = attn2c_spread_of(odd, 3);
  cr_expect_eq(spread.median, 3.0);
  cr_expect_eq(spread.minimum, 1.0);
  cr_expect_eq(spread.deviation, 2.0);
  spread = attn2c_spread_of(even, 4);
  cr_expect_eq(spread.median, 3.0);
  cr_expect_float_eq(spread.deviation, sqrt(38.0 / 3.0), 1e-12);
  spread = attn2c_spread_of(one, 1);
  cr_expect_eq(spread.median, 7.0);
  cr_expect_eq(spread.deviation, 0.0);
  spread = attn2c_spread_of(NULL, 0);
  cr_expect_eq(spread.median, 0.0);
  cr_expect_eq(spread.p99, 0.0);
}

Test(bench, percentiles_lie_between_samples) {
  double samples[101], two[] = {3.0, 1.0};
  for (int i = 0; i < 101; i++) samples[i] = (double)((i * 37) % 101);
  const attn2c_spread spread = attn2c_spread_of(samples, 101);
  cr_expect_float_eq(spread.p95, 95.0, 1e-9);
  cr_expect_float_eq(spread.p99, 99.0, 1e-9);
  cr_expect_float_eq(attn2c_spread_of(two, 2).p95, 2.9, 1e-9);
}

static double peak(void) { return attn2c_peak_round(); }

Test(bench, peak_of_the_multipliers) {
  static const attn2c_kernel_shape none[] = {{.m = 0}};
  const attn2c_roofs roofs = {none, peak};
  attn2c_roof *roof;
  cr_assert_eq(attn2c_roof_open("x86_64", &roofs, 1, &roof), ATTN2C_OK);
  for (int i = 0; i < 20; i++) attn2c_roof_sample(roof);
  const double plain = attn2c_roof_peak(roof);
  cr_expect(plain > 0.5 && plain < 200.0, "%g GFLOP/s", plain);
  attn2c_roof_close(roof);
}

Test(bench, repetitions_last_about_a_second) {
  cr_expect_eq(attn2c_bench_calls(1e3), 200);
  cr_expect_eq(attn2c_bench_calls(0.0), 200000);
  cr_expect_eq(attn2c_bench_calls(3e5), 1);
  cr_expect_eq(attn2c_bench_repetitions(1e3), 2000);
  cr_expect_eq(attn2c_bench_repetitions(1e7), 100);
  cr_expect_eq(attn2c_bench_repetitions(5e9), 7);
}

static const attn2c_tensor tensors[] = {{.name = "t0"}, {.name = "t1"}, {.name = "t2"}};
static const attn2c_op ops[] = {
    {.op = "linear", .section = "input", .result = 0, .flops = 100.0},
    {.op = "linear", .section = "layer 0", .result = 1, .flops = 200.0},
    {.op = "softmax", .section = "layer 0", .result = 2, .flops = 0.0},
    {.op = "linear", .section = "layer 1", .result = 2, .flops = 400.0},
};
static const double op_ms[] = {1.0, 2.0, 4.0, 8.0}, op_least_ms[] = {0.5, 1.5, 3.0, 7.0};

Test(bench, profile_groups_in_order) {
  attn2c_profile_row rows[4];
  static const attn2c_descriptor model = {.tensors = tensors};
  static const attn2c_entry entry = {.ops = ops, .op_count = 4};
  double medians[4], least[4];
  memcpy(medians, op_ms, sizeof medians);
  memcpy(least, op_least_ms, sizeof least);
  const attn2c_bench_result result = {
      .profiled = &model, .profiled_entry = &entry, .op_ms = medians, .op_least_ms = least};
  cr_assert_eq(attn2c_profile_group(&result, ATTN2C_BY_KIND, rows), 2);
  cr_expect_str_eq(rows[0].name, "linear");
  cr_expect_eq(rows[0].ms, 11.0);
  cr_expect_eq(rows[0].least_ms, 9.0);
  cr_expect_eq(rows[0].flops, 700.0);
  cr_expect_str_eq(rows[1].name, "softmax");
  cr_assert_eq(attn2c_profile_group(&result, ATTN2C_BY_SECTION, rows), 3);
  cr_expect_str_eq(rows[1].name, "layer 0");
  cr_expect_eq(rows[1].ms, 6.0);
  cr_expect_eq(rows[2].flops, 400.0);
  cr_assert_eq(attn2c_profile_group(&result, ATTN2C_BY_RESULT, rows), 4, "two of one name stay two");
  cr_expect_str_eq(rows[3].name, "t2");
  cr_expect_eq(rows[3].ms, 8.0);
  cr_expect_eq(rows[3].least_ms, 7.0);
}

/* One phase of two parts, by two threads; times in nanoseconds. */
static attn2c_record parts = {.count = 2,
                              .begin = 1000.0,
                              .end = 6000.0,
                              .list = {{0, 1, 1, 1500.0, 3500.0}, {0, 0, 0, 1250.0, 5000.0}}};

static char *report(double roof, attn2c_report_format format) {
  static const attn2c_descriptor model = {
      .name = "a,\"b", .target = "avx2", .tensors = tensors, .threads = 2, .arena_floats = 10};
  static const attn2c_entry entry = {.name = "forward", .ops = ops, .op_count = 4, .flops = 2e9};
  double times[4], least[4];
  memcpy(times, op_ms, sizeof times);
  memcpy(least, op_least_ms, sizeof least);
  const attn2c_bench_result result = {.model = &model,
                                      .threads = 2,
                                      .entry = &entry,
                                      .profiled = &model,
                                      .profiled_entry = &entry,
                                      .provider = "c",
                                      .ms = {20.0, 19.0, 0.5, 21.0, 22.0},
                                      .percentiles = {19.0, 19.25},
                                      .bandwidth = 12.5,
                                      .parts = &parts,
                                      .repetitions = 9,
                                      .calls = 1,
                                      .roof = roof,
                                      .peak = 2.0 * roof,
                                      .op_ms = times,
                                      .op_least_ms = least};
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  cr_assert_not_null(stream);
  cr_assert_eq(attn2c_bench_report(&result, 1, format, stream), ATTN2C_OK);
  cr_assert_eq(fclose(stream), 0);
  return text;
}

static void expect_part(double roof, attn2c_report_format format, const char *part) {
  char *text = report(roof, format);
  cr_expect_not_null(strstr(text, part), "no %s in: %s", part, text);
  free(text);
}

Test(bench, report_says_the_rate_beside_the_roof) {
  expect_part(200.0, ATTN2C_FORMAT_MD, "| 20 ± 0.5 | 21 | 22 | 100.0 | 200.0 | 50.0% |");
  expect_part(200.0, ATTN2C_FORMAT_JSON, "\"roof_fraction\": 0.5");
  expect_part(200.0, ATTN2C_FORMAT_JSON, "\"flops\": 2000000000");
  expect_part(200.0, ATTN2C_FORMAT_CSV,
              "\n\"a,\"\"b\",forward,2,avx2,f32,20,19,0.5,21,22,9,2000000000,100,200,0.5,400,40,0,0,");
}

Test(bench, json_has_percentiles_the_rate_of_memory_and_who_did_what) {
  expect_part(200.0, ATTN2C_FORMAT_JSON, "\"ms_percentiles\": [19.0, 19.25, 0.0");
  expect_part(200.0, ATTN2C_FORMAT_JSON, "\"memory_gb_per_s\": 12.5");
  expect_part(200.0, ATTN2C_FORMAT_JSON, "\"call_us\": 5.0");
  expect_part(200.0, ATTN2C_FORMAT_JSON,
              "\"parts\": [{\"phase\": 0, \"part\": 1, \"thread\": 1, \"begin_us\": 0.5, \"end_us\": 2.5}, "
              "{\"phase\": 0, \"part\": 0, \"thread\": 0, \"begin_us\": 0.25, \"end_us\": 4.0}]");
  expect_part(200.0, ATTN2C_FORMAT_MD, "\nmemory is read at 12.5 GB/s\n");
}

Test(bench, memory_is_read_at_some_rate) {
  for (int threads = 1; threads <= 2; threads++) {
    const double rate = attn2c_bandwidth(threads);
    cr_expect(isfinite(rate) && rate > 0.0, "%g", rate);
  }
}

Test(bench, profile_of_each_result_is_for_machines) {
  expect_part(200.0, ATTN2C_FORMAT_CSV, "\nforward,result,t1,2,200,0.0001,5e-07,0.1333,1.5\n");
  expect_part(200.0, ATTN2C_FORMAT_JSON, "\"results\": [{\"name\": \"t0\", \"ms\": 1.0, \"ms_min\": 0.5,");
}

/* A model that writes has calls without a profile. */
Test(bench, calls_without_a_profile_have_none_in_any_form) {
  static const attn2c_descriptor model = {
      .name = "m", .target = "avx2", .tensors = tensors, .threads = 1, .arena_floats = 10};
  static const attn2c_entry entry = {.name = "forward", .ops = ops, .op_count = 4, .flops = 2e9};
  double times[4], least[4];
  memcpy(times, op_ms, sizeof times);
  memcpy(least, op_least_ms, sizeof least);
  attn2c_bench_result results[2] = {{.model = &model, .entry = &entry, .provider = "c", .label = "prefill"},
                                    {.model = &model, .entry = &entry, .provider = "c", .label = "decode"}};
  for (int i = 0; i < 2; i++) results[i].repetitions = results[i].calls = results[i].threads = 1;
  results[1].profiled = &model, results[1].profiled_entry = &entry;
  results[1].op_ms = times, results[1].op_least_ms = least;
  const attn2c_report_format formats[] = {ATTN2C_FORMAT_MD, ATTN2C_FORMAT_JSON, ATTN2C_FORMAT_CSV};
  for (int i = 0; i < 3; i++) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    cr_assert_not_null(stream);
    cr_assert_eq(attn2c_bench_report(results, 2, formats[i], stream), ATTN2C_OK);
    cr_assert_eq(fclose(stream), 0);
    if (formats[i] == ATTN2C_FORMAT_CSV) {
      cr_expect_not_null(strstr(text, "\ndecode,result,t1,"), "%s", text);
      cr_expect_null(strstr(text, "\nprefill,result,"), "%s", text);
    }
    free(text);
  }
}

Test(bench, report_without_a_roof) {
  expect_part(0.0, ATTN2C_FORMAT_MD, "| n/a | n/a |");
  expect_part(0.0, ATTN2C_FORMAT_JSON, "\"roof_fraction\": null");
  expect_part(0.0, ATTN2C_FORMAT_CSV, ",100,0,,,40,");
}

Test(bench, roof_is_positive_where_there_are_kernels) {
  attn2c_roof *roof;
  cr_assert_eq(attn2c_roof_open("x86_64", NULL, 1, &roof), ATTN2C_OK);
  cr_expect_eq(attn2c_roof_rate(roof), 0.0, "no sample yet");
  for (int i = 0; i < 5; i++) attn2c_roof_sample(roof);
  const double rate = attn2c_roof_rate(roof);
  /* 0 where code cannot be generated on this machine; else between a slow machine and any that exists. */
  cr_expect(rate == 0.0 || (rate > 0.5 && rate < 1000.0), "%g GFLOP/s", rate);
  attn2c_roof_close(roof);
}

/* The sum of both. */
Test(bench, roof_of_two_threads) {
  attn2c_roof *roof;
  cr_assert_eq(attn2c_roof_open("x86_64", NULL, 2, &roof), ATTN2C_OK);
  for (int i = 0; i < 3; i++) attn2c_roof_sample(roof);
  const double rate = attn2c_roof_rate(roof);
  cr_expect(rate == 0.0 || (rate > 0.5 && rate < 2000.0), "%g GFLOP/s", rate);
  attn2c_roof_close(roof);
}

Test(bench, lengths_are_full_and_other_integers_in_range) {
  const attn2c_tensor lengths = {"lengths", ATTN2C_INPUT, ATTN2C_I32, 1, {4}, 1, 129, -1, 0};
  const attn2c_tensor tokens = {"tokens", ATTN2C_INPUT, ATTN2C_I32, 2, {2, 50}, 5, 9, -1, 0};
  int32_t values[100];
  attn2c_input_random(&lengths, 1, 1, values);
  for (int i = 0; i < 4; i++) cr_expect_eq(values[i], 128);
  attn2c_input_random(&tokens, 1, 1, values);
  cr_expect_eq(attn2c_input_in_range(&tokens, values, 2, NULL), ATTN2C_OK);
  char text[200];
  attn2c_message message = attn2c_message_make(text, sizeof text);
  values[57] = 9;
  cr_expect_eq(attn2c_input_in_range(&tokens, values, 2, &message), ATTN2C_FORMAT);
  cr_expect_str_eq(text, "tokens[1][7]: 9, but 5 to 8 is allowed");
}
