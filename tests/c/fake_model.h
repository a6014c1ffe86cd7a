/* fake_model.h - an emitted model written by hand, small enough to compute on paper, for
 * the tests of the program around it: y = relu(x W^T + b), pooled = mean of y over the
 * first lengths[b] rows. Its faulty forms stand for a compiler that went wrong. */
#ifndef ATTN2C_TEST_FAKE_MODEL_H
#define ATTN2C_TEST_FAKE_MODEL_H

#include "base/descriptor.h"

enum { FAKE_BATCH = 2, FAKE_ROWS = 3, FAKE_IN = 8, FAKE_OUT = 6 };

typedef enum {
  FAKE_TWO_INPUTS, /* x [2][3][8], lengths [2] in 1 to 3 -> y [2][3][6], pooled [2][6] */
  FAKE_ONE_INPUT,  /* x -> y */
  FAKE_NO_WEIGHTS, /* x [2][3][8] -> relu [2][3][8] */
  FAKE_SHARED, /* x, gain [6] for all sequences -> y = gain relu(..), total [6]: y summed over everything */
  FAKE_PAIR,   /* pair [2], whose kind says that it is for all sequences, and x -> y = pair[1] relu(..) */
  FAKE_WHOLE,  /* x, of that kind, too -> y: exactly one batch */
  FAKE_NOT_FINITE, /* the rest: as FAKE_ONE_INPUT; an element of y is NaN in both variants */
  FAKE_UNSTEADY,   /* y differs from call to call */
  FAKE_UNLIKE,     /* y differs between the model and its trace variant */
  FAKE_UNWRITTEN,  /* the last element of y is never written */
  FAKE_WRONG,      /* y is wrong, alike in both variants */
  FAKE_FAILING     /* a call fails */
} fake_form;

/* The program that main.c is linked with becomes this one (at first it is FAKE_TWO_INPUTS). */
void fake_select(fake_form form);

#endif
