/* gguf.h - reads GGUF files, versions 2 and 3, strictly: a count or length that claims more than the file
 * holds, and tensors that overlap, are not aligned or are beyond the file, are refused. Metadata is read
 * through once, in little memory; only what concerns the places of tensors is kept. */
#ifndef ATTN2C_GGUF_H
#define ATTN2C_GGUF_H

#include "formats/tensors.h"

extern const attn2c_format attn2c_gguf_format;

#endif
