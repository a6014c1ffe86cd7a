/* parts.h - who did which part of a call, and when: the threads of a team side by side. Profiled steps call
 * attn2c_team_run_recorded in place of attn2c_team_run (ops/profile.h). */
#ifndef ATTN2C_PARTS_H
#define ATTN2C_PARTS_H

#include "model/team.h"

#define ATTN2C_PARTS_MOST 4096 /* of a call; what comes behind them is not recorded */

/* One part of one phase; the phases of a call are counted through all its runs. */
typedef struct {
  int phase, part, thread; /* thread 0 is the caller */
  double begin, end;       /* nanoseconds of the clock */
} attn2c_recorded_part;

typedef struct {
  int count;
  double begin, end; /* of the call */
  attn2c_recorded_part list[ATTN2C_PARTS_MOST];
} attn2c_record;

/* Records what the next calls of this process's teams do; NULL: nothing more. One call at a time. */
void attn2c_record_calls(attn2c_record *parts);

/* As attn2c_team_run, with a record where one was asked for. */
void attn2c_team_run_recorded(attn2c_team *team, attn2c_work work, const void *call, size_t phases,
                              size_t parts);

#endif
