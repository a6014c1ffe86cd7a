/* check_spread.h - finds by trial how far a correct run of an entry may be from the reference. */
#pragma once

#include "check/check_job.h"

/* Widens the tolerances of the entry's outputs to the effect of errors within the rules of the ops. It raises
 * allowed[output], an error per element, and the relative L2 of tolerances[output]; indices have neither. The
 * reference's outputs are in job->tensors; guide: the one that it was run with. */
int attn2c_check_spread(const attn2c_check_job *job, const attn2c_reference_guide *guide,
                        float *const *allowed, attn2c_tolerance *tolerances);
