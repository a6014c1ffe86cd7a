/* profile.h - one emitted file of steps is compiled to two objects: the model's, and, with ATTN2C_PROFILE,
 * the program's profile, which reads the clock behind each operation's last step. Included by that file
 * alone. */
#ifndef ATTN2C_PROFILE_H
#define ATTN2C_PROFILE_H

#include "ops/steps.h"

#ifdef ATTN2C_PROFILE

/* The caller's clock for the call at hand. The threads that help it have none, so that the laps add up to the
 * time of the call. */
static _Thread_local attn2c_laps *attn2c_running;

#define ATTN2C_RUN(NAME)  NAME##_profile_run
#define ATTN2C_LAPS       , attn2c_laps *laps
#define ATTN2C_LAPS_BEGIN attn2c_running = laps;
#define LAP(OP)           attn2c_lap(attn2c_running, OP)

/* Who does which part of a call is recorded (measure/parts.h); team.h, which comes behind, declares it. */
#define attn2c_team_run attn2c_team_run_recorded

#else

#define ATTN2C_RUN(NAME) NAME##_run
#define ATTN2C_LAPS
#define ATTN2C_LAPS_BEGIN
#define LAP(OP)                                                                                              \
  do {                                                                                                       \
  } while (0)

#endif
#endif
