/* log.c - lines are written whole, so that lines of several programs do not mix. */
#include "program/serve/server.h"

#include <time.h>

void attn2c_log_write(attn2c_log_form form, const attn2c_exchange *exchange, const char *route, FILE *out) {
  static const char *const methods[] = {"?", "GET", "POST", "HEAD", "?"};
  static const char *const forms[] = {
      [ATTN2C_LOG_TEXT] = "%s %s %s %d %.3f ms, %zu bytes, %lld tokens read, %lld written%s%s%s\n",
      [ATTN2C_LOG_JSONL] = "{\"time\":\"%s\",\"method\":\"%s\",\"route\":\"%s\",\"status\":%d,\"ms\":%.3f,"
                           "\"bytes\":%zu,\"prompt_tokens\":%lld,\"completion_tokens\":%lld%s%s%s}\n"};
  const int is_text = form == ATTN2C_LOG_TEXT, has_ignored = *exchange->ignored != 0;
  char line[600], when[32];
  const time_t now = time(NULL);
  struct tm parts;
  if (form == ATTN2C_LOG_NONE) return;
  strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
  snprintf(line, sizeof line, forms[form], when, methods[exchange->method], route, exchange->status,
           1e3 * (attn2c_http_now() - exchange->seconds), exchange->length, (long long)exchange->read_tokens,
           (long long)exchange->written_tokens,
           !has_ignored ? ""
           : is_text    ? ", ignored fields: "
                        : ",\"ignored_fields\":\"",
           exchange->ignored, has_ignored && !is_text ? "\"" : "");
  fputs(line, out);
  fflush(out);
}
