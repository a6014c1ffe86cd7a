/* check_parts.h - the parts of an entry's check, each in a file of its name. */
#pragma once

#include "check/check_job.h"

/* Adds rows for weights whose inputs the model has in another order than the file. */
int attn2c_check_orders(attn2c_check_job *job);
/* Checks calls that continue sequences. */
int attn2c_check_continued(attn2c_check_job *job);
/* Checks an entry with NaN and infinity in its inputs. */
int attn2c_check_nan(attn2c_check_job *job, attn2c_run trace);
