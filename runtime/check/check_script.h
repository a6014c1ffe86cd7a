/* check_script.h - declares scripts: calls that are made in order on one context and must repeat known
 * results. */
#ifndef ATTN2C_CHECK_SCRIPT_H
#define ATTN2C_CHECK_SCRIPT_H

#include "base/descriptor.h"

/* One call of an entry: sizes, inputs and results, all as the caller has them. */
typedef struct {
  const attn2c_entry *entry;
  int64_t batch, seq;
  void **in;
  void **want;
  int owns_in; /* 1: the script frees the inputs */
} attn2c_check_call;

/* Calls in the order in which they were added. */
typedef struct attn2c_check_script {
  attn2c_check_call *calls;
  int count;
} attn2c_check_script;

/* Adds a call, and takes its arrays over, also on failure. Returns ATTN2C_OK or _MEMORY. */
int attn2c_check_script_add(attn2c_check_script *script, const attn2c_check_call *call);
void attn2c_check_script_free(attn2c_check_script *script);

#endif
