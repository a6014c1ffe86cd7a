/* profile.h - lets one emitted file of steps be compiled twice: for the model, and with ATTN2C_PROFILE for
 * the profile. The profile, which belongs to the program, reads the clock after each operation's last step.
 * Only that file includes this header. */
#pragma once

#include "ops/steps.h"

#ifdef ATTN2C_PROFILE

/* The caller's clock for the current call. Its helpers have none: the laps add up to the call's time. */
static _Thread_local attn2c_laps *attn2c_running;

#define ATTN2C_RUN(NAME) NAME##_profile_run
#define ATTN2C_LAPS_BEGIN(CALL)                                                                              \
  attn2c_laps laps = attn2c_laps_start((CALL)->nanoseconds);                                                 \
  attn2c_running = &laps;
#define LAP(OP) attn2c_lap(attn2c_running, OP)

/* The number of the operation that the steps of alike layers begin with, in the call that follows. */
static _Thread_local int attn2c_first_op __attribute__((unused));
#define LAPS_FROM(OP)    attn2c_first_op = (OP)
#define LAP_AFTER(COUNT) attn2c_lap(attn2c_running, attn2c_first_op + (COUNT))

/* The profile records who does which part of a call (measure/parts.h). team.h declares it later. */
#define attn2c_team_run attn2c_team_run_recorded

#else

#define ATTN2C_RUN(NAME) NAME##_run
#define ATTN2C_LAPS_BEGIN(CALL)
#define LAP(OP)                                                                                              \
  do {                                                                                                       \
  } while (0)
#define LAPS_FROM(OP)    LAP(OP)
#define LAP_AFTER(COUNT) LAP(COUNT)

#endif
