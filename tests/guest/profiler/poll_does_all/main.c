/* SPDX-License-Identifier: Apache-2.0 */

/*
 * prof_poll() in a kernel that provides little. The kernel's event loop never
 * gets a turn, so nothing else drains or reports. The linker renames the
 * kernel's allocator to one that does not exist (ldflags): the built-in one is
 * used.
 */

#include "guest/guest.h"
#include "guest/tap.h"
#include "guest/wraps.h"

#include <kernel/service.h>
#include <prof/format.h>
#include <prof/port.h>
#include <prof/transport.h>
#include <string.h>

#define CALLS 1000
#define IDLE_CALL_MOST 24 /* instructions */
#define CYCLES 4          /* of one: icount=2 */

static _Alignas(16) unsigned char pool[PROF_POOL_DEFAULT];
static unsigned tables, answers, packets;
static bool streaming; /* the packets would fill the log */
static const char *input = "";

int __wrap_prof_init(void *memory, size_t bytes,
                     const struct prof_config *config)
{
    struct prof_config own = *config;

    own.pool = pool;
    own.pool_bytes = sizeof pool;
    return __real_prof_init(memory, bytes, &own);
}

static bool begins(const char *text, size_t bytes, const char *with)
{
    return bytes >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

void __wrap_prof_port_write(const char *text, size_t bytes)
{
    tables += begins(text, bytes, "--- profile:");
    answers += begins(text, bytes, PROF_ANSWER_MARK "ok");
    packets += begins(text, bytes, PROF_LINE_MARK);
    if (!streaming)
        __real_prof_port_write(text, bytes);
}

int prof_port_read(void)
{
    return *input != '\0' ? *input++ : -1;
}

__attribute__((noinline)) static void work(uint64_t cycles)
{
    uint64_t begin = arch_tsc();

    while (arch_tsc() - begin < cycles) {
        guest_pass();
        prof_poll();
    }
}

static void test_cost(void)
{
    uint64_t begin;

    prof_poll();
    begin = arch_tsc();
    for (int i = 0; i < CALLS; i++)
        prof_poll();
    begin = (arch_tsc() - begin) / CYCLES / CALLS;
    tap_is_between((int64_t)begin, 1, IDLE_CALL_MOST,
                   "a call with nothing due takes a dozen instructions");
    tap_note("%u instructions", (unsigned)begin);
}

/* In a report, whatever calls prof_poll() finds it busy. */
static void poll_again(const struct prof_row *row, void *context)
{
    uint64_t *drained = context;

    *drained = guest_stats().drain_cycles;
    work(GUEST_MS * 50);
    *drained = guest_stats().drain_cycles - *drained;
    (void)row;
}

int service_main(void)
{
    struct prof_stats stats;
    uint64_t drained = 1;

    tap_plan(12);
    test_cost();
    prof_option("prof.every=1000");
    tap_is_equal(prof_start(), 0, "started");
    work(3200ull * GUEST_MS);
    stats = guest_stats();
    tap_ok(stats.ticks > 3000 && guest_accounted(&stats) == stats.ticks,
           "each tick is in one account");
    tap_ok(stats.refusals == 0 && stats.addresses > 0 && stats.queued < 200 &&
               stats.overflowed == 0,
           "samples are drained, with memory of the pool");
    tap_ok(guest_row((uintptr_t)work).samples + stats.idle > 0,
           "what polls is sampled");
    tap_is_equal(tables, 3, "a table each second");
    input = "rate 2000\n";
    work(10ull * GUEST_MS);
    tap_is_equal(answers, 1, "a command is answered");
    tap_is_between(prof_rate_mhz() / 1000, 1950, 2050, "and executed");
    prof_option("prof.every=0");
    prof_option("prof.out=serial");
    streaming = true;
    tap_ok(prof_transport_choose(NULL, 0) != NULL, "serial is built in");
    work(1000ull * GUEST_MS);
    prof_visit(poll_again, &drained);
    tap_is_equal((int64_t)drained, 0, "inside another call it does nothing");
    prof_stop();
    prof_transport_end(0);
    tap_ok(packets > 1, "packets are lines of text");
    tap_is_equal((int64_t)guest_stats().stream_discarded, 0, "none is lost");
    return tap_end();
}
