/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Samples of user mode have an account of their own, and a row for each address
 * space. This kernel has no user mode; so the stub is entered as the CPU enters
 * it when the timer interrupts user code (user.asm). The timer's line is
 * masked, so that the number of samples is known; and the rate is the kernel's,
 * so that each tick goes on to its handler.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <kernel/service.h>
#include <pic.h>
#include <string.h>

#define SHELL 3u
#define UNNAMED 5u

void user_tick(uintptr_t handler);
void user_handler(void);
extern uintptr_t user_next;

/* (count) ticks in space (number). */
static void ticks(uint32_t number, unsigned count, bool drained)
{
    bool on = arch_interrupts_save();

    prof_space_set(number);
    while (count-- > 0) {
        guest_spin(GUEST_MS / 100);
        user_tick(guest_handler());
        if (drained && count % 100 == 0)
            prof_drain();
    }
    arch_interrupts_restore(on);
}

struct rows {
    unsigned count;
    uint64_t samples;
};

static void count_row(const struct prof_row *row, void *context)
{
    struct rows *rows = context;

    if (row->address < UINTPTR_MAX - 255)
        return;
    rows->count++;
    rows->samples += row->samples;
}

static void test_accounts(void)
{
    struct prof_stats stats;
    struct rows rows = {0};

    ticks(SHELL, 300, true);
    ticks(UNNAMED, 200, true);
    ticks(PROF_SPACES + 7, 100, true);
    stats = guest_stats();
    tap_is_equal((int64_t)stats.user, 600, "each has the account of user mode");
    tap_ok(stats.user_cycles > 0 && stats.unresolved == 0 &&
               guest_accounted(&stats) == stats.ticks,
           "  and no other one");
    prof_visit(count_row, &rows);
    tap_is_equal(rows.count, 3, "each space has a row");
    tap_is_equal((int64_t)rows.samples, 600, "  with its samples");
}

static void test_overflow(void)
{
    struct prof_stats stats;

    prof_reset();
    ticks(SHELL, 5000, false);
    prof_drain();
    while (prof_drain_ms() == 1)
        prof_drain();
    stats = guest_stats();
    tap_ok(stats.overflowed > 0, "the vector was full");
    tap_is_equal((int64_t)(stats.user + stats.queued), 5000,
                 "  and they are user mode all the same");
}

int service_main(void)
{
    struct prof_stats stats;

    tap_plan(10);
    pic_mask(0);
    user_next = guest_handler();
    guest_set_handler((uintptr_t)user_handler);
    prof_space_name(SHELL, "sh");
    tap_is_equal(prof_start(), 0, "started");
    test_accounts();
    prof_report();
    prof_space_name(UNNAMED, "init"); /* a stream has it as well */
    test_overflow();
    prof_reset();
    for (unsigned i = 0; i < 100; i++)
        prof_sample_user();
    prof_drain();
    stats = guest_stats();
    tap_is_equal((int64_t)stats.user, 100, "a kernel may report them itself");
    prof_reset();
    prof_set_depth(0);
    ticks(SHELL, 100, true);
    stats = guest_stats();
    tap_is_equal((int64_t)stats.unresolved, 100,
                 "without walks nobody looks for them");
    tap_is_equal((int64_t)guest_accounted(&stats), (int64_t)stats.ticks,
                 "  and each tick is in one account");
    prof_stop();
    return tap_end();
}
