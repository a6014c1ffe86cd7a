/* metrics.h - counts requests, tokens and seconds, and writes them as Prometheus reads them. Atomic numbers
 * are the engine's, all others belong to the loop's thread. */
#pragma once

#include "base/attn2c.h"

#include <stdatomic.h>

enum { ATTN2C_METRIC_ROUTES = 40, ATTN2C_METRIC_STATUSES = 16, ATTN2C_METRIC_BOUNDS = 14 };

typedef struct attn2c_metrics {
  struct {
    const char *route; /* NULL: free */
    struct {
      int status;
      uint64_t count;
    } by[ATTN2C_METRIC_STATUSES];
    uint64_t below[ATTN2C_METRIC_BOUNDS], count; /* of durations */
    double seconds;
  } routes[ATTN2C_METRIC_ROUTES];
  _Atomic uint64_t prompt_tokens, kept_tokens,
      written_tokens; /* kept: of prompts, that were not computed again */
  _Atomic uint64_t prompt_nanoseconds, written_nanoseconds;
  _Atomic uint64_t steps;
} attn2c_metrics;

void attn2c_metrics_note(attn2c_metrics *metrics, const char *route, int status, double seconds);
/* Writes all to a text from malloc; NULL without memory. */
char *attn2c_metrics_text(const attn2c_metrics *metrics, int waiting, int running, int open, size_t bytes,
                          size_t *length);
