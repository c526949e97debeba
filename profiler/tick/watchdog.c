/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Whether the PIT is still as it was programmed. It cannot be asked for its
 * divisor; but its mode may differ, or more counts be left than it was given,
 * as a divisor above ours shows before long. One below ours makes too many
 * ticks. They prove nothing, for a busy host makes up for those that it has
 * lost; they are the reason for a close look: at a count that begins anew. That
 * ends with a tick, so that what follows the drain is in step with the timer.
 * Missed ticks alone are no evidence: steal looks the same.
 */

#include "tick/source.h"

#include "base/cpu.h"
#include "sample/cpu_state.h"
#include "tick/clock.h"
#include "tick/idt_gate.h"
#include "tick/pit.h"

#include <stddef.h>

/* Ticks too many before a close look. That takes longer than a period; so each
 * one that finds nothing doubles them, this often. */
#define TICKS_ODD 4
#define DOUBLED_MAX 5

/* The count that begins anew is judged to one part in this many. */
#define COUNT_SLACK 64

/* And the time between two looks to one part in this many. */
#define PASSED_SLACK 8

struct prof_tick_stats prof_tick_counts;

static struct {
    int64_t missed;   /* the clock's, at its most, or at the last close
                         look */
    uint32_t doubled; /* close looks since one found something */
} seen;

/* One look at the PIT, and between which two times it was. */
struct look {
    uint64_t begin, end; /* TSC */
    struct prof_pit_state pit;
    uint32_t divisor; /* that it should count down from */
};

/* An NMI that programs the PIT may come in between; then it looks again. */
static bool look_at_pit(const struct prof_pit_rate *rate, struct look *look)
{
    bool on = prof_interrupts_save(), multiplied = prof_pit_is_multiplied(rate);
    const struct prof_cpu *cpu = PROF_CPU_FIRST;
    uint32_t ticks;

    do {
        ticks = __atomic_load_n(&cpu->ticks, __ATOMIC_ACQUIRE);
        look->begin = prof_tsc();
        look->pit = prof_pit_read();
        look->end = prof_tsc();
        look->divisor = rate->ours;
        if (multiplied) /* before the ticks are read again */
            look->divisor =
                __atomic_load_n(&cpu->tick.jitter.divisor, __ATOMIC_ACQUIRE);
    } while (PROF_WITH_NMI &&
             __atomic_load_n(&cpu->ticks, __ATOMIC_ACQUIRE) != ticks);
    prof_interrupts_restore(on);
    return prof_pit_disturbed(look->pit, look->divisor, multiplied);
}

static uint64_t sampling_period(void)
{
    return prof_clock_of(PROF_CPU_FIRST)->period >> PROF_PERIOD_SHIFT;
}

/*
 * Whether the count, just begun anew after (before), began below the divisor.
 * The period is measured, and wrong by some parts in a hundred on a busy host:
 * where that also takes most of a period between the two looks, more than the
 * slack. So an eighth more may have passed than the period says.
 */
static bool began_too_low(const struct prof_pit_rate *rate,
                          const struct look *before, const struct look *now)
{
    uint64_t passed =
        (now->end - before->begin) * (rate->ours + rate->ours / PASSED_SLACK);

    return now->pit.count + prof_divide(passed, (uint32_t)sampling_period()) <
           now->divisor - now->divisor / COUNT_SLACK - 1;
}

/* Follows the count from the (first) look until it starts again, for a little
 * more than the longest period. */
static bool count_disturbed(const struct prof_pit_rate *rate,
                            const struct look *first)
{
    uint64_t period = sampling_period();
    struct look before, now = *first;
    uint64_t end = now.end + period + period * 5 / 8;

    do {
        before = now;
        if (look_at_pit(rate, &now))
            return true;
    } while (now.end < end && now.pit.count <= before.pit.count);
    return now.pit.count > before.pit.count && !prof_pit_is_square(now.pit) &&
           began_too_low(rate, &before, &now);
}

/* (*one_shot): because it counts only once. */
static bool pit_disturbed(const struct prof_pit_rate *rate, bool *one_shot)
{
    struct look look;
    bool disturbed = look_at_pit(rate, &look);
    int64_t now = prof_clock_of(PROF_CPU_FIRST)->missed;
    int64_t missed = now - seen.missed;
    int64_t odd = (int64_t)TICKS_ODD << seen.doubled;

    *one_shot = prof_pit_is_one_shot(look.pit);
    if (disturbed || *one_shot)
        return true;
    if (missed > 0)
        seen.missed = now;
    if (missed >= -odd)
        return false;
    seen.missed = now;
    if (count_disturbed(rate, &look))
        return true;
    if (seen.doubled < DOUBLED_MAX)
        seen.doubled++;
    return false;
}

/* Whether nobody is left to program it. */
static bool gives_up(void)
{
    if (PROF_WITH_NMI && prof_source_nmi_running() != NULL)
        return prof_source_nmi_one_shot();
    return prof_source_pit_one_shot();
}

static void program_again(void)
{
    if (PROF_WITH_NMI && prof_source_nmi_running() != NULL)
        prof_source_nmi_program();
    else
        prof_source_pit_program();
}

static void check_pit(const struct prof_pit_rate *rate)
{
    bool one_shot;

    if (!pit_disturbed(rate, &one_shot))
        return;
    if (one_shot && gives_up()) {
        prof_tick_counts.pit_given_up++;
        if (PROF_WITH_NMI && prof_source_nmi_trouble() != PROF_NMI_FINE)
            return; /* which is said, and another source takes its place */
        prof_message("prof: the kernel uses the PIT in one-shot mode, so there "
                     "is no rate: sampling stops (use hook or gate, "
                     "<prof/tick.h>)\n");
        return;
    }
    program_again();
    seen.missed = prof_clock_of(PROF_CPU_FIRST)->missed;
    seen.doubled = 0;
    prof_tick_counts.pit_taken_back++;
    prof_message(
        "prof: the PIT was reprogrammed by other code; reset to the sampling "
        "rate\n");
}

/* The measured period corrects when the kernel's ticks are due. */
static void correct_pass_period(void)
{
    uint64_t period = prof_source_pit_pass_period();
    bool on = prof_interrupts_save();

    PROF_CPU_FIRST->tick.pass_period = period;
    prof_interrupts_restore(on);
}

void prof_watchdog(void)
{
    const struct prof_pit_rate *rate = prof_source_pit_running();

    prof_gate_check(sampling_period());
    if (PROF_WITH_NMI && rate == NULL) {
        prof_source_nmi_check();
        rate = prof_source_nmi_running();
    }
    if (rate == NULL) {
        if (PROF_WITH_LAPIC)
            prof_source_lapic_check();
        return;
    }
    check_pit(rate);
    correct_pass_period();
}
