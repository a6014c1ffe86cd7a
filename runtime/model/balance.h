/* balance.h - decides from past gains and costs whether sharing a call helps. The decision depends only on
 * times, in nanoseconds. A team (team.h) asks before a call, and settles after it. */
#pragma once

#include <stdint.h>

/* The state of a team; all zero: sharing is tried. */
typedef struct {
  int64_t credit; /* gains of sharing minus its costs, within limits; below 0 the caller shares nothing */
  int64_t lost;   /* costs of sharing since its last equal gain */
} attn2c_balance;

/* Times and counts of a call. computed: the caller's own time on a core while it shared. waited: its time
 * waiting for others. alone: all time in which it shared nothing. mine, others: parts done. */
typedef struct {
  int64_t computed, waited, alone;
  int64_t mine, others;
} attn2c_account;

/* True if the next phase is shared, in a call that has waited for `waited`. */
int attn2c_balance_shares(const attn2c_balance *balance, int64_t waited);
void attn2c_balance_settle(attn2c_balance *balance, const attn2c_account *call);

/* Returns how long a thread of the team spins before it sleeps: longer if sharing helps. */
int attn2c_balance_patience(const attn2c_balance *balance);
