/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A kernel whose own timer interrupt calls the sampler: it programs the PIT to
 * 1 kHz itself and has a handler that calls prof_sample(). The profiler must
 * leave gate and PIT alone, count every call while it runs, give each function
 * its share, and refuse what only the kernel could change.
 */

#include "guest/guest.h"
#include "guest/hook.h"
#include "guest/tap.h"
#include "guest/wraps.h"
#include "../../../../services/split/leaf.h"

#include <kernel/service.h>
#include <prof/format.h>
#include <prof/transport.h>
#include <stdlib.h>
#include <string.h>

#define DIVISOR 1193u
#define RATE_MHZ 1000152u /* what the divisor comes to */
#define POINTS 100        /* one percentage point, in hundredths of one */

static unsigned own_rate_lines, error_lines;

int __wrap_prof_init(void *memory, size_t bytes,
                     const struct prof_config *config)
{
    struct prof_config own = *config;

    tap_plan(36);
    own.tick = (struct prof_tick){.kind = PROF_TICK_HOOK, .rate_mhz = 999};
    tap_is_equal(__real_prof_init(memory, bytes, &own), PROF_ECONFIG,
                 "less than 1 Hz is refused");
    own.tick.rate_mhz = PROF_HZ_MAX * 1000 + 1;
    tap_is_equal(__real_prof_init(memory, bytes, &own), PROF_ECONFIG,
                 "more than 20 kHz is refused");
    own.tick.rate_mhz = RATE_MHZ;
    return __real_prof_init(memory, bytes, &own);
}

void __wrap_prof_port_write(const char *text, size_t bytes)
{
    static const char own[] = "prof: sampling at the kernel's own 1000.152 Hz";
    static const char error[] = PROF_ANSWER_MARK "error: ";

    own_rate_lines +=
        bytes >= sizeof own && memcmp(text, own, sizeof own - 1) == 0;
    error_lines +=
        bytes >= sizeof error && memcmp(text, error, sizeof error - 1) == 0;
    __real_prof_port_write(text, bytes);
}

/* The kernel's timer from now on: 1 kHz, and a handler with the hook in it. */
static void start_timer(void)
{
    bool on = arch_interrupts_save();

    hook_timer(hook_sample, guest_handler());
    guest_set_pit(DIVISOR);
    arch_interrupts_restore(on);
}

/* One round of varying length, a dozen and more of which last a tick: so the
 * samples are independent, though the period does not vary. */
static void work(void)
{
    uint32_t units = 128 + (guest_random() >> 8 & 127);

    leaf_a(SPLIT_TURNS(units * 4));
    leaf_b(SPLIT_TURNS(units * 3));
    leaf_c(SPLIT_TURNS(units * 2));
    leaf_d(SPLIT_TURNS(units * 1));
}

static void work_for(uint64_t cycles, bool drained)
{
    uint64_t begin = arch_tsc();

    while (arch_tsc() - begin < cycles) {
        work();
        if (drained)
            loop_poll();
    }
}

static uint32_t calls; /* of the hook, since start() */

static void start(void)
{
    bool on = arch_interrupts_save();

    calls = hook_ticks;
    tap_is_equal(prof_start(), 0, "started");
    arch_interrupts_restore(on);
}

static void stop(void)
{
    bool on = arch_interrupts_save();

    prof_stop();
    calls = hook_ticks - calls;
    arch_interrupts_restore(on);
    prof_drain();
}

static void test_untouched(const char *what)
{
    uint32_t before = hook_ticks;
    uint64_t begin = arch_tsc();

    guest_poll(GUEST_TSC_HZ);
    begin = arch_tsc() - begin;
    tap_is_between(
        (int64_t)(hook_ticks - before - guest_ticks_in(begin, DIVISOR)), -1, 1,
        what);
    tap_ok(guest_handler() == guest_entry(0, hook_sample),
           "  the gate is the kernel's");
}

/* Of 20,000 samples, of the time in all leaves: a standard deviation is 0.35
 * points at most. */
static void test_share(split_leaf *leaf, int64_t tenths, const char *what)
{
    static split_leaf *const leaves[] = {leaf_a, leaf_b, leaf_c, leaf_d};
    struct prof_row row = guest_row((uintptr_t)leaf);
    uint64_t whole = 0;
    int64_t share;

    for (size_t i = 0; i < sizeof leaves / sizeof leaves[0]; i++)
        whole += guest_row((uintptr_t)leaves[i]).cycles;
    share = whole == 0 ? 0 : (int64_t)(row.cycles * 100 * POINTS / whole);
    tap_ok(row.named && llabs(share - tenths * 10 * POINTS) <= 3 * POINTS / 2,
           what);
    tap_note("%d.%02d %%", (int)share / POINTS, (int)share % POINTS);
}

static void test_sampling(void)
{
    struct prof_stats stats;

    start();
    work_for(2ull * GUEST_TSC_HZ, true);
    test_untouched("sampling: the PIT ticks as the kernel programmed it");
    stop();
    stats = guest_stats();
    tap_is_equal((int64_t)stats.ticks, calls, "  each call is counted");
    tap_ok(guest_accounted(&stats) == stats.ticks && stats.queued == 0 &&
               stats.missed == 0 && stats.dropped == 0,
           "  in one account, and none is missed");
    prof_reset();
    start();
    work_for(20ull * GUEST_TSC_HZ, true);
    stop();
    test_share(leaf_a, 4, "leaf_a has 40 %");
    test_share(leaf_b, 3, "leaf_b has 30 %");
    test_share(leaf_c, 2, "leaf_c has 20 %");
    test_share(leaf_d, 1, "leaf_d has 10 %");
    stats = guest_stats();
    tap_is_equal((int64_t)stats.ticks, calls, "a reset begins from 0");
    test_untouched("stopped: the PIT ticks as the kernel programmed it");
    tap_is_equal((int64_t)guest_stats().ticks, (int64_t)stats.ticks,
                 "  and nothing is sampled");
}

static void test_overflow(void)
{
    struct prof_stats stats;

    prof_reset();
    start();
    work_for(5ull * GUEST_TSC_HZ, false);
    stop();
    stats = guest_stats();
    tap_ok(stats.overflowed > 0, "undrained, the vector overflows");
    tap_is_equal((int64_t)stats.ticks, calls, "  each call is counted");
    tap_is_equal((int64_t)guest_accounted(&stats), (int64_t)stats.ticks,
                 "  in one account");
}

static void send_command(const char *text)
{
    while (*text != '\0')
        prof_command_byte((uint8_t)*text++);
}

static void test_rate(void)
{
    struct prof_stats stats;

    prof_reset();
    start();
    tap_is_equal(prof_set_rate(1000), 0, "its own rate may be asked for");
    tap_is_equal(prof_set_rate(2000), PROF_EFIXED, "another is refused");
    tap_is_equal(prof_set_rate(0), PROF_ERATE, "and 0");
    error_lines = 0;
    send_command("rate 2000\n");
    tap_is_equal(error_lines, 1, "the command is, with a line that says why");
    tap_is_equal(prof_rate_mhz(), RATE_MHZ, "the rate is the kernel's");
    work_for(GUEST_TSC_HZ, true);
    stop();
    stats = guest_stats();
    tap_is_equal((int64_t)stats.ticks, calls, "and samples came all the while");
}

static uint32_t packets, packets_wrong;

static bool is_there(void)
{
    return true;
}

static bool take(const void *packet, size_t bytes)
{
    struct prof_packet head;

    memcpy(&head, packet, sizeof head);
    packets_wrong += head.magic != PROF_PACKET_MAGIC ||
                     head.packet_bits != bytes * 8 || head.discarded != 0 ||
                     head.sequence != packets;
    packets++;
    return true;
}

static void test_stream(void)
{
    static const struct prof_transport transport = {
        .name = "test", .open = is_there, .send = take};
    struct prof_stats before = guest_stats(), after;

    prof_transport_use(&transport);
    prof_reset();
    start();
    work_for(2ull * GUEST_TSC_HZ, true);
    stop();
    prof_transport_end(0);
    after = guest_stats();
    tap_is_equal((int64_t)after.ticks, calls, "streamed: each call is counted");
    tap_ok(packets > 0 && packets_wrong == 0 &&
               after.stream_packets - before.stream_packets == packets,
           "  packets come whole and in order");
    tap_ok(after.stream_discarded == before.stream_discarded &&
               after.stream_bytes - before.stream_bytes > 4 * after.ticks,
           "  with all samples in them");
    prof_transport_use(NULL);
}

static void test_report(void)
{
    prof_report();
    tap_ok(guest_stats().report_cycles > 0, "a report is printed");
}

int service_main(void)
{
    tap_is_equal(own_rate_lines, 1, "a line says that the rate is its own");
    start_timer();
    test_untouched("not started: the PIT ticks as the kernel programmed it");
    tap_is_equal((int64_t)guest_stats().ticks, 0, "  and nothing is sampled");
    test_sampling();
    test_overflow();
    test_rate();
    test_stream();
    test_report();
    return tap_end();
}
