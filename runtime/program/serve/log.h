/* log.h - a line for each request on the standard error. It has no text of the client. */
#pragma once

#include "program/serve/http.h"

/* The values of --log. */
typedef enum { ATTN2C_LOG_NONE = 1, ATTN2C_LOG_TEXT, ATTN2C_LOG_JSONL } attn2c_log_form;

void attn2c_log_write(attn2c_log_form form, const attn2c_exchange *exchange, const char *route, FILE *out);
