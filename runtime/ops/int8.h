/* int8.h - defines the byte that represents 0 in a row of int8 inputs (product_int8.h). */
#ifndef ATTN2C_INT8_H
#define ATTN2C_INT8_H

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__) || defined(__SSE2__) && !defined(__AVX2__)
#define ATTN2C_INT8_ZERO 128
#else
#define ATTN2C_INT8_ZERO 0
#endif

#endif
