/* weights_place.h - tells if an output file would overwrite weights, or is in the folder of their
 * checkpoint. */
#pragma once

#include "formats/place.h"

/* Returns 1 if `place` is the file `weights` or its part for a rank (WEIGHTS.rank0), or an existing file of
 * the folder that `weights` names, also by another path or link.
 * weights: the value of --weights, that is a file, an index (.json) or a folder; NULL: none. */
int attn2c_place_has_weights(const attn2c_place *place, const char *weights);
