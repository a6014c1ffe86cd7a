/* safetensors.h - reads files of safetensors strictly. A header that claims more than the file holds, leaves
 * a byte unclaimed or claims one twice is refused before anything of its size is allocated. */
#ifndef ATTN2C_SAFETENSORS_H
#define ATTN2C_SAFETENSORS_H

#include "formats/tensors.h"

extern const attn2c_format attn2c_safetensors_format;

#endif
