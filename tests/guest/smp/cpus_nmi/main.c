/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The PIT's NMIs on many CPUs, each of which halts in its event loop: what the
 * profiler says of each against a count that is not the profiler's. That is
 * taken in the gate, before the profiler's stub.
 *
 * There are more CPUs than bits of a logical destination, so that these are
 * shared. A host that is busy runs a CPU late, and NMIs that come meanwhile are
 * one: nothing here depends on how many come. It ends when each CPU has had
 * enough of them.
 */

#include "guest/entry.h"
#include "guest/guest.h"
#include "guest/tap.h"

#include <arch/cpu.h>
#include <kernel/clock.h>
#include <kernel/cpu.h>
#include <kernel/service.h>
#include <prof/cpus.h>

#define CPUS_MAX 64u
#define SAMPLES 20u /* of each CPU */
#define IOAPIC 0xfec00000u
#define IOAPIC_WINDOW 0x10u
#define IOAPIC_LOW 0x14u /* the PIT's entry */
#define IOAPIC_MASKED 0x10000u

/* Written by one CPU each. */
static struct {
    volatile uint32_t came; /* NMIs */
    volatile uint32_t answered;
} cpus[CPUS_MAX] __attribute__((aligned(64)));

static uint32_t asked; /* written by CPU 0 */

/* ---- the gates, which all lead to the profiler's stub */

#define NMI_VECTOR 2u

static uintptr_t stub;

HANDLER static void on_nmi(uintptr_t *pushed)
{
    cpus[cpu_number()].came++;
    pushed[PUSHED_NEXT] = stub;
}

/* While none come. The profiler leaves another handler in the gate if samples
 * still come; on a busy host none may come for long. So nothing is drained
 * until all CPUs have had enough. */
static void count_nmis(void)
{
    guest_set_gate(NMI_VECTOR, guest_entry(1, on_nmi));
}

static void give_back(void)
{
    guest_set_gate(NMI_VECTOR, stub);
}

/* ---- no NMIs for a while */

static void mask_entry(bool masked)
{
    volatile uint32_t *index = (volatile uint32_t *)(uintptr_t)IOAPIC;
    volatile uint32_t *window =
        (volatile uint32_t *)(uintptr_t)(IOAPIC + IOAPIC_WINDOW);
    bool on = arch_interrupts_save();

    *index = IOAPIC_LOW;
    *window = masked ? *window | IOAPIC_MASKED : *window & ~IOAPIC_MASKED;
    arch_interrupts_restore(on);
}

static void (*volatile change)(void); /* what each CPU does meanwhile */

static void answer(void *context)
{
    (void)context;
    change();
    cpus[cpu_number()].answered = asked;
}

/* Each that was raised was handled: it comes before the answer to a question
 * that was sent later. There is no drain meanwhile: that would find the entry
 * overwritten. False: there is no memory for the questions. */
static bool cease(void (*then)(void))
{
    bool sent = true;

    mask_entry(true);
    then();
    change = then;
    asked++;
    for (unsigned i = 1; i < cpu_count(); i++)
        sent &= cpu_call(i, answer, NULL);
    for (unsigned i = 1; sent && i < cpu_count(); i++)
        while (cpus[i].answered != asked)
            arch_pause();
    return sent;
}

/* ---- what must hold */

static struct prof_cpu_stats stats_of(unsigned number)
{
    struct prof_cpu_stats stats = {0};

    (void)prof_cpu_stats(number, &stats);
    return stats;
}

static uint64_t accounted(const struct prof_cpu_stats *stats)
{
    return stats->attributed + stats->idle + stats->unresolved + stats->user +
           stats->dropped + stats->queued;
}

/* In the time from (begin) on, at most: of the last part no sample says it. */
static int64_t due_since(uint64_t begin)
{
    return (int64_t)((clock_ns() - begin) / 1000 * prof_rate_mhz() /
                     (1000ull * 1000 * 1000));
}

static void test_counts(int64_t due, uint32_t duplicates_before)
{
    struct prof_cpu_stats first = stats_of(0);
    int64_t raised = (int64_t)(first.ticks + first.missed), most = 0, extra = 0;
    bool own = true, kept = true, halted = true, merged = true;

    for (unsigned i = 0; i < cpu_count(); i++) {
        struct prof_cpu_stats stats = stats_of(i);
        int64_t came = cpus[i].came;

        tap_note("CPU %u: %u came, %u ticks, %u idle, %u dropped, %u missed", i,
                 (unsigned)came, (unsigned)stats.ticks, (unsigned)stats.idle,
                 (unsigned)stats.dropped, (unsigned)stats.missed);
        own &= stats.joined && stats.ticks > 0;
        kept &= accounted(&stats) == stats.ticks;
        halted &= i == 0 || stats.idle > 0;
        merged &= (int64_t)stats.ticks <= came && came <= raised &&
                  (int64_t)(stats.ticks + stats.missed) == raised;
        extra += came - (int64_t)stats.ticks;
        most = came > most ? came : most;
    }
    tap_ok(own, "each CPU has samples of its own");
    tap_ok(halted, "  in its halt, but for the first one");
    tap_ok(kept, "  each in one account of that CPU");
    tap_ok(merged, "what was raised is sampled or missed, on each CPU");
    tap_is_equal(extra, guest_stats().tick.nmi_duplicates - duplicates_before,
                 "  all that came: but for those right after a sample");
    tap_is_between(raised, most, due + due / 100 + 3,
                   "  and no more were raised than were due");
}

int service_main(void)
{
    uint32_t duplicates;
    uint64_t begin;

    tap_plan(10);
    tap_is_equal(prof_start(), 0, "NMIs are taken");
    stub = guest_handler_of(NMI_VECTOR);
    tap_ok(cease(count_nmis), "all CPUs answer, and count what comes");
    prof_reset();
    duplicates = guest_stats().tick.nmi_duplicates;
    for (unsigned i = 0; i < cpu_count(); i++)
        cpus[i].came = 0;
    begin = clock_ns();
    mask_entry(false);
    for (unsigned i = 0; i < cpu_count(); i++)
        while (cpus[i].came < SAMPLES)
            arch_pause();
    prof_drain();
    tap_ok(cease(give_back), "all CPUs have had enough, and answer");
    test_counts(due_since(begin), duplicates);
    mask_entry(false);
    prof_stop();
    tap_is_equal(guest_stats().tick.nmi_taken_back, 0,
                 "nobody else has written the entry");
    return tap_end();
}
