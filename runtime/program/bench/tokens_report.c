/* tokens_report.c - prints tokens a second, and bytes read beside the rate of memory. */
#include "program/bench/report.h"

typedef struct {
  double per_second; /* tokens of all sequences */
  double bytes;      /* that a token reads; 0: not counted */
  double rate;       /* GB/s of these bytes */
  double fraction;   /* of the rate of memory; 0: not available */
} numbers;

static numbers numbers_of(const attn2c_bench_result *r) {
  numbers n = {0};
  if (r->ms.median <= 0.0) return n;
  n.per_second = 1e3 * (double)r->tokens / r->ms.median;
  n.bytes = r->bytes / (double)r->tokens;
  n.rate = r->bytes / (1e6 * r->ms.median);
  if (r->memory > 0.0) n.fraction = n.rate / r->memory;
  return n;
}

void attn2c_bench_tokens_md(const attn2c_bench_result *results, int count, FILE *out) {
  int any = 0;
  for (int i = 0; i < count; i++) any |= results[i].tokens > 0;
  if (!any) return;
  fprintf(out, "\n| call | tokens/s | MB a token | GB/s | memory, GB/s | of memory |\n");
  fprintf(out, "|:-----|---------:|-----------:|-----:|-------------:|----------:|\n");
  for (int i = 0; i < count; i++) {
    const attn2c_bench_result *r = &results[i];
    if (r->tokens == 0) continue;
    const numbers n = numbers_of(r);
    fprintf(out, "| %s | %.4g |", attn2c_bench_label(r), n.per_second);
    if (r->bytes <= 0.0) {
      fprintf(out, " - | - | - | - |\n");
      continue;
    }
    fprintf(out, " %.4g | %.1f |", 1e-6 * n.bytes, n.rate);
    if (r->memory > 0.0)
      fprintf(out, " %.1f | %.1f%% |\n", r->memory, 100.0 * n.fraction);
    else
      fprintf(out, " n/a | n/a |\n");
  }
}

static json_t *real_or_null(double number) { return number > 0.0 ? json_real(number) : json_null(); }

int attn2c_bench_tokens_json(const attn2c_bench_result *r, json_t *row) {
  const numbers n = numbers_of(r);
  const attn2c_continued *of = r->model->continued;
  json_auto_t *more =
      json_pack("{s:I, s:I, s:I, s:f, s:I, s:o, s:o, s:o, s:o}", "tokens", (json_int_t)r->tokens, "sequences",
                (json_int_t)r->sequences, "position", (json_int_t)r->position, "tokens_per_s", n.per_second,
                "state_bytes", (json_int_t)(of->sequences * of->state_floats * (int64_t)sizeof(float)),
                "bytes_per_token", n.bytes > 0.0 ? json_integer((json_int_t)n.bytes) : json_null(),
                "read_gb_per_s", real_or_null(n.rate), "memory_gb_per_s", real_or_null(r->memory),
                "memory_fraction", real_or_null(n.fraction));
  return more == NULL ? -1 : json_object_update(row, more);
}
