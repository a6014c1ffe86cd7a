/* test_balance.c - whether calls are shared, from given times: how soon again after a disturbance, and how
 * little sharing costs on a machine on which it never pays. */
#include "model/balance.h"

#include <criterion/criterion.h>

enum { MICRO = 1000, MILLI = 1000000 };

/* The time of a call without others; shared between two it is half of that, and the waiting. */
typedef struct {
  int64_t alone, waited;
} times;

/* Settles a call of two phases, the second of which is shared if the waiting of the first allows it. Returns
 * the time that it took. */
static int64_t call(attn2c_balance *balance, times of) {
  attn2c_account account = {0};
  int64_t taken = of.alone;
  if (!attn2c_balance_shares(balance, 0)) {
    account.mine = 4, account.alone = of.alone;
  } else if (attn2c_balance_shares(balance, of.waited)) {
    account.mine = account.others = 2, account.computed = of.alone / 2, account.waited = of.waited;
    taken = of.alone / 2 + of.waited;
  } else {
    account.mine = 3, account.others = 1, account.alone = of.alone / 2, account.computed = of.alone * 3 / 4;
    account.waited = of.waited;
    taken = of.alone * 3 / 4 + of.waited;
  }
  attn2c_balance_settle(balance, &account);
  return taken;
}

static int is_shared(const attn2c_balance *balance) { return attn2c_balance_shares(balance, 0); }

/* Nanoseconds that calls take until sharing has begun again. */
static int64_t recovery(attn2c_balance *balance, int64_t alone) {
  int64_t taken = 0;
  while (!is_shared(balance)) taken += call(balance, (times){.alone = alone});
  return taken;
}

Test(balance, shares_from_the_first_call) {
  attn2c_balance balance = {0};
  for (int i = 0; i < 1000; i++) {
    cr_assert(is_shared(&balance));
    call(&balance, (times){.alone = 2 * MILLI, .waited = 50 * MICRO});
  }
}

Test(balance, is_back_soon_after_one_disturbance) {
  for (int64_t alone = 200 * MICRO; alone <= 20 * MILLI; alone *= 10) {
    for (int64_t waited = MILLI; waited <= 512 * MILLI; waited *= 2) {
      attn2c_balance balance = {0};
      call(&balance, (times){alone, waited});
      const int64_t taken = recovery(&balance, alone);
      /* As long as the disturbance, four times that of one of 16 ms or more; and a call. */
      cr_assert_leq(taken, (waited < 8 * MILLI ? waited : 64 * MILLI) + alone, "%lld ns, calls of %lld: %lld",
                    (long long)waited, (long long)alone, (long long)taken);
    }
  }
}

Test(balance, lives_on_what_it_gained) {
  attn2c_balance balance = {0};
  for (int i = 0; i < 40; i++) call(&balance, (times){.alone = 2 * MILLI});
  for (int i = 0; i < 200; i++) {
    cr_assert(is_shared(&balance));
    call(&balance, (times){.alone = 2 * MILLI, .waited = i % 10 == 0 ? 8 * MILLI : 0});
  }
}

/* However long a call waits in each try, and however long calls are. */
Test(balance, costs_little_where_sharing_never_pays) {
  for (int64_t alone = 20 * MICRO; alone <= 200 * MILLI; alone *= 10) {
    for (int64_t waited = alone; waited <= 16 * MILLI; waited *= 2) {
      attn2c_balance balance = {0};
      int64_t taken = 0, needed = 0, late_taken = 0, late_needed = 0;
      while (taken < (int64_t)20000 * MILLI) {
        const int64_t now = call(&balance, (times){alone, waited});
        taken += now, needed += alone;
        if (taken > (int64_t)10000 * MILLI) late_taken += now, late_needed += alone;
      }
      /* In the beginning it may take 32 times 4 ms and a try more; later a thirty-second. */
      cr_assert_leq(taken - needed, needed / 32 + 160 * (int64_t)MILLI, "%lld ns, calls of %lld: %lld",
                    (long long)waited, (long long)alone, (long long)(taken - needed));
      cr_assert_leq(late_taken - late_needed, late_needed / 32 + 20 * (int64_t)MILLI,
                    "%lld ns, calls of %lld: %lld", (long long)waited, (long long)alone,
                    (long long)(late_taken - late_needed));
    }
  }
}

Test(balance, forgets_a_bad_hour) {
  attn2c_balance balance = {0};
  for (int i = 0; i < 1000000; i++) call(&balance, (times){.alone = 2 * MILLI, .waited = 4 * MILLI});
  int64_t taken = recovery(&balance, 2 * MILLI);
  for (int i = 0; i < 200; i++) taken += call(&balance, (times){.alone = 2 * MILLI});
  cr_assert_leq(taken, 800 * (int64_t)MILLI);
  cr_assert_eq(balance.lost, 0);
  call(&balance, (times){.alone = 2 * MILLI, .waited = 100 * MILLI});
  cr_assert_leq(recovery(&balance, 2 * MILLI), 300 * (int64_t)MILLI);
}

Test(balance, spins_longer_where_sharing_pays) {
  attn2c_balance balance = {0};
  cr_assert_eq(attn2c_balance_patience(&balance), 4 * MICRO);
  balance.credit = 20 * MILLI;
  cr_assert_eq(attn2c_balance_patience(&balance), 20 * MICRO);
  balance.credit = 50 * MILLI;
  cr_assert_eq(attn2c_balance_patience(&balance), 50 * MICRO);
  balance.credit = -MILLI;
  cr_assert_eq(attn2c_balance_patience(&balance), 4 * MICRO);
}
