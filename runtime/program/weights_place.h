/* weights_place.h - whether a file that is to be written holds weights, or lies beside them in the folder of
 * a checkpoint: then it is not written over. */
#ifndef ATTN2C_WEIGHTS_PLACE_H
#define ATTN2C_WEIGHTS_PLACE_H

#include "formats/place.h"

/* weights: as --weights has it, a file, an index (.json) or a folder; NULL: none. 1 where `place` is that
 * file, or an existing file of the folder that the index or the name means. */
int attn2c_place_has_weights(const attn2c_place *place, const char *weights);

#endif
