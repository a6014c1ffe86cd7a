/* metrics.c - a histogram of durations for each route. */
#include "program/serve/metrics.h"
#include "program/system.h"

static const double bounds[ATTN2C_METRIC_BOUNDS] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                    0.25,  0.5,    1,     2.5,  5,     10,   60};

void attn2c_metrics_note(attn2c_metrics *m, const char *route, int status, double seconds) {
  int at = 0, kind = 0;
  while (at < ATTN2C_METRIC_ROUTES - 1 && m->routes[at].route && m->routes[at].route != route) at++;
  m->routes[at].route = route;
  while (kind < ATTN2C_METRIC_STATUSES - 1 && m->routes[at].by[kind].count &&
         m->routes[at].by[kind].status != status)
    kind++;
  m->routes[at].by[kind].status = status;
  m->routes[at].by[kind].count++;
  m->routes[at].count++;
  m->routes[at].seconds += seconds;
  for (int i = 0; i < ATTN2C_METRIC_BOUNDS; i++) m->routes[at].below[i] += seconds <= bounds[i];
}

static void write_head(FILE *out, const char *name, const char *kind, const char *help) {
  fprintf(out, "# HELP attn2c_%s %s\n# TYPE attn2c_%s %s\n", name, help, name, kind);
}

static void write_one(FILE *out, const char *name, const char *kind, const char *help, double value) {
  write_head(out, name, kind, help);
  fprintf(out, "attn2c_%s %.12g\n", name, value);
}

char *attn2c_metrics_text(const attn2c_metrics *m, int waiting, int running, int open, size_t bytes,
                          size_t *length) {
  char *text = NULL;
  FILE *out = attn2c_program_gather(&text, length);
  if (!out) return NULL;
  write_head(out, "requests_total", "counter", "Requests that have ended. Status 0: the client has gone.");
  for (int i = 0; i < ATTN2C_METRIC_ROUTES && m->routes[i].route; i++)
    for (int j = 0; j < ATTN2C_METRIC_STATUSES && m->routes[i].by[j].count; j++)
      fprintf(out, "attn2c_requests_total{route=\"%s\",status=\"%d\"} %" PRIu64 "\n", m->routes[i].route,
              m->routes[i].by[j].status, m->routes[i].by[j].count);
  write_head(out, "request_seconds", "histogram", "From a whole request to its whole reply.");
  for (int i = 0; i < ATTN2C_METRIC_ROUTES && m->routes[i].route; i++) {
    const char *route = m->routes[i].route;
    for (int j = 0; j < ATTN2C_METRIC_BOUNDS; j++)
      fprintf(out, "attn2c_request_seconds_bucket{route=\"%s\",le=\"%g\"} %" PRIu64 "\n", route, bounds[j],
              m->routes[i].below[j]);
    fprintf(out, "attn2c_request_seconds_bucket{route=\"%s\",le=\"+Inf\"} %" PRIu64 "\n", route,
            m->routes[i].count);
    fprintf(out, "attn2c_request_seconds_sum{route=\"%s\"} %.9g\n", route, m->routes[i].seconds);
    fprintf(out, "attn2c_request_seconds_count{route=\"%s\"} %" PRIu64 "\n", route, m->routes[i].count);
  }
  write_one(out, "requests_waiting", "gauge", "Requests that wait for the model.", waiting);
  write_one(out, "requests_running", "gauge", "Requests that the model computes.", running);
  write_one(out, "requests_open", "gauge", "Requests without a whole reply.", open);
  write_one(out, "connection_bytes", "gauge", "Memory of all connections.", (double)bytes);
  write_one(out, "prompt_tokens_total", "counter", "Tokens of prompts.", (double)m->prompt_tokens);
  write_one(out, "prompt_tokens_kept_total", "counter", "Tokens of prompts that were computed before.",
            (double)m->kept_tokens);
  write_one(out, "prompt_seconds_total", "counter", "Time of steps that read prompts.",
            1e-9 * (double)m->prompt_nanoseconds);
  write_one(out, "generated_tokens_total", "counter", "Tokens that were written.", (double)m->written_tokens);
  write_one(out, "generated_seconds_total", "counter", "Time of steps that only wrote.",
            1e-9 * (double)m->written_nanoseconds);
  write_one(out, "steps_total", "counter", "Calls of the model for all that write.", (double)m->steps);
  return attn2c_program_gathered(out, &text, length) == 0 ? text : (free(text), NULL);
}
