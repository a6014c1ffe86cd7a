/* balance.h - whether sharing a call pays, from what it gained and cost so far: a function of times alone.
 * All times are nanoseconds. A team (team.h) asks before a call, and settles behind it. */
#ifndef ATTN2C_BALANCE_H
#define ATTN2C_BALANCE_H

#include <stdint.h>

/* All zero: sharing is tried. */
typedef struct {
  int64_t credit; /* what sharing gained, less what it cost, within limits; below 0 the caller works alone */
  int64_t lost;   /* what sharing cost since it last gained as much */
} attn2c_balance;

/* What a call did. computed: the caller's own time on a core while it shared; waited: for others; alone: all
 * time in which it shared nothing; mine, others: parts that were done by the caller, and by others. */
typedef struct {
  int64_t computed, waited, alone;
  int64_t mine, others;
} attn2c_account;

/* Whether the next phase is shared, in a call that has waited so long. */
int attn2c_balance_shares(const attn2c_balance *balance, int64_t waited);
void attn2c_balance_settle(attn2c_balance *balance, const attn2c_account *call);

/* How long a thread of the team spins before it sleeps: longer where sharing pays. */
int attn2c_balance_patience(const attn2c_balance *balance);

#endif
