/* balance.c - implements the balance. A debt is paid back by calls without others, for longer if sharing has
 * cost more since it last helped. So after a single disturbance sharing is soon tried again. On a machine
 * whose cores have other work, trying again takes a thirty-second of the time. */
#include "model/balance.h"

enum {
  MOST_CREDIT = 50000000,
  MOST_DEBT = 16000000, /* limits the effect of one long wait */
  GRACE = 500000,       /* waiting that a call may add to the credit */
  LEAST_PATIENCE = 4000,
  MOST_PATIENCE = 60000
};

/* Time without others that pays back one of debt: one for each LOSS, at most INTEREST. So all tries together
 * cost no more than a few times INTEREST * LOSS, and a thirty-second of the time without others. */
enum { INTEREST = 32, LOSS = 4000000 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

int attn2c_balance_shares(const attn2c_balance *balance, int64_t waited) {
  return balance->credit >= 0 && waited <= balance->credit + GRACE;
}

/* The gain is the others' parts at the cost of the caller's own parts. It is measured as time on a core, as a
 * suspended caller would otherwise look like one that was helped. */
void attn2c_balance_settle(attn2c_balance *balance, const attn2c_account *call) {
  const int64_t gained = call->mine > 0 ? call->computed * call->others / call->mine : 0;
  const int64_t net = gained - call->waited, before = balance->credit;
  balance->credit = most(-MOST_DEBT, least(MOST_CREDIT, before + net));
  const int64_t loss = net > 0 ? -net : before - balance->credit;
  balance->lost = most(0, least(INTEREST * (int64_t)LOSS, balance->lost + loss));
  if (balance->credit < 0)
    balance->credit = least(0, balance->credit + call->alone / most(1, balance->lost / LOSS));
}

int attn2c_balance_patience(const attn2c_balance *balance) {
  return (int)most(LEAST_PATIENCE, least(MOST_PATIENCE, balance->credit / 1000));
}
