/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets: the rates that guests are asked for. A guest takes what it is asked
 * for at once, as far as its clock can. */

#include "../unit.h"

#include "collect/parts.h"

#define GUESTS 8u

static struct collector *collector;
static struct collector_budget budget;
static struct line line;
static unsigned commands;
static int64_t now;

bool guest_serves(const struct guest_boot *guest, const char *service)
{
    return strcmp(guest->service, service) == 0;
}

void guest_set_rate(struct collector *of, struct guest_boot *guest, unsigned hz)
{
    assert_ptr_equal(of, collector);
    ++commands;
    guest->rollup.rate_mhz = hz * 1000;
}

static void begin_orders(void)
{
    collector = calloc(1, sizeof *collector);
    budget.service = "one";
    collector->options.budgets = &budget;
    collector->options.budget_count = 1;
    collector->guests = calloc(GUESTS, sizeof *collector->guests);
    line.two_way = true;
    commands = 0;
    now = 1700000000;
}

static void end_orders(void)
{
    for (size_t i = 0; i < collector->guest_count; ++i)
        free(collector->guests[i]);
    free(collector->guests);
    free(collector);
}

FIXTURE(begin_orders, end_orders);

static struct guest_boot *add_guest(size_t cpus)
{
    struct guest_boot *guest = calloc(1, sizeof *guest);

    strcpy(guest->service, "one");
    guest->line = &line;
    guest->rollup.cpu_count = cpus;
    guest->rollup.rate_mhz = 100000;
    collector->guests[collector->guest_count++] = guest;
    return guest;
}

/* Samples a second of all, after the budget of (hz) has been shared. */
static unsigned share(double hz)
{
    uint64_t sum = 0;

    budget.per_hour = hz * 3600;
    orders_tick(collector, now += 5);
    for (size_t i = 0; i < collector->guest_count; ++i)
        sum += collector->guests[i]->rollup.rate_mhz *
               collector->guests[i]->rollup.cpu_count;
    return (unsigned)(sum / 1000);
}

/* What is asked for is not asked for again. */
static void check_calm(double hz)
{
    commands = 0;
    share(hz);
    assert_int_equal(commands, 0);
}

TEST(a_rate_is_the_next_whole_number)
{
    static const double rates[] = {1, 1.4, 1.6, 1.9, 2.5, 9.51, 9.9, 10.9, 997};

    add_guest(1);
    for (size_t i = 0; i < COUNT(rates); ++i) {
        collector->guests[0]->rollup.rate_mhz = 100000;
        assert_in_range(share(rates[i]), (unsigned)(rates[i] + 0.499),
                        (unsigned)(rates[i] + 0.5));
        check_calm(rates[i]);
    }
}

TEST(guests_have_rates_that_add_up)
{
    for (size_t i = 0; i < GUESTS; ++i)
        add_guest(1);
    for (unsigned sum = GUESTS; sum < 4 * GUESTS; ++sum) {
        assert_int_equal(share(sum), sum);
        check_calm(sum);
        for (size_t i = 0; i < GUESTS; ++i)
            assert_in_range(collector->guests[i]->rollup.rate_mhz,
                            sum / GUESTS * 1000,
                            (sum + GUESTS - 1) / GUESTS * 1000);
    }
}

TEST(guests_of_many_cpus_have_rates_that_nearly_add_up)
{
    add_guest(16);
    for (size_t i = 1; i < GUESTS; ++i)
        add_guest(1 + i % 2);
    for (unsigned sum = 26; sum < 100; ++sum) {
        assert_in_range(share(sum), sum - 8, sum + 8);
        check_calm(sum);
    }
}

TEST(a_rate_is_one_at_least_and_what_a_guest_takes_at_most)
{
    add_guest(2);
    assert_int_equal(share(0.1), 2);
    check_calm(0.1);
    assert_int_equal(share(1e9), 40000);
}

/* A timer has no rate between two divisors of its clock. */
TEST(a_clock_may_be_off_by_some_per_cent)
{
    struct guest_boot *guest = add_guest(1);

    guest->rollup.rate_mhz = 19886 * 1000;
    check_calm(20000);
    guest->rollup.rate_mhz = 18000 * 1000;
    assert_int_equal(share(20000), 20000);
}
