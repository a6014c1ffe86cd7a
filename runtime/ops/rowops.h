/* rowops.h - includes all operations on rows and tiles that emitted code calls besides products. They are
 * always-inline bodies, called with constant sizes inside a small named wrapper, so that the compiler unrolls
 * and vectorises them for exactly that shape. They do not allocate. */
#pragma once

#include "ops/adapt.h"
#include "ops/additive.h"
#include "ops/elementary.h"
#include "ops/experts.h"
#include "ops/fetch.h"
#include "ops/gather.h"
#include "ops/gelu.h"
#include "ops/hadamard.h"
#include "ops/kept.h"
#include "ops/mask.h"
#include "ops/norm.h"
#include "ops/online.h"
#include "ops/pairs.h"
#include "ops/positions.h"
#include "ops/quads.h"
#include "ops/quantise.h"
#include "ops/round.h"
#include "ops/scaled.h"
#include "ops/softmax.h"
#include "ops/softmax_rows.h"
#include "ops/ranges.h"
#include "ops/topk.h"
#include "ops/transpose.h"
#include "ops/vector.h"
