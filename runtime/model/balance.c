/* balance.c - see balance.h. A debt is paid back by working alone, the longer the more sharing has cost since
 * it last paid: quickly after a single disturbance, and so slowly on a machine whose cores have other work
 * that trying again takes a thirty-second of the time. */
#include "model/balance.h"

enum {
  MOST_CREDIT = 50000000,
  MOST_DEBT = 16000000, /* one long wait is not the rule */
  GRACE = 500000,       /* of waiting, that a call may take beyond the credit */
  LEAST_PATIENCE = 4000,
  MOST_PATIENCE = 60000
};

/* Time alone that pays back one of debt: one for each LOSS, at most INTEREST. So all tries together cost no
 * more than a few times INTEREST * LOSS, and a thirty-second of the time alone. */
enum { INTEREST = 32, LOSS = 4000000 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

int attn2c_balance_shares(const attn2c_balance *balance, int64_t waited) {
  return balance->credit >= 0 && waited <= balance->credit + GRACE;
}

/* The gain is what others did, at the cost of own parts: in time on a core, since a caller that is put aside
 * would otherwise look like one who is helped. */
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
