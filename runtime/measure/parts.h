/* parts.h - records which thread of a team did which chunk of a call, and when. Profiled steps call
 * attn2c_team_run_recorded in place of attn2c_team_run (ops/profile.h). */
#pragma once

#include "model/team.h"

#define ATTN2C_PARTS_MOST 4096 /* per call; later chunks are not recorded */

/* One chunk of one phase. Phases are counted over all runs of a call. */
typedef struct {
  int phase, part, thread; /* thread 0 is the caller */
  double begin, end;       /* nanoseconds of the clock */
} attn2c_recorded_part;

typedef struct {
  int count;
  double begin, end; /* nanoseconds of the call */
  attn2c_recorded_part list[ATTN2C_PARTS_MOST];
} attn2c_record;

/* Records the next calls of this process's teams; NULL: stops recording. One call at a time. */
void attn2c_record_calls(attn2c_record *parts);

/* Runs attn2c_team_run, and records the parts if a record is set. */
void attn2c_team_run_recorded(attn2c_team *team, attn2c_work work, const void *call, attn2c_phases phases);
