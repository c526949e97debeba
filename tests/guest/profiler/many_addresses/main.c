/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A hundred thousand distinct addresses, by way of prof_sample() as a kernel
 * with a hook of its own calls it, next to the timer's own samples. Each must
 * have a row, with one sample, and addresses within a function must add up.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <arch/boot.h>
#include <kernel/service.h>
#include <prof/symbols.h>

#define ADDRESSES 100000u
#define BURST 250u          /* samples between drains: the vector holds them */
#define NOWHERE 0xa0000000u /* no function of the table is there */
#define STEP 11u

static uint64_t fed;

static void feed(uintptr_t first, uintptr_t step, uint32_t count)
{
    for (uint32_t i = 0; i < count; i += BURST) {
        bool on = arch_interrupts_save();

        for (uint32_t k = i; k < count && k < i + BURST; k++)
            prof_sample(first + k * step, 0, 0);
        arch_interrupts_restore(on);
        prof_drain();
    }
    fed += count;
}

struct rows {
    uint32_t single; /* of addresses fed, with one sample each */
    uint32_t named;  /* of functions */
    uint32_t wrong;  /* with more, or where nothing was fed */
    uint64_t samples, cycles;
};

static void check_row(const struct prof_row *row, void *context)
{
    struct rows *rows = context;
    uintptr_t distance = row->address - NOWHERE;

    rows->samples += row->samples;
    rows->cycles += row->cycles;
    rows->named += row->named;
    if (row->named)
        return;
    if (distance % STEP == 0 && distance / STEP < ADDRESSES &&
        row->samples == 1)
        rows->single++;
    else
        rows->wrong++;
}

int service_main(void)
{
    struct prof_stats stats;
    struct rows rows = {0};
    uint32_t text_bytes = (uint32_t)(text_end - text_begin);
    bool on;

    tap_plan(8);
    prof_start();
    feed(NOWHERE, STEP, ADDRESSES);
    on = arch_interrupts_save();
    prof_drain();
    stats = guest_stats();
    prof_visit(check_row, &rows);
    arch_interrupts_restore(on);
    tap_note("%u addresses, %u functions, %u of the timer's samples",
             (unsigned)stats.addresses, (unsigned)stats.functions,
             (unsigned)(stats.ticks - fed));
    tap_is_equal((int64_t)stats.unresolved, ADDRESSES, "each sample is there");
    tap_is_equal(rows.single, ADDRESSES, "each address has a row of its own");
    tap_is_equal(rows.wrong, 0, "with the one sample that it had");
    tap_ok(rows.samples == stats.attributed + stats.masked + stats.unresolved &&
               rows.cycles == stats.attributed_cycles + stats.masked_cycles +
                                  stats.unresolved_cycles,
           "the rows add up to the accounts");
    tap_ok(stats.dropped == 0 && stats.overflowed == 0 && stats.queued == 0,
           "nothing is dropped or left over");
    prof_stop();

    prof_reset();
    prof_start();
    feed((uintptr_t)text_begin, 1, text_bytes);
    prof_stop();
    prof_drain();
    stats = guest_stats();
    tap_note("%u bytes of code, %u of them in functions", (unsigned)text_bytes,
             (unsigned)stats.attributed);
    rows = (struct rows){0};
    prof_visit(check_row, &rows);
    tap_ok(rows.named > 100 && rows.named <= prof_symbols_count() &&
               stats.attributed + stats.own > text_bytes / 2,
           "addresses of the code add up to functions");
    tap_is_equal((int64_t)guest_accounted(&stats), (int64_t)stats.ticks,
                 "each sample is in one account");
    tap_ok(stats.ticks >= text_bytes && stats.dropped == 0, "none is dropped");
    return tap_end();
}
