/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The profiler's own samples have an account of their own, and are in no row
 * and no share, whatever the form of the report: it sums up again and again
 * here, so that it has a good part of the samples, those in the kernel's
 * functions that it calls included. What the program does in between is all of
 * the rest.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <arch/boot.h>
#include <kernel/service.h>
#include <prof/symbols.h>
#include <string.h>

#define OWN 300u /* samples, at least */

/* Bounds of the profiler's code (profiler/module.ld). */
extern const char prof_code_begin[], prof_code_end[];

static uint64_t in_rows, in_own_rows;

/* names=none: the image is one in which nothing was embedded (ldflags). */
int __wrap_prof_symbols_open(const void *table, size_t bytes,
                             const void *build_id, size_t build_id_bytes);
int __real_prof_symbols_open(const void *table, size_t bytes,
                             const void *build_id, size_t build_id_bytes);

int __wrap_prof_symbols_open(const void *table, size_t bytes,
                             const void *build_id, size_t build_id_bytes)
{
    if (strstr(arch_boot.command_line, "names=none") != NULL)
        bytes = 0;
    return __real_prof_symbols_open(table, bytes, build_id, build_id_bytes);
}

bool service_option(const char *key, const char *value)
{
    return strcmp(key, "names") == 0 && strcmp(value, "none") == 0;
}

static void add_row(const struct prof_row *row, void *unused)
{
    (void)unused;
    in_rows += row->samples;
    if (row->address >= (uintptr_t)prof_code_begin &&
        row->address < (uintptr_t)prof_code_end)
        in_own_rows += row->samples;
}

__attribute__((noinline)) static void work(void)
{
    guest_spin(GUEST_MS / 4);
}

int service_main(void)
{
    struct prof_stats stats;

    tap_plan(5);
    prof_set_rate(10000);
    prof_start();
    do {
        work();
        for (int i = 0; i < 4; i++) {
            prof_drain();
            stats = guest_stats();
        }
    } while (stats.own < OWN);
    prof_stop();
    prof_drain();
    stats = guest_stats();
    prof_visit(add_row, NULL);
    tap_note("%u ticks, %u of the profiler", (unsigned)stats.ticks,
             (unsigned)stats.own);
    tap_is_equal((int64_t)guest_accounted(&stats), (int64_t)stats.ticks,
                 "the accounts add up");
    tap_is_equal((int64_t)in_rows,
                 (int64_t)(stats.attributed + stats.masked + stats.unresolved),
                 "the rows add up");
    tap_is_equal((int64_t)in_own_rows, 0, "the profiler is in no row");
    tap_ok(stats.elapsed_cycles >= stats.attributed_cycles &&
               stats.elapsed_cycles - stats.attributed_cycles ==
                   stats.masked_cycles + stats.idle_cycles +
                       stats.unresolved_cycles + stats.dropped_cycles,
           "nor in what shares are of");
    tap_ok(stats.own_cycles > 0, "it has its own time");
    prof_report();
    return tap_end();
}
