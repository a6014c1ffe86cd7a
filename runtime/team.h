/* team.h - whether a team of OpenMP threads may be started here. Included by emitted code
 * for several workers only: a model for one has nothing of OpenMP. */
#ifndef ATTN2C_TEAM_H
#define ATTN2C_TEAM_H

#include <omp.h>

/* 0 in the child of a fork: the threads of the parent's pool are not there, and waiting for them never ends.
 * The child's one thread then does the work of all workers; the bits are the same. */
int attn2c_team_allowed(void);

#endif
