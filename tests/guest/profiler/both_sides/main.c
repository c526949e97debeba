/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A guest for a page from both sides. It works before its profiler samples,
 * then where that sees it, then with interrupts off, then where it is seen
 * again, and at last it hangs. Each part takes `part=` milliseconds (300).
 */

#include <arch/cpu.h>
#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <prof/prof.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#define PIECE_MS 100u /* between two looks at what has been sent */
#define LEAST 50u     /* samples */

static const char last_words[] = "both: hangs\n";

static uint64_t part_ms = 300;

bool service_option(const char *key, const char *value)
{
    if (strcmp(key, "part") != 0)
        return false;
    part_ms = strtoul(value, NULL, 10);
    return part_ms > 0;
}

/* Uses up (ms), in a loop of the function that it is part of. */
static inline __attribute__((always_inline)) void use_up(uint64_t ms)
{
    uint64_t begin = arch_tsc(), cycles = ms * (clock_tsc_hz() / 1000);

    while (arch_tsc() - begin < cycles)
        ;
}

NOINLINE static void work_early(void)
{
    use_up(part_ms);
}

/* The profiler drains its samples now and then. */
NOINLINE static void work_seen(uint64_t ms)
{
    for (; ms > 0; --ms) {
        use_up(1);
        loop_poll();
    }
}

/* Until it has been sampled and that has left the image, packets that were
 * begun included: a host that rarely runs it delivers few ticks, and the
 * profiler measures for longer how often they come. */
static void work_until_sent(void)
{
    struct prof_stats stats;
    uint64_t packets;

    do {
        work_seen(PIECE_MS);
        prof_stats(&stats);
    } while (stats.attributed < LEAST);
    packets = stats.stream_packets;
    do {
        work_seen(PIECE_MS);
        prof_stats(&stats);
    } while (stats.stream_packets < packets + 2);
}

NOINLINE static void work_masked(void)
{
    arch_interrupts_off();
    use_up(part_ms);
    arch_interrupts_on();
}

NOINLINE static void hang(void)
{
    arch_interrupts_off();
    for (;;)
        __asm__ volatile("pause");
}

int service_main(void)
{
    work_early();
    prof_start();
    work_seen(part_ms);
    work_masked();
    work_seen(part_ms);
    work_until_sent();
    console_write(last_words, sizeof last_words - 1);
    hang();
    return 0;
}
