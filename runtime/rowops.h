/* rowops.h - all operations on rows and tiles that emitted code calls besides products:
 * always-inline bodies, called with constant sizes inside a small named wrapper, so that
 * the compiler unrolls and vectorises them for exactly that shape. No allocation. */
#ifndef ATTN2C_ROWOPS_H
#define ATTN2C_ROWOPS_H

#include "additive.h"
#include "elementary.h"
#include "fetch.h"
#include "gather.h"
#include "mask.h"
#include "norm.h"
#include "online.h"
#include "positions.h"
#include "softmax.h"
#include "spans.h"
#include "transpose.h"
#include "vector.h"

#endif
